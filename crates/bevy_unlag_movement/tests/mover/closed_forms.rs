//! Movement distances, times and speeds against closed-form results at all common tick rates.

mod floors;

use core::f64::consts::TAU;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_movement::{
    BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleState, MoveEvent, MovementBase, MovementMode,
    Shuttle, Turntable,
};

use crate::common::*;

/// Error bound, in metres, of the apex of a parabola that is sampled `rate` times per second.
fn apex_sampling_error(gravity: f32, rate: f32) -> f32 {
    gravity / (rate * rate * 8.0) + 1e-3
}

#[test]
fn jump_apex_is_speed_squared_over_twice_gravity() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, events) = run(&mut app, start, jump_inputs(2 * rate as usize), SETTLE);
        let apex = highest(&states) - start.position.y;
        let expected = 4.2 * 4.2 / (2.0 * GRAVITY);
        assert!(
            (apex - expected).abs() < apex_sampling_error(GRAVITY, rate),
            "apex at {apex} m instead of {expected} m at {rate}/s"
        );
        assert_eq!(jumps(&events), [1], "one press must be one jump at {rate}/s");
        assert_eq!(landings(&events).len(), 1, "{events:?}");
    }
}

#[test]
fn held_jump_is_higher_by_jump_speed_times_hold_time() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).config(CapsuleConfig::arcade()).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let mut height = |held: usize| {
            let inputs = jump_inputs(held).into_iter().chain(neutral_inputs(2 * rate as usize));
            highest(&run(&mut app, start, inputs, SETTLE).0) - start.position.y
        };
        let parabola = 7.0 * 7.0 / (2.0 * 22.0);
        let error = 2.0 * apex_sampling_error(22.0, rate);
        for (held, seconds) in [(1, 1.0 / rate), (rate as usize, 0.12)] {
            let (found, expected) = (height(held), parabola + 7.0 * seconds);
            assert!(
                (found - expected).abs() < error,
                "{found} m instead of {expected} m at {rate}/s, held for {held} ticks"
            );
        }
    }
}

#[test]
fn second_jump_at_the_apex_doubles_the_height() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).tune(|config| config.jump_max_count = 2).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let top = (4.2 / GRAVITY * rate).round() as usize;
        let (states, events) = run_with_feedback(&mut app, start, 3 * rate as usize, SETTLE, |i, _| {
            CapsuleInput { jump: i == 0 || i == top || i == 2 * top, ..default() }
        });
        let height = highest(&states) - start.position.y;
        // The second press is up to half a tick off the apex.
        let error = 2.0 * apex_sampling_error(GRAVITY, rate) + 4.2 / rate * 0.05;
        assert!((height - 1.8).abs() < error, "apex at {height} m at {rate}/s");
        assert_eq!(jumps(&events), [1, 2], "there must be no third jump at {rate}/s");
    }
}

#[test]
fn full_speed_is_reached_after_speed_over_acceleration() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, _) = run(&mut app, start, axis_inputs(127, 0, rate as usize), SETTLE);
        let full = states
            .iter()
            .position(|s| s.velocity.x >= 6.0 - 1e-3)
            .expect("must reach full speed within a second");
        let (seconds, expected) = (full as f32 / rate, 6.0 / 20.48);
        assert!(
            (0.0..1.0 / rate + 1e-3).contains(&(seconds - expected)),
            "full speed after {seconds} s at {rate}/s"
        );
        let way = states[full].position.x - start.position.x;
        let analytic = 6.0 * 6.0 / (2.0 * 20.48);
        assert!((way - analytic).abs() < 6.0 / rate, "{way} m instead of {analytic} m at {rate}/s");
    }
}

/// Returns the stopping distance of Unreal's braking: slices of at most 1/33 s, displacement at the new
/// velocity.
fn unreal_stopping_distance(rate: f64) -> f64 {
    let (mut speed, mut way) = (6.0, 0.0);
    while speed > 0.0 {
        let mut left = 1.0 / rate;
        while left > 1e-6 && speed > 0.0 {
            let slice = left.min(1.0 / 33.0);
            speed -= (2.0 * 8.0 * speed + 20.48) * slice;
            left -= slice;
        }
        if speed < 0.1 {
            speed = 0.0;
        }
        way += speed / rate;
    }
    way
}

