//! Convex pieces of the static world geometry, for many lines against the same wall.

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{
        query::{Ray as ParryRay, RayCast, RayIntersection},
        shape::{FeatureId, SharedShape, Triangle, TypedShape},
    },
    prelude::*,
    rapier::{math::Pose, prelude::ColliderHandle},
};

use super::WorldTrace;

/// Part of a collider that is not convex and has no convex parts.
const NO_PART: u32 = u32::MAX;
/// Cosine of the largest tilt of a cuboid that stands upright.
const UPRIGHT: f32 = 0.9999;

/// Name of a piece of the level that a line has met. It is valid until the level changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WallId {
    /// Index and generation of the collider.
    pub collider: (u32, u32),
    /// Triangle of a mesh, or shape of a compound; 0 for a convex collider.
    pub part: u32,
}

/// Convex piece of the level: a convex collider, a convex part of a compound, or a triangle of a mesh. Because it is
/// convex, it is between all points of two convex regions if it is between all their corners.
#[derive(Clone, Debug)]
pub struct WallPiece(Shape);

#[derive(Clone)]
enum Shape {
    /// Centre, axes and half extents.
    Cuboid(Vec3, Mat3, Vec3),
    Convex(Pose, SharedShape),
}

impl core::fmt::Debug for Shape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cuboid(centre, _, half) => write!(f, "Cuboid({centre}, {half})"),
            Self::Convex(pose, _) => write!(f, "Convex({:?})", pose.translation),
        }
    }
}

impl WallPiece {
    /// Creates a cuboid with these half extents in metres.
    #[must_use]
    pub fn cuboid(pose: Isometry3d, half: Vec3) -> Self {
        Self(Shape::Cuboid(pose.translation.into(), Mat3::from_quat(pose.rotation), half))
    }

    /// Returns whether the piece is between two points, or contains one of them.
    #[must_use]
    pub fn blocks(&self, a: Vec3, b: Vec3) -> bool {
        match &self.0 {
            Shape::Cuboid(centre, axes, half) => {
                let [a, b] = [a, b].map(|point| axes.transpose() * (point - *centre));
                passes_cuboid(a, b, *half)
            }
            // As long as the line, so that the distance is a share of it.
            Shape::Convex(pose, shape) => shape.intersects_ray(pose, &ParryRay::new(a, b - a), 1.0),
        }
    }

    /// Returns whether the piece blocks all lines at any heights from `low` to `high` along `up` if it blocks one of
    /// them: it is a cuboid that stands upright and is at least as high.
    #[must_use]
    pub fn spans(&self, up: Vec3, low: f32, high: f32) -> bool {
        let Shape::Cuboid(centre, axes, half) = &self.0 else { return false };
        let along = axes.transpose() * up;
        let upright = along.abs().max_element() > UPRIGHT;
        let (middle, extent) = (centre.dot(up), along.abs().dot(*half));
        upright && middle - extent <= low && middle + extent >= high
    }
}

/// Returns whether the segment from `a` to `b` meets the cuboid with these half extents around the origin.
fn passes_cuboid(a: Vec3, b: Vec3, half: Vec3) -> bool {
    let way = b - a;
    // A zero becomes a tiny number: the slab is then either all of the line or nothing of it.
    let inverse = Vec3::select(way.abs().cmplt(Vec3::splat(1e-9)), Vec3::splat(1e-9), way).recip();
    let (first, second) = ((-half - a) * inverse, (half - a) * inverse);
    let enter = first.min(second).max_element().max(0.0);
    let leave = first.max(second).min_element().min(1.0);
    enter <= leave
}

