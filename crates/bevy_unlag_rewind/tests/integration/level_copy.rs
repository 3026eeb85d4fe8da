//! Copy of the level against physics.

use core::time::Duration;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::{Collider, ColliderDisabled, RigidBody, Sensor};
use bevy_unlag_movement::MovementPlugin;
use bevy_unlag_rewind::{LevelCopy, WallId, WorldTrace};
use rand::{Rng, SeedableRng, rngs::SmallRng};

const LINES: usize = 4_000;

fn mesh() -> Collider {
    let corners = vec![Vec3::ZERO, Vec3::X * 4.0, Vec3::new(0.0, 3.0, 1.0), Vec3::new(4.0, 3.0, -1.0)];
    Collider::trimesh(corners, vec![[0, 1, 2], [1, 3, 2]]).expect("a valid mesh")
}

/// Returns an app whose level has every kind of collider, with others in between that are no part of it.
fn level() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, MovementPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_nanos(15_625_000)));
    app.finish();
    app.cleanup();
    let world = app.world_mut();
    let turned = |x, z, angle| Transform::from_xyz(x, 1.0, z).with_rotation(Quat::from_rotation_y(angle));
    let shapes = [
        Collider::cuboid(1.0, 1.5, 0.2),
        Collider::ball(0.8),
        Collider::cylinder(1.0, 0.6),
        Collider::capsule_y(0.7, 0.4),
        mesh(),
        Collider::compound(vec![
            (Vec3::X, Quat::IDENTITY, Collider::ball(0.5)),
            (-Vec3::X, Quat::from_rotation_x(0.4), Collider::cuboid(0.3, 1.0, 0.3)),
        ]),
        Collider::heightfield(
            (0..16).map(|i| (i % 5) as f32 * 0.3).collect(),
            4,
            4,
            Vec3::new(6.0, 1.0, 6.0),
        ),
    ];
    for (index, shape) in shapes.iter().cycle().take(28).enumerate() {
        let (column, row) = (index % 6, index / 6);
        world.spawn((shape.clone(), turned(column as f32 * 5.0, row as f32 * 5.0, index as f32 * 0.7)));
    }
    world.spawn((Collider::cuboid(20.0, 0.5, 20.0), Transform::from_xyz(12.0, -0.6, 12.0), RigidBody::Fixed));
    for row in 0..4 {
        let at = |column: usize| Transform::from_xyz(column as f32 * 5.0 + 2.5, 1.0, row as f32 * 5.0 + 2.5);
        world.spawn((Collider::ball(1.0), at(0), Sensor));
        world.spawn((Collider::ball(1.0), at(1), ColliderDisabled));
        world.spawn((Collider::ball(1.0), at(2), RigidBody::KinematicPositionBased));
        world.spawn((Collider::ball(1.0), at(3), RigidBody::Dynamic));
    }
    (0..3).for_each(|_| app.update());
    app
}

/// Runs `check` with physics, a copy, and random lines.
fn with_lines(mut check: impl FnMut(&WorldTrace, &LevelCopy, Vec3, Vec3) + Send + Sync + 'static) {
    let mut app = level();
    let run = move |world: WorldTrace| {
        let copy = world.copy_level();
        let mut rng = SmallRng::seed_from_u64(3);
        let mut place = || {
            Vec3::new(rng.random_range(-4.0..28.0), rng.random_range(-0.5..3.0), rng.random_range(-4.0..28.0))
        };
        for _ in 0..LINES {
            let [a, b] = [place(), place()];
            check(&world, &copy, a, b);
        }
    };
    app.world_mut().run_system_once(run).expect("a system");
}

#[test]
fn lines_through_the_copy_end_where_rays_through_physics_do() {
    let (mut met, mut free) = (0, 0);
    with_lines(move |world, copy, a, b| {
        let length = a.distance(b);
        let expected = world.cast(a, (b - a) / length, length);
        let found = copy.first_wall(a, b).map(|(_, share)| share * length);
        match (expected, found) {
            (Some(expected), Some(found)) => {
                met += 1;
                assert!((expected - found).abs() < 1e-3, "{a} {b}: {expected} {found}");
            }
            (None, None) => free += 1,
            (expected, found) => panic!("{a} {b}: {expected:?} {found:?}"),
        }
        if met + free == LINES {
            assert!(met > LINES / 4 && free > LINES / 20, "{met} met, {free} free");
        }
    });
}

#[test]
fn walls_along_a_line_have_pieces_that_block_it() {
    let (mut count, mut lines) = (0, 0);
    with_lines(move |_, copy, a, b| {
        let mut along = Vec::new();
        copy.walls_along(a, b, |wall| along.push(wall));
        for wall in &along {
            let piece = copy.piece(*wall).expect("all of these have convex parts");
            assert!(piece.blocks(a.into(), b.into()), "{a} {b}: {wall:?}");
            assert!(piece.share_before(a.into(), b.into()).is_some());
        }
        let first = copy.first_wall(a, b).map(|(wall, _)| wall);
        assert_eq!(first.is_some(), !along.is_empty());
        assert!(first.is_none_or(|first| along.contains(&first)), "{a} {b}");
        let mut near = Vec::new();
        copy.walls_in(a.min(b), a.max(b), |wall| near.push(wall.collider));
        assert!(along.iter().all(|wall| near.contains(&wall.collider)), "{a} {b}");
        (count, lines) = (count + along.len(), lines + 1);
        assert!(lines < LINES || count > LINES / 2, "only {count} walls along {lines} lines");
    });
}

#[test]
fn bad_lines_and_unknown_names_have_no_wall() {
    let mut app = level();
    let run = |world: WorldTrace| {
        let copy = world.copy_level();
        let inside = Vec3::new(0.0, 1.0, 0.0);
        assert!(copy.first_wall(inside, inside).is_none() && copy.first_wall(Vec3::NAN, inside).is_none());
        copy.walls_along(inside, Vec3::INFINITY, |wall| panic!("{wall:?}"));
        copy.walls_in(Vec3::NAN, inside, |wall| panic!("{wall:?}"));
        assert!(copy.piece(WallId { collider: 9_999, part: 0 }).is_none());
        for collider in 0..29 {
            assert!(copy.piece(WallId { collider, part: u32::MAX }).is_none());
            // Not of a mesh, terrain or compound, at most the collider itself.
            let _ = copy.piece(WallId { collider, part: 9_999 });
        }
        let empty = LevelCopy::default();
        assert!(empty.first_wall(inside, inside + Vec3::X * 9.0).is_none());
        empty.walls_in(Vec3::MIN, Vec3::MAX, |wall| panic!("{wall:?}"));
    };
    app.world_mut().run_system_once(run).expect("a system");
}
