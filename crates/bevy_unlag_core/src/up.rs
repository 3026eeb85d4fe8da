//! Up direction of a pawn, quantised to two bytes.

use bevy::prelude::*;

use crate::wire::{BitReader, BitWriter, Wire, WireError};

/// Direction against gravity, octahedron-encoded in steps of 1/127 of an edge: accurate to 1°. The default
/// is exactly +Y.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Hash, serde::Serialize, serde::Deserialize, Reflect)]
pub struct Up {
    /// X and Z on the unfolded octahedron, -127 to 127.
    fold: [i8; 2],
}

impl Up {
    /// The direction +Y.
    pub const Y: Self = Self { fold: [0, 0] };

    /// Quantises `direction`, which need not be normalised. Returns +Y for a zero or non-finite vector.
    #[must_use]
    pub fn new(direction: Vec3) -> Self {
        let size = direction.abs().element_sum();
        if !size.is_finite() || size < 1e-6 {
            return Self::Y;
        }
        let Vec3 { x, y, z } = direction / size;
        // The lower half is folded over the edges of the upper one.
        let away = |v: f32, other: f32| (1.0 - other.abs()) * if v < 0.0 { -1.0 } else { 1.0 };
        let (x, z) = if y >= 0.0 { (x, z) } else { (away(x, z), away(z, x)) };
        Self { fold: [x, z].map(|v| (v * 127.0).round().clamp(-127.0, 127.0) as i8) }
    }

    /// Returns the direction as a unit vector.
    #[must_use]
    pub fn direction(self) -> Vec3 {
        let [x, z] = self.fold.map(|v| f32::from(v.max(-127)) / 127.0);
        let y = 1.0 - x.abs() - z.abs();
        let folded = (-y).max(0.0);
        let back = |v: f32| v - folded * if v < 0.0 { -1.0 } else { 1.0 };
        Vec3::new(back(x), y, back(z)).normalize_or(Vec3::Y)
    }

    /// Returns the shortest rotation from +Y to this direction.
    #[must_use]
    pub fn rotation(self) -> Quat {
        if self == Self::Y { Quat::IDENTITY } else { upright_rotation(self.direction()) }
    }

    pub(crate) fn bits(self) -> [i8; 2] {
        self.fold
    }

    pub(crate) fn from_bits(fold: [i8; 2]) -> Self {
        Self { fold }
    }
}

/// Two bytes. Every bit pattern is valid.
impl Wire for Up {
    fn write(&self, w: &mut BitWriter) {
        self.fold.iter().for_each(|axis| w.signed(i32::from(*axis), 8));
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { fold: [r.signed(8)? as i8, r.signed(8)? as i8] })
    }
}

/// Splits an orientation into its up direction, rounded to 1°, and its heading about that direction in radians,
/// as a [`Snapshot`](crate::Snapshot) has them.
#[must_use]
pub fn up_and_heading(rotation: Quat) -> (Up, f32) {
    let up = Up::new(rotation * Vec3::Y);
    let forward = up.rotation().inverse() * rotation * Vec3::NEG_Z;
    (up, (-forward.x).atan2(-forward.z))
}

/// Splits a vector into its level part and its height along `up`, a unit vector. For +Y the parts are exact.
#[must_use]
pub fn split_height(vector: Vec3, up: Vec3) -> (Vec3, f32) {
    if up == Vec3::Y {
        return (vector.with_y(0.0), vector.y);
    }
    let height = vector.dot(up);
    (vector - up * height, height)
}

/// Returns the shortest rotation from +Y to the unit vector `up`. It needs no sine, whose result in std
/// differs between operating systems.
#[must_use]
pub fn upright_rotation(up: Vec3) -> Quat {
    let w = 1.0 + up.y;
    if w < 1e-6 {
        // Upside down: half a turn about X.
        return Quat::from_xyzw(1.0, 0.0, 0.0, 0.0);
    }
    Quat::from_xyzw(up.z, 0.0, -up.x, w).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_direction_is_encoded_within_one_degree() {
        for i in 1..2_000u32 {
            let [x, y, z] = [1.0f32, 2.3, 3.7].map(|k| (i as f32 * k * 0.37).sin());
            let direction = Vec3::new(x, y, z).normalize();
            let up = Up::new(direction);
            let off = up.direction().angle_between(direction).to_degrees();
            assert!(off < 1.0, "{direction}: off by {off}°");
            assert!((Up::new(up.direction()).direction() - up.direction()).length() < 1e-3, "{direction}");
            assert!((up.rotation() * Vec3::Y - up.direction()).length() < 1e-5);
        }
        assert_eq!(Up::new(Vec3::Y), Up::Y);
        assert_eq!(Up::Y.direction(), Vec3::Y);
        assert_eq!(Up::new(Vec3::NEG_Y).direction(), Vec3::NEG_Y);
        assert_eq!(Up::new(Vec3::NAN), Up::Y);
    }

    #[test]
    fn every_bit_pattern_of_an_up_direction_is_a_unit_vector() {
        for bits in 0..=u16::MAX {
            let bytes = bits.to_le_bytes();
            let up = Up::read(&mut BitReader::new(&bytes)).expect("two bytes are enough");
            assert!((up.direction().length() - 1.0).abs() < 1e-5, "{up:?}");
            let mut w = BitWriter::default();
            up.write(&mut w);
            assert_eq!(w.finish(), bytes);
        }
    }

    #[test]
    fn height_and_level_part_add_up_to_the_vector() {
        let vector = Vec3::new(1.5, -2.0, 0.25);
        assert_eq!(split_height(vector, Vec3::Y), (Vec3::new(1.5, 0.0, 0.25), -2.0));
        for up in [Vec3::X, Vec3::NEG_Y, Vec3::new(0.6, 0.0, -0.8)] {
            let (level, height) = split_height(vector, up);
            assert!(level.dot(up).abs() < 1e-6 && (level + up * height).distance(vector) < 1e-6, "{up}");
        }
    }
}