#[test]
fn stopping_distance_and_time_match_unreals_braking_formula() {
    // v' = -(k v + b) reaches 0 after t = ln(1 + k v / b) / k, over a distance of v / k - t b / k.
    let (speed, k, b) = (6.0_f64, 16.0, 20.48);
    let time = (1.0 + k * speed / b).ln() / k;
    let way = speed / k - b / k * time;
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let running = last_state(&run(&mut app, start, axis_inputs(127, 0, rate as usize), SETTLE).0);
        let (states, _) = run(&mut app, running, neutral_inputs(rate as usize), 0);
        let found = f64::from(last_state(&states).position.x - running.position.x);
        let sliced = unreal_stopping_distance(f64::from(rate));
        assert!((found - sliced).abs() < 1e-3, "{found} m instead of {sliced} m at {rate}/s");
        // Discrete ticks shorten the distance by up to one tick at full speed.
        let tick = speed / f64::from(rate);
        assert!((way - tick..way + 1e-3).contains(&found), "{found} m instead of {way} m at {rate}/s");
        let stood = states.iter().position(|s| s.velocity == Vec3::ZERO).expect("the pawn must stop");
        let seconds = stood as f64 / f64::from(rate);
        assert!(
            (seconds - time).abs() < 1.5 / f64::from(rate),
            "{seconds} s instead of {time} s at {rate}/s"
        );
    }
}

#[test]
fn velocity_turns_with_the_ground_friction_and_keeps_its_speed() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let running = last_state(&run(&mut app, start, axis_inputs(127, 0, rate as usize), SETTLE).0);
        let (states, _) = run(&mut app, running, axis_inputs(0, 127, rate as usize), 0);
        // The old direction decays with the friction of 8/s; the speed limit removes a little more.
        for (i, state) in states.iter().enumerate().skip(1) {
            let most = 6.0 * (-8.0 * i as f32 / rate).exp();
            assert!(state.velocity.x <= most + 1e-3, "tick {i} at {rate}/s: {}", state.velocity);
        }
        let quarter = states[(rate * 0.25) as usize].velocity;
        assert!((0.48..0.62).contains(&quarter.x), "wrong velocity after 0.25 s: {quarter} at {rate}/s");
        let slowest = states.iter().map(level_speed).fold(f32::INFINITY, f32::min);
        assert!(slowest > 4.6, "the turn costs too much speed: {slowest} m/s at {rate}/s");
    }
}

#[test]
fn falling_pawn_reaches_the_terminal_speed() {
    for rate in RATES {
        let mut app = Level::new().rate(rate).build();
        let start = CapsuleState::at(Vec3::ZERO);
        let seconds = 6.0;
        let count = ticks(&app, seconds);
        let (states, _) = run(&mut app, start, neutral_inputs(count), 0);
        let last = last_state(&states);
        assert_eq!(last.velocity, Vec3::NEG_Y * 40.0, "at {rate}/s");
        let speeding = 40.0 / GRAVITY;
        let expected =
            -0.5 * GRAVITY * speeding * speeding - 40.0 * (count as f32 * tick_seconds(&app) - speeding);
        assert!(
            (last.position.y - expected).abs() < 0.02,
            "{} m instead of {expected} m at {rate}/s",
            last.position.y
        );
    }
}

#[test]
fn fall_time_is_the_root_of_twice_the_height_over_gravity() {
    for rate in RATES {
        for height in [0.5, 2.0, 5.0] {
            let mut app = Level::with_floor().rate(rate).build();
            let start = CapsuleState::at(Vec3::Y * height);
            let (states, events) = run_per_tick(&mut app, start, neutral_inputs(2 * rate as usize), 0);
            let landed =
                states.iter().position(CapsuleState::is_grounded).expect("the pawn must land within 2 s");
            let (seconds, expected) = (landed as f32 / rate, (2.0 * height / GRAVITY).sqrt());
            // The pawn stops a skin's width above the floor.
            let tick = 1.0 / rate;
            assert!(
                (-0.01..tick + 1e-3).contains(&(seconds - expected)),
                "{seconds} s instead of {expected} s from {height} m at {rate}/s"
            );
            let speeds = landings(&events.concat());
            let exact = (2.0 * GRAVITY * height).sqrt();
            // The speed at the end of the tick in which the pawn lands.
            let [speed] = speeds[..] else { panic!("expected one landing at {rate}/s: {speeds:?}") };
            assert!(
                (-0.1..GRAVITY * tick + 1e-2).contains(&(speed - exact)),
                "landed at {speed} m/s instead of {exact} m/s"
            );
        }
    }
}

