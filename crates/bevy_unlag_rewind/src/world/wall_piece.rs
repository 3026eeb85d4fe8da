//! Convex pieces of the static world geometry, for many lines against the same wall.

use bevy::{
    math::{Mat3A, Vec3A},
    prelude::*,
};
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

/// Distance in metres up to which cuboids touch, and sizes are equal.
const GAP: f32 = 0.005;

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
    Cuboid(TurnedCuboid),
    Convex(Pose, SharedShape),
}

#[derive(Clone, Copy, Debug)]
struct TurnedCuboid {
    centre: Vec3A,
    axes: Mat3A,
    /// Whether the axes are those of the world.
    is_aligned: bool,
    half: Vec3A,
}

impl TurnedCuboid {
    fn new(centre: Vec3, rotation: Quat, half: Vec3) -> Self {
        let is_aligned = rotation.xyz() == Vec3::ZERO;
        Self { centre: centre.into(), axes: Mat3A::from_quat(rotation), is_aligned, half: half.into() }
    }

    /// Returns a vector along its own axes.
    #[inline]
    fn turn(&self, way: Vec3A) -> Vec3A {
        if self.is_aligned { way } else { self.axes.transpose() * way }
    }
}

impl core::fmt::Debug for Shape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cuboid(cuboid) => core::fmt::Debug::fmt(cuboid, f),
            Self::Convex(pose, _) => write!(f, "Convex({:?})", pose.translation),
        }
    }
}

impl WallPiece {
    /// Creates a cuboid with these half extents in metres.
    #[must_use]
    pub fn cuboid(pose: Isometry3d, half: Vec3) -> Self {
        Self(Shape::Cuboid(TurnedCuboid::new(pose.translation.into(), pose.rotation, half)))
    }

    /// Returns whether the piece is between two points, or contains one of them.
    #[inline]
    #[must_use]
    pub fn blocks(&self, a: Vec3A, b: Vec3A) -> bool {
        match &self.0 {
            Shape::Cuboid(cuboid) => {
                let [a, b] = [a, b].map(|point| cuboid.turn(point - cuboid.centre));
                passes_cuboid(a, b, cuboid.half)
            }
            // As long as the line, so that the distance is a share of it.
            Shape::Convex(pose, shape) => {
                shape.intersects_ray(pose, &ParryRay::new(a.into(), (b - a).into()), 1.0)
            }
        }
    }

    /// Returns whether the piece blocks all lines at any heights from `low` to `high` along `up` if it blocks one of
    /// them: it is a cuboid that stands upright and is at least as high.
    #[must_use]
    pub fn spans(&self, up: Vec3A, low: f32, high: f32) -> bool {
        let Shape::Cuboid(cuboid) = &self.0 else { return false };
        let along = cuboid.turn(up).abs();
        let (middle, extent) = (cuboid.centre.dot(up), along.dot(cuboid.half));
        along.max_element() > UPRIGHT && middle - extent <= low && middle + extent >= high
    }

    /// Returns the cuboid that this one and `other` make up together; `None` if they are no cuboid together: walls of
    /// the same size in a line, without a gap.
    #[must_use]
    pub fn union(&self, other: &Self) -> Option<Self> {
        let (Shape::Cuboid(a), Shape::Cuboid(b)) = (&self.0, &other.0) else { return None };
        if !a.axes.abs_diff_eq(b.axes, 1e-4) {
            return None;
        }
        let apart = a.turn(b.centre - a.centre);
        let is_equal = |axis: usize| apart[axis].abs() <= GAP && (a.half[axis] - b.half[axis]).abs() <= GAP;
        let along = (0..3).find(|along| (0..3).all(|axis| axis == *along || is_equal(axis)))?;
        if apart[along].abs() > a.half[along] + b.half[along] + GAP {
            return None;
        }
        let low = (-a.half[along]).min(apart[along] - b.half[along]);
        let high = a.half[along].max(apart[along] + b.half[along]);
        // Where they differ, the smaller one: nothing is blocked that neither blocks.
        let mut all = TurnedCuboid { half: a.half.min(b.half), ..*a };
        all.half[along] = (high - low) * 0.5;
        all.centre += a.axes.col(along) * ((high + low) * 0.5);
        Some(Self(Shape::Cuboid(all)))
    }

    /// Returns whether both are the same cuboid, to a few millimetres.
    #[must_use]
    pub fn is_same_cuboid(&self, other: &Self) -> bool {
        let (Shape::Cuboid(a), Shape::Cuboid(b)) = (&self.0, &other.0) else { return false };
        a.axes.abs_diff_eq(b.axes, 1e-4)
            && a.centre.abs_diff_eq(b.centre, GAP)
            && a.half.abs_diff_eq(b.half, GAP)
    }
}

