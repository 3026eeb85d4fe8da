//! Tests of the order of parts and of the cache between steps.

use super::*;
use crate::scene::PawnCapsule;

/// Returns ten overlapping shapes around the origin.
fn overlapping_shapes() -> Vec<(Collider, Transform)> {
    let turned = |i: i32| {
        let at = Vec3::new(i as f32 * 0.1, 0.05, -0.02 * i as f32);
        Transform::from_translation(at).with_rotation(Quat::from_rotation_y(i as f32))
    };
    let quad = vec![Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0), Vec3::Z, Vec3::Y];
    let Ok(mesh) = Collider::trimesh(quad, vec![[0, 1, 2], [0, 1, 3], [1, 2, 3]]) else {
        panic!("expected a mesh")
    };
    let mut overlapping_shapes: Vec<_> = (0..3).map(|i| (cube(0.5 + i as f32 * 0.1), turned(i))).collect();
    overlapping_shapes.extend((3..6).map(|i| (Collider::ball(0.3), turned(i))));
    overlapping_shapes.extend((6..9).map(|i| (Collider::capsule_y(0.5, 0.2), turned(i))));
    overlapping_shapes.push((mesh, turned(9)));
    overlapping_shapes
}

fn seen(app: &mut App) -> Vec<(u64, u32, [[u32; 3]; 2], String)> {
    parts(expect_synced(app), NO_PAWN, unit_box_at(0.0)).iter().map(bits).collect()
}

#[test]
fn part_order_does_not_depend_on_spawn_order() {
    let spawn = |overlapping_shapes: Vec<(Collider, Transform)>| {
        let mut app = level();
        for bundle in overlapping_shapes {
            app.world_mut().spawn(bundle);
        }
        seen(&mut app)
    };
    let forwards = spawn(overlapping_shapes());
    assert!(forwards.len() > 6);
    let mut backwards = overlapping_shapes();
    backwards.reverse();
    assert_eq!(spawn(backwards), forwards);
    let mut mixed = overlapping_shapes();
    mixed.rotate_left(4);
    mixed.swap(0, 7);
    assert_eq!(spawn(mixed), forwards);
}

#[test]
fn part_order_does_not_depend_on_changes_elsewhere() {
    let mut app = level();
    for bundle in overlapping_shapes() {
        app.world_mut().spawn(bundle);
    }
    let before = seen(&mut app);
    let others: Vec<Entity> =
        (0..300).map(|i| app.world_mut().spawn((cube(0.5), at(20.0 + i as f32))).id()).collect();
    assert_eq!(seen(&mut app), before);
    for entity in others.iter().step_by(2) {
        app.world_mut().entity_mut(*entity).despawn();
    }
    assert_eq!(seen(&mut app), before);
    MoverScene::refresh(app.world_mut());
    assert_eq!(seen(&mut app), before);
}

#[test]
fn cached_parts_equal_freshly_collected_parts() {
    let mut app = level();
    for x in 0..40 {
        app.world_mut().spawn((cube(0.45), at(x as f32)));
    }
    let [walker, fresh] = [(); 2].map(|()| app.world_mut().spawn_empty().id());
    for i in 0..200 {
        // Back and forth over the colliders and beyond them, with an occasional new collider.
        let x = (i as f32 * 0.37) % 45.0 - 2.0;
        if i % 17 == 0 {
            app.world_mut().spawn((Collider::ball(0.2), at(x + 0.3)));
        }
        let scene = expect_synced(&mut app);
        let known: Vec<_> = parts(scene, walker, unit_box_at(x)).iter().map(bits).collect();
        // Looks elsewhere first, so that nothing of this place is cached.
        parts(scene, fresh, unit_box_at(-500.0));
        let looked: Vec<_> = parts(scene, fresh, unit_box_at(x)).iter().map(bits).collect();
        assert_eq!(known, looked, "at {x}");
    }
}

