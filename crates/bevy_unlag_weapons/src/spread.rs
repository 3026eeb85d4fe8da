//! Deterministic weapon spread, bitwise equal on all machines.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Wire, look_direction, sin_cos_of_units};

use crate::{aim::Aim, weapon::Weapon};

/// Maximum number of pellets per shot.
pub const MAX_PELLETS: usize = 16;

/// A cone of directions in the world around an aim.
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
pub struct SpreadCone {
    /// Axis of the cone, in the world, whatever is up for the shooter.
    pub aim: Aim,
    /// Half the opening angle, in 1/65,536 of a turn; at most a quarter turn.
    pub half_angle: u16,
}

impl SpreadCone {
    /// Returns half the opening angle, in radians.
    #[must_use]
    pub fn half_angle_radians(&self) -> f32 {
        f32::from(self.half_angle) * (core::f32::consts::TAU / 65_536.0)
    }

    /// Returns the direction at an offset from the axis, `x` to the right and `y` up in the world, as fractions
    /// of the cone's radius. Offsets outside of the cone are clamped to its edge.
    #[must_use]
    pub fn direction(&self, offset: Vec2) -> Vec3 {
        let forward = look_direction(self.aim.yaw, self.aim.pitch);
        if self.half_angle == 0 {
            return forward;
        }
        let (sin_yaw, cos_yaw) = sin_cos_of_units(self.aim.yaw);
        let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
        let up = right.cross(forward);
        let (sin, cos) = sin_cos_of_units(self.half_angle.min(16_000));
        let Vec2 { x, y } = if offset.is_finite() { offset.clamp_length_max(1.0) } else { Vec2::ZERO };
        (forward * cos + (right * x + up * y) * sin).normalize()
    }
}

/// Returns the offset of a pellet as a fraction of the cone's radius, uniformly distributed over the cone's
/// area. All offsets of a shot follow from its seed.
#[must_use]
pub fn pellet_offset(seed: u16, pellet: u32) -> Vec2 {
    let bits = mix(u64::from(seed) | u64::from(pellet) << 32);
    let (turn, area) = (bits as u16, (bits >> 16) as u16);
    let (sin, cos) = sin_cos_of_units(turn);
    Vec2::new(cos, sin) * ((f32::from(area) + 0.5) / 65_536.0).sqrt()
}

/// Returns the offsets of all pellets of a weapon, at least one.
pub(crate) fn pellet_offsets(weapon: &Weapon, seed: u16) -> impl Iterator<Item = Vec2> {
    (0..u32::from(weapon.pellets()).max(1)).map(move |pellet| pellet_offset(seed, pellet))
}

/// Derives the seed of a shot from the seed of its pawn and the number of the shot.
#[must_use]
pub(crate) fn shot_seed(pawn: u32, number: u32) -> u16 {
    mix(u64::from(pawn) << 32 | u64::from(number)) as u16
}

/// Derives the spread seed of a pawn.
#[must_use]
pub(crate) fn pawn_seed(secret: u64, pawn: NetId, given: u32) -> u32 {
    mix(secret ^ mix(u64::from(given) << 16 | u64::from(pawn.0))) as u32
}

/// Derives the seed of a shot whose spread only the server knows.
#[must_use]
pub(crate) fn secret_seed(secret: u64, seed: u16, number: u32) -> u16 {
    mix(secret ^ mix(u64::from(number) << 16 | u64::from(seed))) as u16
}

/// Hashes 64 bits such that a change of one input bit flips about half of the output bits: the finaliser of
/// `SplitMix64` by Sebastiano Vigna (public domain), applied twice.
fn mix(value: u64) -> u64 {
    let once = |value: u64| {
        let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    once(once(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pellets_are_distributed_uniformly_over_the_cone() {
        let (mut inner, mut right, mut up) = (0, 0, 0);
        for seed in 0..4_000 {
            for pellet in 0..4 {
                let at = pellet_offset(shot_seed(7, seed), pellet);
                assert!(at.length() <= 1.0);
                inner += i32::from(at.length_squared() < 0.5);
                right += i32::from(at.x > 0.0);
                up += i32::from(at.y > 0.0);
            }
        }
        for (count, what) in [(inner, "inner half"), (right, "right half"), (up, "upper half")] {
            assert!((count - 8_000).abs() < 300, "{count} of 16,000 in the {what}");
        }
    }

    #[test]
    fn cone_keeps_its_half_angle_in_every_direction() {
        let half_angle = bevy_unlag_core::angle_to_units(0.1);
        for (yaw, pitch) in [(0.0, 0.0), (2.0, 1.4), (-3.0, -1.4)] {
            let aim = Aim::new(yaw, pitch);
            let cone = SpreadCone { aim, half_angle };
            assert!(cone.direction(Vec2::ZERO).angle_between(aim.direction()) < 1e-3);
            for edge in [Vec2::X, Vec2::NEG_Y, Vec2::new(30.0, 40.0)] {
                let off = cone.direction(edge).angle_between(aim.direction());
                assert!((off - 0.1).abs() < 1e-3, "{off} at {edge}");
            }
            assert!(cone.direction(Vec2::Y).y > aim.direction().y || pitch > 1.3);
            assert!(cone.direction(Vec2::NAN).is_finite());
        }
    }

    #[test]
    fn past_shots_do_not_predict_the_next_spread_without_the_pawn_seed() {
        // Predicting the quadrant of the next shot from that of the last one is no better than chance.
        let quarter = |at: Vec2| usize::from(at.x > 0.0) * 2 + usize::from(at.y > 0.0);
        let mut table = [[0_u32; 4]; 4];
        for pawn in 0..64 {
            for number in 0..1_000 {
                let of = |number| quarter(pellet_offset(shot_seed(pawn, number), 0));
                table[of(number)][of(number + 1)] += 1;
            }
        }
        let expected = 64_000.0 / 16.0;
        let chi_squared: f64 =
            table.iter().flatten().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        assert!(chi_squared < 37.7, "{chi_squared}: the 0.999 quantile with 15 degrees of freedom");
    }
}
