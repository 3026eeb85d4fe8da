//! Decomposition of a collider's shape into convex parts.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    math::Pose,
    shape::{SharedShape, Triangle, TypedShape},
};

use super::{
    obstacle::{Obstacle, bounds},
    stable_hash::StableHasher,
};
use crate::{
    base::BaseId,
    part::{Part, PartShape, triangle_normal},
};

/// Decomposes the colliders of one base, or of the world, into parts.
pub(super) struct PartBuilder<'a> {
    /// Parts must touch this region.
    pub(super) region: Aabb,
    pub(super) base: BaseId,
    /// Maximum number of parts.
    pub(super) limit: usize,
    /// Output, in the space of `region`.
    pub(super) out: &'a mut Vec<Part>,
}

/// Properties that all parts of a collider share.
#[derive(Clone, Copy)]
struct Source {
    order: u64,
    one_way: Option<Vec3>,
}

impl PartBuilder<'_> {
    /// Adds the parts of `obstacle`. `space` is the transform from the obstacle's space to that of the
    /// region.
    pub(super) fn add_obstacle(&mut self, obstacle: &Obstacle, space: Option<&Pose>) {
        let pose = space.map_or(obstacle.pose, |space| *space * obstacle.pose);
        let one_way = obstacle.one_way.map(|side| space.map_or(side, |space| space.rotation * side));
        if pose.is_finite() {
            self.shape(&Source { order: obstacle.order, one_way }, &pose, &obstacle.shape);
        }
    }

    fn shape(&mut self, source: &Source, pose: &Pose, shape: &SharedShape) {
        // Grids and trees of parry are queried in their own space.
        let local = || self.region.transform_by(&pose.inverse());
        match shape.as_typed_shape() {
            TypedShape::Cuboid(cuboid) => self.cuboid(source, 0, pose, cuboid.half_extents),
            TypedShape::Ball(ball) => {
                self.capsule(source, pose.translation, pose.translation, ball.radius);
            }
            TypedShape::Capsule(capsule) => {
                let [a, b] = [capsule.segment.a, capsule.segment.b].map(|end| pose.transform_point(end));
                self.capsule(source, a, b, capsule.radius);
            }
            TypedShape::Segment(segment) => {
                self.capsule(source, pose.transform_point(segment.a), pose.transform_point(segment.b), 0.0);
            }
            TypedShape::Triangle(triangle) => self.triangle(source, 0, pose, triangle),
            TypedShape::TriMesh(mesh) => {
                let local = local();
                for i in mesh.bvh().intersect_aabb(&local) {
                    self.triangle(source, i, pose, &mesh.triangle(i));
                }
            }
            TypedShape::HeightField(field) => {
                let local = local();
                field.map_elements_in_local_aabb(&local, &mut |i, triangle| {
                    self.triangle(source, i, pose, triangle);
                });
            }
            TypedShape::Voxels(voxels) => {
                let (local, half) = (local(), voxels.voxel_size() * 0.5);
                for voxel in voxels.voxels_intersecting_local_aabb(&local) {
                    if !voxel.state.is_empty() {
                        let [x, y, z] = voxel.grid_coords.to_array().map(i32::cast_unsigned);
                        let index = ((x & 0x7ff) << 21) | ((y & 0x3ff) << 11) | (z & 0x7ff);
                        let pose = pose.prepend_translation(voxel.center);
                        self.cuboid(source, index, &pose, half);
                    }
                }
            }
            // Parry does not allow nested compounds.
            TypedShape::Compound(compound) => {
                let local = local();
                for i in compound.bvh().intersect_aabb(&local) {
                    if let Some((offset, child)) = compound.shapes().get(i as usize) {
                        let order = StableHasher::new().word(source.order).word(u64::from(i)).finish();
                        self.shape(&Source { order, ..*source }, &(*pose * *offset), child);
                    }
                }
            }
            _ if shape.is_convex() => {
                let geometry = PartShape::Convex { pose: *pose, shape: shape.clone() };
                self.push(source, 0, bounds(&**shape, pose), geometry);
            }
            // A polyline has neither inside nor side: a pawn cannot stand on it.
            _ => {}
        }
    }

    fn cuboid(&mut self, source: &Source, index: u32, pose: &Pose, half: Vec3) {
        if pose.rotation == Quat::IDENTITY {
            let aabb = Aabb::new(pose.translation - half, pose.translation + half);
            self.push(source, index, aabb, PartShape::Box);
        } else {
            let aabb = Aabb::new(-half, half).transform_by(pose);
            self.push(source, index, aabb, PartShape::TurnedBox { pose: *pose, half });
        }
    }

    fn capsule(&mut self, source: &Source, a: Vec3, b: Vec3, radius: f32) {
        let round = Vec3::splat(radius);
        let aabb = Aabb::new(a.min(b) - round, a.max(b) + round);
        self.push(source, 0, aabb, PartShape::Capsule { a, b, radius });
    }

    fn triangle(&mut self, source: &Source, index: u32, pose: &Pose, triangle: &Triangle) {
        let corners = [triangle.a, triangle.b, triangle.c].map(|corner| pose.transform_point(corner));
        // A degenerate triangle has no normal; its edges belong to its neighbours as well.
        if let Some(normal) = triangle_normal(&corners) {
            let [a, b, c] = corners;
            let aabb = Aabb::new(a.min(b).min(c), a.max(b).max(c));
            self.push(source, index, aabb, PartShape::Triangle { corners, normal });
        }
    }

    fn push(&mut self, source: &Source, index: u32, aabb: Aabb, shape: PartShape) {
        if self.out.len() < self.limit && aabb.intersects(&self.region) {
            let &Source { order, one_way } = source;
            self.out.push(Part { aabb, shape, order, index, base: self.base, one_way, pawn: false });
        }
    }
}