/// Returns whether the segment from `a` to `b` meets the cuboid with these half extents around the origin.
#[inline]
fn passes_cuboid(a: Vec3A, b: Vec3A, half: Vec3A) -> bool {
    let way = b - a;
    // A zero becomes a tiny number: the slab is then either all of the line or nothing of it.
    let tiny = Vec3A::splat(1e-9);
    let inverse = Vec3A::select(way.abs().cmplt(tiny), tiny, way).recip();
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

    /// Calls `met` with walls between two points, in any order.
    pub fn walls_along(&self, a: Vec3, b: Vec3, mut met: impl FnMut(WallId)) {
        let Ok(rapier) = self.rapier.single() else { return };
        if !(a.is_finite() && b.is_finite()) || a == b {
            return;
        }
        let ray = ParryRay::new(a, b - a);
        rapier.with_query_pipeline(QueryFilter::only_fixed().exclude_sensors(), |pipeline| {
            for (handle, collider, _) in pipeline.query_pipeline.intersect_ray(ray, 1.0, true) {
                let part = part(collider.shape().as_typed_shape(), collider.position(), &ray);
                met(WallId { collider: handle.into_raw_parts(), part });
            }
        });
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
                let cuboid = TurnedCuboid::new(pose.translation, pose.rotation, cuboid.half_extents);
                Some(Shape::Cuboid(cuboid))
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

    fn blocks(wall: &WallPiece, a: Vec3, b: Vec3) -> bool {
        wall.blocks(a.into(), b.into())
    }

    fn wall() -> WallPiece {
        let pose = Isometry3d::new(Vec3::new(5.0, 1.5, 0.0), Quat::from_rotation_y(0.3));
        WallPiece::cuboid(pose, Vec3::new(0.1, 1.5, 4.0))
    }

    #[test]
    fn cuboid_blocks_what_is_behind_it_and_inside() {
        let wall = wall();
        let behind = Vec3::new(10.0, 1.0, 0.0);
        assert!(blocks(&wall, Vec3::Y, behind) && blocks(&wall, behind, Vec3::Y));
        assert!(blocks(&wall, Vec3::new(5.0, 1.0, 0.0), behind), "from inside");
        assert!(!blocks(&wall, Vec3::Y, Vec3::new(4.0, 1.0, 0.0)), "before it");
        assert!(!blocks(&wall, Vec3::Y * 4.0, behind + Vec3::Y * 3.0), "above it");
        assert!(!blocks(&wall, Vec3::Y, Vec3::new(5.0, 1.0, 9.0)), "beside it");
        // Along an axis of the box.
        let straight = WallPiece::cuboid(Isometry3d::IDENTITY, Vec3::ONE);
        assert!(blocks(&straight, Vec3::X * -2.0, Vec3::X * 2.0));
        assert!(!blocks(&straight, Vec3::new(-2.0, 1.5, 0.0), Vec3::new(2.0, 1.5, 0.0)));
    }

    #[test]
    fn upright_wall_spans_the_heights_that_it_covers() {
        let wall = wall();
        assert!(wall.spans(Vec3A::Y, 0.0, 2.9) && wall.spans(Vec3A::NEG_Y, -2.9, 0.0));
        assert!(!wall.spans(Vec3A::Y, 0.0, 3.1) && !wall.spans(Vec3A::Y, -0.1, 2.0));
        let tilted =
            WallPiece::cuboid(Isometry3d::from_rotation(Quat::from_rotation_x(0.2)), Vec3::splat(5.0));
        assert!(!tilted.spans(Vec3A::Y, 0.0, 1.0));
    }

    #[test]
    fn walls_in_a_line_are_one_cuboid_and_others_are_not() {
        let turn = Quat::from_rotation_y(0.3);
        let part = |along: f32, half: Vec3| {
            WallPiece::cuboid(Isometry3d::new(turn * Vec3::new(0.0, 1.5, along), turn), half)
        };
        let (left, right) = (part(-2.0, Vec3::new(0.1, 1.5, 2.0)), part(1.0, Vec3::new(0.1, 1.5, 1.0)));
        let both = left.union(&right).expect("one wall");
        assert!(both.is_same_cuboid(&part(-1.0, Vec3::new(0.1, 1.5, 3.0))), "{both:?}");
        assert!(both.union(&left).expect("a part of it").is_same_cuboid(&both));
        for other in [
            part(1.1, Vec3::new(0.1, 1.5, 1.0)),
            part(1.0, Vec3::new(0.2, 1.5, 1.0)),
            part(1.0, Vec3::new(0.1, 1.0, 1.0)),
            WallPiece::cuboid(Isometry3d::from_xyz(0.0, 1.5, 1.0), Vec3::new(0.1, 1.5, 1.0)),
        ] {
            assert!(left.union(&other).is_none(), "{other:?}");
        }
    }
}
