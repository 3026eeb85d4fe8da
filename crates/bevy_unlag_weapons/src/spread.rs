//! Where the rounds of a shot go: the same bits on every machine.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, look_direction, sin_cos_of_units};

use crate::Aim;

/// Pellets of a shot at most.
pub const MAX_PELLETS: usize = 16;

/// A direction, and how far around it rounds may go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cone {
    /// Where it points.
    pub aim: Aim,
    /// Half its angle, in 1/65,536 of a turn; at most a quarter turn.
    pub half_angle: u16,
}

impl Cone {
    /// Half its angle, in radians.
    #[must_use]
    pub fn half_angle_radians(&self) -> f32 {
        f32::from(self.half_angle) * (core::f32::consts::TAU / 65_536.0)
    }

    /// Where in the cone a round goes that is this far from its middle: `x` to the right and `y` up, in
    /// parts of the cone's radius. What lies outside of the cone is put on its edge.
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

/// Where pellet number `pellet` of a shot goes, in parts of the cone's radius: as often in one part of the
/// cone as in another of the same size. All of a shot follows from its seed.
#[must_use]
pub fn offset(seed: u16, pellet: u32) -> Vec2 {
    let bits = mix(u64::from(seed) | u64::from(pellet) << 32);
    let (turn, area) = (bits as u16, (bits >> 16) as u16);
    let (sin, cos) = sin_cos_of_units(turn);
    Vec2::new(cos, sin) * ((f32::from(area) + 0.5) / 65_536.0).sqrt()
}

/// The seed of a pawn's shot: from the number that the server gave the pawn, and the shot's own.
#[must_use]
pub(crate) fn shot_seed(pawn: u32, number: u32) -> u16 {
    mix(u64::from(pawn) << 32 | u64::from(number)) as u16
}

/// The number from which the spread of a pawn's shots follows.
#[must_use]
pub(crate) fn pawn_seed(secret: u64, pawn: NetId, given: u32) -> u32 {
    mix(secret ^ mix(u64::from(given) << 16 | u64::from(pawn.0))) as u32
}

/// The seed of a shot whose spread only the server knows.
#[must_use]
pub(crate) fn secret_seed(secret: u64, seed: u16, number: u32) -> u16 {
    mix(secret ^ mix(u64::from(number) << 16 | u64::from(seed))) as u16
}

/// Any two numbers that differ in a bit give numbers that differ in about half of them: the finaliser of
/// `SplitMix64` by Sebastiano Vigna (public domain), twice.
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
    fn pellets_fill_the_cone_evenly() {
        let (mut inner, mut right, mut up) = (0, 0, 0);
        for seed in 0..4_000 {
            for pellet in 0..4 {
                let at = offset(shot_seed(7, seed), pellet);
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
    fn a_cone_is_as_wide_as_it_says_wherever_it_points() {
        let half_angle = bevy_unlag_core::angle_to_units(0.1);
        for (yaw, pitch) in [(0.0, 0.0), (2.0, 1.4), (-3.0, -1.4)] {
            let aim = Aim::new(yaw, pitch);
            let cone = Cone { aim, half_angle };
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
    fn what_was_fired_says_nothing_about_what_comes_without_the_pawns_number() {
        // Whoever guesses the next shot's quarter from the last one's is right as often as by chance.
        let quarter = |at: Vec2| usize::from(at.x > 0.0) * 2 + usize::from(at.y > 0.0);
        let mut table = [[0_u32; 4]; 4];
        for pawn in 0..64 {
            for number in 0..1_000 {
                let of = |number| quarter(offset(shot_seed(pawn, number), 0));
                table[of(number)][of(number + 1)] += 1;
            }
        }
        let expected = 64_000.0 / 16.0;
        let chi_squared: f64 =
            table.iter().flatten().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        assert!(chi_squared < 37.7, "{chi_squared}: the 0.999 quantile with 15 degrees of freedom");
    }
}
