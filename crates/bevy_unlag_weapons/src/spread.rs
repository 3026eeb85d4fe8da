//! Deterministic weapon spread, bitwise equal on all machines.

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, NetId, Up, Wire, WireError, look_direction, sin_cos_of_units,
    wire_format::WireFormat,
};

use crate::{aim::Aim, weapon::Weapon};

/// Maximum number of pellets per shot.
pub const MAX_PELLETS: usize = 16;

/// A cone of directions in the world around an aim, with the pattern of the pellets upright for the shooter.
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
pub struct SpreadCone {
    /// Axis of the cone, in the world, whatever is up for the shooter.
    pub aim: Aim,
    /// Half the opening angle, in 1/65,536 of a turn; at most a quarter turn.
    pub half_angle: u16,
    /// Up direction of the shooter, which turns the pattern about the axis. One bit on the wire for +Y, two bytes
    /// more for another one.
    #[wire(with = UpFormat)]
    pub up: Up,
}

/// Form of an up direction that is usually +Y.
pub(crate) struct UpFormat;

impl WireFormat<Up> for UpFormat {
    fn write(&self, up: &Up, w: &mut BitWriter) {
        w.bool(*up != Up::Y);
        if *up != Up::Y {
            Wire::write(up, w);
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Up, WireError> {
        if r.bool()? { <Up as Wire>::read(r) } else { Ok(Up::Y) }
    }
}

impl SpreadCone {
    /// Returns half the opening angle, in radians.
    #[must_use]
    pub fn half_angle_radians(&self) -> f32 {
        f32::from(self.half_angle) * (core::f32::consts::TAU / 65_536.0)
    }

    /// Returns the direction at an offset from the axis, `x` to the right and `y` up for the shooter, as fractions
    /// of the cone's radius. Offsets outside of the cone are clamped to its edge.
    #[must_use]
    pub fn direction(&self, offset: Vec2) -> Vec3 {
        let forward = look_direction(self.aim.yaw, self.aim.pitch);
        if self.half_angle == 0 {
            return forward;
        }
        let right = self.right(forward);
        let up = right.cross(forward);
        let (sin, cos) = sin_cos_of_units(self.half_angle.min(16_000));
        let Vec2 { x, y } = if offset.is_finite() { offset.clamp_length_max(1.0) } else { Vec2::ZERO };
        (forward * cos + (right * x + up * y) * sin).normalize()
    }

    /// Returns the unit vector to the right of the axis, level for the shooter.
    fn right(&self, forward: Vec3) -> Vec3 {
        if self.up == Up::Y {
            let (sin_yaw, cos_yaw) = sin_cos_of_units(self.aim.yaw);
            return Vec3::new(cos_yaw, 0.0, -sin_yaw);
        }
        // Along its up direction a shooter has no right: any direction does, the same on all machines.
        forward.cross(self.up.direction()).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector())
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
    use bevy_unlag_core::ViewFrame;

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
    fn pellets_of_all_seeds_lie_within_the_cone() {
        for seed in 0..=u16::MAX {
            for pellet in 0..8 {
                let length = pellet_offset(seed, pellet).length();
                assert!(length > 0.0 && length <= 1.0, "{length} for seed {seed}, pellet {pellet}");
            }
        }
    }

    #[test]
    fn cone_keeps_its_half_angle_in_every_direction() {
        let half_angle = bevy_unlag_core::angle_to_units(0.1);
        for (yaw, pitch) in [(0.0, 0.0), (2.0, 1.4), (-3.0, -1.4)] {
            let aim = Aim::new(yaw, pitch);
            let cone = SpreadCone { aim, half_angle, up: Up::Y };
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
    fn upper_edge_of_the_cone_lies_along_the_up_direction_of_the_shooter() {
        let half_angle = bevy_unlag_core::angle_to_units(0.1);
        let slanted = Vec3::new(0.5, -0.6, 0.3).normalize();
        for up in [Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z, slanted] {
            // Views level and aslant, in the frame of the shooter.
            for (yaw, pitch) in [(0.0, 0.0), (1.0, 0.6), (-2.5, -0.9)] {
                let frame = ViewFrame { up, turn: 0 };
                let cone =
                    SpreadCone { aim: Aim::new(yaw, pitch).to_world(&frame), half_angle, up: Up::new(up) };
                let forward = cone.direction(Vec2::ZERO);
                let wanted = up.reject_from(forward).normalize();
                let off = |offset| cone.direction(offset).reject_from(forward).normalize();
                // The up direction is rounded to 1 degree.
                assert!(off(Vec2::Y).dot(wanted) > 0.999, "{up}, {yaw}: {}", off(Vec2::Y));
                assert!(off(Vec2::X).dot(forward.cross(up).normalize()) > 0.999, "{up}, {yaw}");
            }
        }
        let along = SpreadCone { aim: Aim { yaw: 0, pitch: 16_384 }, half_angle, up: Up::new(Vec3::NEG_Y) };
        assert!(along.direction(Vec2::ONE).is_normalized());
    }

    #[test]
    fn directions_where_y_is_up_keep_their_bits() {
        // As it was computed before cones had an up direction.
        let before = |cone: &SpreadCone, at: Vec2| {
            let forward = look_direction(cone.aim.yaw, cone.aim.pitch);
            let (sin_yaw, cos_yaw) = sin_cos_of_units(cone.aim.yaw);
            let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
            let (sin, cos) = sin_cos_of_units(cone.half_angle);
            (forward * cos + (right * at.x + right.cross(forward) * at.y) * sin).normalize()
        };
        for seed in 0..200 {
            let aim = Aim::new(f32::from(seed) * 0.1, f32::from(seed) * 0.014 - 1.4);
            let cone = SpreadCone { aim, half_angle: 600 + seed * 40, up: Up::Y };
            let at = pellet_offset(seed, 0);
            let bits = |direction: Vec3| direction.to_array().map(f32::to_bits);
            assert_eq!(bits(cone.direction(at)), bits(before(&cone, at)), "{cone:?}");
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
