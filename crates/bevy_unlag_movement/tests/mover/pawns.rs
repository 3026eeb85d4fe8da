//! Collisions with pawns, pushable crates and selective colliders.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    Collider, ColliderDisabled, ColliderMassProperties, CollisionGroups, Group, RigidBody, Sensor,
};
use bevy_unlag_core::MoveInput;
use bevy_unlag_movement::{
    CapsuleInput, CapsuleModel, CapsuleState, LocalMovesPlugin, OneWayCollider, PawnCapsule, PawnCollision,
    PawnCollisionPlugin, PushesBodies,
};

use crate::common::*;

fn other_pawn(feet: Vec3) -> PawnCapsule {
    PawnCapsule { feet, up: Vec3::Y, radius: 0.34, half_height: 0.88, id: 1 }
}

fn build_with_pawn_collision(pawns: PawnCollision) -> App {
    Level::with_floor().tune(|config| config.pawns = pawns).build()
}

#[test]
fn blocking_pawn_stops_a_head_on_run_and_lets_an_offset_run_slide() {
    let mut app = build_with_pawn_collision(PawnCollision::Block);
    spawn(&mut app, other_pawn(Vec3::X * 3.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, _) = run(&mut app, start, axis_inputs(127, 0, 128), SETTLE);
    let last = last_state(&states);
    assert!((last.position.x - (3.0 - 0.68 - 0.005)).abs() < 3e-3, "{last:?}");
    assert!(last.position.y < 0.03 && last.is_grounded(), "{last:?}");
    let beside = expect_standing(&mut app, Vec3::Z * 0.3);
    let (states, _) = run(&mut app, beside, axis_inputs(127, 0, 192), SETTLE);
    assert!(last_state(&states).position.x > 5.0, "must slide past the pawn: {:?}", last_state(&states));
    let nearest = states.iter().map(|s| s.position.xz().distance(Vec2::new(3.0, 0.0))).fold(9.0, f32::min);
    assert!(nearest > 0.68, "{nearest} m apart");
}

#[test]
fn pawns_that_ignore_each_other_move_bit_for_bit_as_if_alone() {
    let mut alone = build_with_pawn_collision(PawnCollision::Ignore);
    let mut together = build_with_pawn_collision(PawnCollision::Ignore);
    spawn(&mut together, other_pawn(Vec3::X * 3.0));
    spawn(&mut together, other_pawn(Vec3::new(0.0, 1.0, 0.1)));
    let start = expect_standing(&mut alone, Vec3::ZERO);
    let (a, _) = run(&mut alone, start, axis_inputs(127, 0, 128), SETTLE);
    let (b, _) = run(&mut together, start, axis_inputs(127, 0, 128), SETTLE);
    assert_eq!(first_difference(&a, &b), None);
    assert!(last_state(&a).position.x > 9.0);
}

#[test]
fn pawn_dropped_on_another_pawn_never_stands_on_it() {
    let mut app = build_with_pawn_collision(PawnCollision::Block);
    spawn(&mut app, other_pawn(Vec3::ZERO));
    for (x, z) in [(0.1, 0.0), (0.3, -0.2), (-0.02, 0.03), (0.0, 0.0)] {
        let (states, _) = run(&mut app, CapsuleState::at(Vec3::new(x, 3.0, z)), neutral_inputs(320), 0);
        let stood = states.iter().find(|s| s.is_grounded() && s.position.y > 0.5);
        assert!(stood.is_none(), "dropped at {x}, {z}: {stood:?}");
        if (x, z) != (0.0, 0.0) {
            let last = last_state(&states);
            assert!(
                last.is_grounded() && HOVER.contains(&last.position.y),
                "must slip off to the floor: {last:?}"
            );
            assert!(last.position.xz().length() > 0.67, "{last:?}");
        }
    }
}

/// Builds a level in which the app steps the pawns.
fn build_stepping_pawns(level: Level) -> App {
    level.build_with(|app| {
        app.add_plugins((
            LocalMovesPlugin::<CapsuleModel>::default(),
            PawnCollisionPlugin::<CapsuleModel>::default(),
        ));
    })
}

fn spawn_pawn(app: &mut App, feet: Vec3, input: CapsuleInput) -> Entity {
    app.world_mut().spawn((CapsuleState::at(feet), MoveInput::<CapsuleModel>(input))).id()
}

fn state_of(app: &App, entity: Entity) -> CapsuleState {
    *app.world().get::<CapsuleState>(entity).expect("the pawn has a state")
}

fn update(app: &mut App, times: usize) {
    for _ in 0..times {
        app.update();
    }
}

#[test]
fn overlapping_pushing_pawns_separate_gradually_without_gaining_speed() {
    let mut app = build_stepping_pawns(Level::with_floor().tune(|config| config.pawns = PawnCollision::Push));
    let a = spawn_pawn(&mut app, Vec3::new(-0.1, 0.05, 0.0), CapsuleInput::default());
    let b = spawn_pawn(&mut app, Vec3::new(0.1, 0.05, 0.0), CapsuleInput::default());
    update(&mut app, 4);
    let soon = state_of(&app, a).position.distance(state_of(&app, b).position);
    assert!((0.2..0.62).contains(&soon), "must separate gradually, not {soon} m after four ticks");
    update(&mut app, 128);
    let [a, b] = [a, b].map(|pawn| state_of(&app, pawn));
    let apart = a.position.distance(b.position);
    assert!((0.62..0.70).contains(&apart), "{apart} m apart");
    assert!((a.position + b.position).xz().length() < 1e-2, "both pawns must yield equally: {a:?}, {b:?}");
    assert!(a.is_grounded() && b.is_grounded());
    assert_eq!((a.velocity, b.velocity), (Vec3::ZERO, Vec3::ZERO), "pushing must not add velocity");
}

#[test]
fn pushed_pawn_yields_and_can_be_walked_through() {
    let mut app = build_stepping_pawns(Level::with_floor().tune(|config| config.pawns = PawnCollision::Push));
    let run = CapsuleInput { right: 127, ..default() };
    let a = spawn_pawn(&mut app, Vec3::new(-3.0, 0.05, 0.0), run);
    let b = spawn_pawn(&mut app, Vec3::new(0.0, 0.05, 0.2), CapsuleInput::default());
    update(&mut app, 96);
    assert!(state_of(&app, a).position.x > 3.0, "{:?}", state_of(&app, a));
    assert!(state_of(&app, b).position.z > 0.22, "the pushed pawn must yield: {:?}", state_of(&app, b));
}

#[test]
fn pushing_pawns_in_the_same_place_do_not_drift_away_together() {
    let mut app = build_stepping_pawns(Level::with_floor().tune(|config| config.pawns = PawnCollision::Push));
    let place = Vec3::new(2.0, 0.05, -1.0);
    let pawns = [0, 1].map(|_| spawn_pawn(&mut app, place, CapsuleInput::default()));
    update(&mut app, 128);
    let [a, b] = pawns.map(|pawn| state_of(&app, pawn).position);
    let drift = ((a + b) * 0.5).xz().distance(place.xz());
    assert!(drift < 0.35, "both drifted {drift} m: {a}, {b}");
}

#[test]
fn blocking_pawns_spawned_in_one_place_can_walk_apart() {
    let mut app =
        build_stepping_pawns(Level::with_floor().tune(|config| config.pawns = PawnCollision::Block));
    let run = |right| CapsuleInput { right, ..default() };
    let a = spawn_pawn(&mut app, Vec3::new(-0.1, 0.05, 0.0), run(-127));
    let b = spawn_pawn(&mut app, Vec3::new(0.1, 0.05, 0.0), run(127));
    update(&mut app, 96);
    let [a, b] = [a, b].map(|pawn| state_of(&app, pawn).position);
    assert!(a.x < -3.0 && b.x > 3.0, "{a}, {b}");
}

#[test]
fn own_colliders_do_not_stop_a_pawn() {
    let mut app = build_stepping_pawns(Level::with_floor());
    let run = CapsuleInput { right: 127, ..default() };
    let own = spawn_pawn(&mut app, Vec3::Y * 0.05, run);
    let body = || Collider::capsule_y(0.54, 0.34);
    app.world_mut().entity_mut(own).insert((body(), Transform::from_xyz(0.0, 0.9, 0.0)));
    app.world_mut().spawn((body(), Transform::from_xyz(1.5, 0.0, 0.0), ChildOf(own)));
    update(&mut app, 64);
    assert!(state_of(&app, own).position.x > 4.0, "{:?}", state_of(&app, own));
}

#[test]
fn dynamic_and_kinematic_bodies_do_not_affect_a_pawn() {
    let mut without = Level::with_floor().build();
    let mut with = Level::with_floor().build();
    for (x, body) in [(1.0, RigidBody::Dynamic), (3.0, RigidBody::KinematicPositionBased)] {
        let place = Transform::from_xyz(x, 0.5, 0.0);
        spawn(&mut with, (body, Collider::cuboid(0.5, 0.5, 0.5), place));
    }
    let start = expect_standing(&mut without, Vec3::ZERO);
    let inputs = random_inputs(8, 300);
    let (a, _) = run(&mut without, start, inputs.iter().copied(), SETTLE);
    let (b, _) = run(&mut with, start, inputs.iter().copied(), SETTLE);
    assert_eq!(first_difference(&a, &b), None);
}

#[test]
fn pawn_with_pushes_bodies_moves_light_crates_more_than_heavy_ones() {
    let moved = |pushes: bool, mass: f32| {
        let mut app = build_stepping_pawns(Level::with_floor());
        let body = app
            .world_mut()
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.3, 0.3, 0.3),
                ColliderMassProperties::Mass(mass),
                Transform::from_xyz(1.5, 0.3, 0.0),
            ))
            .id();
        settle(&mut app);
        let run = CapsuleInput { right: 127, ..default() };
        let pawn = spawn_pawn(&mut app, Vec3::Y * 0.05, run);
        if pushes {
            app.world_mut().entity_mut(pawn).insert(PushesBodies::default());
        }
        update(&mut app, 64);
        let crate_x = app.world().get::<Transform>(body).expect("the crate must exist").translation.x;
        (crate_x - 1.5, state_of(&app, pawn))
    };
    let ((alone, pawn), (light, pushing), (heavy, heaving)) =
        (moved(false, 10.0), moved(true, 10.0), moved(true, 2_000.0));
    assert!(alone.abs() < 0.01, "moved by {alone} m without `PushesBodies`");
    assert!(light > 0.5, "pushed by {light} m");
    assert!(heavy < 0.2 * light, "a heavy one by {heavy} m, a light one by {light} m");
    // Pushing does not change the pawn's own motion.
    assert_eq!(pawn, pushing);
    assert_eq!(pawn, heaving);
}

