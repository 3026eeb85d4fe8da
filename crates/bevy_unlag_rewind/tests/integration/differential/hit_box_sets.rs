//! Hit box sets with shapes of all kinds.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_rewind::{
    BodyBounds, HUMANOID_LIMBS, HitBox, HitBoxes, HitGroup, humanoid_hit_boxes, humanoid_rig,
};
use rand::{Rng, rngs::SmallRng, seq::IndexedRandom};

/// Upper bound of the distance from a root to any part of a set, in metres.
pub const REACH: f32 = 3.3;

/// Sets for targets with and without limbs.
pub struct HitBoxSets {
    limbs: Vec<HitBoxes>,
    plain: Vec<HitBoxes>,
}

fn turned(x: f32, y: f32, z: f32) -> Isometry3d {
    Isometry3d::new(Vec3::new(x, y, z), Quat::from_euler(EulerRot::XYZ, y, x * 3.0, z * 5.0))
}

/// Balls and capsules, and boxes and a cylinder with offsets from their limbs.
fn rounded() -> HitBoxes {
    let boxes = HUMANOID_LIMBS.iter().zip(0u8..).map(|((group, half), limb)| {
        let (shape, offset) = match limb {
            0 => (Collider::ball(half.y), Isometry3d::from_xyz(0.0, 0.02, 0.01)),
            1 => (Collider::cylinder(half.y, half.x), Isometry3d::IDENTITY),
            2..=4 => (Collider::cuboid(half.x, half.y, half.z), turned(0.05, 0.1, -0.06)),
            _ => (Collider::capsule_y(half.y, half.x), turned(0.0, 0.0, 0.03)),
        };
        HitBox { factor: 0.5 + f32::from(limb), ..HitBox::new(limb, *group, shape).at(offset) }
    });
    HitBoxes::new(boxes, BodyBounds { radius: 1.1, low: -0.3, high: 2.1 })
}

/// A head inside its chest, a head made of two boxes, and a box on a missing limb.
fn nested() -> HitBoxes {
    let boxes = [
        HitBox::new(2, HitGroup::Body, Collider::cuboid(0.4, 0.5, 0.4)),
        HitBox::new(2, HitGroup::Head, Collider::cuboid(0.1, 0.1, 0.1)),
        HitBox::new(0, HitGroup::Head, Collider::ball(0.15)).at(Isometry3d::from_xyz(0.1, 0.0, 0.0)),
        HitBox::new(0, HitGroup::Head, Collider::cuboid(0.1, 0.12, 0.1)),
        HitBox::new(30, HitGroup::Body, Collider::ball(2.0)),
        HitBox::new(17, HitGroup::Limb, Collider::capsule_x(0.2, 0.1)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 1.2, low: -0.4, high: 2.3 })
}

/// A set with the tightest possible bounds.
fn post() -> HitBoxes {
    let boxes = [
        HitBox::new(0, HitGroup::Body, Collider::capsule_y(0.3, 0.4)),
        HitBox::new(0, HitGroup::Head, Collider::ball(0.3)).at(Isometry3d::from_xyz(0.0, 0.6, 0.0)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 0.4, low: -0.7, high: 0.9 })
}

/// Tall and thin: a fraction of a degree moves its top by centimetres.
fn mast() -> HitBoxes {
    let boxes = [
        HitBox::new(0, HitGroup::Body, Collider::capsule(Vec3::ZERO, Vec3::Y * 2.6, 0.1)),
        HitBox::new(0, HitGroup::Head, Collider::ball(0.1)).at(Isometry3d::from_xyz(0.0, 2.7, 0.0)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 0.1, low: -0.1, high: 2.8 })
}

fn barrel() -> HitBoxes {
    let boxes = [
        HitBox::new(0, HitGroup::Body, Collider::cylinder(0.6, 0.4)),
        HitBox::new(0, HitGroup::Head, Collider::ball(0.2)).at(Isometry3d::from_xyz(0.0, 0.7, 0.0)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 0.4, low: -0.6, high: 0.9 })
}

fn cart() -> HitBoxes {
    let boxes = [
        HitBox::new(0, HitGroup::Body, Collider::cuboid(0.9, 0.3, 1.4))
            .at(Isometry3d::from_xyz(0.0, 0.3, 0.2)),
        HitBox::new(0, HitGroup::Limb, Collider::capsule_z(0.8, 0.25)).at(turned(0.3, 0.8, 0.0)),
        HitBox::new(3, HitGroup::Body, Collider::ball(1.0)),
    ];
    HitBoxes::new(boxes, BodyBounds::ball(2.3))
}

impl Default for HitBoxSets {
    fn default() -> Self {
        let limbs = vec![
            humanoid_hit_boxes(),
            humanoid_hit_boxes().nearest_first(),
            rounded(),
            rounded().nearest_first(),
            nested(),
        ];
        Self { limbs, plain: vec![post(), mast(), barrel(), cart(), cart().nearest_first()] }
    }
}

impl HitBoxSets {
    pub fn choose(&self, with_limbs: bool, rng: &mut SmallRng) -> HitBoxes {
        let sets = if with_limbs { &self.limbs } else { &self.plain };
        // Half of all targets have the most common set.
        let usual = rng.random_bool(0.5);
        if usual { sets[0].clone() } else { sets.choose(rng).expect("there must be a set").clone() }
    }
}

#[test]
fn reach_of_all_sets_is_below_the_bound() {
    let wardrobe = HitBoxSets::default();
    for set in wardrobe.limbs.iter().chain(&wardrobe.plain) {
        assert!(set.bounds().reach() < REACH);
    }
    assert_eq!(usize::from(humanoid_rig().limbs), HUMANOID_LIMBS.len());
}