/// Sorts parts by their geometry, so that ties between them are decided the same way on all machines.
pub(super) fn sort(parts: &mut [Part]) {
    let place =
        |part: &Part| [part.aabb.mins, part.aabb.maxs].map(|corner| corner.to_array().map(f32::to_bits));
    parts.sort_unstable_by(|a, b| {
        // Equal indices are rare: voxels that are far apart.
        (a.order, a.index).cmp(&(b.order, b.index)).then_with(|| place(a).cmp(&place(b)))
    });
}

/// Transforms `part` to another space by `to`.
pub(super) fn turned(part: &Part, to: &Pose) -> Part {
    let (aabb, shape) = match &part.shape {
        PartShape::Box => {
            let (centre, half) = (part.aabb.center(), part.aabb.half_extents());
            turned_box(to.prepend_translation(centre), half)
        }
        PartShape::TurnedBox { pose, half } => turned_box(*to * *pose, *half),
        PartShape::Triangle { corners, normal } => {
            let corners = corners.map(|corner| to.transform_point(corner));
            let normal = triangle_normal(&corners).unwrap_or(to.rotation * *normal);
            let [a, b, c] = corners;
            let aabb = Aabb::new(a.min(b).min(c), a.max(b).max(c));
            (aabb, PartShape::Triangle { corners, normal })
        }
        PartShape::Capsule { a, b, radius } => {
            let (a, b, radius) = (to.transform_point(*a), to.transform_point(*b), *radius);
            let round = Vec3::splat(radius);
            (Aabb::new(a.min(b) - round, a.max(b) + round), PartShape::Capsule { a, b, radius })
        }
        PartShape::Convex { pose, shape } => {
            let pose = *to * *pose;
            (bounds(&**shape, &pose), PartShape::Convex { pose, shape: shape.clone() })
        }
    };
    Part { aabb, shape, one_way: part.one_way.map(|side| to.rotation * side), ..*part }
}

fn turned_box(pose: Pose, half: Vec3) -> (Aabb, PartShape) {
    (Aabb::new(-half, half).transform_by(&pose), PartShape::TurnedBox { pose, half })
}
