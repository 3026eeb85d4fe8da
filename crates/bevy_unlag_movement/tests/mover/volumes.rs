//! Movement volumes: water, launch pads, mud, local gravity; swimming and flying.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, Sensor};
use bevy_unlag_movement::{
    BaseId, BaseTrack, CapsuleInput, CapsuleState, GravityField, MoveEvent, MoveVolume, MovementBase,
    MovementMode, VolumeId,
};

use crate::common::*;

const ID: VolumeId = VolumeId(3);

/// Fills a box between two corners with a volume.
fn spawn_volume_box(app: &mut App, volume: MoveVolume, mins: Vec3, maxs: Vec3) {
    let half = (maxs - mins) * 0.5;
    let place = Transform::from_translation((mins + maxs) * 0.5);
    spawn(app, (volume, Collider::cuboid(half.x, half.y, half.z), place));
}

/// A pool, 20 m by 20 m, from `bottom` up to 0.
fn pool(level: Level, bottom: f32) -> App {
    let mut app = level.block(Vec3::new(-10.0, bottom - 1.0, -10.0), Vec3::new(10.0, bottom, 10.0)).build();
    spawn_volume_box(
        &mut app,
        MoveVolume::water(ID),
        Vec3::new(-10.0, bottom, -10.0),
        Vec3::new(10.0, 0.0, 10.0),
    );
    app
}

fn swimming_at(place: Vec3) -> CapsuleState {
    CapsuleState { mode: MovementMode::Swimming, volume: ID, ..CapsuleState::at(place) }
}

fn surface_crossings(events: &[MoveEvent]) -> usize {
    count(events, |event| {
        matches!(
            event,
            MoveEvent::ModeChanged { to: MovementMode::Swimming, .. }
                | MoveEvent::ModeChanged { from: MovementMode::Swimming, .. }
        )
    })
}

#[test]
fn pawn_that_falls_into_water_swims_and_stays_in_it() {
    let mut app = pool(Level::new(), -8.0);
    let (states, events) = run(&mut app, CapsuleState::at(Vec3::Y), neutral_inputs(128), 0);
    let last = last_state(&states);
    assert_eq!((last.mode, last.volume), (MovementMode::Swimming, ID), "{last:?}");
    assert!(events.contains(&MoveEvent::VolumeChanged { from: VolumeId::NONE, to: ID }), "{events:?}");
    let swims = MoveEvent::ModeChanged { from: MovementMode::Falling, to: MovementMode::Swimming };
    assert_eq!(count(&events, |event| *event == swims), 1, "{events:?}");
    assert_eq!(mode_changes(&events), 1, "must stay in the water: {events:?}");
    let first = states.iter().position(|s| s.mode == MovementMode::Swimming).expect("the pawn must swim");
    let middle = states[first - 1].position.y + 0.88;
    assert!((-0.2..=0.0).contains(&middle), "started to swim with its centre at {middle} m");
    assert!(last.velocity.y > states[first].velocity.y, "water must slow the fall: {last:?}");
}

#[test]
fn crouched_pawn_stands_up_to_swim_and_crouch_swims_down() {
    let mut app = pool(Level::new(), -8.0);
    let state = CapsuleState { crouched: true, ..CapsuleState::at(Vec3::Y * -3.0) };
    let (states, _) = run(&mut app, state, [CapsuleInput { crouch: true, ..default() }; 64], 0);
    assert!(!last_state(&states).crouched, "{:?}", last_state(&states));
    assert!(last_state(&states).velocity.y < -2.0, "crouch must swim downwards: {:?}", last_state(&states));
}

#[test]
fn buoyant_swimmer_comes_to_rest_with_its_centre_just_below_the_surface() {
    let mut app = pool(Level::new().tune(|config| config.buoyancy = 1.2), -8.0);
    for depth in [1.2, 2.0, 5.0] {
        let (states, _) = run(&mut app, swimming_at(Vec3::Y * -depth), neutral_inputs(64 * 40), 0);
        for state in &states[64 * 30..] {
            let middle = state.position.y + 0.88;
            assert_eq!(state.mode, MovementMode::Swimming, "{state:?}");
            assert!((-0.4..0.0).contains(&middle), "its centre is {middle} m above the surface: {state:?}");
            assert!(state.velocity.length() < 0.3, "{state:?}");
        }
    }
}

