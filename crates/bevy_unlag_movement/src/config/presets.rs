//! Presets of the capsule tuning.

use crate::config::{AccelerationModel, CapsuleConfig};

impl CapsuleConfig {
    /// Fast preset with floaty jumps: Quake III's constants at 1 unit = 1 inch. Speed 8.1 m/s, gravity
    /// 20.3 m/s², jump 6.9 m/s; strafe jumping gains speed.
    #[must_use]
    pub fn quake() -> Self {
        let inch = 0.0254;
        let speed = 320.0 * inch;
        Self {
            max_walk_speed: speed,
            sprint_speed: speed,
            slow_walk_speed: speed / 2.0,
            crouched_speed: speed / 4.0,
            max_swim_speed: speed / 2.0,
            max_fly_speed: speed,
            acceleration_model: AccelerationModel::Quake,
            acceleration: 10.0 * speed,
            ground_friction: 6.0,
            braking_friction_factor: 1.0,
            braking_deceleration: 0.0,
            stop_speed: 100.0 * inch,
            jump_speed: 270.0 * inch,
            gravity: 800.0 * inch,
            // Quake III's air acceleration is 1, its ground acceleration 10.
            air_control: 0.1,
            air_control_boost: 1.0,
            step_height: 18.0 * inch,
            walkable_floor_y: 0.7,
            walk_off_ledges_crouched: true,
            ..Self::default()
        }
    }

    /// Responsive, forgiving preset: quick starts and stops, strong air control, a double jump that
    /// rises further while the button is held, coyote time and a jump buffer of 0.1 s each.
    #[must_use]
    pub fn arcade() -> Self {
        Self {
            max_walk_speed: 8.0,
            sprint_speed: 12.0,
            acceleration: 80.0,
            ground_friction: 14.0,
            braking_deceleration: 60.0,
            braking_falling: 8.0,
            jump_speed: 7.0,
            jump_max_hold: 0.12,
            jump_max_count: 2,
            coyote_time: 0.1,
            jump_buffer: 0.1,
            gravity: 22.0,
            air_control: 0.6,
            ..Self::default()
        }
    }
}
