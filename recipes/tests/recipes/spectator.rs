//! A spectator, who has no pawn and watches the others until the server gives it one.

use unlag_recipes::{floor, own, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::prelude::*;

const BOT: NetId = NetId(100);

/// On the server: the first player plays, all others watch.
#[derive(Resource, Default)]
struct Spectators(Vec<Entity>);

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor))
        .init_resource::<Spectators>()
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((NpcPawn::<Soldier>::default(), BOT, Transform::from_xyz(5.0, 0.1, 0.0)));
        })
        .add_observer(join);
}

fn join(
    joined: On<PlayerJoined>,
    mut spectators: ResMut<Spectators>,
    mut players: Local<u16>,
    mut commands: Commands,
) {
    *players += 1;
    if *players == 1 {
        commands.spawn((SoldierPawn, NetId(1), player_pawn(joined.link, joined.peer)));
    } else {
        spectators.0.push(joined.link);
    }
}

/// The first spectator takes the place of the bot.
fn take_over(mut spectators: ResMut<Spectators>, bots: Query<(Entity, &NetId)>, mut commands: Commands) {
    let bot = bots.iter().find(|(_, id)| **id == BOT).map(|(bot, _)| bot);
    if let Some(link) = spectators.0.pop() {
        commands.trigger(Possess { link, pawn: bot });
    }
}

/// A client whose player walks, if it has a pawn.
fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}
// ANCHOR_END: game

#[test]
fn spectator_sees_the_match_and_can_step_in() {
    play(server, &[client, client], |game| {
        game.run(1.0);
        assert_eq!(own(&mut game.clients[1]), None);
        let [seen, real] = [&mut game.clients[1], &mut game.server].map(|app| position(app, NetId(1)));
        assert!(seen.z < -5.0 && seen.distance(real) < 3.0, "the player is drawn at {seen} and is at {real}");
        assert!(position(&mut game.server, BOT).z > -0.1, "nobody moves the bot");

        game.server.add_systems(Update, take_over);
        game.run(2.0);
        assert_eq!(own(&mut game.clients[1]), Some(BOT));
        assert!(position(&mut game.server, BOT).z < -4.0, "the bot obeys the new player");
    });
}
