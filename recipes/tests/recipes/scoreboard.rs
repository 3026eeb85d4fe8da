//! A scoreboard: kills and deaths of all players, on every screen.

use unlag_recipes::{fire_along, floor, play};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{net::ControllingPlayer, prelude::*, weapons::HealthPlugin};

/// `HealthPlugin` counts kills and deaths of every pawn that has a `PlayerScore`, and the suite sends them.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.1, -8.0 * f32::from(*players));
            *players += 1;
            let pawn = (SoldierPawn, NetId(*players), Health::default(), PlayerScore::default(), place);
            commands.spawn((pawn, player_pawn(joined.link, joined.peer)));
        },
    );
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .init_resource::<Scoreboard>()
        .add_systems(Update, fill);
}

/// A line for each player: its id, kills and deaths, the best one first. In a game nodes of the user interface.
#[derive(Resource, Default, PartialEq, Debug)]
struct Scoreboard(Vec<(u64, u16, u16)>);

/// The id is that of the connect token. A matchmaker knows its name.
fn fill(players: Query<(&ControllingPlayer, &PlayerScore)>, mut board: ResMut<Scoreboard>) {
    board.0 = players.iter().map(|(player, score)| (player.0, score.kills, score.deaths)).collect();
    board.0.sort_by_key(|(player, kills, _)| (core::cmp::Reverse(*kills), *player));
}
// ANCHOR_END: game

/// Fires at the second player.
fn shooter(app: &mut App) {
    app.add_plugins(client);
    fire_along(app, Vec3::new(0.0, -0.03, -1.0), |_| true);
}

#[test]
fn kill_is_on_the_board_of_every_player() {
    play(server, &[shooter, client], |game| {
        game.run(1.0);
        game.join(client);
        game.run(1.0);
        for client in &game.clients {
            let board = client.world().resource::<Scoreboard>();
            assert_eq!(*board, Scoreboard(vec![(1, 1, 0), (2, 0, 1), (3, 0, 0)]));
        }
    });
}
