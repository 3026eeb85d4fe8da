//! Tests of the kart model in small levels with floors, walls and ramps.

mod kart_interaction;
mod random_driving;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use bevy_unlag_core::PawnClass;
use bevy_unlag_movement::{
    BaseId, BaseTrack, KartConfig, KartEvent, KartInput, KartModel, KartPlugin, KartState, MovementBase,
    Shuttle,
};

use crate::common::{DT, HOVER, Level, bits, last_state, spawn};

/// Heading along +X.
const EAST: u16 = 49_152;
/// Ticks in which a kart comes to rest on its floor.
const SETTLE: usize = 40;
const FULL: KartInput = KartInput { throttle: 127, steering: 0 };
const IDLE: KartInput = KartInput { throttle: 0, steering: 0 };

/// Builds a level with the kart plugin.
fn build_with_karts(level: Level) -> App {
    level.build_with(|app| {
        app.add_plugins(KartPlugin);
    })
}

/// A level with one floor of 4 km by 4 km.
fn flat_level() -> Level {
    Level::new().block(Vec3::new(-2_000.0, -1.0, -2_000.0), Vec3::new(2_000.0, 0.0, 2_000.0))
}

fn tune(app: &mut App, change: impl FnOnce(&mut KartConfig)) {
    change(&mut app.world_mut().resource_mut::<KartConfig>());
}

fn run(
    app: &mut App,
    state: KartState,
    ticks: usize,
    input: impl FnMut(usize, &KartState) -> KartInput,
) -> (Vec<KartState>, Vec<KartEvent>) {
    let (states, events) = crate::common::drive::<KartModel>(app, state, ticks, 0, DT, input);
    (states, events.concat())
}

/// Returns a kart at rest on the floor at or below `place`.
fn expect_parked(app: &mut App, place: Vec3, yaw: u16) -> KartState {
    let (states, _) = run(app, KartState::at(place + Vec3::Y * 0.05, yaw), SETTLE, |_, _| IDLE);
    let rest = last_state(&states);
    assert!(rest.grounded && rest.velocity == Vec3::ZERO, "no floor to stand on at {place}: {rest:?}");
    rest
}

/// Returns a parked kart that moves at `speed` along its heading.
fn rolling_kart(app: &mut App, place: Vec3, yaw: u16, speed: f32) -> KartState {
    let state = expect_parked(app, place, yaw);
    KartState { velocity: state.forward() * speed, ..state }
}

fn bumps(events: &[KartEvent]) -> Vec<f32> {
    let speed = |event: &KartEvent| match event {
        KartEvent::Bumped { speed, .. } => Some(*speed),
        _ => None,
    };
    events.iter().filter_map(speed).collect()
}

#[test]
fn kart_top_speed_is_where_drag_equals_the_drive_force() {
    let mut app = build_with_karts(flat_level());
    let start = expect_parked(&mut app, Vec3::ZERO, EAST);
    let (states, events) = run(&mut app, start, 64 * 40, |_, _| FULL);
    let last = last_state(&states);
    assert!((last.speed() - 24.815).abs() < 0.02, "{last:?}");
    assert!((last.velocity.x - last.speed()).abs() < 1e-3 && last.position.z.abs() < 0.2, "{last:?}");
    assert!(states.iter().all(|s| s.grounded && HOVER.contains(&s.position.y)));
    assert_eq!(events, []);
}

/// Against a mutation: without `config.class(state.class)` in `step` of `kart/step.rs`.
#[test]
fn kart_of_a_class_has_its_own_speed_and_size() {
    let mut app =
        build_with_karts(flat_level().block(Vec3::new(300.0, 0.0, -50.0), Vec3::new(301.0, 3.0, 50.0)));
    let mut truck = PawnClass(0);
    tune(&mut app, |config| {
        let heavy =
            KartConfig { max_driving_force: 4_000.0, radius: 1.1, half_height: 1.2, ..KartConfig::default() };
        truck = config.add_class(heavy).expect("there are two classes");
    });
    let stops_at = |app: &mut App, class: PawnClass| {
        let start = KartState { class, ..KartState::at(Vec3::Y * 0.05, EAST) };
        let (states, _) = run(app, start, 64 * 40, |_, _| FULL);
        let fastest = states.iter().map(KartState::speed).fold(0.0, f32::max);
        (fastest, last_state(&states).position.x)
    };
    // √((driving force - rolling resistance) / drag), until the wall stops the hull.
    let expected = |force: f32| ((force - 0.015 * 1_000.0 * 9.81) / 16.0).sqrt();
    // The last class is unknown, so class 0 applies.
    for (class, force, radius) in
        [(PawnClass(0), 10_000.0, 0.7), (truck, 4_000.0, 1.1), (PawnClass(9), 10_000.0, 0.7)]
    {
        let (fastest, end) = stops_at(&mut app, class);
        assert!((fastest - expected(force)).abs() < 0.3, "{class:?}: {fastest} m/s");
        assert!((end - (300.0 - radius)).abs() < 0.02, "{class:?} stops at {end}");
    }
}

