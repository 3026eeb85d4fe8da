//! Invalid, degenerate and extreme colliders.

use super::*;

/// Colliders with non-finite values, infinite positions or zero size.
fn invalid_colliders() -> Vec<(Collider, Transform)> {
    let cube = || Collider::cuboid(0.5, 0.5, 0.5);
    let here = Transform::from_xyz(1.0, 0.5, 0.0);
    let mut out = Vec::new();
    for number in [NAN, INF, -INF, 1e30, f32::MAX] {
        out.push((cube(), here.with_translation(Vec3::new(number, 0.5, 0.0))));
        out.push((cube(), here.with_translation(Vec3::splat(number))));
    }
    for number in [NAN, INF, -INF] {
        out.push((cube(), here.with_rotation(Quat::from_xyzw(number, 0.0, 0.0, 1.0))));
        out.push((cube(), here.with_scale(Vec3::new(1.0, number, 1.0))));
        out.push((Collider::ball(number), here));
        out.push((Collider::cuboid(number, 1.0, 1.0), here));
        out.push((Collider::capsule_y(number, 1.0), here));
        // Parry panics on cylinders with a negative radius.
        out.push((Collider::cylinder(1.0, number.abs()), here));
    }
    out.push((cube(), here.with_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0))));
    for scale in [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0), Vec3::splat(1e-9)] {
        out.push((cube(), here.with_scale(scale)));
        out.push((Collider::ball(1.0), here.with_scale(scale)));
        out.push((Collider::cylinder(1.0, 1.0), here.with_scale(scale)));
    }
    out
}

#[test]
fn invalid_colliders_do_not_affect_pawns_until_they_are_repaired() {
    let config = CapsuleConfig::default();
    let level = Level::default().floor();
    let mut app = level.app(DT);
    let start = settled_pawn(&mut app, &config, Vec3::ZERO);
    let (usual, _) = run(&mut app, &config, start, axis_inputs(127, 0, 64));
    for (nr, (collider, place)) in invalid_colliders().into_iter().enumerate() {
        let mut app = level.app(DT);
        let what = format!("collider {nr} at {place:?}");
        let bad = app.world_mut().spawn((collider, place)).id();
        MoverScene::refresh(app.world_mut());
        let (with, _) = run(&mut app, &config, start, axis_inputs(127, 0, 64));
        assert!(bits(&last_state(&usual)) == bits(&last_state(&with)), "{what}: {:?}", last_state(&with));
        app.world_mut()
            .entity_mut(bad)
            .insert((Collider::cuboid(0.5, 0.5, 0.5), Transform::from_xyz(3.0, 0.5, 0.0)));
        MoverScene::refresh(app.world_mut());
        let (mended, _) = run(&mut app, &config, start, axis_inputs(127, 0, 64));
        assert!(last_state(&mended).position.x < 2.5, "{what}, repaired: {:?}", last_state(&mended));
    }
}

#[test]
fn degenerate_and_huge_colliders_keep_states_finite() {
    let here = Transform::from_xyz(0.5, 0.5, 0.0);
    let turned = here.with_rotation(Quat::from_scaled_axis(Vec3::new(0.3, 0.7, -0.4)));
    let mut colliders = vec![
        Collider::cuboid(0.0, 0.0, 0.0),
        Collider::cuboid(0.0, 1.0, 1.0),
        Collider::cuboid(-1.0, 1.0, 1.0),
        Collider::cuboid(-1.0, -1.0, -1.0),
        Collider::ball(0.0),
        Collider::ball(-1.0),
        Collider::capsule_y(0.0, 0.0),
        Collider::cylinder(0.0, 0.0),
        Collider::cylinder(0.0, 1.0),
        Collider::cone(1.0, 0.0),
        Collider::segment(Vec3::ZERO, Vec3::ZERO),
        Collider::triangle(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO),
        Collider::triangle(Vec3::ZERO, Vec3::X, Vec3::X * 2.0),
        Collider::polyline(vec![Vec3::ZERO, Vec3::X], None),
        Collider::voxels(Vec3::splat(1e-3), &[IVec3::ZERO, IVec3::ONE]),
    ];
    for size in [1e-20, 1e4, 1e6, 1e12, 1e19, 1e30] {
        colliders.extend([
            Collider::cuboid(size, size, size),
            Collider::cuboid(size, 0.1, size),
            Collider::ball(size),
            Collider::capsule_x(size, 0.5),
            Collider::cylinder(size, size),
            Collider::cylinder(0.1, size),
            Collider::cone(size, 0.5),
            Collider::round_cuboid(size, 0.1, size, 0.1),
            Collider::triangle(Vec3::NEG_X * size, Vec3::X * size, Vec3::Z * size),
        ]);
    }
    colliders.extend(Collider::halfspace(Vec3::Y));
    colliders.extend(Collider::trimesh(vec![Vec3::ZERO; 3], vec![[0, 1, 2]]));
    let config = CapsuleConfig::default();
    for (nr, collider) in colliders.into_iter().enumerate() {
        for place in [here, turned, turned.with_scale(Vec3::new(-1.0, 2.0, 1.0))] {
            let level = Level::default().floor().thing(collider.clone(), place);
            let mut app = level.app(DT);
            let (states, _) = run(&mut app, &config, CapsuleState::at(Vec3::Y * 0.3), vec![RUN; 24]);
            assert!(states.iter().all(is_finite), "collider {nr} {collider:?} at {place:?}");
        }
    }
}

/// Level designers mirror scenes. Parry rejects cylinders with a negative scale.
#[test]
fn mirrored_colliders_block_pawns() {
    let sides =
        [Vec3::new(-1.0, 1.0, 1.0), Vec3::new(1.0, -1.0, 1.0), Vec3::new(1.0, 1.0, -1.0), Vec3::splat(-1.0)];
    for side in sides {
        let colliders = [
            Collider::cuboid(0.5, 1.0, 0.5),
            Collider::ball(0.8),
            Collider::capsule_y(0.5, 0.5),
            Collider::cylinder(1.0, 0.5),
            Collider::cone(1.0, 0.5),
            Collider::round_cuboid(0.4, 1.0, 0.4, 0.1),
            hills(&mut SmallRng::seed_from_u64(1), 4, 1.0, 0.1),
        ];
        for (nr, collider) in colliders.into_iter().enumerate() {
            let place = Transform::from_xyz(2.0, 0.8, 0.0).with_scale(side);
            let mut app = Level::default().floor().thing(collider, place).app(DT);
            let config = CapsuleConfig::default();
            let start = settled_pawn(&mut app, &config, Vec3::ZERO);
            let (states, _) = run(&mut app, &config, start, axis_inputs(127, 0, 40));
            assert!(last_state(&states).position.x < 1.9, "collider {nr}, {side}: {:?}", last_state(&states));
        }
    }
}

/// Includes rapier, which runs in the same app.
#[test]
fn app_ignores_invalid_colliders_and_keeps_running() {
    let level = Level::default().floor();
    for (nr, (collider, place)) in invalid_colliders().into_iter().enumerate() {
        let mut app = level.app(DT);
        app.update();
        let bad = app.world_mut().spawn((collider, place, ColliderScale::Relative(Vec3::ONE))).id();
        for _ in 0..4 {
            app.update();
        }
        let counts = app.world().resource::<MoverScene>().counts();
        assert_eq!(counts, [1, 0, 0], "collider {nr} at {place:?}");
        app.world_mut().entity_mut(bad).despawn();
        app.update();
        assert_walks_on(&mut app, CapsuleState::at(Vec3::Y), &format!("after collider {nr} at {place:?}"));
    }
}
