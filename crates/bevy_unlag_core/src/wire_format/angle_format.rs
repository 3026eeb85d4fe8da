//! Angles in radians, which wrap around.

use core::f64::consts::TAU;

use super::codec::{Codec, Float, codec_format};
use crate::wire::WireError;

/// Angles in radians as fractions of a turn. Any angle wraps around; a reader gets one in [-π, π).
///
/// The derive attribute is `angle, bits = 16`. An angle that a movement step passes to sine and cosine is
/// better kept as an integer: see [`sin_cos_of_units`](crate::sin_cos_of_units).
#[doc(alias = "CompressAxisToShort")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AngleFormat {
    bits: u32,
}

impl AngleFormat {
    /// Creates a format with 2^`bits` angles; `bits` is 1 to 24, because an `f32` near π has no more.
    ///
    /// # Panics
    /// Panics for other numbers of bits. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        assert!(bits != 0 && bits <= 24, "the bits of an angle must be 1 to 24");
        Self { bits }
    }

    fn units_per_turn(self) -> f64 {
        f64::from(1u32 << self.bits)
    }

    /// Returns the number of the angle that is nearest to `radians`; 0 if they are not finite.
    #[must_use]
    pub fn code(self, radians: f64) -> u32 {
        // The remainder is exact. A NaN casts to 0; the cast to u32 and the mask wrap negative angles around.
        let turns = radians % TAU / TAU;
        (turns * self.units_per_turn()).round() as i64 as u32 & (u32::MAX >> (32 - self.bits))
    }

    /// Returns the angle with a number, of which only the lowest bits count.
    #[must_use]
    pub fn radians(self, code: u32) -> f64 {
        let unused = 32 - self.bits;
        let units = (code << unused).cast_signed() >> unused;
        f64::from(units) / self.units_per_turn() * TAU
    }
}

impl<F: Float> Codec<F> for AngleFormat {
    fn bits(&self) -> u32 {
        self.bits
    }

    fn encode(&self, value: &F) -> u32 {
        self.code((*value).into())
    }

    fn decode(&self, code: u32) -> Result<F, WireError> {
        Ok(F::rounded(self.radians(code)))
    }
}

codec_format!(AngleFormat: f32, f64);

#[cfg(test)]
mod tests {
    use core::f32::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::wire_format::WireFormat;

    fn quantised(bits: u32, angle: f32) -> f32 {
        AngleFormat::new(bits).quantised(angle)
    }

    #[test]
    fn every_angle_wraps_to_the_nearest_and_stays_there() {
        for bits in 1..=24 {
            let format = AngleFormat::new(bits);
            let last = (1u32 << bits) - 1;
            for i in 0..=1_000 {
                let code = (u64::from(last) * i / 1_000) as u32;
                let angle: f32 = format.decode(code).expect("every number is an angle");
                assert_eq!(Codec::<f32>::encode(&format, &angle), code, "{angle} in {bits} bits");
                assert_eq!(format.quantised(angle).to_bits(), angle.to_bits());
                assert!(angle.abs() <= PI, "{angle}");
            }
        }
        for i in -2_000i16..2_000 {
            let angle = f32::from(i) * 0.01;
            let turned = (quantised(16, angle) - angle) % core::f32::consts::TAU;
            let off = turned.abs().min(core::f32::consts::TAU - turned.abs());
            assert!(off < 1e-4, "{angle} is off by {off}");
        }
    }

    #[test]
    fn quarter_turns_are_exact_and_wild_angles_are_finite() {
        assert_eq!(quantised(2, 1.5), FRAC_PI_2);
        assert_eq!(quantised(8, -FRAC_PI_2), -FRAC_PI_2);
        assert_eq!(quantised(16, PI), -PI);
        assert_eq!(quantised(16, -0.0).to_bits(), 0);
        for wild in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(quantised(12, wild), 0.0);
        }
        assert!(quantised(12, f32::MAX).abs() <= PI);
    }
}
