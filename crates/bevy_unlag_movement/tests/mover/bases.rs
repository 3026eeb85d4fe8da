//! Riding on lifts, turntables and trains, and standing in the way of doors.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_movement::{
    BaseId, BaseTrack, CapsuleInput, CapsuleState, MoveEvent, MovementBase, MovementMode, PoseHistory,
    Shuttle, Turntable,
};

use crate::common::*;

const FIRST: BaseId = BaseId(1);

/// Spawns a box, given by its half extents, that moves along a track.
fn spawn_base_box(app: &mut App, id: BaseId, track: &BaseTrack, half: Vec3) -> Entity {
    let base = MovementBase { id, track: track.clone() };
    spawn(app, (base, Collider::cuboid(half.x, half.y, half.z), Transform::default()))
}

/// A track with constant velocity that starts at the origin at 0 s.
fn constant_velocity_track(velocity: Vec3) -> BaseTrack {
    let velocity = velocity.as_dvec3();
    BaseTrack::Custom(Arc::new(move |seconds: f64| {
        Isometry3d::from_translation((velocity * seconds).as_vec3())
    }))
}

/// Pairs every state with the pose of a track at the end of its tick. The first state is that of the tick
/// before `first_tick`.
fn with_poses<'s>(
    app: &App,
    states: &'s [CapsuleState],
    track: &BaseTrack,
    first_tick: u32,
) -> Vec<(&'s CapsuleState, Isometry3d)> {
    let pose = |i: u32| track.pose(seconds_at(app, first_tick + i) - f64::from(DT));
    (0u32..).zip(states).map(|(i, state)| (state, pose(i))).collect()
}

/// Returns the greatest distance of a pawn from its place on the base.
fn max_base_drift(rides: &[(&CapsuleState, Isometry3d)]) -> f32 {
    let (first, pose) = rides[0];
    let seat = pose.inverse() * first.position;
    rides.iter().map(|(state, pose)| state.position.distance(*pose * seat)).fold(0.0, f32::max)
}

#[test]
fn every_kind_of_track_carries_a_standing_pawn() {
    let mut history = PoseHistory::default();
    for i in 0..60 {
        let seconds = f64::from(i) * 0.1;
        let place = Vec3::new(1.5, 0.5, -0.4) * seconds as f32;
        history.push(seconds, Isometry3d::new(place, Quat::from_rotation_y(seconds as f32 * 0.3)));
    }
    let shuttle = Shuttle { to: Vec3::new(12.0, 3.0, -5.0), pause_seconds: 0.7, ..default() };
    let tracks = [
        BaseTrack::Still(Isometry3d::from_rotation(Quat::from_rotation_y(0.4))),
        BaseTrack::Shuttle(shuttle),
        BaseTrack::Shuttle(Shuttle { rotation: Quat::from_rotation_z(0.3), ..shuttle }),
        BaseTrack::Turntable(Turntable {
            pivot: Vec3::new(0.4, 0.0, 0.2),
            seconds_per_turn: 6.0,
            ..default()
        }),
        BaseTrack::History(history),
        constant_velocity_track(Vec3::new(-3.0, 0.0, 1.0)),
    ];
    for track in tracks {
        let mut app = Level::new().build();
        spawn_base_box(&mut app, FIRST, &track, Vec3::new(5.0, 0.25, 5.0));
        let start = expect_standing(&mut app, Vec3::new(0.5, 0.45, -0.5));
        let (states, events) = run(&mut app, start, neutral_inputs(300), SETTLE);
        assert!(
            states.iter().all(|s| s.is_grounded() && s.base == FIRST),
            "{track:?}: {:?}",
            last_state(&states)
        );
        let stray = max_base_drift(&with_poses(&app, &states, &track, SETTLE));
        assert!(stray < 1e-3, "{stray} m off on {track:?}");
        assert!(states.iter().all(|s| s.velocity == Vec3::ZERO), "at rest on {track:?}");
        assert!(events.is_empty(), "{track:?}: {events:?}");
    }
}