#[test]
fn swimmer_holding_jump_floats_at_the_surface_without_mode_flicker() {
    let mut app = pool(Level::new(), -8.0);
    let input = CapsuleInput { jump: true, ..default() };
    let (states, events) = run(&mut app, swimming_at(Vec3::Y * -2.5), [input; 640], 0);
    let crossings = surface_crossings(&events);
    assert!(crossings <= 4, "{crossings} changes in ten seconds: {events:?}");
    assert!(highest(&states) < 0.2, "{} m above the water", highest(&states));
    assert!(last_state(&states).position.y > -1.4, "must stay near the surface: {:?}", last_state(&states));
}

#[test]
fn swimmer_with_low_buoyancy_sinks_to_the_bottom() {
    let mut app = pool(Level::new().tune(|config| config.buoyancy = 0.5), -4.0);
    let (states, _) = run(&mut app, swimming_at(Vec3::Y * -2.0), neutral_inputs(256), 0);
    let last = last_state(&states);
    assert!((-4.0..-3.97).contains(&last.position.y), "{last:?}");
    assert_eq!(last.mode, MovementMode::Swimming, "{last:?}");
    let mut neutral = pool(Level::new(), -4.0);
    let last = last_state(&run(&mut neutral, swimming_at(Vec3::Y * -2.0), neutral_inputs(256), 0).0);
    assert_eq!(last.position, Vec3::Y * -2.0, "default buoyancy must be neutral: {last:?}");
}

#[test]
fn swimmer_reaches_its_swim_speed_in_every_direction() {
    let mut app = pool(Level::new(), -40.0);
    let quarter = 16_384 / 2;
    let half = core::f32::consts::FRAC_1_SQRT_2;
    let cases = [
        (CapsuleInput { forward: 127, ..default() }, Vec3::NEG_Z),
        (CapsuleInput { right: 127, ..default() }, Vec3::X),
        (CapsuleInput { jump: true, ..default() }, Vec3::Y),
        (CapsuleInput { crouch: true, ..default() }, Vec3::NEG_Y),
        (CapsuleInput { forward: 127, pitch: quarter, ..default() }, Vec3::new(0.0, half, -half)),
        (CapsuleInput { forward: -127, pitch: quarter, ..default() }, Vec3::new(0.0, -half, half)),
    ];
    for (input, direction) in cases {
        let (states, _) = run(&mut app, swimming_at(Vec3::Y * -20.0), [input; 128], 0);
        let last = last_state(&states);
        assert!(last.velocity.distance(direction * 3.0) < 0.02, "{input:?}: {last:?}");
        let moved = last.position - states[64].position;
        assert!(moved.distance(direction * 3.0) < 0.05, "{input:?}: {moved} in a second");
    }
}

#[test]
fn swimmer_climbs_out_of_the_water_at_a_low_bank() {
    let bank = Level::new().block(Vec3::new(4.0, -8.0, -10.0), Vec3::new(40.0, 0.1, 10.0));
    let mut app = pool(bank, -8.0);
    let input = CapsuleInput { right: 127, jump: true, ..default() };
    let (states, events) = run(&mut app, swimming_at(Vec3::new(2.0, -1.5, 0.0)), [input; 256], 0);
    let last = last_state(&states);
    assert!(last.is_grounded() && last.position.x > 4.5, "{last:?}: {events:?}");
    assert!((0.1..0.13).contains(&last.position.y), "{last:?}");
    assert_eq!(last.volume, VolumeId::NONE, "{last:?}");
}

#[test]
fn swimmer_does_not_climb_a_high_bank() {
    let bank = Level::new().block(Vec3::new(4.0, -8.0, -10.0), Vec3::new(20.0, 2.5, 10.0));
    let mut app = pool(bank, -8.0);
    let input = CapsuleInput { right: 127, jump: true, ..default() };
    let (states, _) = run(&mut app, swimming_at(Vec3::new(2.0, -1.5, 0.0)), [input; 640], 0);
    assert!(highest(&states) < 0.4, "{} m", highest(&states));
    assert!(states.iter().all(|s| s.position.x < 4.0), "{:?}", last_state(&states));
}

