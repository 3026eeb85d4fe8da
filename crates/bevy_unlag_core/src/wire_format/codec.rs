//! Values as numbers of a few bits.

use crate::wire::{BitReader, BitWriter, WireError};

/// Conversion of a value to a number of [`bits`](Self::bits) bits and back.
pub(super) trait Codec<T> {
    fn bits(&self) -> u32;

    /// Returns the number of the nearest value that the codec has.
    fn encode(&self, value: &T) -> u32;

    /// Returns the value with a number, or [`WireError::Invalid`] if there is none.
    fn decode(&self, code: u32) -> Result<T, WireError>;
}

/// `f32` or `f64`.
pub(super) trait Float: Copy + Into<f64> {
    /// Returns the nearest float.
    fn rounded(value: f64) -> Self;
}

impl Float for f32 {
    fn rounded(value: f64) -> Self {
        value as Self
    }
}

impl Float for f64 {
    fn rounded(value: f64) -> Self {
        value
    }
}

/// Maximum number of bits that a delta sends without a bit that states whether they changed: with so few,
/// that bit costs more than it saves.
const UNFLAGGED_BITS: u32 = 2;

pub(super) fn write<T, C: Codec<T>>(codec: &C, value: &T, w: &mut BitWriter) {
    w.bits(codec.encode(value), codec.bits());
}

pub(super) fn read<T, C: Codec<T>>(codec: &C, r: &mut BitReader<'_>) -> Result<T, WireError> {
    codec.decode(r.bits(codec.bits())?)
}

pub(super) fn write_delta<T, C: Codec<T>>(codec: &C, value: &T, base: &T, w: &mut BitWriter) {
    let (code, base) = (codec.encode(value), codec.encode(base));
    let flagged = codec.bits() > UNFLAGGED_BITS;
    if flagged {
        w.bool(code != base);
    }
    if !flagged || code != base {
        w.bits(code, codec.bits());
    }
}

pub(super) fn read_delta<T, C: Codec<T>>(codec: &C, base: &T, r: &mut BitReader<'_>) -> Result<T, WireError> {
    if codec.bits() > UNFLAGGED_BITS && !r.bool()? {
        return codec.decode(codec.encode(base));
    }
    read(codec, r)
}

pub(super) fn quantised<T, C: Codec<T>>(codec: &C, value: T) -> T {
    codec.decode(codec.encode(&value)).unwrap_or(value)
}

/// Implements [`WireFormat`](super::WireFormat) for values that have a [`Codec`].
macro_rules! codec_format {
    ($format:ty: $($value:ty),+) => {$(
        impl $crate::wire_format::WireFormat<$value> for $format {
            fn write(&self, value: &$value, w: &mut $crate::wire::BitWriter) {
                $crate::wire_format::codec::write(self, value, w);
            }

            fn read(&self, r: &mut $crate::wire::BitReader<'_>) -> Result<$value, $crate::wire::WireError> {
                $crate::wire_format::codec::read(self, r)
            }

            fn write_delta(&self, value: &$value, base: &$value, w: &mut $crate::wire::BitWriter) {
                $crate::wire_format::codec::write_delta(self, value, base, w);
            }

            fn read_delta(
                &self,
                base: &$value,
                r: &mut $crate::wire::BitReader<'_>,
            ) -> Result<$value, $crate::wire::WireError> {
                $crate::wire_format::codec::read_delta(self, base, r)
            }

            fn quantised(&self, value: $value) -> $value {
                $crate::wire_format::codec::quantised(self, value)
            }
        }
    )+};
}
pub(super) use codec_format;
