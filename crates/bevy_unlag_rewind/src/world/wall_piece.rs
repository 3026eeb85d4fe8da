//! Convex pieces of the static world geometry, for many lines against the same wall.

use bevy::{
    math::{Mat3A, Vec3A, Vec3Swizzles},
    prelude::*,
};
use bevy_rapier3d::{
    parry::{query::Ray as ParryRay, shape::SharedShape},
    rapier::math::Pose,
};

/// Cosine of the largest tilt of a cuboid that stands upright.
const UPRIGHT: f32 = 0.9999;

/// Distance in metres up to which cuboids touch, and sizes are equal.
const GAP: f32 = 0.005;

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

    /// Returns whether the line from `a` to `b` meets the cuboid: unless an axis separates them.
    #[inline]
    fn meets(&self, a: Vec3A, b: Vec3A) -> bool {
        let way = self.turn((b - a) * 0.5);
        let middle = self.turn((a + b) * 0.5 - self.centre);
        let (size, half) = (way.abs(), self.half);
        let is_near = middle.abs().cmple(half + size);
        let across = middle.cross(way).abs();
        (is_near & across.cmple(half.yzx() * size.zxy() + half.zxy() * size.yzx())).all()
    }

    /// Returns the share of the line from `a` to `b` that is before the cuboid; `None` if they do not meet.
    #[inline]
    fn share(&self, a: Vec3A, b: Vec3A) -> Option<f32> {
        let [a, b] = [a, b].map(|point| self.turn(point - self.centre));
        let way = b - a;
        // A zero becomes a tiny number: the slab is then either all of the line or nothing of it.
        let tiny = Vec3A::splat(1e-9);
        let inverse = Vec3A::select(way.abs().cmplt(tiny), tiny, way).recip();
        let (first, second) = ((-self.half - a) * inverse, (self.half - a) * inverse);
        let enter = first.min(second).max_element().max(0.0);
        let leave = first.max(second).min_element().min(1.0);
        (enter <= leave).then_some(enter)
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

    /// Creates a piece of a convex shape.
    pub(super) fn convex(pose: Pose, shape: SharedShape) -> Self {
        Self(match shape.as_cuboid() {
            Some(cuboid) => {
                Shape::Cuboid(TurnedCuboid::new(pose.translation, pose.rotation, cuboid.half_extents))
            }
            None => Shape::Convex(pose, shape),
        })
    }

    /// Returns whether the piece is between two points, or contains one of them.
    #[inline]
    #[must_use]
    pub fn blocks(&self, a: Vec3A, b: Vec3A) -> bool {
        match &self.0 {
            Shape::Cuboid(cuboid) => cuboid.meets(a, b),
            // As long as the line, so that the distance is a share of it.
            Shape::Convex(pose, shape) => {
                shape.intersects_ray(pose, &ParryRay::new(a.into(), (b - a).into()), 1.0)
            }
        }
    }

    /// Returns the share of the line from `a` to `b` before the piece, 0 if it contains `a`; `None` if it is not
    /// between them.
    #[inline]
    #[must_use]
    pub fn share_before(&self, a: Vec3A, b: Vec3A) -> Option<f32> {
        match &self.0 {
            Shape::Cuboid(cuboid) => cuboid.share(a, b),
            Shape::Convex(pose, shape) => {
                shape.cast_ray(pose, &ParryRay::new(a.into(), (b - a).into()), 1.0, true)
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

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

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
        assert_eq!(wall.share_before(Vec3A::new(5.0, 1.0, 0.0), behind.into()), Some(0.0));
        assert!(!blocks(&wall, Vec3::Y, Vec3::new(4.0, 1.0, 0.0)), "before it");
        assert!(!blocks(&wall, Vec3::Y * 4.0, behind + Vec3::Y * 3.0), "above it");
        assert!(!blocks(&wall, Vec3::Y, Vec3::new(5.0, 1.0, 9.0)), "beside it");
        // Along an axis of the box.
        let straight = WallPiece::cuboid(Isometry3d::IDENTITY, Vec3::ONE);
        assert!(blocks(&straight, Vec3::X * -2.0, Vec3::X * 2.0));
        assert!(!blocks(&straight, Vec3::new(-2.0, 1.5, 0.0), Vec3::new(2.0, 1.5, 0.0)));
    }

    #[test]
    fn line_meets_a_cuboid_exactly_if_a_share_of_it_is_before_it() {
        let mut rng = SmallRng::seed_from_u64(4);
        let mut met = 0;
        for case in 0..20_000 {
            let mut place = |most: f32| Vec3::from_array([0; 3].map(|_| rng.random_range(-most..most)));
            let turn = Quat::from_scaled_axis(if case % 2 == 0 { place(3.0) } else { Vec3::ZERO });
            let wall = WallPiece::cuboid(Isometry3d::new(place(1.0), turn), place(2.0).abs());
            let (a, mut b) = (place(4.0), place(4.0));
            if case % 5 == 0 {
                b.y = a.y;
            }
            let is_met = blocks(&wall, a, b);
            assert_eq!(is_met, wall.share_before(a.into(), b.into()).is_some(), "{wall:?} {a} {b}");
            met += usize::from(is_met);
        }
        assert!((2_000..18_000).contains(&met), "{met} of 20,000 lines");
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
