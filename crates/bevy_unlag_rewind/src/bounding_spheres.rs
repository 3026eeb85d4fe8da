//! Bounding spheres of hit boxes, tested against a ray four at a time.

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};

use crate::{shape::Shape, unit_ray::UnitRay};

/// Bounding spheres of four boxes, tested against a ray at once with SIMD.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundingSpheres4 {
    /// Centres, by axis.
    middles: [Vec4; 3],
    radii: Vec4,
}

impl BoundingSpheres4 {
    /// Centre and radius of a sphere that no ray comes near, for unused lanes.
    pub const NOWHERE: Vec4 = Vec4::new(1e18, 1e18, 1e18, 0.0);

    /// Builds the group from four centres (xyz) with radii (w).
    #[inline]
    pub fn around([a, b, c, d]: [Vec4; 4]) -> Self {
        let Mat4 { x_axis: x, y_axis: y, z_axis: z, w_axis: radii } = Mat4::from_cols(a, b, c, d).transpose();
        Self { middles: [x, y, z], radii }
    }

    pub fn middle(&self, lane: usize) -> Vec3A {
        Vec3A::new(self.middles[0][lane], self.middles[1][lane], self.middles[2][lane])
    }

    /// Returns two lane masks: the spheres that the ray comes near, and the spheres that could be hit
    /// within `enough` metres.
    #[inline]
    pub fn near(&self, ray: &UnitRay, enough: f32) -> (u32, u32) {
        let [x, y, z] = self.middles;
        let (origin, direction) = (ray.origin, ray.direction);
        let to = [x - origin.x, y - origin.y, z - origin.z];
        let along = to[0] * direction.x + to[1] * direction.y + to[2] * direction.z;
        let soon = (along - self.radii).cmple(Vec4::splat(enough)).bitmask();
        let along = along.max(Vec4::ZERO).min(Vec4::splat(ray.max));
        let aside = [to[0] - along * direction.x, to[1] - along * direction.y, to[2] - along * direction.z];
        let squares = aside[0] * aside[0] + aside[1] * aside[1] + aside[2] * aside[2];
        (squares.cmple(self.radii * self.radii).bitmask(), soon)
    }
}

/// Four consecutive hit boxes of a set: what their bounding spheres need, in one cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeGroup {
    limbs: [u8; Self::LANES],
    radii: [f32; Self::LANES],
    /// Whether all shapes are at the origins of their limbs.
    centred: bool,
}

impl ShapeGroup {
    /// Number of boxes in a group.
    pub const LANES: usize = 4;
    /// Limb of an unused lane; no pawn has so many.
    const NO_LIMB: u8 = u8::MAX;

    /// Groups the shapes of a set.
    pub fn all(shapes: &[Shape]) -> Vec<Self> {
        shapes.chunks(Self::LANES).map(Self::new).collect()
    }

    fn new(shapes: &[Shape]) -> Self {
        let limb = |lane: usize| shapes.get(lane).and_then(|shape| u8::try_from(shape.limb).ok());
        Self {
            limbs: core::array::from_fn(|lane| limb(lane).unwrap_or(Self::NO_LIMB)),
            radii: core::array::from_fn(|lane| shapes.get(lane).map_or(0.0, |shape| shape.radius)),
            centred: shapes.iter().all(|shape| shape.centred),
        }
    }

    /// Returns the bounding spheres on posed limbs, in the space of the limb poses. `shapes` are those of
    /// this group. A shape whose limb does not exist is nowhere.
    #[inline]
    pub fn spheres(&self, shapes: &[Shape], limbs: &[Isometry3d]) -> BoundingSpheres4 {
        let mut spheres = [BoundingSpheres4::NOWHERE; Self::LANES];
        for (lane, sphere) in spheres.iter_mut().enumerate() {
            if let Some(limb) = limbs.get(usize::from(self.limbs[lane])) {
                let middle = if self.centred { limb.translation } else { shapes[lane].middle(limb) };
                *sphere = middle.extend(self.radii[lane]);
            }
        }
        BoundingSpheres4::around(spheres)
    }
}

#[cfg(test)]
mod tests {
    use bevy_rapier3d::prelude::Collider;

    use super::*;
    use crate::hit_box::{HitBox, HitGroup};

    #[test]
    fn spheres_are_around_the_posed_shapes_and_unused_lanes_are_nowhere() {
        let limbs =
            [Isometry3d::from_xyz(0.0, 1.0, 0.0), Isometry3d::from_rotation(Quat::from_rotation_z(1.0))];
        let at = |limb: u8, offset: Vec3| {
            let hit_box = HitBox::new(limb, HitGroup::Body, Collider::cuboid(0.1, 0.2, 0.3));
            Shape::new(&hit_box.at(Isometry3d::from_translation(offset)))
        };
        for offset in [Vec3::ZERO, Vec3::new(0.5, 0.2, -0.1)] {
            // The limb of the fourth shape does not exist.
            let shapes = [at(0, Vec3::ZERO), at(1, offset), at(0, offset), at(7, offset), at(1, Vec3::ZERO)];
            let groups = ShapeGroup::all(&shapes);
            assert_eq!(groups.len(), 2);
            for (index, shape) in shapes.iter().enumerate().filter(|(index, _)| *index != 3) {
                let (group, lane) = (index / 4, index % 4);
                let spheres = groups[group].spheres(&shapes[group * 4..], &limbs);
                assert_eq!(spheres.middle(lane), shape.pose(limbs[shape.limb]).translation, "{index}");
                assert_eq!(spheres.radii[lane], shape.radius);
            }
            let nowhere = [
                groups[0].spheres(&shapes, &limbs).middle(3).x,
                groups[1].spheres(&shapes[4..], &limbs).middle(1).x,
            ];
            assert_eq!(nowhere, [1e18; 2]);
        }
    }
}
