//! Integration tests of the core plugins through their public API.

use core::{any::TypeId, time::Duration};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    BasePoses, BaseScheduleMailbox, CurrentTick, DrawnBaseTime, DrawnEye, DrawnPose, DrawnViewTime,
    GameClock, LastReceivedSnapshot, LimbRig, LocalControl, MatchReset, MeasuredUpdateInterval, NetId,
    NetRole, OwnerReconnected, PathKnotConfig, PoseSample, PoseSampler, ProxySmoothing, RoundTrip,
    ServerLeft, SetupDiagnostics, SetupIssue, SimulationRate, Snapshot, SnapshotAcks, SnapshotHistory, Stall,
    Tick, TickPlugin, TransformWatch, VisualOf, VisualOffset, VisualPlugin, Visuals, WorldGravity,
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
fn current_tick_counts_fixed_steps_not_frames() {
    let mut app = app();
    let before = app.world().resource::<CurrentTick>().0;
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(app.world().resource::<CurrentTick>().0.since(before), 10);
    assert_ne!(before, Tick(u32::MAX));
}

#[test]
fn visuals_follow_the_drawn_pose_plus_its_offset() {
    let mut app = app();
    let pose = PoseSample { position: Vec3::new(1.0, 2.0, 3.0), alive: true, ..default() };
    let offset = VisualOffset { offset: Vec3::X * 0.25, ..default() };
    let pawn = app.world_mut().spawn((DrawnPose { pose, ..default() }, offset)).id();
    let looks = app.world_mut().spawn(VisualOf(pawn)).id();
    app.update();
    let at = app.world().get::<Transform>(looks).expect("the visuals must have a transform").translation;
    // The offset of this frame has begun to fade.
    let fading = app.world().get::<VisualOffset>(pawn).expect("a pawn").offset;
    assert!(fading.x > 0.1 && fading.x < 0.25, "{fading}");
    assert_eq!(at, pose.position + fading);
}

#[cfg(feature = "visibility")]
#[test]
fn visuals_of_a_dead_pawn_are_hidden() {
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

/// Returns the faults detected when another system rotates the visuals in the first `frames` of 100 frames.
fn looks_turned_by_another(frames: usize) -> Vec<SetupIssue> {
    let mut app = app();
    let pawn = app.world_mut().spawn(DrawnPose::default()).id();
    let looks = app.world_mut().spawn(VisualOf(pawn)).id();
    for frame in 0..100 {
        if frame < frames {
            app.world_mut().get_mut::<Transform>(looks).expect("a transform").rotate_y(0.2);
        }
        app.update();
    }
    app.world().resource::<SetupDiagnostics>().all().iter().map(|(issue, _)| *issue).collect()
}

#[test]
fn visuals_moved_by_another_system_in_every_frame_are_reported() {
    assert_eq!(looks_turned_by_another(0), []);
    assert_eq!(looks_turned_by_another(5), [], "a game may set the transform now and then");
    assert_eq!(looks_turned_by_another(100), [SetupIssue::ContestedVisual]);
}

/// Asserts that each type is registered and has the type data.
macro_rules! assert_registered {
    ($app:expr, $data:ty: $($kind:ty),* $(,)?) => {
        let registry = $app.world().resource::<AppTypeRegistry>().read();
        $(assert!(
            registry.get_type_data::<$data>(TypeId::of::<$kind>()).is_some(),
            concat!(stringify!($kind), " is not registered, or without ", stringify!($data)),
        );)*
    };
}

#[test]
fn public_types_are_registered_for_inspectors() {
    let app = app();
    assert_registered!(
        app, ReflectComponent:
        DrawnEye, DrawnPose, LimbRig, LocalControl, MeasuredUpdateInterval, NetId, NetRole,
        ProxySmoothing, RoundTrip, Snapshot, SnapshotAcks, SnapshotHistory, TransformWatch,
        VisualOf, VisualOffset, Visuals,
    );
    assert_registered!(
        app, ReflectResource:
        BasePoses, BaseScheduleMailbox, CurrentTick, DrawnBaseTime, DrawnViewTime, GameClock,
        LastReceivedSnapshot, PathKnotConfig, PoseSampler, SetupDiagnostics, SimulationRate, Stall, WorldGravity,
    );
    assert_registered!(
        app, ReflectEvent:
        MatchReset, OwnerReconnected, ServerLeft,
    );
}
