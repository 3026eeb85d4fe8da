//! Integers of a few bits and in a range.

use super::codec::{Codec, codec_format};
use crate::wire::WireError;

/// Integers of a number of bits: unsigned ones from 0, signed ones in two's complement. Values beyond are
/// written as the nearest one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntBits {
    bits: u32,
}

impl IntBits {
    /// Creates a format of `bits` bits, 1 to 32.
    ///
    /// # Panics
    /// Panics for other numbers of bits. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        assert!(bits != 0 && bits <= 32, "the bits of an integer must be 1 to 32");
        Self { bits }
    }

    fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }
}

/// Integers from a low to a high end, both included, in as few bits as they need. Values beyond are written as
/// the nearest one; a reader refuses them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntRange {
    low: i128,
    /// Distance of the high end from the low one.
    last: u32,
}

impl IntRange {
    /// Creates a range from `low` to `high`, both included.
    ///
    /// # Panics
    /// Panics if the range is empty or has more than 2³² values. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn new(low: i128, high: i128) -> Self {
        assert!(low <= high, "the range is empty: its low end must not be above its high end");
        assert!(high.saturating_sub(low) <= u32::MAX as i128, "the range has more than 2^32 values");
        Self { low, last: (high - low) as u32 }
    }

    /// Returns the number of bits per integer.
    #[must_use]
    pub const fn bits(self) -> u32 {
        u32::BITS - self.last.leading_zeros()
    }
}

/// Any integer from `u8` to `i64`.
trait Integer: Copy + Into<i128> + TryFrom<i128> {
    const SIGNED: bool;
}

macro_rules! integers {
    ($signed:literal: $($int:ty),+) => {$(
        impl Integer for $int {
            const SIGNED: bool = $signed;
        }
    )+};
}
integers!(false: u8, u16, u32, u64);
integers!(true: i8, i16, i32, i64);

impl<T: Integer> Codec<T> for IntBits {
    fn bits(&self) -> u32 {
        self.bits
    }

    fn encode(&self, value: &T) -> u32 {
        let value: i128 = (*value).into();
        if T::SIGNED {
            let high = i128::from(self.mask() >> 1);
            (value.clamp(-high - 1, high) as i32).cast_unsigned() & self.mask()
        } else {
            value.clamp(0, i128::from(self.mask())) as u32
        }
    }

    fn decode(&self, code: u32) -> Result<T, WireError> {
        let value = if T::SIGNED {
            let unused = 32 - self.bits;
            i128::from((code << unused).cast_signed() >> unused)
        } else {
            i128::from(code & self.mask())
        };
        T::try_from(value).map_err(|_| WireError::Invalid)
    }
}

impl<T: Integer> Codec<T> for IntRange {
    fn bits(&self) -> u32 {
        Self::bits(*self)
    }

    fn encode(&self, value: &T) -> u32 {
        let value: i128 = (*value).into();
        (value.clamp(self.low, self.low + i128::from(self.last)) - self.low) as u32
    }

    fn decode(&self, code: u32) -> Result<T, WireError> {
        let value = (code <= self.last).then(|| self.low + i128::from(code));
        value.and_then(|value| T::try_from(value).ok()).ok_or(WireError::Invalid)
    }
}

codec_format!(IntBits: u8, u16, u32, u64, i8, i16, i32, i64);
codec_format!(IntRange: u8, u16, u32, u64, i8, i16, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        wire::{BitReader, BitWriter},
        wire_format::WireFormat,
    };

    #[test]
    fn integers_beyond_the_bits_become_the_nearest_ones() {
        assert_eq!(IntBits::new(5).quantised(40u8), 31);
        assert_eq!(IntBits::new(5).quantised(31u64), 31);
        assert_eq!(IntBits::new(5).quantised(-40i16), -16);
        assert_eq!(IntBits::new(5).quantised(40i64), 15);
        assert_eq!(IntBits::new(32).quantised(u64::MAX), u64::from(u32::MAX));
        assert_eq!(IntBits::new(32).quantised(i64::MIN), i64::from(i32::MIN));
        assert_eq!(IntBits::new(1).quantised(-1i8), -1);
        for value in i8::MIN..=i8::MAX {
            assert_eq!(IntBits::new(8).quantised(value), value);
        }
    }

    #[test]
    fn bits_are_those_of_the_writer() {
        let mut w = BitWriter::default();
        IntBits::new(7).write(&-20i8, &mut w);
        IntBits::new(3).write(&5u16, &mut w);
        let mut plain = BitWriter::default();
        plain.signed(-20, 7);
        plain.bits(5, 3);
        assert_eq!(w.finish(), plain.finish());
    }

    #[test]
    fn range_takes_as_few_bits_as_it_needs_and_refuses_numbers_beyond() {
        for (low, high, bits) in [(1, 6, 3), (-3, 4, 3), (-3, 5, 4), (7, 7, 0), (250, 255, 3)] {
            let range = IntRange::new(low, high);
            assert_eq!(range.bits(), bits);
            for code in 0..1 << bits {
                let inside = i128::from(code) <= high - low;
                assert_eq!(Codec::<i32>::decode(&range, code).is_ok(), inside, "{code} of {range:?}");
            }
            assert_eq!(i128::from(range.quantised(i64::MIN)), low);
            assert_eq!(i128::from(range.quantised(i64::MAX)), high);
        }
        assert_eq!(IntRange::new(1, 6).quantised(0u8), 1);
        // A range that the type does not have: refused, not wrapped.
        let mut r = BitReader::new(&[0b110]);
        assert_eq!(WireFormat::<u8>::read(&IntRange::new(250, 257), &mut r), Err(WireError::Invalid));
    }
}
