//! Custom movement modes and the transitions between modes.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleState, CustomMode, ModePhysics, MoveEvent, MoveVolume, MovementMode, TooManyModes,
    Transitions, VolumeId,
};

use crate::common::*;

fn custom(name: &str, physics: ModePhysics) -> CustomMode {
    CustomMode { name: name.to_owned(), physics, ..default() }
}

fn slide() -> CustomMode {
    CustomMode {
        friction: 0.0,
        braking_deceleration: 0.0,
        acceleration: 0.0,
        ..custom("Slide", ModePhysics::Walk)
    }
}

fn glide() -> CustomMode {
    CustomMode { gravity_scale: 0.2, ..custom("Glide", ModePhysics::Fall) }
}

/// Registers a mode and returns its id.
fn register(config: &mut CapsuleConfig, mode: CustomMode) -> MovementMode {
    config.register_mode(mode).expect("the config must have room for another mode")
}

fn with_mode(level: Level, mode: CustomMode) -> (App, MovementMode) {
    let mut id = MovementMode::default();
    let app = level.tune(|config| id = register(config, mode)).build();
    (app, id)
}

#[test]
fn modes_are_found_by_name_and_reregistration_keeps_their_ids() {
    let mut config = CapsuleConfig::default();
    let first = register(&mut config, slide());
    let second = register(&mut config, glide());
    assert_eq!((first, second), (MovementMode::Custom(0), MovementMode::Custom(1)));
    assert_eq!(config.mode_named("Slide"), Some(first));
    assert_eq!(config.mode_named("Glide"), Some(second));
    assert_eq!(config.mode_named("Walking"), Some(MovementMode::Walking));
    assert_eq!(config.mode_named("Flying"), Some(MovementMode::Flying));
    assert_eq!(config.mode_named("Sliding"), None);
    let again = register(&mut config, CustomMode { friction: 3.0, ..slide() });
    assert_eq!(again, first, "an existing name must replace the mode's config");
    assert_eq!(config.custom_mode(first).map(|mode| mode.friction), Some(3.0));
    assert_eq!(config.custom_modes.len(), 2);
    for i in 2..256 {
        register(&mut config, custom(&format!("{i}"), ModePhysics::Fly));
    }
    assert_eq!(config.register_mode(custom("one more", ModePhysics::Fly)), Err(TooManyModes));
    assert_eq!(config.register_mode(slide()), Ok(first), "an existing name must still be accepted");
}

#[test]
fn frictionless_slide_keeps_its_velocity() {
    let (mut app, mode) = with_mode(Level::with_floor(), slide());
    let start = CapsuleState { mode, velocity: Vec3::X * 8.0, ..expect_standing(&mut app, Vec3::X * -20.0) };
    let (states, events) = run(&mut app, start, neutral_inputs(256), SETTLE);
    let last = last_state(&states);
    assert_eq!(last.velocity, Vec3::X * 8.0, "{last:?}");
    assert!((last.position.x - start.position.x - 32.0).abs() < 0.01, "{last:?}");
    assert!(states.iter().all(|s| s.mode == mode && HOVER.contains(&s.position.y)) && events.is_empty());
}

#[test]
fn slide_follows_steps_and_slopes_and_stops_at_walls() {
    let level = Level::with_floor()
        .block(Vec3::new(4.0, 0.0, -9.0), Vec3::new(8.0, 0.3, 9.0))
        .ramp(Vec3::X * 12.0, 20.0, 10.0)
        .block(Vec3::new(15.0, 0.0, -9.0), Vec3::new(16.0, 9.0, 9.0));
    let (mut app, mode) = with_mode(level, slide());
    let start = CapsuleState { mode, velocity: Vec3::X * 8.0, ..expect_standing(&mut app, Vec3::ZERO) };
    let (states, events) = run(&mut app, start, neutral_inputs(192), SETTLE);
    let last = last_state(&states);
    assert!((last.position.x - (15.0 - 0.345)).abs() < 0.01, "{last:?}");
    assert!(last.position.y > 0.8 && last.velocity.length() < 1e-3, "{last:?}");
    assert_eq!(mode_changes(&events), 0, "{events:?}");
}

#[test]
fn glide_falls_with_its_scaled_gravity_and_lands() {
    let (mut app, mode) = with_mode(Level::with_floor(), glide());
    let start = CapsuleState { mode, ..CapsuleState::at(Vec3::Y * 3.0) };
    let (states, events) = run(&mut app, start, neutral_inputs(192), 0);
    let fallen = start.position.y - states[64].position.y;
    assert!((fallen - 0.5 * 0.2 * GRAVITY).abs() < 0.01, "{fallen} m in a second");
    assert_eq!(states[64].mode, mode);
    let last = last_state(&states);
    assert!(last.is_grounded(), "{last:?}");
    assert!(events.contains(&MoveEvent::ModeChanged { from: mode, to: MovementMode::Walking }), "{events:?}");
}

