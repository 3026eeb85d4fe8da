//! Targets that change their rig and hit boxes: old shots are tested against the earlier ones.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{LimbRig, NetId};
use bevy_unlag_rewind::{BodyBounds, HitBox, HitBoxes, HitGroup, MovedPoses, RewindBackend};

use crate::shapes::range::{CircularMotion, Range};

/// A rig with one limb, 0.5 m or 2.5 m above the root.
fn one_limb_rig(high: bool) -> LimbRig {
    fn low(_: &bevy_unlag_core::PoseSample, limbs: &mut [Isometry3d]) {
        limbs.fill(Isometry3d::from_xyz(0.0, 0.5, 0.0));
    }
    fn up(_: &bevy_unlag_core::PoseSample, limbs: &mut [Isometry3d]) {
        limbs.fill(Isometry3d::from_xyz(0.0, 2.5, 0.0));
    }
    LimbRig::new(1, if high { up } else { low })
}

fn ball(radius: f32) -> HitBoxes {
    let bounds = BodyBounds { radius: 1.0, low: -0.5, high: 3.5 };
    HitBoxes::new([HitBox::new(0, HitGroup::Body, Collider::ball(radius))], bounds)
}

/// Whether a shot `ago` ticks back hits at the height of the low limb, and at that of the high one.
fn hits(range: &mut Range, ago: f64) -> [bool; 2] {
    range.with_rewound(ago, |then, _, _| {
        [0.5, 2.5].map(|height| then.cast_ray(Vec3::Y * height, Vec3::NEG_Z, 40.0).is_ok())
    })
}

fn spawn_scene() -> (Range, Entity) {
    let mut range = Range::new(0, true);
    let still = CircularMotion { middle: Vec3::NEG_Z * 5.0, radius: 0.0, speed: 0.0, start: 0.0 };
    let target = range.add(1, still, ball(0.3));
    range.app.world_mut().entity_mut(target).insert(one_limb_rig(false));
    range.run(60);
    (range, target)
}

#[test]
fn shot_with_view_before_a_rig_change_tests_the_old_rig() {
    for backend in [RewindBackend::Table, RewindBackend::MoveColliders(MovedPoses::Drawn)] {
        let (mut range, target) = spawn_scene();
        range.app.insert_resource(backend);
        range.app.world_mut().entity_mut(target).insert((ball(0.4), one_limb_rig(true)));
        range.run(12);
        assert_eq!(hits(&mut range, 20.0), [true, false], "before");
        assert_eq!(hits(&mut range, 4.0), [false, true], "after");
        // Changing only the rig counts as well, and so does changing it back.
        range.app.world_mut().entity_mut(target).insert(one_limb_rig(false));
        range.run(10);
        assert_eq!(hits(&mut range, 25.0), [true, false], "two changes ago");
        assert_eq!(hits(&mut range, 15.0), [false, true], "before the last change");
        assert_eq!(hits(&mut range, 3.0), [true, false], "after the last change");
    }
}

#[test]
fn despawned_target_is_hit_on_the_rig_of_the_view_time() {
    let (mut range, target) = spawn_scene();
    range.app.world_mut().entity_mut(target).insert(one_limb_rig(true));
    range.run(10);
    range.app.world_mut().despawn(target);
    range.run(4);
    assert_eq!(hits(&mut range, 20.0), [true, false]);
    assert_eq!(hits(&mut range, 8.0), [false, true]);
    let name = range.with_rewound(8.0, |then, _, _| then.cast_ray(Vec3::Y * 2.5, Vec3::NEG_Z, 40.0));
    assert_eq!(name.map(|hit| hit.target), Ok(NetId(1)));
}
