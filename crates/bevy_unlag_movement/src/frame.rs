//! Coordinate frame of a step, in which up is +Y whatever the direction of gravity.

use bevy::prelude::*;
use bevy_rapier3d::parry::{bounding_volume::Aabb, math::Pose};
use bevy_unlag_core::upright_rotation;

/// Frame in which a step is computed: up is +Y. If +Y is up in the world, it is world space itself, bit
/// by bit. Otherwise its origin is the pawn, so that a pawn at rest stays at rest bit by bit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Frame {
    /// `None` when the frame is world space.
    turned: Option<Pose>,
}

impl Frame {
    /// Creates the frame of a pawn with its feet at `origin`. `up` must be a unit vector.
    pub(crate) fn new(up: Vec3, origin: Vec3) -> Self {
        let turned = (up != Vec3::Y).then(|| Pose::from_parts(origin, upright_rotation(up)));
        Self { turned }
    }

    /// Returns whether the frame is world space.
    pub(crate) fn is_world(&self) -> bool {
        self.turned.is_none()
    }

    /// Returns the transform from this frame to world space.
    pub(crate) fn pose(&self) -> Pose {
        self.turned.unwrap_or(Pose::IDENTITY)
    }

    pub(crate) fn to_world(self, point: Vec3) -> Vec3 {
        self.turned.map_or(point, |pose| pose.transform_point(point))
    }

    pub(crate) fn to_local(self, point: Vec3) -> Vec3 {
        self.turned.map_or(point, |pose| pose.inverse_transform_point(point))
    }

    pub(crate) fn direction_to_world(self, direction: Vec3) -> Vec3 {
        self.turned.map_or(direction, |pose| pose.rotation * direction)
    }

    pub(crate) fn direction_to_local(self, direction: Vec3) -> Vec3 {
        self.turned.map_or(direction, |pose| pose.rotation.inverse() * direction)
    }

    /// Returns a box in world space that contains `local`.
    pub(crate) fn aabb_to_world(self, local: Aabb) -> Aabb {
        self.turned.map_or(local, |pose| local.transform_by(&pose))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_maps_its_y_axis_to_the_up_direction_and_round_trips_points() {
        for up in [Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::NEG_Z, Vec3::new(1.0, -2.0, 0.5).normalize()] {
            let frame = Frame::new(up, Vec3::new(3.0, 1.0, -2.0));
            assert!((frame.direction_to_world(Vec3::Y) - up).length() < 1e-6, "{up}");
            let p = Vec3::new(0.3, -4.0, 9.0);
            assert!((frame.to_local(frame.to_world(p)) - p).length() < 1e-5);
            assert_eq!(frame.is_world(), up == Vec3::Y);
        }
    }
}