#[test]
fn kart_at_full_steering_drives_a_circle_of_the_turning_radius() {
    let mut app = build_with_karts(flat_level());
    let start = expect_parked(&mut app, Vec3::ZERO, EAST);
    let input = KartInput { steering: 127, ..FULL };
    let (states, _) = run(&mut app, start, 64 * 30, |_, _| input);
    // A circle at top speed takes 2.5 s.
    let laps = &states[states.len() - 64 * 5..];
    let (low, high) = laps
        .iter()
        .fold((Vec2::MAX, Vec2::MIN), |(low, high), s| (low.min(s.position.xz()), high.max(s.position.xz())));
    let size = high - low;
    assert!((size - Vec2::splat(20.0)).abs().max_element() < 0.1, "{size} m instead of 20 m");
    let last = last_state(&states);
    assert!((last.spin + last.speed() / 10.0).abs() < 1e-2, "must turn right: {last:?}");
}

#[test]
fn coasting_kart_comes_to_rest_and_stays_bit_for_bit() {
    let mut app = build_with_karts(flat_level());
    let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 3.0);
    let (states, _) = run(&mut app, start, 64 * 60, |_, _| IDLE);
    let rested = states.iter().position(|s| s.velocity == Vec3::ZERO).expect("the kart must come to rest");
    assert!(rested > 64 * 5, "came to rest too soon, after {rested} ticks");
    assert!(states.windows(2).all(|pair| pair[1].position.x >= pair[0].position.x), "must not roll back");
    let rest = states[rested];
    let still = states[rested + 1..].iter().all(|s| bits(s) == bits(&KartState { spin: s.spin, ..rest }));
    assert!(still, "{rest:?} and {:?}", last_state(&states));
    // Steering alone does not turn the kart.
    let (turned, _) = run(&mut app, last_state(&states), 64, |_, _| KartInput { steering: 127, ..IDLE });
    assert_eq!(last_state(&turned).heading, rest.heading);
    assert_eq!(last_state(&turned).position, rest.position);
}

#[test]
fn reversing_kart_turns_its_heading_the_other_way() {
    let mut app = build_with_karts(flat_level());
    let start = expect_parked(&mut app, Vec3::ZERO, EAST);
    for throttle in [127, -127] {
        let (states, _) = run(&mut app, start, 64, |_, _| KartInput { throttle, steering: 127 });
        let last = last_state(&states);
        let turned = last.heading.wrapping_sub(start.heading).cast_signed();
        // A smaller heading is further right.
        assert_eq!(turned < 0, throttle > 0, "{last:?}");
        // Either the tail or the nose leads to the right, which is +Z for a kart that points along +X.
        assert!(last.position.z > 0.5, "{last:?}");
        assert_eq!(last.speed() > 0.0, throttle > 0);
        assert!((last.velocity.length() - last.speed().abs()).abs() < 1e-3, "must not slip: {last:?}");
    }
}

#[test]
fn wall_ahead_stops_a_kart_with_one_bump_event() {
    let mut app =
        build_with_karts(flat_level().block(Vec3::new(20.0, 0.0, -50.0), Vec3::new(21.0, 3.0, 50.0)));
    let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 20.0);
    let (states, events) = run(&mut app, start, 64 * 4, |_, _| FULL);
    let last = last_state(&states);
    assert!((last.position.x - (20.0 - 0.7)).abs() < 0.01, "{last:?}");
    assert!(last.velocity.length() < 0.2, "{last:?}");
    let hits = bumps(&events);
    assert_eq!(hits.len(), 1, "leaning on the wall must not bump again: {events:?}");
    let before = states.iter().map(KartState::speed).fold(0.0, f32::max);
    assert!((hits[0] - before).abs() < 0.2, "{hits:?} at {before} m/s");
    // It can also drive away from the wall.
    let (back, _) = run(&mut app, last, 64 * 2, |_, _| KartInput { throttle: -127, steering: 0 });
    assert!(last_state(&back).position.x < 5.0, "{:?}", last_state(&back));
}

