//! Integer angles, with sines and cosines that are bit-identical on every machine.
//!
//! The functions in std use the maths library of the operating system, so a Windows client and a Linux
//! server would disagree.

use bevy::prelude::*;

/// Returns sine and cosine of an angle in 1/65,536 of a turn, accurate to a millionth.
#[must_use]
pub fn sin_cos_of_units(units: u16) -> (f32, f32) {
    // Exact reduction in integers to a quadrant and -45°..45°.
    let quadrant = units.wrapping_add(8_192) >> 14;
    let rest = units.wrapping_sub(quadrant << 14).cast_signed();
    let x = f64::from(rest) * (core::f64::consts::FRAC_PI_2 / 16_384.0);
    let q = x * x;
    let sin =
        x * (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 * (1.0 - q / 110.0)))));
    let cos = 1.0 - q / 2.0 * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0 * (1.0 - q / 90.0))));
    let (sin, cos) = (sin as f32, cos as f32);
    match quadrant {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Returns the unit vector for a heading and a pitch, both in 1/65,536 of a turn. Heading 0 is along -Z and
/// increases to the left; pitch 0 is level and increases upwards.
#[must_use]
pub fn look_direction(yaw: u16, pitch: i16) -> Vec3 {
    let (sin_yaw, cos_yaw) = sin_cos_of_units(yaw);
    let (sin_pitch, cos_pitch) = sin_cos_of_units(pitch.cast_unsigned());
    Vec3::new(-sin_yaw * cos_pitch, sin_pitch, -cos_yaw * cos_pitch)
}

/// Returns the heading and pitch along a direction, the inverse of [`look_direction`]: rounded to the nearest
/// unit, and bit-identical on every machine.
#[must_use]
pub fn look_angles(direction: Vec3) -> (u16, i16) {
    let Vec3 { x, y, z } = direction;
    let pitch = nearest_angle(y, (x * x + z * z).sqrt());
    (nearest_angle(-x, -z), pitch.cast_signed())
}

/// Returns the angle whose sine and cosine are proportional to these, in 1/65,536 of a turn.
fn nearest_angle(sin: f32, cos: f32) -> u16 {
    // The result of std differs in its last bits between operating systems, so it may be off by one.
    let estimate = angle_to_units(sin.atan2(cos));
    let error = |units: u16| {
        let (s, c) = sin_cos_of_units(units);
        (s * cos - c * sin).abs()
    };
    let neighbours = [estimate.wrapping_sub(1), estimate.wrapping_add(1)];
    neighbours.into_iter().fold(estimate, |best, units| if error(units) < error(best) { units } else { best })
}

/// Converts an angle in radians to 1/65,536 of a turn.
#[must_use]
pub fn angle_to_units(angle: f32) -> u16 {
    // Through i64 so that any finite angle wraps; a NaN becomes 0.
    (f64::from(angle) / core::f64::consts::TAU * 65_536.0).round() as i64 as u16
}

/// Converts 1/65,536 of a turn to radians, in (-π, π].
#[must_use]
pub fn units_to_angle(units: u16) -> f32 {
    f32::from(units.cast_signed()) / 65_536.0 * core::f32::consts::TAU
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_are_accurate_for_every_angle() {
        for units in 0..=u16::MAX {
            let angle = f64::from(units) / 65_536.0 * core::f64::consts::TAU;
            let (sin, cos) = sin_cos_of_units(units);
            assert!((f64::from(sin) - angle.sin()).abs() < 1e-6, "sin of {units}");
            assert!((f64::from(cos) - angle.cos()).abs() < 1e-6, "cos of {units}");
        }
    }

    #[test]
    fn angles_of_a_direction_are_those_that_it_was_made_from() {
        for yaw in (0..=u16::MAX).step_by(97) {
            for pitch in (-16_300..=16_300).step_by(163) {
                assert_eq!(look_angles(look_direction(yaw, pitch) * 3.0), (yaw, pitch));
            }
        }
        assert_eq!(look_angles(Vec3::Y).1, 16_384);
        assert_eq!(look_angles(Vec3::NEG_Y).1, -16_384);
        // Without a direction there is still an answer.
        let _: [(u16, i16); 2] = [Vec3::ZERO, Vec3::NAN].map(look_angles);
    }

    #[test]
    fn angle_conversions_wrap_around() {
        assert_eq!(angle_to_units(core::f32::consts::TAU * 3.0), 0);
        assert_eq!(angle_to_units(-core::f32::consts::FRAC_PI_2), 49_152);
        assert!((units_to_angle(49_152) + core::f32::consts::FRAC_PI_2).abs() < 1e-6);
    }
}