#[test]
fn pawn_at_top_speed_does_not_fall_through_a_thin_sheet() {
    for rate in RATES {
        let sheet = Level::new().rate(rate).block(Vec3::new(-9.0, -0.02, -9.0), Vec3::new(9.0, 0.0, 9.0));
        let mut app = sheet.build();
        let state = CapsuleState { velocity: Vec3::Y * -900.0, ..CapsuleState::at(Vec3::Y * 30.0) };
        let (states, _) = run(&mut app, state, neutral_inputs(2 * rate as usize), 0);
        let last = last_state(&states);
        assert!(last.position.y > 0.0 && last.is_grounded(), "at {rate}/s: {last:?}");
    }
}

#[test]
fn air_control_adds_a_twentieth_of_the_acceleration() {
    for rate in RATES {
        let mut app = Level::new().rate(rate).build();
        let one_second = axis_inputs(127, 0, rate as usize);
        let start = CapsuleState { velocity: Vec3::X, ..CapsuleState::at(Vec3::ZERO) };
        let last = last_state(&run(&mut app, start, one_second.clone(), 0).0);
        let gain = 20.48 * 0.05;
        assert!((last.velocity.x - 1.0 - gain).abs() < 1e-3, "{} at {rate}/s", last.velocity);
        assert!((last.position.x - 1.0 - gain * 0.5).abs() < 2e-3, "{} at {rate}/s", last.position);
        // From a standstill, the boost doubles it up to 0.25 m/s.
        let last = last_state(&run(&mut app, CapsuleState::at(Vec3::ZERO), one_second, 0).0);
        let boosted = 0.25 / (2.0 * gain);
        let expected = 0.25 + gain * (1.0 - boosted);
        let error = 2.0 * gain / rate + 1e-3;
        assert!(
            (last.velocity.x - expected).abs() < error,
            "{} instead of {expected} at {rate}/s",
            last.velocity
        );
    }
}

#[test]
fn air_control_adds_no_speed_above_the_walk_speed() {
    let mut app = Level::new().build();
    let start = CapsuleState { velocity: Vec3::X * 5.5, ..CapsuleState::at(Vec3::ZERO) };
    let last = last_state(&run(&mut app, start, axis_inputs(127, 0, 192), 0).0);
    assert!((last.velocity.x - 6.0).abs() < 1e-4, "{}", last.velocity);
    let fast = CapsuleState { velocity: Vec3::X * 11.0, ..start };
    let last = last_state(&run(&mut app, fast, axis_inputs(127, 0, 192), 0).0);
    assert!((last.velocity.x - 11.0).abs() < 1e-4, "steering must not slow it down: {}", last.velocity);
}

#[test]
fn slopes_below_the_walkable_limit_are_climbed_and_steeper_ones_are_not() {
    for rate in RATES {
        for (degrees, up) in [(20.0, true), (30.0, true), (44.0, true), (46.0, false), (60.0, false)] {
            let mut app = Level::with_floor().rate(rate).ramp(Vec3::X * 3.0, degrees, 20.0).build();
            let start = expect_standing(&mut app, Vec3::ZERO);
            let (states, _) = run(&mut app, start, axis_inputs(127, 0, 2 * rate as usize), SETTLE);
            let last = last_state(&states);
            assert_eq!(last.position.y > 2.0, up, "{degrees}° at {rate}/s: {last:?}");
            if up {
                let speed = last.velocity.length();
                assert!(
                    (speed - 6.0).abs() < 1e-3,
                    "the slope of {degrees}° changed the speed at {rate}/s: {speed}"
                );
            } else {
                assert!(highest(&states) < 0.2, "{degrees}° at {rate}/s: up to {}", highest(&states));
            }
        }
    }
}

/// Returns whether a step is climbed. Panics if the result depends on the approach.
fn expect_uniform_climb(level: impl Fn() -> Level, height: f32) -> bool {
    let mut climbed: Option<bool> = None;
    for rate in [30.0, 64.0, 128.0] {
        let mut app = level().rate(rate).build();
        for from in [0.0, 1.65] {
            for forward in [0, 127] {
                let start = expect_standing(&mut app, Vec3::X * from);
                let (states, _) = run(&mut app, start, axis_inputs(127, forward, 2 * rate as usize), SETTLE);
                let last = last_state(&states);
                let up = HOVER.contains(&(last.position.y - height)) && last.position.x > 2.4;
                let below = HOVER.contains(&last.position.y) && last.position.x < 1.67;
                let how = format!("{height} m from x = {from}, forward {forward}, at {rate}/s");
                assert!(up || below, "neither climbed nor stopped: {how}: {last:?}");
                assert!(
                    climbed.is_none_or(|climbed| climbed == up),
                    "the result depends on the approach: {how}: {last:?}"
                );
                climbed = Some(up);
            }
        }
    }
    climbed.expect("at least one run is made")
}

