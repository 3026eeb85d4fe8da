//! Disc sector as a convex shape for parry, given by its support function.

use core::f32::consts::PI;

use bevy::math::{Quat, Vec2, Vec3};
use bevy_rapier3d::{
    parry::{
        query::details::intersection_test_support_map_support_map,
        shape::{Shape as ParryShape, SupportMap},
    },
    rapier::math::Pose,
};

use super::MeleeArc;
use crate::validity;

/// Sector of a disc of less than half a turn, centred on -Z, with the same height above and below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wedge {
    reach: f32,
    half_angle: f32,
    half_height: f32,
    /// Direction in the space of the eye, in radians about +Y.
    turned: f32,
}

impl Wedge {
    /// Splits an arc into convex parts; `None` if the arc is invalid.
    pub fn cover(arc: &MeleeArc) -> Option<Wedges> {
        let MeleeArc { reach, half_angle, half_height } = *arc;
        let sound = validity::is_size(reach) && validity::is_size(half_height) && half_angle >= 0.0;
        let angle = half_angle.min(PI);
        let parts = if angle > PI * 0.45 { 3 } else { 1 };
        let part = |index: usize| {
            let half_angle = angle / parts as f32;
            let turned = (2 * index + 1) as f32 * half_angle - angle;
            Self { reach, half_angle, half_height, turned }
        };
        sound.then(|| Wedges { wedges: [part(0), part(1), part(2)], parts })
    }

    /// Returns whether a shape at a pose in the space of the eye intersects the wedge; always false for a
    /// shape that is not convex.
    pub fn touches(&self, pose: &Pose, shape: &dyn ParryShape) -> bool {
        let Some(shape) = shape.as_support_map() else { return false };
        let turn = Pose::from_parts(Vec3::ZERO, Quat::from_rotation_y(-self.turned));
        intersection_test_support_map_support_map(&(turn * *pose), self, shape)
    }
}

impl SupportMap for Wedge {
    fn local_support_point(&self, direction: Vec3) -> Vec3 {
        let height = if direction.y < 0.0 { -self.half_height } else { self.half_height };
        let flat = Vec2::new(direction.x, direction.z);
        // Measured from -Z, positive about +Y.
        let angle = (-flat.x).atan2(-flat.y);
        let rim = |angle: f32| Vec2::new(-angle.sin(), -angle.cos()) * self.reach;
        let nearest = rim(angle.clamp(-self.half_angle, self.half_angle));
        // For a direction behind the wedge the tip is the support point. Such a direction is nearer to
        // one end of the rim than to the other, and the clamped angle belongs to that end.
        let point = if nearest.dot(flat) <= 0.0 { Vec2::ZERO } else { nearest };
        Vec3::new(point.x, height, point.y)
    }
}

/// Convex parts of an arc.
pub(crate) struct Wedges {
    wedges: [Wedge; 3],
    parts: usize,
}

impl Wedges {
    pub fn iter(&self) -> impl Iterator<Item = &Wedge> {
        self.wedges[..self.parts].iter()
    }
}
