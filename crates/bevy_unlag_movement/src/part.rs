//! Convex parts of the level near a pawn, in an order that every machine agrees on.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    math::Pose,
    query::Ray,
    shape::{Shape, Triangle, TypedShape},
};
use smallvec::SmallVec;

/// No move looks at more parts than this; a level that has more of them within a metre or two of
/// one pawn is no level.
const MAX_PARTS: usize = 4096;
/// How deep compounds may lie in compounds.
const MAX_DEPTH: u32 = 4;

/// The geometry of a part.
pub(crate) enum PartShape<'a> {
    /// Half extents of a box in the part's pose.
    Box(Vec3),
    /// Corners in the world, whatever the part's pose.
    Triangle([Vec3; 3]),
    /// Any other convex shape in the part's pose.
    Convex(&'a dyn Shape),
}

/// Bits of the collider's pose and box, and the index of the part in it. Rapier's own order
/// depends on the history of its tree, entities on the order of spawning; this is geometry alone.
type PartKey = [u32; 14];

/// A convex piece of a collider.
pub(crate) struct Part<'a> {
    key: PartKey,
    /// Its box in the world.
    pub(crate) aabb: Aabb,
    /// From the part's space to the world.
    pub(crate) pose: Pose,
    /// What it is.
    pub(crate) shape: PartShape<'a>,
}

/// The parts that a move can reach.
pub(crate) type Parts<'a> = SmallVec<[Part<'a>; 64]>;

fn key(pose: &Pose, local: &Aabb, index: u32) -> PartKey {
    let mut key = [index; 14];
    let numbers = pose
        .translation
        .to_array()
        .into_iter()
        .chain(pose.rotation.to_array())
        .chain(local.mins.to_array())
        .chain(local.maxs.to_array());
    for (slot, number) in key.iter_mut().zip(numbers) {
        // Adding 0 turns -0 into 0.
        *slot = (number + 0.0).to_bits();
    }
    key
}

/// Adds the convex parts of `shape` that touch `region`.
pub(crate) fn push_parts<'a>(
    pose: Pose,
    shape: &'a dyn Shape,
    index: u32,
    region: &Aabb,
    depth: u32,
    out: &mut Parts<'a>,
) {
    if depth > MAX_DEPTH || out.len() >= MAX_PARTS || !pose.is_finite() {
        return;
    }
    let local_box = shape.compute_local_aabb();
    let local = region.transform_by(&pose.inverse());
    let mut push = |index: u32, pose: Pose, aabb: Aabb, shape: PartShape<'a>| {
        if out.len() < MAX_PARTS && aabb.intersects(region) {
            out.push(Part { key: key(&pose, &local_box, index), aabb, pose, shape });
        }
    };
    match shape.as_typed_shape() {
        TypedShape::TriMesh(mesh) => {
            for i in mesh.bvh().intersect_aabb(&local) {
                push_triangle(i, &pose, &mesh.triangle(i), &mut push);
            }
        }
        TypedShape::HeightField(field) => {
            field.map_elements_in_local_aabb(&local, &mut |i, triangle| {
                push_triangle(i, &pose, triangle, &mut push);
            });
        }
        TypedShape::Triangle(triangle) => push_triangle(index, &pose, triangle, &mut push),
        TypedShape::Voxels(voxels) => {
            let half = voxels.voxel_size() * 0.5;
            for (i, voxel) in voxels.voxels_intersecting_local_aabb(&local).enumerate() {
                if !voxel.state.is_empty() {
                    let pose = pose * Pose::from_translation(voxel.center);
                    push(i as u32, pose, Aabb::new(-half, half).transform_by(&pose), PartShape::Box(half));
                }
            }
        }
        TypedShape::Compound(compound) => {
            for i in compound.bvh().intersect_aabb(&local) {
                if let Some((offset, child)) = compound.shapes().get(i as usize) {
                    push_parts(pose * *offset, &**child, i, region, depth + 1, out);
                }
            }
        }
        // A line has no inside and no side: nothing to stand on.
        TypedShape::Polyline(_) => {}
        TypedShape::Cuboid(cuboid) => {
            push(index, pose, shape.compute_aabb(&pose), PartShape::Box(cuboid.half_extents));
        }
        _ => push(index, pose, shape.compute_aabb(&pose), PartShape::Convex(shape)),
    }
}

fn push_triangle<'a>(
    index: u32,
    pose: &Pose,
    triangle: &Triangle,
    push: &mut impl FnMut(u32, Pose, Aabb, PartShape<'a>),
) {
    let corners = [triangle.a, triangle.b, triangle.c].map(|corner| pose.transform_point(corner));
    // A triangle without area has no normal; its edges belong to its neighbours as well.
    if triangle_normal(&corners).is_some() {
        let mins = corners[0].min(corners[1]).min(corners[2]);
        let maxs = corners[0].max(corners[1]).max(corners[2]);
        push(index, *pose, Aabb::new(mins, maxs), PartShape::Triangle(corners));
    }
}

/// Sorts parts by geometry, so that ties between them are decided alike everywhere.
pub(crate) fn sort(parts: &mut Parts<'_>) {
    parts.sort_unstable_by_key(|part| part.key);
}

/// The normal of a triangle, if it has one.
pub(crate) fn triangle_normal([a, b, c]: &[Vec3; 3]) -> Option<Vec3> {
    (b - a).cross(c - a).try_normalize()
}

impl Part<'_> {
    /// The normal of the face that a capsule above `point` rests on, `normal` being the direction
    /// from the part to the capsule. They differ on an edge: a capsule that balances on the rim
    /// of a step has a slanting contact, yet the step is level.
    pub(crate) fn face_normal(&self, point: Vec3, normal: Vec3) -> Vec3 {
        match &self.shape {
            PartShape::Triangle(corners) => match triangle_normal(corners) {
                Some(face) if face.dot(normal) < 0.0 => -face,
                Some(face) => face,
                None => normal,
            },
            PartShape::Box(half) => {
                let local = self.pose.inverse_transform_point(point).to_array();
                let mut best = normal;
                for (i, (value, half)) in local.into_iter().zip(half.to_array()).enumerate() {
                    // A millimetre: the contact lies on this face.
                    if value.abs() >= half - 1e-3 {
                        let mut axis = [0.0; 3];
                        axis[i] = value.signum();
                        let face = self.pose.rotation * Vec3::from_array(axis);
                        if face.y > best.y {
                            best = face;
                        }
                    }
                }
                best
            }
            PartShape::Convex(shape) => {
                // Straight down onto the part, a little inside its rim.
                let inwards = Vec3::new(-normal.x, 0.0, -normal.z).normalize_or_zero() * 5e-3;
                let ray = Ray::new(point + inwards + Vec3::Y * 0.02, Vec3::NEG_Y);
                match shape.cast_ray_and_get_normal(&self.pose, &ray, 0.05, true) {
                    Some(hit) if hit.time_of_impact > 1e-4 && hit.normal.y > normal.y => hit.normal,
                    _ => normal,
                }
            }
        }
    }
}