fn box_step(height: f32) -> Level {
    Level::with_floor().block(Vec3::new(2.0, -0.5, -40.0), Vec3::new(40.0, height, 40.0))
}

fn mesh_step(height: f32) -> Level {
    let across = |x: f32, y: f32| [Vec3::new(x, y, 40.0), Vec3::new(x, y, -40.0)];
    let quad = |[a, b]: [Vec3; 2], [c, d]: [Vec3; 2]| [a, b, d, c];
    Level::new().mesh(&[
        quad(across(-20.0, 0.0), across(2.0, 0.0)),
        quad(across(2.0, 0.0), across(2.0, height)),
        quad(across(2.0, height), across(40.0, height)),
    ])
}

#[test]
fn box_steps_are_climbed_up_to_the_step_height_from_any_approach() {
    for (height, up) in [(0.05, true), (0.2, true), (0.44, true), (0.46, false), (0.9, false)] {
        assert_eq!(expect_uniform_climb(|| box_step(height), height), up, "a box of {height} m");
    }
}

#[test]
fn mesh_steps_are_climbed_up_to_the_step_height_from_any_approach() {
    for (height, up) in [(0.05, true), (0.2, true), (0.44, true), (0.46, false), (0.9, false)] {
        assert_eq!(expect_uniform_climb(|| mesh_step(height), height), up, "a mesh of {height} m");
    }
}

#[test]
fn crouched_pawn_fits_under_a_gap_higher_than_its_capsule() {
    for rate in RATES {
        for (gap, fits) in [(0.86, true), (0.78, false)] {
            let roof = (Vec3::new(2.0, gap, -5.0), Vec3::new(4.0, gap + 1.0, 5.0));
            let mut app = Level::with_floor().rate(rate).block(roof.0, roof.1).build();
            let start = expect_standing(&mut app, Vec3::ZERO);
            let inputs = vec![CapsuleInput { right: 127, crouch: true, ..default() }; 3 * rate as usize];
            let last = last_state(&run(&mut app, start, inputs, SETTLE).0);
            assert_eq!(last.position.x > 4.4, fits, "a gap of {gap} m at {rate}/s: {last:?}");
            assert_eq!(last.position.x < 2.0, !fits, "a gap of {gap} m at {rate}/s: {last:?}");
        }
    }
}

#[test]
fn pawn_walks_through_a_gap_slightly_wider_than_its_capsule() {
    for rate in RATES {
        for (gap, fits) in [(0.70, true), (0.66, false)] {
            let side = gap * 0.5;
            let mut app = Level::with_floor()
                .rate(rate)
                .block(Vec3::new(2.0, -0.5, side), Vec3::new(6.0, 3.0, 9.0))
                .block(Vec3::new(2.0, -0.5, -9.0), Vec3::new(6.0, 3.0, -side))
                .build();
            let start = expect_standing(&mut app, Vec3::ZERO);
            let last = last_state(&run(&mut app, start, axis_inputs(127, 0, 2 * rate as usize), SETTLE).0);
            assert_eq!(last.position.x > 6.5, fits, "a gap of {gap} m at {rate}/s: {last:?}");
            assert_eq!(last.position.x < 2.0, !fits, "a gap of {gap} m at {rate}/s: {last:?}");
            if fits {
                // Leans on one of the walls.
                let inside =
                    last_state(&run(&mut app, start, axis_inputs(127, 0, ticks_in(rate, 0.6)), SETTLE).0);
                assert!((2.0..5.0).contains(&inside.position.x), "{inside:?}");
                let last = last_state(&run(&mut app, inside, axis_inputs(120, 30, rate as usize), 0).0);
                assert!(last.position.x > 6.0, "gets stuck in a gap of {gap} m at {rate}/s: {last:?}");
            }
        }
    }
}

fn ticks_in(rate: f32, seconds: f32) -> usize {
    (rate * seconds).round() as usize
}

#[test]
fn low_ceiling_ends_a_jump_with_one_hit_event() {
    for rate in RATES {
        let mut app = Level::with_floor()
            .rate(rate)
            .block(Vec3::new(-5.0, 2.0, -5.0), Vec3::new(5.0, 3.0, 5.0))
            .build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (states, events) = run(&mut app, start, jump_inputs(rate as usize), SETTLE);
        let top = highest(&states) + 1.76;
        assert!((1.985..2.0).contains(&top), "the head reaches {top} m at {rate}/s");
        let bumps =
            count(&events, |event| matches!(event, MoveEvent::HitWall { normal, .. } if normal.y < -0.9));
        assert_eq!(bumps, 1, "{events:?} at {rate}/s");
        // The pawn rises at 4.2 m/s and falls from rest at the ceiling.
        let free = (2.0f32 * 0.22 / GRAVITY).sqrt() + 0.06;
        let back =
            states.iter().skip(2).position(CapsuleState::is_grounded).expect("the pawn must come down");
        assert!((back + 2) as f32 / rate < free + 2.0 / rate + 0.01, "after {back} ticks at {rate}/s");
    }
}

