//! What a step may look at.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_rapier3d::plugin::ReadRapierContext;
use bevy_unlag_core::StepContext;

use crate::{
    BaseId, MoveVolume,
    scene::{MoverScene, seconds_at},
};

/// The level: [`MoverScene`], and rapier's world for
/// [`MoverBackend::Rapier`](crate::MoverBackend::Rapier).
#[derive(SystemParam)]
pub struct MoverWorld<'w, 's> {
    pub(crate) scene: Res<'w, MoverScene>,
    pub(crate) rapier: ReadRapierContext<'w, 's>,
    time: Res<'w, Time<Fixed>>,
}

impl MoverWorld<'_, '_> {
    /// Seconds on the time line of movement bases at the end of a step: those of all ticks before
    /// it and its own.
    #[must_use]
    pub fn step_seconds(&self, ctx: &StepContext) -> f64 {
        seconds_at(ctx.tick, ctx.dt, self.time.timestep())
    }

    /// Where a movement base is at `seconds`, in the world; None if there is no such base.
    #[must_use]
    pub fn base_pose(&self, id: BaseId, seconds: f64) -> Option<Isometry3d> {
        let pose = self.scene.base_pose(id, seconds)?;
        Some(Isometry3d::new(pose.translation, pose.rotation))
    }

    /// The volume at a point of the world: the one with the highest priority, then the lowest id.
    #[must_use]
    pub fn volume_at(&self, point: Vec3) -> Option<MoveVolume> {
        self.scene.volume_at(point)
    }
}
