//! Copy of the static world geometry, for many lines in a short time.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::{
    parry::{
        bounding_volume::Aabb,
        partitioning::{Bvh, BvhBuildStrategy},
        query::{Ray as ParryRay, RayCast, RayIntersection},
        shape::{FeatureId, HeightField, SharedShape, Triangle, TypedShape},
    },
    rapier::math::Pose,
};

use super::{WallPiece, WorldTrace};

/// Part of a collider that is not convex and has no convex parts.
const NO_PART: u32 = u32::MAX;

/// Name of a piece of the level that a line has met, in one [`LevelCopy`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WallId {
    /// Index of the collider.
    pub collider: u32,
    /// Triangle of a mesh, or shape of a compound; 0 for a convex collider.
    pub part: u32,
}

/// Fixed colliders of the level, copied from physics. A line through it takes a fraction of the time of
/// [`WorldTrace::cast`], which looks up bodies and filters and meets the colliders of all pawns as well. The copy does
/// not follow the level: [`LevelChanges`](super::LevelChanges) says when a new one is due. Copying takes about a
/// microsecond for each collider. Default: an empty level.
#[derive(Default)]
pub struct LevelCopy {
    bvh: Bvh,
    walls: Vec<Wall>,
}

/// Collider of the level.
struct Wall {
    pose: Pose,
    shape: SharedShape,
    /// The collider as a piece, if it is convex.
    piece: Option<WallPiece>,
}

impl Wall {
    fn new(pose: Pose, shape: SharedShape) -> Self {
        let piece = shape.is_convex().then(|| WallPiece::convex(pose, shape.clone()));
        Self { pose, shape, piece }
    }

    /// Returns the distance along a line before the collider.
    fn distance_along(&self, line: &Line, most: f32) -> Option<f32> {
        match &self.piece {
            Some(piece) => piece.share_before(line.from, line.to).map(|share| share * line.length),
            None => self.shape.cast_ray(&self.pose, &line.ray, most, true),
        }
        .filter(|distance| *distance <= most)
    }
}

impl LevelCopy {
    fn new(walls: Vec<Wall>) -> Self {
        let bounds = walls.iter().map(|wall| wall.shape.compute_aabb(&wall.pose));
        let bvh = Bvh::from_iter(BvhBuildStrategy::default(), bounds.enumerate());
        Self { bvh, walls }
    }

    /// Returns the first wall between two points, with the share of the line before it; `None` if there is none.
    #[must_use]
    pub fn first_wall(&self, a: Vec3, b: Vec3) -> Option<(WallId, f32)> {
        let line = Line::new(a, b)?;
        let (index, distance) = self.bvh.cast_ray(&line.ray, line.length, |index, most| {
            self.walls.get(index as usize)?.distance_along(&line, most)
        })?;
        Some((self.name(index, &line)?, distance / line.length))
    }

    /// Calls `met` with walls between two points, in any order.
    pub fn walls_along(&self, a: Vec3, b: Vec3, mut met: impl FnMut(WallId)) {
        let Some(line) = Line::new(a, b) else { return };
        for index in self.bvh.leaves(|node| node.cast_ray(&line.ray, line.length) <= line.length) {
            let Some(wall) = self.walls.get(index as usize) else { continue };
            if wall.distance_along(&line, line.length).is_some()
                && let Some(name) = self.name(index, &line)
            {
                met(name);
            }
        }
    }

    /// Calls `met` with the walls whose bounds meet an axis-aligned box. Those that are not convex have no piece.
    pub fn walls_in(&self, low: Vec3, high: Vec3, mut met: impl FnMut(WallId)) {
        if !(low.is_finite() && high.is_finite()) {
            return;
        }
        for index in self.bvh.intersect_aabb(&Aabb::new(low, high)) {
            let is_convex = self.walls.get(index as usize).is_some_and(|wall| wall.piece.is_some());
            met(WallId { collider: index, part: if is_convex { 0 } else { NO_PART } });
        }
    }

    /// Returns the piece with this name; `None` if it is not convex or does not exist.
    #[must_use]
    pub fn piece(&self, id: WallId) -> Option<WallPiece> {
        let Wall { pose, shape, piece } = self.walls.get(id.collider as usize)?;
        let triangle = |triangle: Triangle| Some(WallPiece::convex(*pose, SharedShape::new(triangle)));
        match shape.as_typed_shape() {
            _ if id.part == NO_PART => None,
            TypedShape::TriMesh(mesh) => {
                let is_known = (id.part as usize) < mesh.indices().len();
                is_known.then(|| mesh.triangle(id.part)).and_then(triangle)
            }
            TypedShape::HeightField(field) => {
                let is_known = id.part < triangles(field);
                is_known.then(|| field.triangle_at_id(id.part)).flatten().and_then(triangle)
            }
            TypedShape::Compound(compound) => {
                let (at, shape) = compound.shapes().get(id.part as usize)?;
                shape.is_convex().then(|| WallPiece::convex(*pose * *at, shape.clone()))
            }
            _ => piece.clone(),
        }
    }

    fn name(&self, index: u32, line: &Line) -> Option<WallId> {
        let wall = self.walls.get(index as usize)?;
        let part = if wall.piece.is_some() { 0 } else { part(wall.shape.as_typed_shape(), &wall.pose, line) };
        Some(WallId { collider: index, part })
    }
}

impl WorldTrace<'_, '_> {
    /// Returns a copy of all static geometry.
    #[must_use]
    pub fn copy_level(&self) -> LevelCopy {
        let mut walls = Vec::new();
        self.each_near(
            |_, _| true,
            |_, collider| walls.push(Wall::new(*collider.position(), collider.shared_shape().clone())),
        );
        LevelCopy::new(walls)
    }
}

/// Line between two points.
struct Line {
    from: Vec3A,
    to: Vec3A,
    /// With a unit direction: terrain is not met reliably along longer ones.
    ray: ParryRay,
    length: f32,
}

impl Line {
    /// Returns `None` for a line without an extent.
    fn new(a: Vec3, b: Vec3) -> Option<Self> {
        let (direction, length) = Dir3::new_and_length(b - a).ok()?;
        let ray = ParryRay::new(a, direction.as_vec3());
        (a.is_finite() && length.is_finite()).then(|| Self { from: a.into(), to: b.into(), ray, length })
    }
}

/// Returns the number of triangles of a terrain, two for each cell.
fn triangles(field: &HeightField) -> u32 {
    (field.nrows() * field.ncols() * 2) as u32
}

/// Returns the part of a collider that is not convex that a ray meets first.
fn part(shape: TypedShape<'_>, pose: &Pose, Line { ray, length, .. }: &Line) -> u32 {
    let face = |hit: Option<RayIntersection>, count: u32| {
        match hit.map(|hit| hit.feature) {
            // Back faces are counted after the front faces.
            Some(FeatureId::Face(face)) => face % count.max(1),
            _ => NO_PART,
        }
    };
    match shape {
        TypedShape::TriMesh(mesh) => {
            face(mesh.cast_ray_and_get_normal(pose, ray, *length, true), mesh.indices().len() as u32)
        }
        TypedShape::HeightField(field) => {
            face(field.cast_ray_and_get_normal(pose, ray, *length, true), triangles(field))
        }
        TypedShape::Compound(compound) => {
            let hits = compound.shapes().iter().zip(0..).filter_map(|((at, shape), index)| {
                Some((shape.cast_ray(&(*pose * *at), ray, *length, true)?, index))
            });
            hits.min_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(NO_PART, |(_, index)| index)
        }
        _ => NO_PART,
    }
}
