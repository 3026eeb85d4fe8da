//! Sine and cosine that are the same bits on every machine. The ones in std come from the system's
//! maths library, so a Windows client and a Linux server would disagree.

/// Sine and cosine of an angle in 1/65,536 of a turn.
pub(crate) fn sin_cos(units: u16) -> (f32, f32) {
    // Reduced in integers, exactly, to a quadrant and -45°..45°.
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

#[cfg(test)]
mod tests {
    use super::sin_cos;

    #[test]
    fn every_angle_is_right() {
        for units in 0..=u16::MAX {
            let angle = f64::from(units) / 65_536.0 * core::f64::consts::TAU;
            let (sin, cos) = sin_cos(units);
            assert!((f64::from(sin) - angle.sin()).abs() < 1e-6, "sin of {units}");
            assert!((f64::from(cos) - angle.cos()).abs() < 1e-6, "cos of {units}");
        }
    }
}
