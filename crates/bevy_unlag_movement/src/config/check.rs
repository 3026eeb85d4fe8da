//! Range checks of the config fields.

use core::fmt;

use crate::config::CapsuleConfig;

/// Field of a [`CapsuleConfig`] or a `KartConfig` that is out of range. Steps
/// accept it and stay finite, but the pawn may not move, or may fall through the world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InvalidConfig {
    /// Name of the config type.
    pub config: &'static str,
    /// Name of the field.
    pub field: &'static str,
    /// Value of the field.
    pub value: f32,
    /// Smallest valid value.
    pub min: f32,
    /// Largest valid value.
    pub max: f32,
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, field, value, min, max } = self;
        write!(f, "{config}::{field} is {value}; it must be from {min} to {max}")
    }
}

impl core::error::Error for InvalidConfig {}

/// Field name, value, smallest and largest valid value.
pub(crate) type FieldRange = (&'static str, f32, f32, f32);

/// Checks that all fields of a config are in range.
///
/// # Errors
/// Returns the first field that is out of range.
pub(crate) fn check_ranges(
    config: &'static str,
    figures: impl IntoIterator<Item = FieldRange>,
) -> Result<(), InvalidConfig> {
    figures
        .into_iter()
        .find(|(_, value, min, max)| !(*min..=*max).contains(value))
        .map_or(Ok(()), |(field, value, min, max)| Err(InvalidConfig { config, field, value, min, max }))
}

/// Upper bound of plausible metres, metres per second and so on.
const MAX_VALUE: f32 = 10_000.0;

impl CapsuleConfig {
    /// Checks that all fields are in range. [`MovementPlugin`](crate::MovementPlugin) calls this when
    /// the resource changes, and logs a warning.
    ///
    /// # Errors
    /// Returns the first field that is out of range.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        let figures = [
            ("radius", self.radius, 0.01, 100.0),
            ("half_height", self.half_height, self.radius, 100.0),
            ("crouched_half_height", self.crouched_half_height, self.radius, self.half_height),
            ("eye_height", self.eye_height, 0.0, 200.0),
            ("crouched_eye_height", self.crouched_eye_height, 0.0, 200.0),
            ("max_walk_speed", self.max_walk_speed, 0.0, self.max_speed),
            ("sprint_speed", self.sprint_speed, 0.0, self.max_speed),
            ("slow_walk_speed", self.slow_walk_speed, 0.0, self.max_speed),
            ("crouched_speed", self.crouched_speed, 0.0, self.max_speed),
            ("max_swim_speed", self.max_swim_speed, 0.0, self.max_speed),
            ("max_fly_speed", self.max_fly_speed, 0.0, self.max_speed),
            ("max_speed", self.max_speed, 0.1, 1_000.0),
            ("acceleration", self.acceleration, 0.0, MAX_VALUE),
            ("ground_friction", self.ground_friction, 0.0, MAX_VALUE),
            ("braking_friction_factor", self.braking_friction_factor, 0.0, MAX_VALUE),
            ("braking_deceleration", self.braking_deceleration, 0.0, MAX_VALUE),
            ("stop_speed", self.stop_speed, 0.0, self.max_speed),
            ("fluid_friction", self.fluid_friction, 0.0, MAX_VALUE),
            ("braking_swimming", self.braking_swimming, 0.0, MAX_VALUE),
            ("braking_flying", self.braking_flying, 0.0, MAX_VALUE),
            ("braking_falling", self.braking_falling, 0.0, MAX_VALUE),
            ("jump_speed", self.jump_speed, 0.0, self.max_speed),
            ("jump_max_hold", self.jump_max_hold, 0.0, 60.0),
            ("coyote_time", self.coyote_time, 0.0, 60.0),
            ("jump_buffer", self.jump_buffer, 0.0, 60.0),
            ("gravity", self.gravity, -MAX_VALUE, MAX_VALUE),
            ("up", (self.up.length() - 1.0).abs(), 0.0, 0.01),
            ("terminal_speed", self.terminal_speed, 0.0, 1_000.0),
            ("air_control", self.air_control, 0.0, 1.0),
            ("air_control_boost_below", self.air_control_boost_below, 0.0, self.max_speed),
            ("air_control_boost", self.air_control_boost, 0.0, MAX_VALUE),
            ("air_wish_speed", self.air_wish_speed, 0.0, MAX_VALUE),
            ("step_height", self.step_height, 0.0, 2.0 * self.half_height),
            ("walkable_floor_y", self.walkable_floor_y, 0.2, 1.0),
            ("perch_radius_threshold", self.perch_radius_threshold, 0.0, self.radius),
            ("perch_height", self.perch_height, 0.0, 100.0),
            ("ledge_threshold", self.ledge_threshold, 0.0, self.radius),
            ("buoyancy", self.buoyancy, 0.0, 100.0),
            ("out_of_water_speed", self.out_of_water_speed, 0.0, self.max_speed),
            ("pawn_push_speed", self.pawn_push_speed, 0.0, self.max_speed),
            ("max_slice_seconds", self.max_slice_seconds, 0.001, 1.0),
            ("max_slices", f32::from(self.max_slices), 1.0, 255.0),
        ];
        let customs = self.custom_modes.iter().flat_map(|mode| {
            [
                ("custom_modes[..].max_speed", mode.max_speed, 0.0, self.max_speed),
                ("custom_modes[..].acceleration", mode.acceleration, 0.0, MAX_VALUE),
                ("custom_modes[..].friction", mode.friction, 0.0, MAX_VALUE),
                ("custom_modes[..].braking_deceleration", mode.braking_deceleration, 0.0, MAX_VALUE),
                ("custom_modes[..].gravity_scale", mode.gravity_scale, -MAX_VALUE, MAX_VALUE),
            ]
        });
        check_ranges("CapsuleConfig", figures.into_iter().chain(customs))?;
        self.classes.iter().try_for_each(Self::check)
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;

    use super::*;

    #[test]
    fn presets_pass_the_check_and_an_invalid_field_is_named() {
        for config in [CapsuleConfig::default(), CapsuleConfig::quake(), CapsuleConfig::arcade()] {
            assert_eq!(config.check(), Ok(()));
        }
        let field = |config: CapsuleConfig| config.check().map_err(|error| error.field);
        let usual = CapsuleConfig::default;
        assert_eq!(field(CapsuleConfig { radius: f32::NAN, ..usual() }), Err("radius"));
        assert_eq!(field(CapsuleConfig { half_height: 0.1, ..usual() }), Err("half_height"));
        assert_eq!(field(CapsuleConfig { gravity: f32::INFINITY, ..usual() }), Err("gravity"));
        assert_eq!(field(CapsuleConfig { up: Vec3::ZERO, ..usual() }), Err("up"));
        assert_eq!(field(CapsuleConfig { up: Vec3::NAN, ..usual() }), Err("up"));
        assert_eq!(field(CapsuleConfig { max_slices: 0, ..usual() }), Err("max_slices"));
        let Err(error) = (CapsuleConfig { step_height: -1.0, ..usual() }).check() else {
            panic!("the check accepted an invalid config")
        };
        assert_eq!(error.to_string(), "CapsuleConfig::step_height is -1; it must be from 0 to 1.76");
    }
}
