//! Convex parts of the level near a pawn.

use bevy::prelude::*;
use bevy_rapier3d::parry::{bounding_volume::Aabb, math::Pose, query::Ray, shape::SharedShape};

use crate::BaseId;

/// The geometry of a part, in the space of the step: see [`Frame`](crate::frame::Frame).
#[derive(Clone)]
pub(crate) enum PartShape {
    /// A box along the axes: the part's own [`Part::aabb`].
    Box,
    /// A box in a pose.
    TurnedBox {
        /// To the space of the step.
        pose: Pose,
        /// Half extents.
        half: Vec3,
    },
    /// A flat, two-sided triangle.
    Triangle {
        /// Corners.
        corners: [Vec3; 3],
        /// One long; the side is that of the corners' order.
        normal: Vec3,
    },
    /// All that is within `radius` of a segment; a ball when its ends are one.
    Capsule {
        /// One end.
        a: Vec3,
        /// The other.
        b: Vec3,
        /// Metres.
        radius: f32,
    },
    /// Any other convex shape, measured by parry.
    Convex {
        /// To the space of the step.
        pose: Pose,
        /// In its own space.
        shape: SharedShape,
    },
}

/// A convex piece of a collider.
#[derive(Clone)]
pub(crate) struct Part {
    /// Its box in the space of the step.
    pub(crate) aabb: Aabb,
    /// What it is.
    pub(crate) shape: PartShape,
    /// Decides the order of parts, by geometry alone: rapier's order depends on the history of
    /// its tree, entities on the order of spawning.
    pub(crate) order: u64,
    /// Which piece of the collider.
    pub(crate) index: u32,
    /// The movement base that carries it.
    pub(crate) base: BaseId,
    /// The side that stops, one long, if only one does.
    pub(crate) one_way: Option<Vec3>,
    /// Whether it is another pawn: nothing to stand on for long, nothing to be pushed out of hard.
    pub(crate) pawn: bool,
}

/// The normal of a triangle, if it has one.
pub(crate) fn triangle_normal([a, b, c]: &[Vec3; 3]) -> Option<Vec3> {
    (*b - *a).cross(*c - *a).try_normalize()
}

impl Part {
    /// The normal of the face that a capsule above `point` rests on, `normal` being the direction
    /// from the part to the capsule. They differ on an edge: a capsule that balances on the rim
    /// of a step has a slanting contact, yet the step is level.
    pub(crate) fn face_normal(&self, point: Vec3, normal: Vec3) -> Vec3 {
        match &self.shape {
            PartShape::Triangle { normal: face, .. } => {
                if face.dot(normal) < 0.0 {
                    -*face
                } else {
                    *face
                }
            }
            PartShape::Box => {
                // A millimetre: the contact lies on the upper face.
                if point.y >= self.aabb.maxs.y - 1e-3 { Vec3::Y } else { normal }
            }
            PartShape::TurnedBox { pose, half } => {
                let local = pose.inverse_transform_point(point).to_array();
                let mut best = normal;
                for (i, (value, half)) in local.into_iter().zip(half.to_array()).enumerate() {
                    if value.abs() >= half - 1e-3 {
                        let mut axis = [0.0; 3];
                        axis[i] = value.signum();
                        let face = pose.rotation * Vec3::from_array(axis);
                        if face.y > best.y {
                            best = face;
                        }
                    }
                }
                best
            }
            PartShape::Capsule { .. } => normal,
            PartShape::Convex { pose, shape } => {
                // Straight down onto the part, a little inside its rim.
                let inwards = Vec3::new(-normal.x, 0.0, -normal.z).normalize_or_zero() * 5e-3;
                let ray = Ray::new(point + inwards + Vec3::Y * 0.02, Vec3::NEG_Y);
                match shape.cast_ray_and_get_normal(pose, &ray, 0.05, true) {
                    Some(hit) if hit.time_of_impact > 1e-4 && hit.normal.y > normal.y => hit.normal,
                    _ => normal,
                }
            }
        }
    }
}
