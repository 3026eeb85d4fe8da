//! Tests of the decomposition of shapes into parts.

use bevy_rapier3d::parry::math::Pose;

use super::*;
use crate::volume::OneWayCollider;

/// Returns the parts of one collider around the origin.
fn cut(collider: Collider, transform: Transform) -> Vec<Part> {
    let mut app = level();
    app.world_mut().spawn((collider, transform));
    parts(expect_synced(&mut app), NO_PAWN, unit_box_at(0.0))
}

fn tilt() -> Transform {
    Transform::from_rotation(Quat::from_rotation_z(0.3))
}

fn close(a: Vec3, b: Vec3) -> bool {
    (a - b).length() < 1e-5
}

#[test]
fn cuboid_gives_an_axis_aligned_or_an_oriented_box() {
    let found = cut(Collider::cuboid(1.0, 2.0, 3.0), at(0.5));
    let [Part { aabb, shape: PartShape::Box, .. }] = &found[..] else { panic!("expected a box") };
    assert_eq!((aabb.mins, aabb.maxs), (Vec3::new(-0.5, -2.0, -3.0), Vec3::new(1.5, 2.0, 3.0)));
    let found = cut(Collider::cuboid(1.0, 2.0, 3.0), tilt());
    let [Part { aabb, shape: PartShape::TurnedBox { pose, half }, .. }] = &found[..] else {
        panic!("expected a turned box")
    };
    assert_eq!(*half, Vec3::new(1.0, 2.0, 3.0));
    assert!(close(pose.rotation * Vec3::X, tilt().rotation * Vec3::X));
    assert!(aabb.maxs.x > 1.5 && aabb.maxs.x < 1.6);
}

#[test]
fn balls_and_capsules_give_capsules() {
    let found = cut(Collider::ball(0.5), at(0.25));
    let [Part { shape: PartShape::Capsule { a, b, radius }, .. }] = &found[..] else {
        panic!("expected a ball")
    };
    assert_eq!((*a, *b, *radius), (Vec3::X * 0.25, Vec3::X * 0.25, 0.5));
    let found = cut(Collider::capsule_y(1.0, 0.5), tilt());
    let [Part { aabb, shape: PartShape::Capsule { a, b, .. }, .. }] = &found[..] else {
        panic!("expected a capsule")
    };
    let up = tilt().rotation * Vec3::Y;
    assert!(close(*a, -up) && close(*b, up));
    assert!((aabb.maxs.y - up.y - 0.5).abs() < 1e-5);
}

#[test]
fn other_convex_shapes_stay_convex_shapes() {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let Some(hull) = Collider::convex_hull(&corners) else { panic!("expected a hull") };
    for collider in [
        Collider::cylinder(0.5, 0.5),
        Collider::cone(0.5, 0.5),
        Collider::round_cuboid(0.5, 0.5, 0.5, 0.1),
        Collider::round_cylinder(0.5, 0.5, 0.1),
        Collider::round_triangle(Vec3::X, Vec3::Y, Vec3::Z, 0.1),
        hull,
    ] {
        let name = format!("{collider:?}");
        let found = cut(collider, tilt());
        assert!(matches!(found[..], [Part { shape: PartShape::Convex { .. }, .. }]), "{name}");
    }
}

#[test]
fn half_space_has_a_finite_box_that_reaches_far() {
    let Some(collider) = Collider::halfspace(Vec3::Y) else { panic!("expected a half-space") };
    let found = cut(collider.clone(), Transform::from_xyz(3.0, -0.25, 0.0));
    let [part] = &found[..] else { panic!("expected one part") };
    assert!(matches!(part.shape, PartShape::Convex { .. }));
    assert_eq!(part.aabb.maxs.y, -0.25);
    assert!(part.aabb.mins.is_finite() && part.aabb.mins.x < -10_000.0);
    assert!(cut(collider.clone(), Transform::from_xyz(0.0, -0.75, 0.0)).is_empty(), "it is below the region");
    assert_eq!(cut(collider, tilt()).len(), 1);
}

#[test]
fn trimesh_gives_the_nearby_triangles() {
    let vertices =
        vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::X * 50.0, Vec3::X * 51.0, Vec3::new(50.0, 0.0, 1.0)];
    let Ok(mesh) = Collider::trimesh(vertices, vec![[0, 2, 1], [3, 5, 4]]) else { panic!("expected a mesh") };
    let found = cut(mesh, Transform::from_xyz(0.0, 0.25, 0.0));
    let [Part { shape: PartShape::Triangle { corners, normal }, index: 0, .. }] = &found[..] else {
        panic!("expected one triangle")
    };
    assert_eq!(*normal, Vec3::Y);
    assert_eq!(corners[0], Vec3::Y * 0.25);
}

#[test]
fn heightfield_gives_the_nearby_triangles() {
    let field = Collider::heightfield(vec![0.25; 11 * 11], 11, 11, Vec3::new(10.0, 1.0, 10.0));
    let found = cut(field, Transform::default());
    // Two cells in each direction, two triangles per cell.
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|part| (part.aabb.maxs.y - 0.25).abs() < 1e-6));
    assert!(found.windows(2).all(|pair| pair[0].index < pair[1].index));
}

