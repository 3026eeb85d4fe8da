//! Floats in a range, in equal steps.

use bevy::prelude::*;

use super::{
    WireFormat,
    codec::{Codec, Float, codec_format},
};
use crate::wire::{BitReader, BitWriter, WireError};

/// Floats in a range, in equal steps. 0 is a value if the range includes it, and with [`new`](Self::new) both
/// ends are.
///
/// If the range includes values below and above 0, the steps on both sides are as equal as their number
/// allows, and exactly equal for a symmetric range.
#[doc(alias = "SerializeCompressedReal")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloatRange {
    /// Value from which steps are counted: 0, or the low end of a range without 0.
    anchor: f64,
    /// Values of the lowest and of the highest number.
    ends: (f64, f64),
    /// Sizes of a step below and above the anchor.
    steps: (f64, f64),
    /// Numbers of steps below and above the anchor.
    counts: (u32, u32),
    bits: u32,
}

impl FloatRange {
    /// Creates a range from `low` to `high` with as many values as `bits` allow, which is 1 to 32.
    ///
    /// # Panics
    /// Panics if the range is empty or not finite, or for too few or too many bits. In a `const` that is a
    /// compile-time error.
    #[must_use]
    pub const fn new(low: f64, high: f64, bits: u32) -> Self {
        check_ends(low, high);
        assert!(bits != 0 && bits <= 32, "the bits of a range must be 1 to 32");
        let most = u32::MAX >> (32 - bits);
        if low > 0.0 || high < 0.0 {
            let steps = (1.0, (high - low) / most as f64);
            return Self { anchor: low, ends: (low, high), steps, counts: (0, most), bits };
        }
        assert!(low == 0.0 || high == 0.0 || bits > 1, "a range across 0 needs at least 2 bits");
        // Each side of 0 gets its share, and at least one step.
        let share = most as f64 * (-low / (high - low));
        let below = if low == 0.0 { 0 } else { at_least_one(share as u32) };
        let share = most as f64 * (high / (high - low));
        let above = if high == 0.0 { 0 } else { at_least_one(share as u32) };
        let above = if above > most - below { most - below } else { above };
        let step_below = if below == 0 { 1.0 } else { -low / below as f64 };
        let step_above = if above == 0 { 1.0 } else { high / above as f64 };
        let steps = (step_below, step_above);
        Self { anchor: 0.0, ends: (low, high), steps, counts: (below, above), bits }
    }

    /// Creates a range from `low` to `high` with steps of size `step`. They are counted from 0 if the range
    /// includes it, and otherwise from `low`; an end that is not a whole number of steps away is no value.
    ///
    /// # Panics
    /// Panics if the range is empty or not finite, if the step is not positive or larger than the range, or
    /// for more than 2³² values. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn with_step(low: f64, high: f64, step: f64) -> Self {
        /// A range of 0.3 has three steps of 0.1, although the quotient is 2.9999999999999996.
        const TOLERANCE: f64 = 1e-6;
        check_ends(low, high);
        assert!(step > 0.0, "the step must be above 0");
        assert!(step <= high - low, "the step is larger than the range");
        assert!((high - low) / step < u32::MAX as f64, "the step is too small for 32 bits");
        let anchor = if low > 0.0 || high < 0.0 { low } else { 0.0 };
        let below = ((anchor - low) / step + TOLERANCE) as u32;
        let above = ((high - anchor) / step + TOLERANCE) as u32;
        assert!(below as u64 + above as u64 <= u32::MAX as u64, "the step is too small for 32 bits");
        let lowest = anchor - below as f64 * step;
        let highest = anchor + above as f64 * step;
        // Never beyond the range, by the tolerance or by rounding.
        let lowest = if lowest < low { low } else { lowest };
        let highest = if highest > high { high } else { highest };
        let bits = u32::BITS - (below + above).leading_zeros();
        Self { anchor, ends: (lowest, highest), steps: (step, step), counts: (below, above), bits }
    }

    /// Returns the number of bits per float.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of the value that is nearest to `value`.
    #[must_use]
    pub fn code(&self, value: f64) -> u32 {
        let (low, high) = self.ends;
        let value = if value.is_nan() { 0.0 } else { value };
        let distance = value.clamp(low, high) - self.anchor;
        let (below, above) = self.counts;
        if distance < 0.0 {
            below - ((-distance / self.steps.0).round() as u32).min(below)
        } else {
            below + ((distance / self.steps.1).round() as u32).min(above)
        }
    }

    /// Returns the value with a number, or `None` if the range has fewer values.
    #[must_use]
    pub fn value(&self, code: u32) -> Option<f64> {
        let (below, above) = self.counts;
        let (low, high) = self.ends;
        let steps = i64::from(code) - i64::from(below);
        if steps > i64::from(above) {
            None
        } else if steps == 0 {
            Some(self.anchor)
        } else if code == 0 {
            Some(low)
        } else if steps == i64::from(above) {
            Some(high)
        } else {
            let size = if steps < 0 { self.steps.0 } else { self.steps.1 };
            Some((self.anchor + steps as f64 * size).clamp(low, high))
        }
    }
}

