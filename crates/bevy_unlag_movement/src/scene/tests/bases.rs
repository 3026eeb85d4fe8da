//! Tests of movement bases and their obstacles.

use bevy_unlag_core::{CurrentTick, Tick};

use super::*;
use crate::scene::seconds_at;
use crate::{
    base::{BaseId, BaseTrack, MovementBase, Shuttle, Turntable},
    volume::OneWayCollider,
};

fn still(x: f32) -> BaseTrack {
    BaseTrack::Still(Isometry3d::from_translation(Vec3::X * x))
}

/// Moves ten metres along +X in ten seconds, without a pause.
fn train() -> BaseTrack {
    BaseTrack::Shuttle(Shuttle { to: Vec3::X * 10.0, travel_seconds: 10.0, pause_seconds: 0.0, ..default() })
}

fn base(id: u16, track: BaseTrack) -> (MovementBase, Transform) {
    (MovementBase { id: BaseId(id), track }, Transform::default())
}

/// Returns the base of each part around a place on the x axis, at a time.
fn bases_at(scene: &MoverScene, seconds: f64, x: f32) -> Vec<BaseId> {
    let frame = Frame::new(Vec3::Y, Vec3::ZERO);
    scene.with_parts(NO_PAWN, seconds, u32::MAX, frame, Include::Bases, |near| {
        near.cover(unit_box_at(x));
        touching(near.parts(), unit_box_at(x)).iter().map(|part| part.base).collect()
    })
}

#[test]
fn base_colliders_are_placed_at_the_time_of_the_step() {
    let mut app = level();
    let lift = app.world_mut().spawn((base(1, train()), cube(0.4))).id();
    app.world_mut().spawn((cube(0.4), at(2.0), RigidBody::KinematicPositionBased, ChildOf(lift)));
    let scene = expect_synced(&mut app);
    assert_eq!(scene.counts(), [0, 2, 0]);
    for _ in 0..2 {
        assert_eq!(bases_at(scene, 0.0, 0.0), [BaseId(1)]);
        assert_eq!(bases_at(scene, 0.0, 2.0), [BaseId(1)], "a child counts, whatever its body");
        assert_eq!(bases_at(scene, 5.0, 5.0), [BaseId(1)]);
        assert_eq!(bases_at(scene, 5.0, 7.0), [BaseId(1)]);
        assert!(bases_at(scene, 5.0, 0.0).is_empty());
        assert_eq!(bases_at(scene, 10.0, 12.0), [BaseId(1)]);
        assert_eq!(bases_at(scene, 20.0, 0.0), [BaseId(1)]);
    }
}

#[test]
fn base_on_a_base_moves_with_it() {
    let mut app = level();
    let root = app.world_mut().spawn(at(1.0)).id();
    let ship = app.world_mut().spawn((base(1, train()), ChildOf(root))).id();
    let joint = app.world_mut().spawn((at(1.0), ChildOf(ship))).id();
    let spin = BaseTrack::Turntable(Turntable { pivot: Vec3::X, seconds_per_turn: 20.0, ..default() });
    let arm = app.world_mut().spawn((base(2, spin), ChildOf(joint))).id();
    app.world_mut().spawn((cube(0.4), at(2.0), ChildOf(arm)));
    let scene = expect_synced(&mut app);
    // Root 1, ship 0, joint 1, pivot 1, then the arm's own 2.
    assert_eq!(bases_at(scene, 0.0, 5.0), [BaseId(2)]);
    // The ship is at 10, and the arm points the other way.
    assert_eq!(bases_at(scene, 10.0, 11.0), [BaseId(2)]);
    assert!(bases_at(scene, 10.0, 15.0).is_empty());
    let Some(pose) = scene.base_pose(BaseId(2), 10.0) else { panic!("expected a pose of the arm") };
    assert!((pose.translation - Vec3::X * 13.0).length() < 1e-4);
    assert!(scene.base_pose(BaseId(3), 0.0).is_none());
    app.world_mut().entity_mut(ship).remove::<MovementBase>();
    let scene = expect_synced(&mut app);
    assert!(scene.base_pose(BaseId(1), 0.0).is_none());
    assert_eq!(bases_at(scene, 10.0, 1.0), [BaseId(2)], "the arm stays where the ship's entity is");
}

#[test]
fn base_colliders_include_the_scale_of_parents_and_base() {
    let mut app = level();
    let root = app.world_mut().spawn(Transform::from_scale(Vec3::splat(2.0))).id();
    let mut lift = base(1, still(3.0));
    lift.1.scale = Vec3::splat(0.5);
    let lift = app.world_mut().spawn((lift, ChildOf(root))).id();
    app.world_mut().spawn((cube(0.4), at(2.0), ChildOf(lift)));
    let scene = expect_synced(&mut app);
    assert_eq!(bases_at(scene, 0.0, 8.0), [BaseId(1)], "2 times 3, and 2 times 0.5 times 2");
    app.world_mut().entity_mut(lift).insert(Transform::from_scale(Vec3::splat(2.0)));
    assert_eq!(bases_at(expect_synced(&mut app), 0.0, 14.0), [BaseId(1)]);
}