#[test]
fn kart_against_a_wall_loses_only_its_normal_velocity() {
    let mut app =
        build_with_karts(flat_level().block(Vec3::new(-100.0, 0.0, -8.0), Vec3::new(300.0, 3.0, -7.0)));
    // 15° into the wall on the left.
    let yaw = EAST + 2_731;
    let start = rolling_kart(&mut app, Vec3::ZERO, yaw, 20.0);
    let (states, events) = run(&mut app, start, 128, |_, _| KartInput { steering: 0, throttle: 64 });
    let hits = bumps(&events);
    assert_eq!(hits.len(), 1, "{events:?}");
    assert!((hits[0] - 20.0 * 15.0_f32.to_radians().sin()).abs() < 0.4, "{hits:?}");
    let hit = states.iter().position(|s| s.position.z < -6.27).expect("the kart must reach the wall");
    let (before, after) = (states[hit - 1], states[hit + 1]);
    assert!((after.velocity.x - before.velocity.x).abs() < 0.3, "{before:?} {after:?}");
    assert!(states[hit..].iter().all(|s| s.velocity.z >= -1e-3 && s.position.z > -6.31));
    // When it steers away from the wall, the tyres realign its velocity with the heading.
    let (away, _) = run(&mut app, last_state(&states), 96, |_, _| KartInput { throttle: 64, steering: 127 });
    let last = last_state(&away);
    assert!(last.position.z > -4.0, "{last:?}");
    assert!((last.velocity.length() - last.speed()).abs() < 1e-3, "must not slip: {last:?}");
}

#[test]
fn kart_drives_up_a_ramp_takes_off_and_lands_once() {
    let top = 20.0_f32.to_radians();
    let mut app = build_with_karts(flat_level().ramp(Vec3::new(10.0, 0.0, 0.0), 20.0, 12.0));
    let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 20.0);
    let (states, events) = run(&mut app, start, 64 * 4, |_, _| FULL);
    let flown = states.iter().position(|s| !s.grounded).expect("the kart must take off");
    let edge = states[flown];
    let end_of_ramp = 10.0 + 12.0 * top.cos();
    assert!((edge.position.x - end_of_ramp).abs() < 1.2, "{edge:?}");
    assert!(edge.position.y > 3.5, "{edge:?}");
    let climb = edge.velocity.y / edge.velocity.x;
    // The round body has begun to roll over the edge.
    assert!((0.75..1.01).contains(&(climb / top.tan())), "must leave along the ramp: {climb}");
    // Slopes do not change the horizontal speed.
    let (level, _) =
        run(&mut app, KartState { position: start.position - Vec3::Z * 50.0, ..start }, flown, |_, _| FULL);
    assert!(
        (edge.velocity.x - last_state(&level).velocity.x).abs() < 1e-3,
        "{edge:?} {:?}",
        last_state(&level)
    );
    let highest = states.iter().map(|s| s.position.y).fold(0.0, f32::max);
    // v² / 2g, reduced slightly by the drag.
    let flight = edge.velocity.y * edge.velocity.y / (2.0 * 9.81);
    assert!((0.75..1.01).contains(&((highest - edge.position.y) / flight)), "{highest} m");
    let landings: Vec<f32> = events
        .iter()
        .filter_map(|event| match event {
            KartEvent::Landed { speed } => Some(*speed),
            _ => None,
        })
        .collect();
    assert_eq!(landings.len(), 1, "{events:?}");
    assert!((8.0..13.0).contains(&landings[0]), "{landings:?}");
    let last = last_state(&states);
    assert!(last.grounded && HOVER.contains(&last.position.y), "{last:?}");
    assert!(events.iter().filter(|event| matches!(event, KartEvent::TookOff)).count() == 1);
    assert_eq!(bumps(&events), [0.0; 0], "the ramp must not count as a wall");
}

