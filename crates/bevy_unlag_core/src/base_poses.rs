//! Poses of movement bases, for drawing pawns on them and for validating shots at them.

use core::time::Duration;
use std::sync::Arc;

use bevy::prelude::*;

use crate::tick::ViewTime;

type PoseOf = dyn Fn(u16, f64) -> Option<Isometry3d> + Send + Sync;

/// Poses of movement bases (lifts, turntables, trains) at any moment. The crate that moves the bases
/// provides them, the same on every machine; without them no pawn is drawn relative to a base. Default: no
/// bases.
#[derive(Resource, Clone, Default, Reflect)]
#[reflect(Resource, Default)]
pub struct BasePoses {
    // A function has no fields to show.
    #[reflect(ignore)]
    poses: Option<Arc<PoseOf>>,
    tick_seconds: f64,
}

impl core::fmt::Debug for BasePoses {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BasePoses").field("any", &self.poses.is_some()).finish_non_exhaustive()
    }
}

impl BasePoses {
    /// Creates the resource from a pure function of a base's id and the time of bases in seconds: the number
    /// of the tick times the duration of a tick.
    #[must_use]
    pub fn new(
        tick: Duration,
        pose: impl Fn(u16, f64) -> Option<Isometry3d> + Send + Sync + 'static,
    ) -> Self {
        Self { poses: Some(Arc::new(pose)), tick_seconds: tick.as_secs_f64() }
    }

    /// Returns all bases at one moment of this machine, the one at which it draws them.
    #[must_use]
    pub fn at(&self, time: ViewTime) -> BaseView<'_> {
        let ticks =
            f64::from(time.tick.0) + f64::from(time.fraction) / f64::from(crate::tick::SUB_TICKS as i32);
        let poses = self.poses.as_deref();
        BaseView { poses, seconds: ticks * self.tick_seconds, tick_seconds: self.tick_seconds }
    }
}

/// Poses of all movement bases at one moment.
#[derive(Clone, Copy, Default)]
pub struct BaseView<'a> {
    poses: Option<&'a PoseOf>,
    seconds: f64,
    tick_seconds: f64,
}

impl core::fmt::Debug for BaseView<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BaseView").field("seconds", &self.seconds).finish_non_exhaustive()
    }
}

impl BaseView<'_> {
    /// Returns the pose of a base, or `None` for 0 and for an unknown base.
    #[must_use]
    pub fn pose(&self, base: u16) -> Option<Isometry3d> {
        self.pose_before(base, 0.0)
    }

    fn pose_before(&self, base: u16, seconds: f64) -> Option<Isometry3d> {
        if base == 0 {
            return None;
        }
        let pose = (self.poses?)(base, self.seconds - seconds)?;
        let sound = pose.translation.is_finite() && (pose.rotation.length_squared() - 1.0).abs() < 1e-3;
        sound.then_some(pose)
    }

    /// Returns the velocity in the world, in metres per second, of a point that is fixed to a base.
    #[must_use]
    pub fn velocity(&self, base: u16, local: Vec3) -> Vec3 {
        let dt = self.tick_seconds;
        let (Some(now), Some(before)) = (self.pose(base), self.pose_before(base, dt)) else {
            return Vec3::ZERO;
        };
        let moved = now.transform_point(local) - before.transform_point(local);
        let velocity = Vec3::from(moved) / dt as f32;
        if velocity.is_finite() { velocity } else { Vec3::ZERO }
    }
}

/// Returns the heading of a rotation's -Z axis about +Y, in radians.
pub(crate) fn heading(rotation: Quat) -> f32 {
    let forward = rotation * Vec3::NEG_Z;
    (-forward.x).atan2(-forward.z)
}
