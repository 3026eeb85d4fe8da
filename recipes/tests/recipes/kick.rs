//! A kick with a reason: players who stand still for too long have to go, and read why.

use unlag_recipes::{floor, own, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    guard::{Kick, KickReason, KickedByServer},
    lightyear::prelude::ControlledBy,
    net::LeaveReason,
    prelude::*,
};

/// Numbers of the game's reasons, which both sides know.
const IDLE: u8 = 1;

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers))
        .add_systems(Update, kick_idle_players)
        .init_resource::<Leaves>()
        .add_observer(|left: On<PlayerLeft>, mut leaves: ResMut<Leaves>| leaves.0.push(left.reason));
}

/// Where a player was last seen moving, and for how long it has not moved away from there.
#[derive(Component, Default)]
struct Idle {
    place: Vec3,
    seconds: f32,
}

fn kick_idle_players(
    time: Res<Time>,
    mut players: Query<(Entity, &SoldierState, &ControlledBy, Option<&mut Idle>)>,
    mut commands: Commands,
) {
    for (pawn, state, controlled, idle) in &mut players {
        let place = Soldier::position(state);
        match idle {
            Some(mut idle) if idle.place.distance(place) < 1.0 => {
                idle.seconds += time.delta_secs();
                if idle.seconds > 4.0 {
                    // The link, not the pawn. A second kick of the same link has no effect.
                    commands.trigger(Kick { entity: controlled.owner, reason: KickReason::Game(IDLE) });
                }
            }
            _ => {
                commands.entity(pawn).insert(Idle { place, seconds: 0.0 });
            }
        }
    }
}

/// How players have left, for statistics.
#[derive(Resource, Default)]
struct Leaves(Vec<LeaveReason>);

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .init_resource::<Notice>()
        .add_systems(Update, tell);
}

/// A text for the player. In a game the menu shows it.
#[derive(Resource, Default)]
struct Notice(String);

fn tell(mut kicks: MessageReader<KickedByServer>, mut notice: ResMut<Notice>) {
    for kick in kicks.read() {
        notice.0 = match kick.0 {
            KickReason::Game(IDLE) => "You have not moved for too long.".to_owned(),
            // Every reason has a sentence of its own.
            _ => kick.to_string(),
        };
    }
}
// ANCHOR_END: game

fn walker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}

#[test]
fn idle_player_is_kicked_and_reads_why_and_a_walker_stays() {
    play(server, &[walker, client], |game| {
        game.run(5.0);
        let notices: Vec<_> =
            game.clients.iter().map(|client| &*client.world().resource::<Notice>().0).collect();
        assert_eq!(notices, ["", "You have not moved for too long."]);
        assert_eq!(own(&mut game.clients[0]), Some(NetId(1)));
        assert_eq!(own(&mut game.clients[1]), None);
        assert_eq!(game.server.world().resource::<Leaves>().0, [LeaveReason::Kicked]);
    });
}