#[test]
fn base_on_a_base_carries_a_pawn_with_the_combined_motion() {
    let mut app = Level::new().build();
    let table = Turntable { seconds_per_turn: 10.0, ..default() };
    let lift = Shuttle { from: Vec3::X * 4.0, to: Vec3::new(4.0, 3.0, 0.0), pause_seconds: 0.5, ..default() };
    let (table, lift) = (BaseTrack::Turntable(table), BaseTrack::Shuttle(lift));
    let parent = spawn(&mut app, (MovementBase { id: FIRST, track: table.clone() }, Transform::default()));
    let child = spawn_base_box(&mut app, BaseId(2), &lift, Vec3::new(2.0, 0.25, 2.0));
    app.world_mut().entity_mut(child).insert(ChildOf(parent));
    settle(&mut app);
    let both = BaseTrack::Custom(Arc::new(move |seconds: f64| table.pose(seconds) * lift.pose(seconds)));
    let start = expect_standing(&mut app, both.pose(0.3) * (Vec3::Y * 0.3));
    assert_eq!(start.base, BaseId(2));
    let (states, _) = run(&mut app, start, neutral_inputs(640), SETTLE);
    let stray = max_base_drift(&with_poses(&app, &states, &both, SETTLE));
    assert!(stray < 2e-3, "{stray} m off");
    assert!(states.iter().all(CapsuleState::is_grounded));
    assert!(highest(&states) > 3.0, "the lift must carry the pawn up, not to {}", highest(&states));
}

#[test]
fn child_collider_of_a_base_carries_a_pawn() {
    let mut app = Level::new().build();
    let track = BaseTrack::Turntable(Turntable { seconds_per_turn: 12.0, ..default() });
    let base = spawn(&mut app, (MovementBase { id: FIRST, track: track.clone() }, Transform::default()));
    let offset = Transform::from_xyz(3.0, 1.0, 0.0).with_rotation(Quat::from_rotation_y(0.5));
    let bone = (Collider::cuboid(1.5, 0.25, 1.5), offset, ChildOf(base));
    spawn(&mut app, bone);
    let start = expect_standing(&mut app, Vec3::new(3.0, 1.25, 0.0));
    assert_eq!(start.base, FIRST, "{start:?}");
    let (states, _) = run(&mut app, start, neutral_inputs(400), SETTLE);
    let stray = max_base_drift(&with_poses(&app, &states, &track, SETTLE));
    assert!(stray < 1e-3, "{stray} m off");
    assert!(
        last_state(&states).position.distance(start.position) > 1.0,
        "the base must carry the pawn: {:?}",
        last_state(&states)
    );
}

#[test]
fn pawn_at_rest_on_a_moving_base_keeps_its_base_position_bit_for_bit() {
    let lift = Shuttle { to: Vec3::new(3.0, 10.0, 1.0), travel_seconds: 3.0, ..default() };
    for track in [BaseTrack::Shuttle(lift), BaseTrack::Turntable(Turntable::default())] {
        let mut app = Level::new().build();
        spawn_base_box(&mut app, FIRST, &track, Vec3::new(5.0, 0.25, 5.0));
        let start = expect_standing(&mut app, Vec3::new(1.7, 0.25, 1.1));
        let (states, events) = run(&mut app, start, neutral_inputs(5_000), SETTLE);
        assert_eq!(last_state(&states).base_position, start.base_position, "creeps on {track:?}");
        assert_eq!(mode_changes(&events), 0, "{track:?}: {events:?}");
    }
}

#[test]
fn jump_keeps_the_base_velocity_only_with_impart_base_velocity() {
    for impart in [true, false] {
        let mut app = Level::new().tune(|config| config.impart_base_velocity = impart).build();
        spawn_base_box(&mut app, FIRST, &constant_velocity_track(Vec3::X * 2.0), Vec3::new(8.0, 0.25, 8.0));
        let start = expect_standing(&mut app, Vec3::Y * 0.25);
        assert!(start.base_velocity.distance(Vec3::X * 2.0) < 0.01, "{start:?}");
        assert_eq!(start.velocity, Vec3::ZERO, "must be at rest relative to the base");
        let (states, events) = run(&mut app, start, jump_inputs(80), SETTLE);
        let airborne = states[10];
        assert!(!airborne.is_grounded() && airborne.base == BaseId::NONE, "{airborne:?}");
        assert!(airborne.base_velocity == Vec3::ZERO && airborne.base_position == Vec3::ZERO, "{airborne:?}");
        let expected = if impart { 2.0 } else { 0.0 };
        assert!((airborne.velocity.x - expected).abs() < 0.01, "impart {impart}: {airborne:?}");
        assert!(events.contains(&MoveEvent::BaseChanged { from: FIRST, to: BaseId::NONE }), "{events:?}");
        assert!(events.contains(&MoveEvent::BaseChanged { from: BaseId::NONE, to: FIRST }), "{events:?}");
        if impart {
            let slid = last_state(&states).base_position.distance(start.base_position);
            assert!(slid < 5e-3, "lands {slid} m from where it jumped");
            let landed = states.iter().skip(5).find(|s| s.is_grounded()).expect("the pawn must land");
            assert!(landed.velocity.length() < 0.02, "the pawn slides after landing: {landed:?}");
        }
    }
}