/// Builds a level with a one-way platform that blocks only from above.
fn platform(level: Level, mins: Vec3, maxs: Vec3) -> App {
    let mut app = level.build();
    let half = (maxs - mins) * 0.5;
    let place = Transform::from_translation((mins + maxs) * 0.5);
    spawn(&mut app, (OneWayCollider::default(), Collider::cuboid(half.x, half.y, half.z), place));
    app
}

#[test]
fn one_way_platform_lets_a_jump_pass_upwards_and_catches_the_fall() {
    for (jump_speed, lands) in [(8.0, true), (6.6, false)] {
        let level = Level::with_floor().tune(|config| config.jump_speed = jump_speed);
        let mut app = platform(level, Vec3::new(-2.0, 2.1, -2.0), Vec3::new(2.0, 2.3, 2.0));
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, events) = run(&mut app, start, jump_inputs(160), SETTLE);
        let top = highest(&states) - start.position.y;
        let expected = jump_speed * jump_speed / (2.0 * GRAVITY);
        assert!(
            (top - expected).abs() < 0.01,
            "must pass the platform while rising: {top} m instead of {expected} m"
        );
        let last = last_state(&states);
        let floor = if lands { 2.3 } else { 0.0 };
        assert!(last.is_grounded() && HOVER.contains(&(last.position.y - floor)), "{last:?}: {events:?}");
        if lands {
            let (states, events) = run(&mut app, last, axis_inputs(127, 0, 128), 300);
            assert_eq!(walked_off(&events), 1, "{events:?}");
            assert!(
                HOVER.contains(&last_state(&states).position.y),
                "must fall off its edge: {:?}",
                last_state(&states)
            );
        }
    }
}