impl WorldTrace<'_, '_> {
    /// Returns the first wall between two points; `None` if there is none.
    #[must_use]
    pub fn first_wall(&self, a: Vec3, b: Vec3) -> Option<WallId> {
        if !(a.is_finite() && b.is_finite()) || a == b {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let ray = ParryRay::new(a, b - a);
        rapier.with_query_pipeline(QueryFilter::only_fixed().exclude_sensors(), |pipeline| {
            let pipeline = &pipeline.query_pipeline;
            let (handle, _) = pipeline.cast_ray(&ray, 1.0, true)?;
            let collider = pipeline.colliders.get(handle)?;
            let part = part(collider.shape().as_typed_shape(), collider.position(), &ray);
            Some(WallId { collider: handle.into_raw_parts(), part })
        })
    }

    /// Returns the piece with this name; `None` if it is not convex or no longer exists.
    #[must_use]
    pub fn wall_piece(&self, id: WallId) -> Option<WallPiece> {
        let rapier = self.rapier.single().ok()?;
        let (index, generation) = id.collider;
        let collider = rapier.colliders.colliders.get(ColliderHandle::from_raw_parts(index, generation))?;
        let pose = *collider.position();
        let triangle = |triangle: Triangle| Some(Shape::Convex(pose, SharedShape::new(triangle)));
        let shape = match collider.shape().as_typed_shape() {
            _ if id.part == NO_PART => None,
            TypedShape::Cuboid(cuboid) => {
                Some(Shape::Cuboid(pose.translation, Mat3::from_quat(pose.rotation), cuboid.half_extents))
            }
            TypedShape::TriMesh(mesh) => {
                let is_known = (id.part as usize) < mesh.indices().len();
                is_known.then(|| mesh.triangle(id.part)).and_then(triangle)
            }
            TypedShape::HeightField(field) => field.triangle_at_id(id.part).and_then(triangle),
            TypedShape::Compound(compound) => {
                let (at, shape) = compound.shapes().get(id.part as usize)?;
                shape.is_convex().then(|| Shape::Convex(pose * *at, shape.clone()))
            }
            _ => Some(Shape::Convex(pose, collider.shared_shape().clone())),
        };
        shape.map(WallPiece)
    }
}

/// Returns the part of a collider that a ray meets first.
fn part(shape: TypedShape<'_>, pose: &Pose, ray: &ParryRay) -> u32 {
    let face = |hit: Option<RayIntersection>, count: u32| {
        match hit.map(|hit| hit.feature) {
            // Back faces are counted after the front faces.
            Some(FeatureId::Face(face)) => face % count.max(1),
            _ => NO_PART,
        }
    };
    match shape {
        TypedShape::TriMesh(mesh) => {
            face(mesh.cast_ray_and_get_normal(pose, ray, 1.0, true), mesh.indices().len() as u32)
        }
        TypedShape::HeightField(field) => face(field.cast_ray_and_get_normal(pose, ray, 1.0, true), u32::MAX),
        TypedShape::Compound(compound) => {
            let hits = compound.shapes().iter().zip(0..).filter_map(|((at, shape), index)| {
                Some((shape.cast_ray(&(*pose * *at), ray, 1.0, true)?, index))
            });
            hits.min_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(NO_PART, |(_, index)| index)
        }
        TypedShape::Polyline(_) | TypedShape::Voxels(_) | TypedShape::Custom(_) => NO_PART,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall() -> WallPiece {
        let pose = Isometry3d::new(Vec3::new(5.0, 1.5, 0.0), Quat::from_rotation_y(0.3));
        WallPiece::cuboid(pose, Vec3::new(0.1, 1.5, 4.0))
    }

    #[test]
    fn cuboid_blocks_what_is_behind_it_and_inside() {
        let wall = wall();
        let behind = Vec3::new(10.0, 1.0, 0.0);
        assert!(wall.blocks(Vec3::Y, behind) && wall.blocks(behind, Vec3::Y));
        assert!(wall.blocks(Vec3::new(5.0, 1.0, 0.0), behind), "from inside");
        assert!(!wall.blocks(Vec3::Y, Vec3::new(4.0, 1.0, 0.0)), "before it");
        assert!(!wall.blocks(Vec3::Y * 4.0, behind + Vec3::Y * 3.0), "above it");
        assert!(!wall.blocks(Vec3::Y, Vec3::new(5.0, 1.0, 9.0)), "beside it");
        // Along an axis of the box.
        let straight = WallPiece::cuboid(Isometry3d::IDENTITY, Vec3::ONE);
        assert!(straight.blocks(Vec3::X * -2.0, Vec3::X * 2.0));
        assert!(!straight.blocks(Vec3::new(-2.0, 1.5, 0.0), Vec3::new(2.0, 1.5, 0.0)));
    }

    #[test]
    fn upright_wall_spans_the_heights_that_it_covers() {
        let wall = wall();
        assert!(wall.spans(Vec3::Y, 0.0, 2.9) && wall.spans(Vec3::NEG_Y, -2.9, 0.0));
        assert!(!wall.spans(Vec3::Y, 0.0, 3.1) && !wall.spans(Vec3::Y, -0.1, 2.0));
        let tilted =
            WallPiece::cuboid(Isometry3d::from_rotation(Quat::from_rotation_x(0.2)), Vec3::splat(5.0));
        assert!(!tilted.spans(Vec3::Y, 0.0, 1.0));
    }
}