#[test]
fn pawn_walks_up_a_beach_and_back_into_the_water_without_mode_flicker() {
    let mut app = pool(Level::new().ramp(Vec3::new(-2.0, -4.0, 0.0), 20.0, 40.0), -4.0);
    let start = swimming_at(Vec3::new(-1.0, -2.5, 0.0));
    let (states, events) = run(&mut app, start, axis_inputs(127, 0, 64 * 8), 0);
    let out = last_state(&states);
    assert!(out.is_grounded() && out.position.y > 1.0, "{out:?}");
    assert!(mode_changes(&events) <= 6, "flickers at the edge: {events:?}");
    let (states, events) = run(&mut app, out, axis_inputs(-127, 0, 64 * 8), 0);
    assert_eq!(last_state(&states).mode, MovementMode::Swimming, "{:?}", last_state(&states));
    assert!(mode_changes(&events) <= 6, "flickers at the edge: {events:?}");
}

#[test]
fn pawn_walks_through_shallow_water() {
    let mut app = Level::with_floor().build();
    spawn_volume_box(&mut app, MoveVolume::water(ID), Vec3::new(-9.0, -1.0, -9.0), Vec3::new(9.0, 0.8, 9.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, axis_inputs(64, 0, 128), SETTLE);
    assert!(states.iter().all(CapsuleState::is_grounded) && events.is_empty(), "{events:?}");
}

#[test]
fn flying_pawn_moves_in_three_dimensions_and_slides_along_walls() {
    let mut app = Level::with_floor().block(Vec3::new(8.0, 0.0, -40.0), Vec3::new(9.0, 40.0, 40.0)).build();
    let flying = CapsuleState { mode: MovementMode::Flying, ..CapsuleState::at(Vec3::Y * 5.0) };
    let half = core::f32::consts::FRAC_1_SQRT_2;
    let up = CapsuleInput { forward: 127, pitch: 8_192, ..default() };
    let (states, events) = run(&mut app, flying, [up; 128], 0);
    let last = last_state(&states);
    assert!(last.velocity.distance(Vec3::new(0.0, half, -half) * 6.0) < 0.02, "{last:?}");
    assert!(events.is_empty() && last.mode == MovementMode::Flying, "{events:?}");
    // Flies into the wall at an angle of 45°.
    let last = last_state(&run(&mut app, flying, axis_inputs(127, 127, 192), 0).0);
    assert!((last.position.x - (8.0 - 0.345)).abs() < 2e-3 && last.position.z < -6.0, "{last:?}");
    // The pawn keeps flying and does not start to walk on the floor.
    let hover = last_state(&run(&mut app, flying, neutral_inputs(128), 0).0);
    assert_eq!(hover.position, flying.position);
    let down = CapsuleInput { crouch: true, ..default() };
    let low = last_state(&run(&mut app, flying, [down; 192], 0).0);
    assert!((0.0..0.03).contains(&low.position.y) && low.mode == MovementMode::Flying, "{low:?}");
}

#[test]
fn flying_pawn_keeps_flying_through_water() {
    let mut app = pool(Level::new(), -8.0);
    let flying = CapsuleState { mode: MovementMode::Flying, ..CapsuleState::at(Vec3::new(-14.0, -3.0, 0.0)) };
    let (states, events) = run(&mut app, flying, axis_inputs(127, 0, 128), 0);
    assert!(states.iter().any(|s| s.volume == ID), "the flight must pass the water");
    assert_eq!(mode_changes(&events), 0, "{events:?}");
}

#[test]
fn trigger_volume_emits_events_and_does_not_affect_movement() {
    let mut with = Level::with_floor().build();
    spawn_volume_box(&mut with, MoveVolume::trigger(ID), Vec3::new(2.0, 0.0, -3.0), Vec3::new(4.0, 3.0, 3.0));
    let mut without = Level::with_floor().build();
    let start = expect_standing(&mut with, Vec3::ZERO);
    let (states, events) = run(&mut with, start, axis_inputs(127, 0, 96), SETTLE);
    let (same, _) = run(&mut without, start, axis_inputs(127, 0, 96), SETTLE);
    let changes: Vec<MoveEvent> =
        events.into_iter().filter(|event| matches!(event, MoveEvent::VolumeChanged { .. })).collect();
    let changed = |from, to| MoveEvent::VolumeChanged { from, to };
    assert_eq!(changes, [changed(VolumeId::NONE, ID), changed(ID, VolumeId::NONE)]);
    for (i, (a, b)) in states.iter().zip(&same).enumerate() {
        assert_eq!((a.position, a.velocity), (b.position, b.velocity), "tick {i}");
    }
    // The centre of the pawn decides, not its feet or sides.
    let inside = states.iter().filter(|s| s.volume == ID);
    let (low, high) = inside.map(|s| s.position.x).fold((9.0f32, 0.0f32), |(l, h), x| (l.min(x), h.max(x)));
    assert!((2.0..2.2).contains(&low) && (3.9..4.2).contains(&high), "from {low} to {high}");
}

#[test]
fn volume_speed_factor_scales_the_walking_speed_inside_only() {
    let mut app = Level::with_floor().build();
    let mud = MoveVolume { speed_factor: 0.5, ..MoveVolume::trigger(ID) };
    spawn_volume_box(&mut app, mud, Vec3::new(3.0, -1.0, -3.0), Vec3::new(30.0, 3.0, 3.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, _) = run(&mut app, start, axis_inputs(127, 0, 192), SETTLE);
    assert!((level_speed(&last_state(&states)) - 3.0).abs() < 1e-3, "{:?}", last_state(&states));
    let fastest = states.iter().map(level_speed).fold(0.0, f32::max);
    assert!((fastest - 6.0).abs() < 1e-3, "full speed outside the mud: {fastest}");
}

#[test]
fn volume_with_ignore_input_stops_a_pawn_but_not_its_view() {
    let mut app = Level::with_floor().build();
    let cutscene = MoveVolume { ignore_input: true, ..MoveVolume::trigger(ID) };
    spawn_volume_box(&mut app, cutscene, Vec3::new(3.0, -1.0, -9.0), Vec3::new(30.0, 3.0, 9.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let input = CapsuleInput { right: 127, jump: true, yaw: 200, ..default() };
    let (states, events) = run_with_feedback(&mut app, start, 192, SETTLE, |_, state| CapsuleInput {
        jump: state.volume == ID,
        ..input
    });
    let last = last_state(&states);
    assert!((3.0..3.5).contains(&last.position.x) && last.velocity == Vec3::ZERO, "{last:?}");
    assert!(jumps(&events).is_empty(), "{events:?}");
    assert_eq!(last.yaw, 200, "the view must still follow the input");
}

#[test]
fn launch_pad_reaches_its_ballistic_height_and_launches_once() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).build();
        let pad = MoveVolume { launch: Some(Vec3::Y * 7.0), ..MoveVolume::trigger(ID) };
        spawn_volume_box(&mut app, pad, Vec3::new(2.0, 0.0, -2.0), Vec3::new(4.0, 1.5, 2.0));
        let start = expect_standing(&mut app, Vec3::ZERO);
        // Long enough to pass the apex, and short enough not to return to the pad.
        let count_of_ticks = (rate * 1.5) as usize;
        let (states, events) = run(&mut app, start, axis_inputs(127, 0, count_of_ticks), SETTLE);
        let height = highest(&states) - start.position.y;
        assert!((height - 7.0 * 7.0 / (2.0 * GRAVITY)).abs() < 0.01, "{height} m at {rate}/s");
        let thrown = MoveEvent::Launched { velocity: Vec3::Y * 7.0 };
        assert_eq!(count(&events, |event| *event == thrown), 1, "{events:?} at {rate}/s");
    }
}

#[test]
fn launched_pawn_emits_mode_changed_and_base_changed() {
    let mut app = Level::new().build();
    let base = MovementBase { id: BaseId(4), track: BaseTrack::default() };
    spawn(&mut app, (base, Collider::cuboid(9.0, 0.5, 9.0), Transform::default()));
    let pad = MoveVolume { launch: Some(Vec3::Y * 7.0), ..MoveVolume::trigger(ID) };
    spawn_volume_box(&mut app, pad, Vec3::new(2.0, 0.0, -2.0), Vec3::new(4.0, 3.0, 2.0));
    let start = expect_standing(&mut app, Vec3::Y * 0.5);
    assert_eq!(start.base, BaseId(4));
    let (_, events) = run(&mut app, start, axis_inputs(127, 0, 48), SETTLE);
    let off = MoveEvent::ModeChanged { from: MovementMode::Walking, to: MovementMode::Falling };
    assert!(events.contains(&off), "{events:?}");
    let away = MoveEvent::BaseChanged { from: BaseId(4), to: BaseId::NONE };
    assert!(events.contains(&away), "{events:?}");
}

#[test]
fn overlapping_volumes_apply_the_highest_priority_then_the_lowest_id() {
    let mut app = Level::with_floor().build();
    let corner = Vec3::new(9.0, 3.0, 9.0);
    let slow = |id, priority, speed_factor| MoveVolume {
        priority,
        speed_factor,
        ..MoveVolume::trigger(VolumeId(id))
    };
    spawn_volume_box(&mut app, slow(5, 0, 0.5), Vec3::new(-9.0, 0.0, -9.0), corner);
    spawn_volume_box(&mut app, slow(9, 2, 0.25), Vec3::new(0.0, 0.0, -9.0), corner);
    spawn_volume_box(&mut app, slow(2, -1, 0.1), Vec3::new(-9.0, 0.0, -9.0), corner);
    spawn_volume_box(&mut app, slow(7, 2, 0.8), Vec3::new(4.0, 0.0, -9.0), corner);
    for (x, id, speed) in [(-4.0, 5, 3.0), (2.0, 9, 1.5), (6.0, 7, 4.8)] {
        let start = expect_standing(&mut app, Vec3::X * x);
        let last = last_state(&run(&mut app, start, axis_inputs(0, 127, 64), SETTLE).0);
        assert_eq!(last.volume, VolumeId(id), "at x = {x}: {last:?}");
        assert!((level_speed(&last) - speed).abs() < 1e-3, "at x = {x}: {last:?}");
    }
}

#[test]
fn volume_gravity_replaces_the_configured_gravity() {
    let mut app = Level::new().build();
    let moon = MoveVolume { gravity: Some(GravityField::Uniform(Vec3::X * 1.6)), ..MoveVolume::trigger(ID) };
    spawn_volume_box(&mut app, moon, Vec3::splat(-50.0), Vec3::splat(50.0));
    let last = last_state(&run(&mut app, CapsuleState::at(Vec3::ZERO), neutral_inputs(128), 0).0);
    assert!(last.position.distance(Vec3::X * (0.5 * 1.6 * 4.0)) < 0.01, "{last:?}");
    assert!(last.up.distance(Vec3::NEG_X) < 1e-6, "{last:?}");
}

#[test]
fn volumes_do_not_block_pawns_with_or_without_sensor() {
    let mut app = Level::with_floor().build();
    spawn_volume_box(&mut app, MoveVolume::trigger(ID), Vec3::new(2.0, 0.0, -3.0), Vec3::new(4.0, 3.0, 3.0));
    spawn(
        &mut app,
        (
            MoveVolume::trigger(VolumeId(8)),
            Collider::cuboid(1.0, 2.0, 3.0),
            Sensor,
            Transform::from_xyz(6.0, 1.0, 0.0),
        ),
    );
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, axis_inputs(127, 0, 128), SETTLE);
    assert!(last_state(&states).position.x > 9.0, "{:?}", last_state(&states));
    assert_eq!(count(&events, |event| matches!(event, MoveEvent::VolumeChanged { .. })), 4, "{events:?}");
}

