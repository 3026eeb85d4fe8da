//! Two soldiers: one walks to and fro, the other one hits it where its own screen shows it.

use unlag_recipes::{Game, floor, play, record, recorded, soldiers, walk_to_and_fro};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{prelude::*, rewind::RewindMode, weapons::ShotResult};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}

/// Aims at the chest of the other soldier as it is drawn, and holds the trigger.
fn shoot(
    own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls)>,
    other: Single<&DrawnPose, Without<LocalControl>>,
) {
    let (drawn, mut input, mut trigger) = own.into_inner();
    let eye = drawn.pose.position + Vec3::Y * 1.64;
    input.look_along(other.pose.position + Vec3::Y * 1.1 - eye);
    trigger.set_fire(true);
}
// ANCHOR_END: game

fn shooter(app: &mut App) {
    app.add_plugins((client, record::<ShotFired>, record::<ShotVerdict>)).add_systems(PreUpdate, shoot);
}

fn walker(app: &mut App) {
    app.add_plugins((client, walk_to_and_fro));
}

/// Returns the number of shots that hit on the screen, and of those the number that the server confirms.
fn hits(game: &mut Game) -> (usize, usize) {
    game.run(3.0);
    let drawn = recorded::<ShotFired>(&game.clients[0]).iter().filter(|shot| shot.drawn().is_some());
    let verdicts = recorded::<ShotVerdict>(&game.clients[0]);
    // The verdicts on the last shots are under way.
    let known = drawn.filter_map(|shot| verdicts.iter().find(|verdict| verdict.shot == shot.round.shot));
    let confirmed = known.clone().filter(|verdict| matches!(verdict.result, ShotResult::Hit(_)));
    (known.count(), confirmed.count())
}

#[test]
fn hits_on_the_screen_are_hits_on_the_server() {
    play(server, &[shooter, walker], |game| {
        let (drawn, confirmed) = hits(game);
        assert!(drawn > 20 && confirmed * 20 >= drawn * 19, "{confirmed} of {drawn}");
    });
}

/// The control: shots are tested against the present, in which the target has walked on.
fn server_without_rewind(app: &mut App) {
    app.add_plugins(server).insert_resource(RewindLimits { mode: RewindMode::Off, ..default() });
}

#[test]
fn hits_on_the_screen_miss_without_rewind() {
    play(server_without_rewind, &[shooter, walker], |game| {
        let (drawn, confirmed) = hits(game);
        assert!(drawn > 20 && confirmed * 2 < drawn, "{confirmed} of {drawn}");
    });
}
