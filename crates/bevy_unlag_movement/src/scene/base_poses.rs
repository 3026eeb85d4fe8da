//! Publication of base poses for smoothing and lag compensation.

use bevy::prelude::*;
use bevy_unlag_core::BasePoses;

use super::MoverScene;
use crate::base::BaseId;

/// Updates [`BasePoses`] when anything about bases has changed.
pub(super) fn update_base_poses(
    scene: Res<MoverScene>,
    time: Res<Time<Fixed>>,
    mut poses: ResMut<BasePoses>,
    mut published_revision: Local<u64>,
) {
    if *published_revision == scene.bases.revision() {
        return;
    }
    *published_revision = scene.bases.revision();
    let bases = scene.bases.poses_only();
    *poses = BasePoses::new(time.timestep(), move |base, seconds| {
        let pose = bases.pose(BaseId(base), seconds)?;
        Some(Isometry3d::new(pose.translation, pose.rotation))
    });
}
