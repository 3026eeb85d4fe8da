//! Slow motion after a kill, and a pause: set on the server, followed by all clients.

use unlag_recipes::{Game, floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    net::GameSpeed,
    prelude::*,
    weapons::{Hazard, HealthPlugin},
};

const WALKER: NetId = NetId(1);

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers))
        .add_systems(Update, slow_down);
}

/// Somebody has died: a third of the speed from now on.
fn slow_down(mut deaths: MessageReader<Died>, mut speed: ResMut<GameSpeed>) {
    if deaths.read().count() > 0 {
        speed.0 = 0.3;
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

fn walker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}

/// Returns how fast the walker is on the server, on its own screen and on the other one, in metres per second
/// of real time.
fn speeds(game: &mut Game) -> Vec<f32> {
    let places = |game: &mut Game| game.apps_mut().map(|app| position(app, WALKER)).collect::<Vec<_>>();
    let before = places(game);
    game.run(0.5);
    before.iter().zip(places(game)).map(|(before, after)| before.distance(after) / 0.5).collect()
}

#[test]
fn whole_match_slows_down_and_pauses() {
    play(server, &[walker, client], |game| {
        let is_about = |speeds: &[f32], wanted: f32| speeds.iter().all(|speed| (speed - wanted).abs() < 0.9);
        let found = speeds(game);
        assert!(is_about(&found, 6.0), "{found:?}");

        let world = game.server.world_mut();
        let mut soldiers = world.query::<(Entity, &NetId)>();
        let target = soldiers.iter(world).find(|(_, id)| id.0 == 2).map(|(pawn, _)| pawn);
        let target = target.expect("the second soldier");
        world.write_message(Hazard { target, amount: 1_000.0, cause: 1 });
        game.run(0.7);
        let found = speeds(game);
        assert!(is_about(&found, 1.8), "{found:?}");

        game.server.insert_resource(GameSpeed(0.0));
        game.run(0.7);
        let found = speeds(game);
        assert!(is_about(&found, 0.0), "{found:?}");
    });
}