#[test]
fn compound_gives_the_parts_of_its_nearby_children() {
    let compound = Collider::compound(vec![
        (Vec3::X * 0.5, Quat::IDENTITY, cube(0.5)),
        (Vec3::ZERO, Quat::IDENTITY, Collider::ball(0.3)),
        (Vec3::X * 40.0, Quat::IDENTITY, cube(0.5)),
        (Vec3::ZERO, Quat::from_rotation_x(1.0), Collider::triangle(Vec3::ZERO, Vec3::X, Vec3::Z)),
    ]);
    let found = cut(compound, at(0.0));
    let count = |is: fn(&PartShape) -> bool| found.iter().filter(|part| is(&part.shape)).count();
    assert_eq!(found.len(), 3);
    assert_eq!(count(|shape| matches!(shape, PartShape::Box)), 1);
    assert_eq!(count(|shape| matches!(shape, PartShape::Capsule { .. })), 1);
    assert_eq!(count(|shape| matches!(shape, PartShape::Triangle { .. })), 1);
}

#[test]
fn voxels_give_boxes_with_stable_indices() {
    let cells = [IVec3::ZERO, IVec3::X, IVec3::Y, IVec3::X * 30];
    let found = cut(Collider::voxels(Vec3::splat(0.25), &cells), Transform::default());
    assert_eq!(found.len(), 3);
    let first = &found[0];
    assert!(matches!(first.shape, PartShape::Box));
    assert_eq!((first.aabb.mins, first.aabb.maxs), (Vec3::ZERO, Vec3::splat(0.25)));
    let mut app = level();
    app.world_mut().spawn((Collider::voxels(Vec3::splat(0.25), &cells), Transform::default()));
    let wide = Aabb::from_half_extents(Vec3::ZERO, Vec3::splat(20.0));
    let all = parts(expect_synced(&mut app), NO_PAWN, wide);
    assert_eq!(all.len(), 4);
    assert!(found.iter().all(|part| all.iter().any(|other| bits(other) == bits(part))));
}

#[test]
fn polyline_gives_no_parts() {
    assert!(cut(Collider::polyline(vec![Vec3::NEG_X, Vec3::X], None), at(0.0)).is_empty());
}

#[test]
fn one_way_collider_reports_its_blocking_side() {
    let mut app = level();
    app.world_mut().spawn((cube(0.5), tilt(), OneWayCollider::default()));
    app.world_mut().spawn((cube(0.5), at(5.0), OneWayCollider { side: Vec3::X * 3.0 }));
    app.world_mut().spawn((cube(0.5), at(10.0)));
    let scene = expect_synced(&mut app);
    let side = |x: f32| parts(scene, NO_PAWN, unit_box_at(x))[0].one_way;
    assert!(side(0.0).is_some_and(|side| close(side, tilt().rotation * Vec3::Y)));
    assert_eq!(side(5.0), Some(Vec3::X));
    assert_eq!(side(10.0), None);
}

#[test]
fn parts_in_a_rotated_frame_match_parts_in_world_space() {
    let mut app = level();
    let Ok(mesh) = Collider::trimesh(vec![Vec3::ZERO, Vec3::X, Vec3::Z], vec![[0, 2, 1]]) else {
        panic!("expected a mesh")
    };
    let colliders =
        [cube(0.5), Collider::ball(0.4), Collider::cylinder(0.4, 0.3), mesh, Collider::capsule_x(0.3, 0.2)];
    for (i, collider) in colliders.into_iter().enumerate() {
        app.world_mut().spawn((
            collider,
            Transform::from_xyz(0.1 * i as f32, 0.2, -0.1),
            OneWayCollider::default(),
        ));
    }
    app.world_mut().spawn((cube(0.3), tilt(), OneWayCollider::default()));
    let scene = expect_synced(&mut app);
    let frame = Frame::new(Vec3::new(0.6, 0.0, 0.8), Vec3::new(0.2, 0.1, -0.3));
    let upright = parts(scene, NO_PAWN, unit_box_at(0.0));
    let leaning = scene.with_parts(NO_PAWN, 0.0, u32::MAX, frame, Include::Bases, |near| {
        near.cover(unit_box_at(0.0));
        near.parts().to_vec()
    });
    assert_eq!((upright.len(), leaning.len()), (6, 6));
    for (a, b) in upright.iter().zip(&leaning) {
        assert_eq!((a.order, a.index), (b.order, b.index));
        let side = b.one_way.map(|side| frame.direction_to_world(side));
        assert!(a.one_way.zip(side).is_some_and(|(a, b)| close(a, b)));
        let same = |local: Vec3, world: Vec3| close(frame.to_world(local), world);
        let same_pose = |local: &Pose, world: &Pose| {
            same(local.translation, world.translation) && same(local * Vec3::ONE, world * Vec3::ONE)
        };
        match (&a.shape, &b.shape) {
            (PartShape::Box, PartShape::TurnedBox { pose, half }) => {
                assert!(same(pose.translation, a.aabb.center()) && close(*half, a.aabb.half_extents()));
            }
            (PartShape::TurnedBox { pose: world, .. }, PartShape::TurnedBox { pose, .. })
            | (PartShape::Convex { pose: world, .. }, PartShape::Convex { pose, .. }) => {
                assert!(same_pose(pose, world));
            }
            (PartShape::Triangle { corners: world, .. }, PartShape::Triangle { corners, normal }) => {
                assert!(corners.iter().zip(world).all(|(local, world)| same(*local, *world)));
                assert!(close(frame.direction_to_world(*normal), Vec3::Y));
            }
            (PartShape::Capsule { a, b, .. }, PartShape::Capsule { a: c, b: d, .. }) => {
                assert!(same(*c, *a) && same(*d, *b));
            }
            _ => panic!("different shapes"),
        }
    }
}
