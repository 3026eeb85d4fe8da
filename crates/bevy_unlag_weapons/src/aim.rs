//! Where a player looks.

use bevy::prelude::*;
use bevy_unlag_core::{angle_to_units, look_direction};

/// Where the player looks, quantised: what is traced on the client is what is sent.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Aim {
    /// Heading about +Y, 65,536 units a turn; 0 looks along -Z.
    pub yaw: u16,
    /// Elevation, 65,536 units a turn; up is positive.
    pub pitch: i16,
}

impl Aim {
    /// Quantises two angles in radians.
    #[must_use]
    pub fn new(yaw: f32, pitch: f32) -> Self {
        let limit = core::f32::consts::FRAC_PI_2 - 0.001;
        Self { yaw: angle_to_units(yaw), pitch: angle_to_units(pitch.clamp(-limit, limit)).cast_signed() }
    }

    /// The unit vector along which it looks.
    #[must_use]
    pub fn direction(&self) -> Vec3 {
        look_direction(self.yaw, self.pitch)
    }

    /// Turned towards another aim by `most` radians to the side and up or down, at most: for bots, whose shots
    /// are refused when they turn faster than any hand; see [`FireRules::max_turn`](crate::FireRules::max_turn).
    #[must_use]
    pub fn towards(&self, wanted: Self, most: f32) -> Self {
        // A NaN casts to 0.
        let most = (most * (65_536.0 / core::f32::consts::TAU)).clamp(0.0, 32_000.0) as i16;
        let yaw = wanted.yaw.wrapping_sub(self.yaw).cast_signed();
        let pitch = wanted.pitch.saturating_sub(self.pitch);
        Self {
            yaw: self.yaw.wrapping_add_signed(yaw.clamp(-most, most)),
            pitch: self.pitch.saturating_add(pitch.clamp(-most, most)),
        }
    }

    /// How far a hand turns the view to look there, in 1/65,536 of a turn: the larger of sideways and up or down.
    #[must_use]
    pub fn turn_to(&self, other: Self) -> u16 {
        let yaw = other.yaw.wrapping_sub(self.yaw).cast_signed().unsigned_abs();
        yaw.max(other.pitch.abs_diff(self.pitch))
    }

    /// The aim along a direction, or straight ahead when it has none.
    #[must_use]
    pub fn along(direction: Vec3) -> Self {
        let d = direction.try_normalize().unwrap_or(Vec3::NEG_Z);
        Self::new((-d.x).atan2(-d.z), d.y.clamp(-1.0, 1.0).asin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_takes_the_short_way_and_no_more_than_it_may() {
        let (from, to) = (Aim::new(3.0, 0.0), Aim::new(-3.0, 0.2));
        assert_eq!(from.towards(to, 1.0), to);
        let step = from.towards(to, 0.1);
        assert!((step.direction().angle_between(from.direction()) - 0.14).abs() < 0.01);
        assert!(step.yaw > from.yaw, "through half a turn");
        assert_eq!(from.towards(to, f32::NAN), from);
        assert_eq!(Aim { yaw: 0, pitch: 0 }.towards(Aim { yaw: 32_768, pitch: 9 }, 10.0).pitch, 9);
    }

    #[test]
    fn aim_points_where_it_was_pointed() {
        for direction in [Vec3::new(1.0, 0.2, 3.0), Vec3::new(-4.0, -2.0, 0.1), Vec3::NEG_Z] {
            let found = Aim::along(direction).direction();
            assert!(found.angle_between(direction) < 2e-4, "{direction} became {found}");
        }
    }
}
