//! Published updates of falling pawns whose own time runs at another rate.

use bevy::{ecs::system::SystemParamItem, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    MoveModel, PathKnotConfig, PoseSampler, Snapshot, StepContext, Tick, TimeDilation, Wire,
};
use bevy_unlag_smoothing::{PathRecordingPlugin, PublishedPath};

const TICK: core::time::Duration = core::time::Duration::from_nanos(15_625_000);

/// A pawn that falls, in a time of its own.
struct Faller;

#[derive(Resource)]
struct FallerConfig;

#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct FallerState {
    rate: f32,
}

impl MoveModel for Faller {
    type Config = FallerConfig;
    type Input = ();
    type State = FallerState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        _: &FallerConfig,
        state: &FallerState,
        (): &(),
        _: &StepContext,
        (): &SystemParamItem<()>,
        _: &mut Vec<()>,
    ) -> FallerState {
        *state
    }

    fn position(_: &FallerState) -> Vec3 {
        Vec3::Y * 50.0
    }

    fn velocity(_: &FallerState) -> Vec3 {
        Vec3::X
    }

    fn kind(_: &FallerState) -> u32 {
        0
    }

    fn time_dilation(state: &FallerState) -> TimeDilation {
        TimeDilation::new(state.rate)
    }

    fn snapshot(state: &FallerState, tick: Tick) -> Snapshot {
        Snapshot { falling: true, ..Snapshot::new(tick, Self::position(state), Self::velocity(state)) }
    }
}

/// Returns the acceleration that clients are sent of a pawn that has begun to fall at this rate.
fn sent_acceleration(rate: f32) -> Vec3 {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PathRecordingPlugin::<Faller>::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(FallerConfig)
        .insert_resource(PoseSampler { gravity: 9.8, ..default() });
    app.finish();
    app.cleanup();
    let pawn = app.world_mut().spawn((FallerState { rate }, PublishedPath::default())).id();
    // One tick: the second one of a fall tells its acceleration.
    while app.world().get::<PublishedPath>(pawn).is_some_and(|path| path.recorded().is_none()) {
        app.update();
    }
    let sampler = *app.world().resource::<PoseSampler>();
    let mut path = app.world_mut().get_mut::<PublishedPath>(pawn).expect("the pawn has a path");
    let update = path.next_update(&PathKnotConfig::default(), &sampler, None).expect("a recorded path");
    update.snapshot.acceleration()
}

/// Fails without `with_own_gravity` in `based_snapshot`: until the next update, screens would let a slowed pawn fall
/// four times as fast.
#[test]
fn first_update_of_a_fall_in_a_time_of_its_own_has_its_gravity() {
    for (rate, gravity) in [(1.0, 0.0), (0.5, -2.45), (2.0, -39.2)] {
        let sent = sent_acceleration(rate);
        assert!((sent - Vec3::Y * gravity).length() <= 0.25, "at {rate}: {sent}");
    }
}