#[test]
fn kart_follows_a_crest_at_low_speed_and_takes_off_at_high_speed() {
    // Up 12°, down 12°.
    let up = flat_level().ramp(Vec3::new(10.0, 0.0, 0.0), 12.0, 8.0);
    let end_of_up = Vec3::new(10.0, 0.0, 0.0) + Quat::from_rotation_z(12.0_f32.to_radians()) * Vec3::X * 8.0;
    let mut app = build_with_karts(up.ramp(end_of_up, -12.0, 8.0));
    for (speed, flies) in [(5.0, false), (20.0, true)] {
        let start = rolling_kart(&mut app, Vec3::new(5.0, 0.0, 0.0), EAST, speed);
        let (states, events) = run(&mut app, start, 64 * 6, |_, _| KartInput { throttle: 20, steering: 0 });
        let flown = events.contains(&KartEvent::TookOff);
        assert_eq!(flown, flies, "{speed} m/s: {events:?}");
        let last = last_state(&states);
        assert!(last.grounded && last.position.x > 28.0 && HOVER.contains(&last.position.y), "{last:?}");
        // It never descends faster than gravity allows.
        let drops = states.windows(2).map(|pair| (pair[0].position.y - pair[1].position.y) / DT);
        let fastest = drops.fold(0.0, f32::max);
        assert!(fastest < if flies { 9.0 } else { 2.0 }, "{fastest} m/s down at {speed} m/s");
    }
}

#[test]
fn kart_drives_over_low_kerbs_and_high_kerbs_stop_it() {
    for (height, passes) in [(0.1, true), (0.2, true), (0.4, false), (1.0, false)] {
        let kerb = flat_level().block(Vec3::new(8.0, 0.0, -20.0), Vec3::new(60.0, height, 20.0));
        let mut app = build_with_karts(kerb);
        let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 8.0);
        let (states, events) = run(&mut app, start, 128, |_, _| FULL);
        let last = last_state(&states);
        assert_eq!(last.position.x > 9.0, passes, "{height} m: {last:?}");
        assert_eq!(bumps(&events).is_empty(), passes, "{height} m: {events:?}");
        if passes {
            assert!(HOVER.contains(&(last.position.y - height)) && last.grounded, "{last:?}");
            // It also drives down again.
            let back = KartInput { throttle: -127, steering: 0 };
            let (states, _) = run(&mut app, last, 600, |_, _| back);
            assert!(HOVER.contains(&last_state(&states).position.y), "{:?}", last_state(&states));
        }
    }
}

#[test]
fn airborne_kart_falls_and_neither_accelerates_nor_steers() {
    let ledge = Level::new()
        .block(Vec3::new(-20.0, 4.0, -5.0), Vec3::new(0.0, 5.0, 5.0))
        .block(Vec3::new(-20.0, -1.0, -90.0), Vec3::new(90.0, 0.0, 90.0));
    let mut app = build_with_karts(ledge);
    let start = rolling_kart(&mut app, Vec3::new(-5.0, 5.0, 0.0), EAST, 12.0);
    let input = KartInput { steering: 127, throttle: 127 };
    let (states, events) = run(&mut app, start, 128, |_, s| if s.grounded { FULL } else { input });
    let air: Vec<&KartState> = states.iter().filter(|s| !s.grounded).collect();
    let seconds = air.len() as f32 * DT;
    // The sphere leaves the edge a little later than its centre.
    assert!((seconds - (2.0_f32 * 5.0 / 9.81).sqrt()).abs() < 0.12, "{seconds} s");
    assert!(air.iter().all(|s| s.heading == air[0].heading && s.spin == 0.0));
    assert!(
        air.windows(2).all(|pair| pair[1].velocity.x <= pair[0].velocity.x),
        "airborne karts must not accelerate"
    );
    let Some(KartEvent::Landed { speed }) = events.last() else { panic!("{events:?}") };
    assert!((*speed - 9.6).abs() < 0.6, "{speed} m/s");
}

#[test]
fn lift_carries_a_kart_up_and_down() {
    let mut app = build_with_karts(Level::new());
    let track =
        BaseTrack::Shuttle(Shuttle { from: Vec3::ZERO, to: Vec3::Y * 4.0, travel_seconds: 4.0, ..default() });
    let lift = (
        MovementBase { id: BaseId(1), track },
        Transform::default(),
        Collider::cuboid(3.0, 0.2, 3.0),
        RigidBody::KinematicPositionBased,
    );
    spawn(&mut app, lift);
    let (states, events) = run(&mut app, KartState::at(Vec3::Y * 0.3, EAST), 64 * 8, |_, _| IDLE);
    let settled = &states[SETTLE..];
    assert!(settled.iter().all(|s| s.grounded), "the kart must stay on the lift");
    let highest = settled.iter().map(|s| s.position.y).fold(0.0, f32::max);
    let lowest = settled.iter().map(|s| s.position.y).fold(9.0, f32::min);
    assert!(highest > 4.1 && lowest < 0.5, "{lowest} to {highest} m");
    assert!(!events.iter().any(|event| matches!(event, KartEvent::Stuck { .. })), "{events:?}");
}
