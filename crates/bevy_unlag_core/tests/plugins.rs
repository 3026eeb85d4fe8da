//! The plugins of the core, through its public API.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    CurrentTick, DrawnPose, Fault, Findings, PoseSample, Tick, TickPlugin, VisualOf, VisualOffset,
    VisualPlugin,
};

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TickPlugin, VisualPlugin))
        .insert_resource(Time::<Fixed>::from_hz(64.0))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(2.5 / 64.0)));
    app.update();
    app
}

#[test]
fn a_tick_counts_fixed_steps_not_frames() {
    let mut app = app();
    let before = app.world().resource::<CurrentTick>().0;
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(app.world().resource::<CurrentTick>().0.since(before), 10);
    assert_ne!(before, Tick(u32::MAX));
}

#[test]
fn looks_follow_what_is_drawn() {
    let mut app = app();
    let pose = PoseSample { position: Vec3::new(1.0, 2.0, 3.0), alive: true, ..default() };
    let offset = VisualOffset { offset: Vec3::X * 0.25, ..default() };
    let pawn = app.world_mut().spawn((DrawnPose { pose, ..default() }, offset)).id();
    let looks = app.world_mut().spawn(VisualOf(pawn)).id();
    app.update();
    let at = app.world().get::<Transform>(looks).expect("looks have a transform").translation;
    // The offset of this frame: it has begun to fade.
    let fading = app.world().get::<VisualOffset>(pawn).expect("a pawn").offset;
    assert!(fading.x > 0.1 && fading.x < 0.25, "{fading}");
    assert_eq!(at, pose.position + fading);
}

#[cfg(feature = "visibility")]
#[test]
fn the_looks_of_the_dead_are_hidden() {
    let mut app = app();
    let pose = PoseSample { alive: true, ..default() };
    let pawn = app.world_mut().spawn(DrawnPose { pose, ..default() }).id();
    let looks = app.world_mut().spawn((VisualOf(pawn), Visibility::default())).id();
    app.update();
    assert_eq!(app.world().get::<Visibility>(looks), Some(&Visibility::Inherited));
    app.world_mut().get_mut::<DrawnPose>(pawn).expect("a pawn").pose.alive = false;
    app.update();
    assert_eq!(app.world().get::<Visibility>(looks), Some(&Visibility::Hidden));
}

/// Looks that something else turns in this many frames of 100, and what was found.
fn looks_turned_by_another(frames: usize) -> Vec<Fault> {
    let mut app = app();
    let pawn = app.world_mut().spawn(DrawnPose::default()).id();
    let looks = app.world_mut().spawn(VisualOf(pawn)).id();
    for frame in 0..100 {
        if frame < frames {
            app.world_mut().get_mut::<Transform>(looks).expect("a transform").rotate_y(0.2);
        }
        app.update();
    }
    app.world().resource::<Findings>().all().iter().map(|finding| finding.fault).collect()
}

#[test]
fn two_masters_of_one_transform_are_found() {
    assert_eq!(looks_turned_by_another(0), []);
    assert_eq!(looks_turned_by_another(5), [], "a game sets something anew now and then");
    assert_eq!(looks_turned_by_another(100), [Fault::SharedLooks]);
}