#[test]
fn crouched_pawn_wades_through_shallow_water_without_mode_flicker() {
    let mut app = Level::with_floor().build();
    spawn_volume_box(&mut app, MoveVolume::water(ID), Vec3::new(-9.0, -1.0, -9.0), Vec3::new(9.0, 0.6, 9.0));
    let start = expect_standing(&mut app, Vec3::ZERO);
    let crouch = CapsuleInput { crouch: true, right: 20, ..default() };
    let (states, events) = run(&mut app, start, [crouch; 128], SETTLE);
    assert_eq!(events, [MoveEvent::Crouched], "must crouch exactly once");
    assert!(states[1..].iter().all(|s| s.is_grounded() && s.crouched), "{:?}", last_state(&states));
}

#[test]
fn transitions_without_swimming_ignore_water() {
    for submerged in [MovementMode::Walking, MovementMode::Falling] {
        let mut app = Level::with_floor().tune(|config| config.transitions.submerged = submerged).build();
        spawn_volume_box(
            &mut app,
            MoveVolume::water(ID),
            Vec3::new(2.0, -1.0, -9.0),
            Vec3::new(5.0, 3.0, 9.0),
        );
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, events) = run(&mut app, start, axis_inputs(127, 0, 96), SETTLE);
        assert_eq!(mode_changes(&events), 0, "{events:?}");
        assert!(last_state(&states).position.x > 7.0, "{:?}", last_state(&states));
    }
}
