//! Range checks of the config fields.

use core::{fmt, ops::RangeInclusive};

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

/// Field name, value and valid values.
pub(crate) type FieldRange = (&'static str, f32, RangeInclusive<f32>);

/// Checks that all fields of a config are in range.
///
/// # Errors
/// Returns the first field that is out of range.
pub(crate) fn check_ranges(
    config: &'static str,
    mut ranges: impl Iterator<Item = FieldRange>,
) -> Result<(), InvalidConfig> {
    ranges.find(|(_, value, range)| !range.contains(value)).map_or(Ok(()), |(field, value, range)| {
        Err(InvalidConfig { config, field, value, min: *range.start(), max: *range.end() })
    })
}

/// Declares a configuration with the default and the range of each field: the struct, its `Default`, and a
/// function `ranges` for [`check_ranges`]. The name in parentheses is that of the configuration in the ranges.
macro_rules! ranged_config {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($config:ident) {$(
            $(@if($cfg:meta))?
            $(#[$field_meta:meta])*
            pub $field:ident: $type:ty = $default:expr
                $(, within $range:expr)?
                $(, measured $value:expr => $value_range:expr)?;
        )+}
    ) => {
        bevy_unlag_core::with_defaults! {
            $(#[$meta])*
            pub struct $name {$(
                $(@if($cfg))?
                $(#[$field_meta])*
                pub $field: $type = $default;
            )+}
        }

        impl $name {
            fn ranges(&self) -> impl Iterator<Item = $crate::config::FieldRange> {
                let $config = self;
                [$(
                    $((stringify!($field), $config.$field, $range),)?
                    $((stringify!($field), $value, $value_range),)?
                )+]
                .into_iter()
            }
        }
    };
}
pub(crate) use ranged_config;

/// Upper bound of plausible metres, metres per second and so on.
pub(super) const MAX_VALUE: f32 = 10_000.0;

impl CapsuleConfig {
    /// Checks that all fields are in range. [`MovementPlugin`](crate::MovementPlugin) calls this when
    /// the resource changes, and logs a warning.
    ///
    /// # Errors
    /// Returns the first field that is out of range.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        let customs = self.custom_modes.iter().flat_map(|mode| {
            [
                ("custom_modes[..].max_speed", mode.max_speed, 0.0..=self.max_speed),
                ("custom_modes[..].acceleration", mode.acceleration, 0.0..=MAX_VALUE),
                ("custom_modes[..].friction", mode.friction, 0.0..=MAX_VALUE),
                ("custom_modes[..].braking_deceleration", mode.braking_deceleration, 0.0..=MAX_VALUE),
                ("custom_modes[..].gravity_scale", mode.gravity_scale, -MAX_VALUE..=MAX_VALUE),
            ]
        });
        check_ranges("CapsuleConfig", self.ranges().chain(customs))?;
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