#[test]
fn jump_ends_a_flying_custom_mode_only_with_can_jump() {
    let (mut app, mode) = with_mode(Level::with_floor(), custom("Climb", ModePhysics::Fly));
    let start = CapsuleState { mode, ..CapsuleState::at(Vec3::Y * 3.0) };
    let (states, events) = run(&mut app, start, neutral_inputs(64), 0);
    assert_eq!(last_state(&states).position, start.position, "the pawn must hold on to the ladder");
    assert!(events.is_empty(), "{events:?}");
    let (states, events) = run(&mut app, start, jump_inputs(16), 0);
    assert_eq!(jumps(&events), [1], "{events:?}");
    assert_eq!(last_state(&states).mode, MovementMode::Falling);
    let locked = CustomMode { can_jump: false, ..custom("Climb", ModePhysics::Fly) };
    tune(&mut app, |config| {
        register(config, locked);
    });
    let (states, events) = run(&mut app, start, jump_inputs(16), 0);
    assert!(jumps(&events).is_empty() && last_state(&states).mode == mode, "{events:?}");
}

#[test]
fn custom_modes_follow_their_configured_transitions() {
    let mut modes = [MovementMode::default(); 2];
    let level = Level::new()
        .block(Vec3::new(-30.0, 4.0, -9.0), Vec3::new(3.0, 5.0, 9.0))
        .block(Vec3::new(-30.0, -9.0, -9.0), Vec3::new(60.0, 0.0, 9.0));
    let mut app = level
        .tune(|config| {
            // A slide that ends in a glide that ends in a slide.
            modes = [register(config, slide()), register(config, glide())];
            let [slides, glides] = modes;
            let there = Transitions { airborne: glides, ..default() };
            register(config, CustomMode { transitions: there, ..slide() });
            let back = Transitions { landed: slides, airborne: glides, ..default() };
            register(config, CustomMode { transitions: back, ..glide() });
        })
        .build();
    let [slides, glides] = modes;
    let start =
        CapsuleState { mode: slides, velocity: Vec3::X * 8.0, ..expect_standing(&mut app, Vec3::Y * 5.0) };
    let (states, events) = run(&mut app, start, neutral_inputs(256), SETTLE);
    let changed = |from, to| MoveEvent::ModeChanged { from, to };
    let changes: Vec<MoveEvent> =
        events.into_iter().filter(|event| matches!(event, MoveEvent::ModeChanged { .. })).collect();
    assert_eq!(changes, [changed(slides, glides), changed(glides, slides)]);
    let last = last_state(&states);
    assert!((last.velocity.x - 8.0).abs() < 0.01 && HOVER.contains(&last.position.y), "{last:?}");
}

#[test]
fn built_in_modes_follow_the_configured_transitions() {
    let mut mode = MovementMode::default();
    let mut app = Level::with_floor()
        .tune(|config| {
            mode = register(config, slide());
            config.transitions.landed = mode;
        })
        .build();
    let falling = CapsuleState { velocity: Vec3::X * 4.0, ..CapsuleState::at(Vec3::Y * 2.0) };
    let last = last_state(&run(&mut app, falling, neutral_inputs(128), 0).0);
    assert_eq!((last.mode, last.velocity), (mode, Vec3::X * 4.0));
}

#[test]
fn custom_modes_swim_in_water_only_with_walk_or_fall_physics() {
    for (physics, swims) in [
        (ModePhysics::Walk, true),
        (ModePhysics::Fall, true),
        (ModePhysics::Fly, false),
        (ModePhysics::Ability, false),
    ] {
        let (mut app, mode) = with_mode(Level::new(), custom("Mine", physics));
        let water = (MoveVolume::water(VolumeId(1)), Collider::cuboid(9.0, 9.0, 9.0), Transform::default());
        spawn(&mut app, water);
        let start = CapsuleState { mode, ..CapsuleState::at(Vec3::ZERO) };
        let last = last_state(&run(&mut app, start, neutral_inputs(4), 0).0);
        assert_eq!(last.mode == MovementMode::Swimming, swims, "{physics:?}: {last:?}");
    }
}

#[test]
fn unregistered_custom_mode_falls_and_lands() {
    let mut app = Level::with_floor().build();
    let start = CapsuleState { mode: MovementMode::Custom(77), ..CapsuleState::at(Vec3::Y * 2.0) };
    let (states, events) = run(&mut app, start, neutral_inputs(128), 0);
    let last = last_state(&states);
    assert!(last.is_grounded() && HOVER.contains(&last.position.y), "{last:?}");
    assert_eq!(landings(&events).len(), 1, "{events:?}");
}
