//! Heading of a kart: fine enough that no turn is lost, and bit-identical on all machines.

use bevy::prelude::*;
use bevy_unlag_core::sin_cos_of_units;

/// Units per turn.
const TURN: f64 = 4_294_967_296.0;

/// Returns the nearest 1/65,536 of a turn, and the rest up to the heading in radians.
pub(super) fn rounded(heading: u32) -> (u16, f32) {
    let units = (heading.wrapping_add(0x8000) >> 16) as u16;
    let rest = heading.wrapping_sub(u32::from(units) << 16).cast_signed();
    (units, (f64::from(rest) * (core::f64::consts::TAU / TURN)) as f32)
}

/// Returns the forward and right directions, both horizontal unit vectors.
pub(super) fn axes(heading: u32) -> (Vec3, Vec3) {
    let (units, rest) = rounded(heading);
    let (sin, cos) = sin_cos_of_units(units);
    // The rest is below 1/20,000: its square is negligible.
    let (sin, cos) = (sin + cos * rest, cos - sin * rest);
    (Vec3::new(-sin, 0.0, -cos), Vec3::new(cos, 0.0, -sin))
}

/// Returns the heading after a turn to the left in radians. A NaN leaves it unchanged.
pub(super) fn turned(heading: u32, left: f32) -> u32 {
    // The cast through i64 wraps.
    let units = (f64::from(left) * (TURN / core::f64::consts::TAU)).round() as i64;
    heading.wrapping_add(units as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_match_std_trigonometry_at_every_heading() {
        for step in 0..50_000_u32 {
            let heading = step.wrapping_mul(85_899_347);
            let angle = f64::from(heading) * (core::f64::consts::TAU / TURN);
            let (forward, right) = axes(heading);
            let off = f64::from(forward.x) + angle.sin();
            assert!(off.abs() < 2e-6 && (f64::from(forward.z) + angle.cos()).abs() < 2e-6, "{heading}");
            assert!(forward.dot(right).abs() < 1e-6 && (forward.length() - 1.0).abs() < 2e-6);
            assert!((forward.cross(Vec3::Y) - right).length() < 1e-6);
        }
    }

    #[test]
    fn small_turns_accumulate_and_large_turns_wrap() {
        let small = 1e-5_f32;
        let sum = (0..10_000).fold(0, |heading, _| turned(heading, small));
        let once = turned(0, 0.1);
        assert!(sum.wrapping_sub(once).cast_signed().abs() < 20_000, "{sum} and {once}");
        assert_eq!(turned(once, -0.1), 0);
        let round = turned(7, core::f32::consts::TAU * 3.0).wrapping_sub(7).cast_signed();
        assert!(round.abs() < 2_000, "{round}");
        assert_eq!(turned(5, f32::NAN), 5);
        assert_eq!(rounded(0xffff_9000), (0, (-28_672.0 * core::f64::consts::TAU / TURN) as f32));
    }
}
