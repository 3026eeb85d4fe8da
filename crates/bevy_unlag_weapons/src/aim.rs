//! Look direction of a player.

use bevy::prelude::*;
use bevy_unlag_core::{ViewFrame, Wire, angle_to_units, look_direction};

/// Look direction of the local player, quantised: the client traces exactly the direction that it sends. It is
/// measured in the [`ViewFrame`] of the pawn, as the look of its moves is.
#[derive(Component, Wire, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[doc(alias = "ControlRotation")]
#[doc(alias = "EyeAngles")]
pub struct Aim {
    /// Yaw about the up direction, with 65,536 units per turn; 0 looks along -Z.
    pub yaw: u16,
    /// Pitch, with 65,536 units per turn; positive is up.
    pub pitch: i16,
}

impl Aim {
    /// Quantises yaw and pitch, given in radians.
    #[must_use]
    pub fn new(yaw: f32, pitch: f32) -> Self {
        let limit = core::f32::consts::FRAC_PI_2 - 0.001;
        Self { yaw: angle_to_units(yaw), pitch: angle_to_units(pitch.clamp(-limit, limit)).cast_signed() }
    }

    /// Returns the unit direction, in the frame of the aim.
    #[must_use]
    pub fn direction(&self) -> Vec3 {
        look_direction(self.yaw, self.pitch)
    }

    /// Converts an aim in the frame of a pawn's view to the world, rounded where +Y is not up.
    #[must_use]
    pub fn to_world(&self, frame: &ViewFrame) -> Self {
        let (yaw, pitch) = frame.to_world_angles((self.yaw, self.pitch));
        Self { yaw, pitch }
    }

    /// Turns towards another aim by at most `most` radians in yaw and in pitch. For bots, whose shots are
    /// refused if they turn too fast; see [`FireRules::max_turn`](crate::FireRules::max_turn).
    #[must_use]
    pub fn rotate_towards(&self, wanted: Self, most: f32) -> Self {
        // A NaN casts to 0.
        let most = (most * (65_536.0 / core::f32::consts::TAU)).clamp(0.0, 32_000.0) as i16;
        let yaw = wanted.yaw.wrapping_sub(self.yaw).cast_signed();
        let pitch = wanted.pitch.saturating_sub(self.pitch);
        Self {
            yaw: self.yaw.wrapping_add_signed(yaw.clamp(-most, most)),
            pitch: self.pitch.saturating_add(pitch.clamp(-most, most)),
        }
    }

    /// Returns the angle to another aim, in 1/65,536 of a turn: the larger of yaw and pitch.
    #[must_use]
    pub fn angle_to(&self, other: Self) -> u16 {
        let yaw = other.yaw.wrapping_sub(self.yaw).cast_signed().unsigned_abs();
        yaw.max(other.pitch.abs_diff(self.pitch))
    }

    /// Returns the aim along a direction, or straight ahead for a zero vector. For a target in the world, convert
    /// the direction with [`ViewFrame::to_local`] first, unless +Y is up for the shooter.
    #[must_use]
    pub fn from_direction(direction: Vec3) -> Self {
        let d = direction.try_normalize().unwrap_or(Vec3::NEG_Z);
        Self::new((-d.x).atan2(-d.z), d.y.clamp(-1.0, 1.0).asin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towards_takes_the_short_way_and_respects_the_limit() {
        let (from, to) = (Aim::new(3.0, 0.0), Aim::new(-3.0, 0.2));
        assert_eq!(from.rotate_towards(to, 1.0), to);
        let step = from.rotate_towards(to, 0.1);
        assert!((step.direction().angle_between(from.direction()) - 0.14).abs() < 0.01);
        assert!(step.yaw > from.yaw, "across the half turn");
        assert_eq!(from.rotate_towards(to, f32::NAN), from);
        assert_eq!(Aim { yaw: 0, pitch: 0 }.rotate_towards(Aim { yaw: 32_768, pitch: 9 }, 10.0).pitch, 9);
    }

    #[test]
    fn aim_along_a_direction_points_in_that_direction() {
        for direction in [Vec3::new(1.0, 0.2, 3.0), Vec3::new(-4.0, -2.0, 0.1), Vec3::NEG_Z] {
            let found = Aim::from_direction(direction).direction();
            assert!(found.angle_between(direction) < 2e-4, "{direction} became {found}");
        }
    }
}
