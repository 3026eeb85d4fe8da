//! What makes sense as a question: anything else never gets as far as a physics engine.

use bevy::prelude::*;

/// Metres from the origin of the world, and of anything's size, at most.
const FAR: f32 = 1e6;

pub(crate) fn is_point(point: Vec3) -> bool {
    // False for what is no number, too.
    point.abs().cmple(Vec3::splat(FAR)).all()
}

pub(crate) fn is_size(size: f32) -> bool {
    (0.0..=FAR).contains(&size)
}

/// The pose with a rotation of unit length; `None` when it is none.
pub(crate) fn pose(pose: Isometry3d) -> Option<Isometry3d> {
    let length = pose.rotation.length();
    let sound = is_point(pose.translation.into()) && (0.9..1.1).contains(&length);
    sound.then(|| Isometry3d { rotation: pose.rotation.normalize(), ..pose })
}