#[test]
fn jump_height_relative_to_a_moving_lift_equals_that_on_the_ground() {
    for speed in [2.0, -2.0] {
        let mut app = Level::new().build();
        let track = constant_velocity_track(Vec3::Y * speed);
        spawn_base_box(&mut app, FIRST, &track, Vec3::new(3.0, 0.25, 3.0));
        let start = expect_standing(&mut app, Vec3::Y * 0.3);
        let (states, _) = run(&mut app, start, jump_inputs(64), SETTLE);
        let above = with_poses(&app, &states, &track, SETTLE)
            .iter()
            .map(|(state, pose)| state.position.y - pose.translation.y)
            .fold(f32::NEG_INFINITY, f32::max);
        let seat = start.position.y - track.pose(seconds_at(&app, SETTLE - 1)).translation.y;
        let apex = above - seat;
        assert!((apex - 0.9).abs() < 0.06, "{apex} m above a lift at {speed} m/s");
    }
}

#[test]
fn pawn_that_walks_off_a_base_keeps_the_base_velocity() {
    let mut app = Level::new().build();
    spawn_base_box(&mut app, FIRST, &constant_velocity_track(Vec3::Z * 3.0), Vec3::new(2.0, 0.25, 8.0));
    let start = expect_standing(&mut app, Vec3::Y * 0.25);
    let (states, events) = run_with_feedback(&mut app, start, 64, SETTLE, |_, state| CapsuleInput {
        right: if state.is_grounded() { 127 } else { 0 },
        ..default()
    });
    assert_eq!(walked_off(&events), 1, "{events:?}");
    let velocity = last_state(&states).velocity;
    assert!((velocity.x - 6.0).abs() < 0.05 && (velocity.z - 3.0).abs() < 0.02, "{velocity}");
}

#[test]
fn walking_speed_is_relative_to_the_base() {
    let mut app = Level::new().build();
    let track = constant_velocity_track(Vec3::X * 2.0);
    spawn_base_box(&mut app, FIRST, &track, Vec3::new(20.0, 0.25, 20.0));
    for (right, forward, walk) in
        [(0, 127, Vec3::Z * -6.0), (127, 0, Vec3::X * 6.0), (-127, 0, Vec3::X * -6.0)]
    {
        let start = expect_standing(&mut app, Vec3::Y * 0.25);
        let (states, events) = run(&mut app, start, axis_inputs(right, forward, 128), SETTLE);
        let last = last_state(&states);
        assert!(last.velocity.distance(walk) < 1e-3, "{last:?}");
        assert!(last.world_velocity().distance(walk + Vec3::X * 2.0) < 0.01, "{last:?}");
        let moved = last.position - states[64].position;
        assert!(moved.distance(walk + Vec3::X * 2.0) < 0.01, "{moved} in a second");
        assert!(events.is_empty(), "{events:?}");
    }
}

#[test]
fn crossing_adjacent_bases_emits_base_changed_for_each() {
    let mut app = Level::with_floor().build();
    let still = |x: f32| BaseTrack::Still(Isometry3d::from_translation(Vec3::new(x, 0.0, 0.0)));
    spawn_base_box(&mut app, BaseId(7), &still(3.0), Vec3::new(1.0, 0.2, 2.0));
    spawn_base_box(&mut app, BaseId(9), &still(5.0), Vec3::new(1.0, 0.2, 2.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, axis_inputs(127, 0, 128), SETTLE);
    let changes: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            MoveEvent::BaseChanged { from, to } => Some((from.0, to.0)),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [(0, 7), (7, 9), (9, 0)], "{:?}", last_state(&states));
}

#[test]
fn turning_base_turns_the_view_only_with_turn_with_base() {
    for turns in [true, false] {
        let mut app = Level::new().tune(|config| config.turn_with_base = turns).build();
        let track = BaseTrack::Turntable(Turntable { seconds_per_turn: 8.0, ..default() });
        spawn_base_box(&mut app, FIRST, &track, Vec3::new(5.0, 0.25, 5.0));
        let start = expect_standing(&mut app, Vec3::new(2.0, 0.25, 0.0));
        let (states, _) = run(&mut app, start, neutral_inputs(128), SETTLE);
        let turned = last_state(&states).yaw.wrapping_sub(start.yaw).cast_signed();
        let expected = if turns { 16_384 } else { 0 };
        assert!((turned - expected).abs() <= 8, "by {turned}: {:?}", last_state(&states));
        // The player's own turn is added to the base's.
        let input = CapsuleInput { forward: 127, yaw: 8_192, ..default() };
        let last = last_state(&run(&mut app, last_state(&states), [input; 1], SETTLE + 128).0);
        assert_eq!(last.yaw, last.base_turn.wrapping_add(8_192));
    }
}

