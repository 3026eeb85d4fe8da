//! Validation of query inputs, so that no invalid number reaches the physics engine.

use bevy::prelude::*;

/// Maximum coordinate and maximum size, in metres.
const FAR: f32 = 1e6;

pub(crate) fn is_point(point: Vec3) -> bool {
    // Also false for NaN.
    point.abs().cmple(Vec3::splat(FAR)).all()
}

pub(crate) fn is_size(size: f32) -> bool {
    (0.0..=FAR).contains(&size)
}

/// Returns the pose with a normalised rotation; `None` if it is invalid.
pub(crate) fn pose(pose: Isometry3d) -> Option<Isometry3d> {
    let length = pose.rotation.length();
    let sound = is_point(pose.translation.into()) && (0.9..1.1).contains(&length);
    sound.then(|| Isometry3d { rotation: pose.rotation.normalize(), ..pose })
}