#[test]
fn one_way_platform_does_not_affect_a_pawn_that_walks_through_its_side() {
    let mut without = Level::with_floor().build();
    let mut with = platform(Level::with_floor(), Vec3::new(2.0, 0.2, -2.0), Vec3::new(4.0, 1.0, 2.0));
    let start = expect_standing(&mut without, Vec3::ZERO);
    let (a, _) = run(&mut without, start, axis_inputs(127, 0, 96), SETTLE);
    let (b, _) = run(&mut with, start, axis_inputs(127, 0, 96), SETTLE);
    assert_eq!(first_difference(&a, &b), None);
    assert!(last_state(&a).position.x > 6.0);
}

#[test]
fn low_one_way_platform_does_not_lift_a_walking_pawn_at_any_speed() {
    for (right, ticks) in [(127, 64), (40, 128), (6, 640)] {
        let mut app = platform(Level::with_floor(), Vec3::new(1.0, 0.1, -2.0), Vec3::new(1.8, 0.3, 2.0));
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, _) = run(&mut app, start, axis_inputs(right, 0, ticks), SETTLE);
        assert!(last_state(&states).position.x > 1.5, "must reach the platform: {:?}", last_state(&states));
        assert!(highest(&states) < 0.03, "up to {} m at {right}", highest(&states));
    }
}