const fn check_ends(low: f64, high: f64) {
    assert!(low < high, "the range is empty: its low end must be below its high end");
    assert!(
        low >= f32::MIN as f64 && high <= f32::MAX as f64,
        "the range must be finite, within that of f32"
    );
}

const fn at_least_one(count: u32) -> u32 {
    if count == 0 { 1 } else { count }
}

impl<F: Float> Codec<F> for FloatRange {
    fn bits(&self) -> u32 {
        self.bits
    }

    fn encode(&self, value: &F) -> u32 {
        self.code((*value).into())
    }

    fn decode(&self, code: u32) -> Result<F, WireError> {
        self.value(code).map(F::rounded).ok_or(WireError::Invalid)
    }
}

codec_format!(FloatRange: f32, f64);

/// Implements [`WireFormat`] for vectors: per axis, and with one bit for a delta to an equal vector.
macro_rules! vectors {
    ($($vector:ty),+) => {$(
        impl WireFormat<$vector> for FloatRange {
            fn write(&self, value: &$vector, w: &mut BitWriter) {
                WireFormat::write(self, &value.to_array(), w);
            }

            fn read(&self, r: &mut BitReader<'_>) -> Result<$vector, WireError> {
                let mut axes = <$vector>::ZERO.to_array();
                for axis in &mut axes {
                    *axis = WireFormat::<f32>::read(self, r)?;
                }
                Ok(<$vector>::from_array(axes))
            }

            fn write_delta(&self, value: &$vector, base: &$vector, w: &mut BitWriter) {
                let codes = |vector: &$vector| vector.to_array().map(|axis| self.code(f64::from(axis)));
                let changed = codes(value) != codes(base);
                w.bool(changed);
                if changed {
                    WireFormat::<$vector>::write(self, value, w);
                }
            }

            fn read_delta(&self, base: &$vector, r: &mut BitReader<'_>) -> Result<$vector, WireError> {
                if r.bool()? {
                    WireFormat::<$vector>::read(self, r)
                } else {
                    Ok(WireFormat::<$vector>::quantised(self, *base))
                }
            }

            fn quantised(&self, value: $vector) -> $vector {
                <$vector>::from_array(WireFormat::quantised(self, value.to_array()))
            }
        }
    )+};
}
vectors!(Vec2, Vec3, Vec4);

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks all or many values, and values between and beyond them.
    fn assert_contract(range: FloatRange) {
        let (below, above) = range.counts;
        let last = below + above;
        let mut previous = f64::NEG_INFINITY;
        for i in 0..=4_096u32.min(last) {
            let code = (u64::from(last) * u64::from(i) / u64::from(4_096u32.min(last))) as u32;
            let value = range.value(code).expect("a value");
            assert!(
                value >= range.ends.0 && value <= range.ends.1 && value > previous,
                "{code} of {range:?}"
            );
            assert_eq!(range.code(value), code, "{range:?}");
            let float = WireFormat::<f32>::quantised(&range, value as f32);
            assert_eq!(WireFormat::<f32>::quantised(&range, float).to_bits(), float.to_bits(), "{range:?}");
            previous = value;
        }
        for code in [last.checked_add(1), (range.bits < 32).then(|| 1 << range.bits), Some(u32::MAX)] {
            assert!(code.is_none_or(|code| code <= last || range.value(code).is_none()), "{range:?}");
        }
        for (wild, code) in [(f64::INFINITY, last), (f64::NEG_INFINITY, 0), (1e300, last), (-1e300, 0)] {
            assert_eq!(range.code(wild), code, "{range:?}");
        }
        let value = range.value(range.code(f64::NAN)).expect("a value");
        assert_eq!(value, 0f64.clamp(range.ends.0, range.ends.1), "{range:?}");
    }

    #[test]
    fn ranges_include_their_ends_and_0_at_any_number_of_bits() {
        for (low, high) in [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (-1.0, 3.0), (-0.001, 7.3), (2.5, 2.75)] {
            for bits in 2..=32 {
                let range = FloatRange::new(low, high, bits);
                assert_eq!(range.bits(), bits);
                let (below, above) = range.counts;
                assert_eq!((range.value(0), range.value(below + above)), (Some(low), Some(high)));
                if low <= 0.0 && high >= 0.0 {
                    assert_eq!(range.value(range.code(-1e-12)), Some(0.0));
                }
                assert_contract(range);
            }
        }
        assert_contract(FloatRange::new(-1e-9, -1e-10, 17));
        assert_contract(FloatRange::new(f64::from(f32::MIN), f64::from(f32::MAX), 20));
        assert_contract(FloatRange::new(0.0, 1.0, 1));
        // A stick that is at rest, and one that is held to either side.
        let stick = FloatRange::new(-1.0, 1.0, 8);
        assert_eq!(stick.counts, (127, 127));
        assert_eq!(WireFormat::<f32>::quantised(&stick, 0.51), 65.0 / 127.0);
    }

    #[test]
    fn steps_are_counted_from_0_or_from_the_low_end() {
        let range = FloatRange::with_step(0.0, 0.3, 0.1);
        assert_eq!((range.counts, range.bits()), ((0, 3), 2));
        assert_contract(range);
        let range = FloatRange::with_step(-1.0, 2.05, 0.5);
        assert_eq!((range.counts, range.ends), ((2, 4), (-1.0, 2.0)));
        assert_contract(range);
        let range = FloatRange::with_step(10.0, 11.0, 0.25);
        assert_eq!(range.value(1), Some(10.25));
        assert_contract(range);
        assert_contract(FloatRange::with_step(-1_000.0, 1_000.0, 0.001));
    }

    #[test]
    fn vectors_are_written_per_axis_and_equal_ones_have_deltas_of_one_bit() {
        let range = FloatRange::new(-1.0, 1.0, 12);
        let bits = |value: Vec3, base: Vec3| {
            let mut w = BitWriter::default();
            range.write_delta(&value, &base, &mut w);
            let length = w.len_bits();
            let bytes = w.finish();
            let read: Result<Vec3, _> = range.read_delta(&base, &mut BitReader::new(&bytes));
            assert_eq!(read, Ok(range.quantised(value)));
            length
        };
        assert_eq!(bits(Vec3::splat(0.3), Vec3::splat(0.3)), 1);
        assert_eq!(bits(Vec3::splat(0.3), Vec3::splat(0.300_001)), 1);
        assert_eq!(bits(Vec3::splat(0.3), Vec3::X), 37);
        assert_eq!(range.quantised(Vec2::new(9.0, f32::NAN)), Vec2::X);
    }
}
