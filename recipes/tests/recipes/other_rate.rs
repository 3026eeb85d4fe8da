//! A client with another tick rate is refused, and says why.

use unlag_recipes::{floor, own, play, record, recorded, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{net::RateMismatch, prelude::*};

/// One function for both sides would not go wrong.
fn server(app: &mut App) {
    app.add_plugins((
        UnlagServerPlugins { rate: SimulationRate::from_hz(64.0), ..default() },
        floor,
        soldiers,
    ));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { rate: SimulationRate::from_hz(64.0), ..default() }, floor))
        .add_plugins((PlayerControlsPlugin::default(), reason));
}

fn slow_client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { rate: SimulationRate::from_hz(30.0), ..default() }, floor))
        .add_plugins((PlayerControlsPlugin::default(), reason));
}

/// Values for the player.
#[derive(Resource, Default)]
struct Reason(Option<String>);

fn reason(app: &mut App) {
    app.init_resource::<Reason>().add_plugins(record::<RateMismatch>).add_systems(
        Update,
        |mut mismatches: MessageReader<RateMismatch>, mut reason: ResMut<Reason>| {
            for mismatch in mismatches.read() {
                reason.0 = Some(mismatch.to_string());
            }
        },
    );
}
// ANCHOR_END: game

#[test]
fn client_with_another_rate_has_no_pawn_and_a_reason() {
    play(server, &[client, slow_client], |game| {
        game.run(1.0);
        assert!(own(&mut game.clients[0]).is_some());
        assert_eq!(game.clients[0].world().resource::<Reason>().0, None);

        assert_eq!(own(&mut game.clients[1]), None);
        assert_eq!(recorded::<RateMismatch>(&game.clients[1]).len(), 1);
        let reason = game.clients[1].world().resource::<Reason>().0.clone().unwrap_or_default();
        assert!(reason.contains("15.625 ms a tick") && reason.contains("33.333 ms a tick"), "{reason}");
        assert!(reason.contains("the same SimulationRate"), "it says what to do: {reason}");
    });
}