#[test]
fn driving_a_base_does_not_change_the_fixed_scene() {
    let mut app = level();
    app.world_mut().spawn((base(1, train()), cube(0.4)));
    app.world_mut().spawn((cube(0.4), at(30.0)));
    let version = expect_synced(&mut app).fixed.version();
    app.finish();
    app.cleanup();
    for _ in 0..10 {
        app.update();
    }
    let scene = expect_synced(&mut app);
    assert_eq!(scene.fixed.version(), version);
    assert_eq!(bases_at(scene, 0.0, 0.0), [BaseId(1)]);
}

#[test]
fn base_transforms_are_interpolated_to_the_frame() {
    let mut app = level();
    let lift = app.world_mut().spawn(base(1, train())).id();
    app.finish();
    app.cleanup();
    for _ in 0..200 {
        app.update();
    }
    let world = app.world();
    let seconds = f64::from(world.resource::<CurrentTick>().0.0) * f64::from(DT)
        + world.resource::<Time<Fixed>>().overstep().as_secs_f64();
    assert!(seconds > 2.0);
    let expected = train().pose(seconds).translation;
    let drawn = world.get::<Transform>(lift).map(|transform| transform.translation);
    assert!(drawn.is_some_and(|drawn| (drawn - Vec3::from(expected)).length() < 1e-4), "{drawn:?}");
}

#[test]
fn step_times_are_continuous_across_ticks() {
    let step = Duration::from_secs_f64(1.0 / 64.0);
    assert_eq!(seconds_at(Tick(1), DT, step), f64::from(DT));
    assert_eq!(seconds_at(Tick(65), DT, step), 65.0 / 64.0);
    assert_eq!(seconds_at(Tick(65), DT * 0.5, step), 64.5 / 64.0);
    assert!(seconds_at(Tick(u32::MAX), DT, step).is_finite());
}

#[test]
fn second_base_with_the_same_id_is_ignored_until_the_first_is_removed() {
    let mut app = level();
    let first = app.world_mut().spawn((base(1, still(0.0)), cube(0.4))).id();
    app.world_mut().spawn((base(1, still(5.0)), cube(0.4)));
    app.world_mut().spawn((base(0, still(10.0)), cube(0.4)));
    let scene = expect_synced(&mut app);
    let all = |scene: &MoverScene| [0.0, 5.0, 10.0].map(|x| bases_at(scene, 0.0, x).len());
    assert_eq!(all(scene), [1, 0, 0]);
    app.world_mut().entity_mut(first).despawn();
    assert_eq!(all(expect_synced(&mut app)), [0, 1, 0]);
}

#[test]
fn adding_changing_and_removing_a_base_updates_the_scene() {
    let mut app = level();
    let lift = app.world_mut().spawn((cube(0.4), Transform::default())).id();
    app.world_mut().spawn((cube(0.2), at(2.0), ChildOf(lift)));
    assert_eq!(bases_at(expect_synced(&mut app), 0.0, 2.0), [BaseId::NONE]);
    for (id, x) in [(3, 5.0), (3, 9.0), (4, 9.0)] {
        app.world_mut().entity_mut(lift).insert(MovementBase { id: BaseId(id), track: still(x) });
        let scene = expect_synced(&mut app);
        assert_eq!(scene.counts(), [0, 2, 0]);
        assert_eq!(bases_at(scene, 0.0, x), [BaseId(id)]);
        assert_eq!(bases_at(scene, 0.0, x + 2.0), [BaseId(id)]);
        assert!(bases_at(scene, 0.0, 2.0).is_empty());
    }
    app.world_mut().entity_mut(lift).remove::<MovementBase>();
    let scene = expect_synced(&mut app);
    assert_eq!(scene.counts(), [2, 0, 0]);
    assert_eq!(bases_at(scene, 0.0, 2.0), [BaseId::NONE]);
}

#[test]
fn base_parts_follow_fixed_parts_sorted_by_id() {
    let spawn = |ids: [u16; 3]| {
        let mut app = level();
        for id in ids {
            app.world_mut().spawn((
                base(id, still(f32::from(id) * 0.1)),
                cube(0.4),
                OneWayCollider::default(),
            ));
        }
        app.world_mut().spawn((cube(0.5), at(0.0)));
        bases_at(expect_synced(&mut app), 0.0, 0.0)
    };
    let expected = [0, 1, 2, 3].map(BaseId);
    assert_eq!(spawn([1, 2, 3]), expected);
    assert_eq!(spawn([3, 1, 2]), expected);
}

#[test]
fn base_with_an_overflowing_pose_is_ignored() {
    let mut app = level();
    let huge = BaseTrack::Still(Isometry3d::from_translation(Vec3::X * 3e38));
    let ship = app.world_mut().spawn(base(1, huge.clone())).id();
    app.world_mut().spawn((base(2, huge), cube(0.4), ChildOf(ship)));
    let wild = BaseTrack::Custom(Arc::new(|_: f64| Isometry3d::from_translation(Vec3::NAN)));
    app.world_mut().spawn((base(3, wild), cube(0.4)));
    let scene = expect_synced(&mut app);
    assert!(scene.base_pose(BaseId(2), 0.0).is_none());
    assert_eq!(bases_at(scene, 0.0, 0.0), [BaseId(3)], "a NaN pose counts as the identity");
}
