//! Directions.

use bevy::prelude::*;

use super::codec::{Codec, codec_format};
use crate::wire::WireError;

/// Unit vectors by an octahedral projection: a grid on a folded-out octahedron, whose cells have nearly equal
/// sizes on the sphere. The directions of the axes are exact. The largest error is 1° with 16 bits and 0.06°
/// with 24.
///
/// The derive attribute is `unit, bits = 24`. A vector without a direction, because it is zero or not finite,
/// is written as -Z, Bevy's forward.
#[doc(alias = "FVector_NetQuantizeNormal")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitVectorFormat {
    /// Bits per coordinate of the projection.
    bits: u32,
}

impl UnitVectorFormat {
    /// Creates a format that takes `bits` in total, an even number from 4 to 32.
    ///
    /// # Panics
    /// Panics for other numbers of bits. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        assert!(bits & 1 == 0, "the bits of a unit vector must be an even number");
        assert!(bits > 3, "the bits of a unit vector must be 4 to 32");
        assert!(bits < 33, "the bits of a unit vector must be 4 to 32");
        Self { bits: bits / 2 }
    }

    /// Returns the number of steps between 0 and 1 of a coordinate. Coordinates are -`steps` to `steps`, so
    /// that 0 and both ends are exact.
    fn steps(self) -> u32 {
        (1 << (self.bits - 1)) - 1
    }

    /// Returns the number of the unit vector that is nearest to the direction of `vector`.
    #[must_use]
    pub fn code(self, vector: Vec3) -> u32 {
        let [x, y, z] = vector.to_array().map(f64::from);
        let sum = x.abs() + y.abs() + z.abs();
        let [x, y, z] =
            if sum.is_finite() && sum > 0.0 { [x, y, z].map(|axis| axis / sum) } else { [0.0, 0.0, -1.0] };
        let plane = if z < 0.0 { folded([x, y]) } else { [x, y] };
        let steps = f64::from(self.steps());
        let [u, v] = plane.map(|axis| ((axis * steps).round() + steps).clamp(0.0, 2.0 * steps) as u32);
        (u << self.bits) | v
    }

    /// Returns the unit vector with a number, or `None` if there is none.
    #[must_use]
    pub fn direction(self, code: u32) -> Option<Vec3> {
        let (u, v) = (code >> self.bits, code & ((1 << self.bits) - 1));
        let most = 2 * self.steps();
        if u > most || v > most {
            return None;
        }
        let steps = f64::from(self.steps());
        let [u, v] = [u, v].map(|axis| f64::from(axis) / steps - 1.0);
        let z = 1.0 - u.abs() - v.abs();
        let [x, y] = if z < 0.0 { folded([u, v]) } else { [u, v] };
        let length = (x * x + y * y + z * z).sqrt();
        // Adding 0 turns -0 into 0: directions on the fold have several numbers, which must have equal bits.
        Some(Vec3::from_array([x, y, z].map(|axis| (axis / length) as f32 + 0.0)))
    }
}

/// Folds the lower half of the octahedron into or out of the corners of the plane.
fn folded([x, y]: [f64; 2]) -> [f64; 2] {
    let sign = |axis: f64| if axis < 0.0 { -1.0 } else { 1.0 };
    [(1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y)]
}

impl Codec<Vec3> for UnitVectorFormat {
    fn bits(&self) -> u32 {
        2 * self.bits
    }

    fn encode(&self, value: &Vec3) -> u32 {
        self.code(*value)
    }

    fn decode(&self, code: u32) -> Result<Vec3, WireError> {
        self.direction(code).ok_or(WireError::Invalid)
    }
}

impl Codec<Dir3> for UnitVectorFormat {
    fn bits(&self) -> u32 {
        2 * self.bits
    }

    fn encode(&self, value: &Dir3) -> u32 {
        self.code(value.as_vec3())
    }

    fn decode(&self, code: u32) -> Result<Dir3, WireError> {
        self.direction(code).map(Dir3::new_unchecked).ok_or(WireError::Invalid)
    }
}

codec_format!(UnitVectorFormat: Vec3, Dir3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_format::WireFormat;

    /// Directions all over the sphere.
    fn sphere() -> impl Iterator<Item = Vec3> {
        (0..4_000u16).map(|i| {
            let y = 1.0 - (f32::from(i) + 0.5) / 2_000.0;
            let (sin, cos) = (f32::from(i) * 2.399_963).sin_cos();
            Vec3::new(cos, 0.0, sin) * (1.0 - y * y).sqrt() + Vec3::Y * y
        })
    }

    #[test]
    fn error_is_small_everywhere() {
        for (bits, degrees) in [(16, 1.2), (24, 0.08), (32, 0.006)] {
            let format = UnitVectorFormat::new(bits);
            for direction in sphere() {
                let read: Vec3 = format.quantised(direction);
                assert!((read.length() - 1.0).abs() < 1e-6);
                let off = read.distance(direction).to_degrees();
                assert!(off < degrees, "{direction} is off by {off}° in {bits} bits");
                // By a power of two, so that nothing is rounded.
                assert_eq!(format.quantised(direction * 1_048_576.0), read, "the length does not matter");
            }
        }
    }

    #[test]
    fn every_number_is_a_fixed_direction_or_refused() {
        for bits in [4, 6, 8, 16] {
            let format = UnitVectorFormat::new(bits);
            let mut refused = 0;
            for code in 0..1u32 << bits {
                let Some(direction) = format.direction(code) else {
                    refused += 1;
                    continue;
                };
                let again: Vec3 = format.quantised(direction);
                assert_eq!(
                    again.to_array().map(f32::to_bits),
                    direction.to_array().map(f32::to_bits),
                    "{code}"
                );
                assert!(direction.is_normalized());
            }
            let per_axis = 1 << (bits / 2);
            assert_eq!(refused, per_axis * per_axis - (per_axis - 1) * (per_axis - 1));
        }
    }

    #[test]
    fn axes_are_exact_and_vectors_without_a_direction_point_forwards() {
        for bits in [4, 8, 24, 32] {
            let format = UnitVectorFormat::new(bits);
            for axis in [Dir3::X, Dir3::Y, Dir3::Z, Dir3::NEG_X, Dir3::NEG_Y, Dir3::NEG_Z] {
                assert_eq!(format.quantised(axis), axis);
            }
            for none in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
                assert_eq!(format.quantised(none), Vec3::NEG_Z);
            }
        }
    }
}
