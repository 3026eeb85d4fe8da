//! Convex parts of the level near a pawn.

use bevy::prelude::*;
use bevy_rapier3d::parry::{bounding_volume::Aabb, math::Pose, query::Ray, shape::SharedShape};

use crate::base::BaseId;

/// Geometry of a part, in the space of the step: see [`Frame`](crate::frame::Frame).
#[derive(Clone)]
pub(crate) enum PartShape {
    /// Axis-aligned box: the part's own [`Part::aabb`].
    Box,
    /// Oriented box.
    TurnedBox {
        /// Transform to the space of the step.
        pose: Pose,
        /// Half extents.
        half: Vec3,
    },
    /// Flat, two-sided triangle.
    Triangle {
        /// Corners.
        corners: [Vec3; 3],
        /// Unit normal, by the order of the corners.
        normal: Vec3,
    },
    /// Capsule, that is everything within `radius` of a segment; a ball when both ends are equal.
    Capsule {
        /// First end of the segment.
        a: Vec3,
        /// Second end of the segment.
        b: Vec3,
        /// Radius in metres.
        radius: f32,
    },
    /// Any other convex shape, measured by parry.
    Convex {
        /// Transform to the space of the step.
        pose: Pose,
        /// Shape in its own space.
        shape: SharedShape,
    },
}

/// Convex piece of a collider.
#[derive(Clone)]
pub(crate) struct Part {
    /// Bounding box in the space of the step.
    pub(crate) aabb: Aabb,
    /// Geometry.
    pub(crate) shape: PartShape,
    /// Sort key from the geometry alone: rapier's order depends on the history of its tree, and entities
    /// on the order of spawning.
    pub(crate) order: u64,
    /// Index of the piece in the collider.
    pub(crate) index: u32,
    /// Movement base that carries the part.
    pub(crate) base: BaseId,
    /// Unit normal of the blocking side, if only one side blocks.
    pub(crate) one_way: Option<Vec3>,
    /// Whether the part is another pawn. It is no floor to stand on, and a pawn is not pushed out of it.
    pub(crate) pawn: bool,
}

/// Returns the unit normal of a triangle; `None` for a degenerate one.
pub(crate) fn triangle_normal([a, b, c]: &[Vec3; 3]) -> Option<Vec3> {
    (*b - *a).cross(*c - *a).try_normalize()
}

impl Part {
    /// Returns the normal of the face that a capsule above `point` rests on; `normal` is the direction
    /// from the part to the capsule. They differ on an edge: a capsule that balances on the rim of a
    /// step has a slanted contact normal, yet the step is level.
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
                // Within a millimetre the contact lies on the upper face.
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
                // Cast a ray straight down onto the part, slightly inside its rim.
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