#[test]
fn sensors_and_disabled_colliders_do_not_affect_a_pawn() {
    let mut without = Level::with_floor().build();
    let mut with = Level::with_floor().build();
    let wall = || Collider::cuboid(0.5, 2.0, 5.0);
    spawn(&mut with, (wall(), Sensor, Transform::from_xyz(2.0, 1.0, 0.0)));
    spawn(&mut with, (wall(), ColliderDisabled, Transform::from_xyz(4.0, 1.0, 0.0)));
    let start = expect_standing(&mut without, Vec3::ZERO);
    let (a, _) = run(&mut without, start, axis_inputs(127, 0, 96), SETTLE);
    let (b, _) = run(&mut with, start, axis_inputs(127, 0, 96), SETTLE);
    assert_eq!(first_difference(&a, &b), None);
}

#[test]
fn wall_stops_only_pawns_whose_mask_shares_its_collision_groups() {
    let groups = Some(CollisionGroups::new(Group::GROUP_2 | Group::GROUP_5, Group::ALL));
    let cases = [
        (groups, Group::GROUP_2, true),
        (groups, Group::GROUP_5 | Group::GROUP_1, true),
        (groups, Group::GROUP_1, false),
        (groups, Group::ALL, true),
        (groups, Group::NONE, false),
        (None, Group::GROUP_1, true),
        (None, Group::NONE, true),
    ];
    for (groups, mask, stops) in cases {
        let mut app = Level::with_floor().tune(|config| config.blocked_by = mask.bits()).build();
        let wall =
            app.world_mut().spawn((Collider::cuboid(0.5, 2.0, 5.0), Transform::from_xyz(3.0, 2.0, 0.0))).id();
        if let Some(groups) = groups {
            app.world_mut().entity_mut(wall).insert(groups);
        }
        settle(&mut app);
        let start = expect_standing(&mut app, Vec3::ZERO);
        let last = last_state(&run(&mut app, start, axis_inputs(127, 0, 96), SETTLE).0);
        assert_eq!(last.position.x < 2.5, stops, "{groups:?} and {mask:?}: {last:?}");
    }
}

#[test]
fn spawned_moved_and_despawned_colliders_take_effect_after_one_update() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let wall =
        app.world_mut().spawn((Collider::cuboid(0.5, 2.0, 5.0), Transform::from_xyz(3.0, 2.0, 0.0))).id();
    app.update();
    let stopped = last_state(&run(&mut app, start, axis_inputs(127, 0, 96), SETTLE).0);
    assert!(stopped.position.x < 2.5, "{stopped:?}");
    app.world_mut().get_mut::<Transform>(wall).expect("the wall must exist").translation.x = 5.0;
    app.update();
    let further = last_state(&run(&mut app, start, axis_inputs(127, 0, 96), SETTLE).0);
    assert!((4.0..4.5).contains(&further.position.x), "must stop at the moved wall: {further:?}");
    app.world_mut().despawn(wall);
    app.update();
    let on = last_state(&run(&mut app, start, axis_inputs(127, 0, 96), SETTLE).0);
    assert!(on.position.x > 6.0, "must pass the despawned wall: {on:?}");
}
