//! Transforms of movement bases, for rendering and for rapier. Steps do not read them: they compute the
//! pose of a base themselves.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, SnapshotHistory, Tick};

use crate::base::{MovementBase, RecordedBase};

/// All bases but those whose poses this app records from their `Transform`.
type DrivenBases<'w, 's> = Query<
    'w,
    's,
    (&'static MovementBase, &'static mut Transform),
    Or<(Without<RecordedBase>, With<SnapshotHistory>)>,
>;

/// Returns the time in seconds on the time line of bases, at the end of a step of `dt` seconds that
/// simulates `tick`. There must be no other formula: a replay needs the same bits.
pub(crate) fn seconds_at(tick: Tick, dt: f32, timestep: Duration) -> f64 {
    (f64::from(tick.0) - 1.0) * timestep.as_secs_f64() + f64::from(dt)
}

/// Moves the bases in every tick, for physics, to the end of the tick.
pub(super) fn set_base_transforms_in_tick(
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    bases: DrivenBases,
) {
    let step = time.timestep();
    drive(bases, seconds_at(tick.0, step.as_secs_f32(), step));
}

/// Moves the bases in every frame, for rendering, as far into the next tick as the frame is.
pub(super) fn set_base_transforms_in_frame(
    tick: Res<CurrentTick>,
    time: Res<Time<Fixed>>,
    bases: DrivenBases,
) {
    drive(bases, seconds_at(tick.0.offset(1), time.overstep().as_secs_f32(), time.timestep()));
}

fn drive(mut bases: DrivenBases, seconds: f64) {
    for (base, mut transform) in &mut bases {
        let pose = base.track.pose(seconds);
        let scale = transform.scale;
        transform.set_if_neq(Transform {
            translation: pose.translation.into(),
            rotation: pose.rotation,
            scale,
        });
    }
}
