//! A game at 30 Hz: one value for both sides, and everything else is in seconds.

use unlag_recipes::{corrections, fire_along, floor, play, position, record, recorded, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::prelude::*;

/// 30 moves and 30 snapshots a second, in place of 64 and 21. Client and server call this function.
fn rate() -> SimulationRate {
    SimulationRate::from_hz(30.0)
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins { rate: rate(), ..default() }, floor, soldiers));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { rate: rate(), ..default() }, floor))
        .add_plugins(PlayerControlsPlugin::default());
}
// ANCHOR_END: game

/// Walks along +X, and fires.
fn shooter(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
    fire_along(app, Vec3::new(1.0, -0.01, 0.0), |_| true);
}

fn recording_shooter(app: &mut App) {
    app.add_plugins((shooter, record::<ShotFired>));
}

/// Returns the server's tick and the soldier's place.
fn state(app: &mut App) -> (u32, Vec3) {
    (app.world().resource::<CurrentTick>().0.0, position(app, NetId(1)))
}

#[test]
fn soldier_is_as_fast_as_ever_with_thirty_moves_a_second() {
    play(server, &[recording_shooter, client], |game| {
        game.run(0.5);
        let (tick, place) = state(&mut game.server);
        let shots = recorded::<ShotFired>(&game.clients[0]).len();
        game.run(2.0);
        let (later, there) = state(&mut game.server);
        assert!((59..=61).contains(&(later - tick)), "{} ticks", later - tick);
        let way = place.distance(there);
        assert!((way - 12.0).abs() < 0.3, "6 m/s in two seconds: {way} m");
        // The rifle's interval of 0.094 s is three ticks, which are 0.1 s here.
        let shots = recorded::<ShotFired>(&game.clients[0]).len() - shots;
        assert!((19..=21).contains(&shots), "{shots} shots");
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