#[test]
fn door_pushes_a_pawn_out_of_its_way_without_penetration() {
    let mut app = Level::with_floor().build();
    let track = BaseTrack::Custom(Arc::new(|seconds: f64| {
        Isometry3d::from_translation(Vec3::new((seconds * 1.5) as f32 - 4.0, 1.6, 0.0))
    }));
    spawn_base_box(&mut app, FIRST, &track, Vec3::new(0.25, 1.5, 2.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, neutral_inputs(256), SETTLE);
    for (state, pose) in with_poses(&app, &states, &track, SETTLE) {
        let gap = state.position.x - pose.translation.x - 0.25;
        assert!(gap > 0.34 - 5e-3, "the door is in the pawn by {} m: {state:?}", 0.34 - gap);
        assert!(state.is_grounded() && state.position.y < 0.03, "{state:?}");
    }
    let last = last_state(&states);
    let gap = last.position.x - track.pose(seconds_at(&app, SETTLE + 255)).translation.x - 0.25;
    assert!(gap < 0.37 && last.position.x > 2.0, "the door must push the pawn along: {last:?}");
    assert_eq!(count(&events, |event| matches!(event, MoveEvent::Stuck { .. })), 0, "{events:?}");
}

#[test]
fn crushed_pawn_emits_stuck_and_walks_freely_once_released() {
    let mut app = Level::with_floor().block(Vec3::new(2.0, 0.0, -9.0), Vec3::new(6.0, 6.0, 9.0)).build();
    let door = Shuttle {
        from: Vec3::new(-4.0, 3.05, 0.0),
        to: Vec3::new(1.3, 3.05, 0.0),
        travel_seconds: 2.0,
        ..default()
    };
    spawn_base_box(&mut app, FIRST, &BaseTrack::Shuttle(door), Vec3::new(0.5, 3.0, 9.0));
    let start = expect_standing(&mut app, Vec3::X);
    // The door waits for 1 s, closes in 2 s, waits for 1 s and opens in 2 s.
    let (states, events) = run(&mut app, start, neutral_inputs(364), SETTLE);
    for state in &states {
        assert!(state.position.is_finite() && state.velocity.is_finite(), "{state:?}");
        assert!(state.position.abs().max_element() < 20.0, "{state:?}");
    }
    let depths: Vec<f32> = events
        .iter()
        .filter_map(|event| match event {
            MoveEvent::Stuck { depth } => Some(*depth),
            _ => None,
        })
        .collect();
    assert!(!depths.is_empty(), "a gap of 0.2 m is too narrow: {events:?}");
    assert!(depths.iter().all(|depth| depth.is_finite() && *depth > 0.0), "{depths:?}");
    let after = last_state(&states);
    let last = last_state(&run(&mut app, after, axis_inputs(-127, 0, 44), SETTLE + 364).0);
    assert!(
        after.position.x - last.position.x > 1.0,
        "must walk freely once the door has opened: {after:?}, {last:?}"
    );
}

#[test]
fn pawn_falls_when_its_base_despawns() {
    let mut app = Level::with_floor().build();
    let still = BaseTrack::Still(Isometry3d::from_translation(Vec3::Y * 2.0));
    let base = spawn_base_box(&mut app, FIRST, &still, Vec3::new(1.0, 0.25, 1.0));
    let start = expect_standing(&mut app, Vec3::Y * 2.25);
    assert_eq!(start.base, FIRST);
    app.world_mut().despawn(base);
    settle(&mut app);
    let (states, events) = run(&mut app, start, neutral_inputs(96), SETTLE);
    let last = last_state(&states);
    assert!(last.is_grounded() && HOVER.contains(&last.position.y) && last.base == BaseId::NONE, "{last:?}");
    assert!(events.contains(&MoveEvent::BaseChanged { from: FIRST, to: BaseId::NONE }), "{events:?}");
    assert_eq!(landings(&events).len(), 1, "{events:?}");
}

#[test]
fn teleporting_base_takes_its_rider_along_without_adding_speed() {
    let mut app = Level::new().build();
    let track = BaseTrack::Custom(Arc::new(|seconds: f64| {
        Isometry3d::from_translation(if seconds < 2.0 { Vec3::ZERO } else { Vec3::new(20.0, 5.0, 0.0) })
    }));
    spawn_base_box(&mut app, FIRST, &track, Vec3::new(2.0, 0.25, 2.0));
    let start = expect_standing(&mut app, Vec3::Y * 0.25);
    let (states, _) = run(&mut app, start, neutral_inputs(128), SETTLE);
    let last = last_state(&states);
    assert!((last.position.x - 20.0).abs() < 1e-3 && last.is_grounded(), "{last:?}");
    let fastest = states.iter().map(|s| s.world_velocity().length()).fold(0.0, f32::max);
    assert!(fastest < 0.1, "{fastest} m/s");
}

#[test]
fn wall_stops_a_rider_while_its_base_moves_on() {
    let mut app = Level::new().block(Vec3::new(3.0, 0.3, -9.0), Vec3::new(4.0, 9.0, 9.0)).build();
    spawn_base_box(&mut app, FIRST, &constant_velocity_track(Vec3::X), Vec3::new(9.0, 0.25, 3.0));
    let start = expect_standing(&mut app, Vec3::Y * 0.25);
    let (states, _) = run(&mut app, start, neutral_inputs(320), SETTLE);
    for state in &states {
        assert!(state.is_grounded() && state.position.x < 3.0 - 0.33, "{state:?}");
    }
    assert!(
        last_state(&states).position.x > 2.6,
        "the base must carry the pawn to the wall: {:?}",
        last_state(&states)
    );
    assert!(
        last_state(&states).base_position.x < -2.0,
        "the base must move on below the pawn: {:?}",
        last_state(&states)
    );
}

#[test]
fn replay_from_the_middle_of_a_ride_gives_identical_bits() {
    let mut app = Level::with_floor().build();
    let table = BaseTrack::Turntable(Turntable { pivot: Vec3::Y * 0.5, seconds_per_turn: 7.0, ..default() });
    spawn_base_box(&mut app, FIRST, &table, Vec3::new(12.0, 0.25, 12.0));
    let lift = Shuttle { from: Vec3::new(3.0, 0.7, 0.0), to: Vec3::new(-3.0, 2.0, 0.0), ..default() };
    spawn_base_box(&mut app, BaseId(2), &BaseTrack::Shuttle(lift), Vec3::new(2.0, 0.25, 2.0));
    let start = expect_standing(&mut app, Vec3::new(0.0, 0.75, 4.0));
    let inputs = random_inputs(5, 800);
    let (states, events) = run(&mut app, start, inputs.iter().copied(), SETTLE);
    let rides = count(&events, |event| matches!(event, MoveEvent::BaseChanged { .. }));
    assert!(rides > 4, "too few base changes: {rides}");
    for from in [100, 237, 500, 799] {
        let inputs = inputs[from..].iter().copied();
        let (again, _) = run(&mut app, states[from], inputs, SETTLE + from as u32);
        assert_eq!(first_difference(&states[from..], &again), None, "from tick {from}");
    }
}

#[test]
fn half_a_tick_moves_a_rider_half_the_way_of_its_base() {
    let mut app = Level::new().build();
    spawn_base_box(&mut app, FIRST, &constant_velocity_track(Vec3::X * 4.0), Vec3::new(5.0, 0.25, 5.0));
    let start = expect_standing(&mut app, Vec3::Y * 0.25);
    let (states, _) =
        drive::<bevy_unlag_movement::CapsuleModel>(&mut app, start, 1, SETTLE, DT * 0.5, |_, _| {
            CapsuleInput::default()
        });
    let moved = last_state(&states).position.x - start.position.x;
    assert!((moved - 4.0 * DT * 0.5).abs() < 1e-4, "{moved} m in half a tick");
    assert_eq!(last_state(&states).mode, MovementMode::Walking);
}

#[test]
fn lift_that_rises_faster_than_an_airborne_pawn_picks_it_up() {
    let mut app = Level::new().build();
    let track = constant_velocity_track(Vec3::Y * 5.0);
    spawn_base_box(&mut app, FIRST, &track, Vec3::new(3.0, 0.25, 3.0));
    let rising = CapsuleState { velocity: Vec3::Y * 4.0, ..CapsuleState::at(Vec3::Y * 0.5) };
    let (states, events) = run(&mut app, rising, neutral_inputs(64), 0);
    let landed = events.iter().find_map(|event| match event {
        MoveEvent::Landed { speed } => Some(*speed),
        _ => None,
    });
    // The speed difference starts at 1 m/s; gravity adds to it until the contact.
    assert!(landed.is_some_and(|speed| (1.0..4.0).contains(&speed)), "{events:?}");
    let last = last_state(&states);
    assert!(last.base == FIRST && last.velocity.length() < 0.01, "{last:?}");
}
