//! Shapes that a file can express.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use serde::{Deserialize, Serialize};

/// Shape of a box. Sizes are in metres, more than 0 and at most 100.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FileShape {
    /// Box around its centre.
    Box {
        /// Half extents.
        half: [f32; 3],
    },
    /// Ball around its centre.
    Ball {
        /// Radius.
        radius: f32,
    },
    /// Capsule: all points within `radius` of a line segment.
    Capsule {
        /// One end of the segment.
        a: [f32; 3],
        /// The other end.
        b: [f32; 3],
        /// Radius.
        radius: f32,
    },
}

impl From<FileShape> for Collider {
    fn from(shape: FileShape) -> Self {
        match shape {
            FileShape::Box { half: [x, y, z] } => Self::cuboid(x, y, z),
            FileShape::Ball { radius } => Self::ball(radius),
            FileShape::Capsule { a, b, radius } => Self::capsule(a.into(), b.into(), radius),
        }
    }
}

impl FileShape {
    /// Returns `None` for a shape that a file cannot express.
    #[must_use]
    pub fn of(shape: &Collider) -> Option<Self> {
        let raw = &shape.raw;
        if let Some(cuboid) = raw.as_cuboid() {
            Some(Self::Box { half: cuboid.half_extents.into() })
        } else if let Some(ball) = raw.as_ball() {
            Some(Self::Ball { radius: ball.radius })
        } else {
            let capsule = raw.as_capsule()?;
            let (a, b) = (capsule.segment.a.into(), capsule.segment.b.into());
            Some(Self::Capsule { a, b, radius: capsule.radius })
        }
    }
}

/// Returns the centre and the half extents of a shape's bounding box.
pub(crate) fn bounding_box(shape: &Collider) -> (Vec3, Vec3) {
    let around = shape.raw.compute_local_aabb();
    let (low, high) = (Vec3::from_array(around.mins.into()), Vec3::from_array(around.maxs.into()));
    ((low + high) * 0.5, (high - low) * 0.5)
}