#[test]
fn pawn_on_a_lift_keeps_its_height_above_it_and_stays_grounded() {
    for rate in RATES {
        let mut app = Level::new().rate(rate).build();
        let lift = Shuttle { to: Vec3::Y * 10.0, travel_seconds: 4.0, pause_seconds: 2.0, ..default() };
        let track = BaseTrack::Shuttle(lift);
        spawn(
            &mut app,
            (
                MovementBase { id: BaseId(1), track: track.clone() },
                Collider::cuboid(2.0, 0.25, 2.0),
                Transform::default(),
            ),
        );
        let start = expect_standing(&mut app, Vec3::new(0.7, 0.25, 0.3));
        let count = ticks(&app, 13.0);
        let (states, events) = run(&mut app, start, neutral_inputs(count), SETTLE);
        let above: Vec<f32> = (0u32..)
            .zip(&states)
            .map(|(i, s)| s.position.y - track.pose(seconds_at(&app, SETTLE + i - 1)).translation.y - 0.25)
            .collect();
        let (low, high) = above.iter().fold((9.0f32, -9.0f32), |(l, h), &y| (l.min(y), h.max(y)));
        assert!(high - low < 1e-3, "between {low} and {high} m above the lift at {rate}/s");
        assert!(HOVER.contains(&low), "{low} m above the lift at {rate}/s");
        assert!(states.iter().all(|s| s.is_grounded() && s.base == BaseId(1)), "at {rate}/s");
        assert!(highest(&states) > 10.0, "the lift must carry the pawn up, not to {}", highest(&states));
        assert!(events.is_empty(), "the ride must emit no events: {events:?} at {rate}/s");
    }
}

#[test]
fn pawn_on_a_turntable_moves_in_a_circle_at_its_rate() {
    for rate in RATES {
        let mut app = Level::new().rate(rate).build();
        let track = BaseTrack::Turntable(Turntable { seconds_per_turn: 8.0, ..default() });
        spawn(
            &mut app,
            (MovementBase { id: BaseId(1), track }, Collider::cuboid(5.0, 0.25, 5.0), Transform::default()),
        );
        // The pawn has landed and is carried.
        let start = expect_standing(&mut app, Vec3::new(3.0, 0.25, 0.0));
        let count = ticks(&app, 8.0);
        let (states, events) = run(&mut app, start, neutral_inputs(count), SETTLE);
        let angle = |p: Vec3| f64::from(-p.z).atan2(f64::from(p.x));
        let radius = start.position.with_y(0.0).length();
        let mut turned = 0.0;
        for pair in states.windows(2) {
            let step = angle(pair[1].position) - angle(pair[0].position);
            turned += step - (step / TAU).round() * TAU;
            let now = pair[1].position.with_y(0.0).length();
            assert!(
                (now - radius).abs() < 1e-3,
                "{now} m from the centre instead of {radius} m, at {rate}/s"
            );
            assert!(pair[1].is_grounded());
        }
        let expected = count as f64 * f64::from(tick_seconds(&app)) / 8.0 * TAU;
        assert!(
            (turned - expected).abs() < 1e-3,
            "turned by {turned} rad instead of {expected} rad at {rate}/s"
        );
        assert!(events.is_empty(), "{events:?} at {rate}/s");
    }
}

#[test]
fn falling_pawn_lands_walks_and_stands_still() {
    let mut app = Level::with_floor().build();
    let (states, events) = run(&mut app, CapsuleState::at(Vec3::Y * 2.0), neutral_inputs(128), 0);
    let rest = last_state(&states);
    assert!(HOVER.contains(&rest.position.y), "hovers at {}", rest.position.y);
    assert_eq!((rest.mode, rest.velocity), (MovementMode::Walking, Vec3::ZERO));
    assert_eq!(states[100], rest, "must stand still");
    let landed = MoveEvent::ModeChanged { from: MovementMode::Falling, to: MovementMode::Walking };
    assert!(matches!(events[..], [MoveEvent::Landed { .. }, changed] if changed == landed), "{events:?}");
}
