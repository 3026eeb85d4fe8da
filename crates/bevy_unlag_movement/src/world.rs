//! System parameter through which a step reads the level.

use core::marker::PhantomData;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::StepContext;

use crate::{
    base::BaseId,
    scene::{MoverScene, seconds_at},
    volume::MoveVolume,
};

/// Level: [`MoverScene`], and with the feature `rapier_controller` also rapier's world.
#[derive(SystemParam)]
pub struct MoverWorld<'w, 's> {
    pub(crate) scene: Res<'w, MoverScene>,
    #[cfg(feature = "rapier_controller")]
    pub(crate) rapier: bevy_rapier3d::plugin::ReadRapierContext<'w, 's>,
    time: Res<'w, Time<Fixed>>,
    // The lifetime is part of the type whatever the features are.
    _state: PhantomData<&'s ()>,
}

impl MoverWorld<'_, '_> {
    /// Returns the time at the end of a step on the time line of movement bases, in seconds: the time of
    /// all ticks before it plus its own.
    #[must_use]
    pub fn step_seconds(&self, ctx: &StepContext) -> f64 {
        seconds_at(ctx.tick, ctx.dt, self.time.timestep())
    }

    /// Returns the pose of a movement base at `seconds`, in world space; `None` if there is no such
    /// base.
    #[must_use]
    pub fn base_pose(&self, id: BaseId, seconds: f64) -> Option<Isometry3d> {
        let pose = self.scene.base_pose(id, seconds)?;
        Some(Isometry3d::new(pose.translation, pose.rotation))
    }

    /// Returns the volume at a point in world space: the one with the highest priority, then the lowest
    /// id.
    #[must_use]
    pub fn volume_at(&self, point: Vec3) -> Option<MoveVolume> {
        self.scene.volume_at(point)
    }
}
