//! Hash that is the same on all platforms and in all versions; the hashers of std promise neither.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    math::Pose,
    shape::{Shape, TypedShape},
};

/// Hash state that absorbs 64-bit words.
#[derive(Clone, Copy)]
pub(super) struct StableHasher(u64);

impl StableHasher {
    pub(super) fn new() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }

    pub(super) fn word(self, word: u64) -> Self {
        let mixed = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(mixed ^ (mixed >> 32))
    }

    pub(super) fn vector(self, vector: Vec3) -> Self {
        // Adding 0 turns -0 into 0.
        vector.to_array().into_iter().fold(self, |mix, number| mix.word(u64::from((number + 0.0).to_bits())))
    }

    pub(super) fn pose(self, pose: &Pose) -> Self {
        let [x, y, z, w] = pose.rotation.to_array();
        self.vector(pose.translation).vector(Vec3::new(x, y, z)).vector(Vec3::new(w, 0.0, 0.0))
    }

    /// Adds enough of a shape to distinguish it from other shapes at the same place.
    pub(super) fn shape(self, shape: &dyn Shape) -> Self {
        let bounds = shape.compute_local_aabb();
        let mix = self.word(shape.shape_type() as u64).vector(bounds.mins).vector(bounds.maxs);
        match shape.as_typed_shape() {
            TypedShape::HalfSpace(half_space) => mix.vector(half_space.normal),
            TypedShape::TriMesh(mesh) => {
                let corners = mesh.vertices();
                let mix = mix.word(corners.len() as u64).word(mesh.indices().len() as u64);
                // At most about 256 samples: enough to distinguish real meshes, at a bounded cost.
                let stride = corners.len().div_ceil(256).max(1);
                let mix = corners.iter().step_by(stride).fold(mix, |mix, corner| mix.vector(*corner));
                // Parts of one model may share their vertices.
                let triangles = mesh.indices();
                let stride = triangles.len().div_ceil(256).max(1);
                triangles.iter().step_by(stride).flatten().fold(mix, |mix, i| mix.word(u64::from(*i)))
            }
            TypedShape::Compound(compound) => compound
                .shapes()
                .iter()
                .take(256)
                .fold(mix, |mix, (pose, child)| mix.pose(pose).word(child.shape_type() as u64)),
            TypedShape::HeightField(field) => {
                let heights = field.heights().data();
                let stride = heights.len().div_ceil(256).max(1);
                heights.iter().step_by(stride).fold(mix, |mix, height| mix.word(u64::from(height.to_bits())))
            }
            _ => match shape.as_support_map() {
                // Support points towards the corners of a cube.
                Some(map) => (0..8_u8).fold(mix, |mix, corner| {
                    let side = |bit: u8| if corner & bit == 0 { -1.0 } else { 1.0 };
                    mix.vector(map.local_support_point(Vec3::new(side(1), side(2), side(4))))
                }),
                None => mix,
            },
        }
    }

    pub(super) fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 29)
    }
}