#[test]
fn parts_of_earlier_regions_stay_when_another_region_is_requested() {
    let mut app = level();
    app.world_mut().spawn((cube(0.5), at(0.0)));
    app.world_mut().spawn((cube(0.5), at(10.0)));
    let scene = expect_synced(&mut app);
    let frames = [Frame::new(Vec3::Y, Vec3::ZERO), Frame::new(Vec3::Z, Vec3::ZERO)];
    for frame in frames {
        scene.with_parts(NO_PAWN, 0.0, u32::MAX, frame, Include::Bases, |near| {
            assert!(near.parts().is_empty(), "no region requested yet");
            near.cover(unit_box_at(0.0));
            assert_eq!(near.parts().len(), 1);
            near.cover(unit_box_at(10.0));
            assert_eq!(near.parts().len(), 2);
            near.cover(Aabb::new(Vec3::NAN, Vec3::NAN));
            near.cover(unit_box_at(0.0));
            assert_eq!(near.parts().len(), 2);
        });
    }
}

#[test]
fn nested_step_does_not_disturb_the_outer_step() {
    let mut app = level();
    app.world_mut().spawn((cube(0.5), at(0.0)));
    app.world_mut().spawn((cube(0.5), at(10.0)));
    let scene = expect_synced(&mut app);
    scene.with_parts(NO_PAWN, 0.0, u32::MAX, Frame::new(Vec3::Y, Vec3::ZERO), Include::Bases, |near| {
        near.cover(unit_box_at(0.0));
        assert_eq!(parts(scene, NO_PAWN, unit_box_at(10.0)).len(), 1);
        assert_eq!(touching(near.parts(), unit_box_at(0.0)).len(), 1);
    });
}

#[test]
fn two_apps_in_a_thread_do_not_share_cached_parts() {
    let [mut one, mut two] = [level(), level()];
    one.world_mut().spawn((cube(0.5), at(0.0)));
    two.world_mut().spawn((Collider::ball(0.5), at(0.0)));
    for _ in 0..3 {
        assert_eq!(seen(&mut one).len(), 1);
        assert_eq!(seen(&mut one)[0].3, "box");
        assert_ne!(seen(&mut two)[0].3, "box");
    }
}

#[test]
fn more_parts_than_the_cache_limit_are_all_collected() {
    let mut app = level();
    let edge = 20;
    let cells: Vec<IVec3> =
        (0..edge * edge * edge).map(|i| IVec3::new(i % edge, i / edge % edge, i / edge / edge)).collect();
    app.world_mut().spawn((Collider::voxels(Vec3::splat(0.05), &cells), Transform::default()));
    let region = Aabb::from_half_extents(Vec3::splat(0.5), Vec3::splat(0.6));
    let scene = expect_synced(&mut app);
    for _ in 0..2 {
        assert_eq!(parts(scene, NO_PAWN, region).len(), cells.len());
    }
}

#[test]
fn other_pawns_come_last_sorted_by_position() {
    let pawn = |x: f32| PawnCapsule { feet: Vec3::X * x, up: Vec3::Y, radius: 0.3, half_height: 0.9, id: 0 };
    let spawn = |places: [f32; 3]| {
        let mut app = level();
        app.world_mut().spawn((cube(0.5), at(0.0)));
        let own = app.world_mut().spawn(pawn(0.05)).id();
        for x in places {
            app.world_mut().spawn(pawn(x));
        }
        app.world_mut().spawn(PawnCapsule { radius: f32::NAN, ..pawn(0.0) });
        app.world_mut().spawn(PawnCapsule { feet: Vec3::NAN, ..pawn(0.0) });
        app.world_mut().spawn(PawnCapsule { up: Vec3::ZERO, ..pawn(0.0) });
        let scene = expect_synced(&mut app);
        let with = |include: Include| -> Vec<_> {
            scene.with_parts(own, 0.0, u32::MAX, Frame::new(Vec3::Y, Vec3::ZERO), include, |near| {
                near.cover(unit_box_at(0.0));
                near.parts().iter().map(|part| (part.pawn, bits(part))).collect()
            })
        };
        assert_eq!(with(Include::Bases).len(), 1);
        let all = with(Include::Pawns);
        assert_eq!(with(Include::Bases).len(), 1, "pawns must not stay cached");
        all
    };
    let all = spawn([0.1, 0.2, 0.3]);
    assert_eq!(all.iter().map(|(pawn, _)| *pawn).collect::<Vec<_>>(), [false, true, true, true]);
    assert_eq!(spawn([0.3, 0.1, 0.2]), all);
}
