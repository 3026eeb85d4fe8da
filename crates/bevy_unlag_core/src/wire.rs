//! Bit packing. The writer trusts its caller; the reader trusts no input.

#[cfg(test)]
mod derive_tests;
mod primitives;
mod properties;

pub(crate) use primitives::array_of;
pub use properties::{check_wire, check_wire_value};

/// Error of reading a value from bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// The input ended before the value did.
    Ended,
    /// The bits are no valid value of the type: a float that is not finite, a count beyond its bound.
    Invalid,
}

impl core::fmt::Display for WireError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Ended => "the message ends before the value is complete",
            Self::Invalid => "the message contains bits that do not form a valid value",
        })
    }
}

impl core::error::Error for WireError {}

/// A value with a bit-packed form. `read` must be total: for any input it returns a valid, bounded value or
/// an error. It must neither panic nor return a float that is not finite.
///
/// `#[derive(Wire)]` implements it, with ranges, bits and resolutions as attributes of the fields:
///
/// ```
/// use bevy_unlag_core::{BitReader, BitWriter, NetId, Wire, WireError, check_wire, check_wire_value};
///
/// #[derive(Wire, Clone, Copy, PartialEq, Debug)]
/// struct PilotInput {
///     /// Within ± 1, in steps of 1/127; 0 is exact.
///     #[wire(range = -1.0..=1.0, bits = 8)]
///     throttle: f32,
///     /// In radians; it wraps around.
///     #[wire(angle, bits = 16)]
///     heading: f32,
///     #[wire(range = 1..=6)]
///     gear: u8,
///     boost: bool,
/// }
///
/// let input = PilotInput { throttle: 0.3, heading: 1.0, gear: 9, boost: true };
/// let mut w = BitWriter::default();
/// input.write(&mut w);
/// assert_eq!(w.len_bits(), 8 + 16 + 3 + 1);
/// // The reader gets the nearest of 255 throttles: what the client has to simulate, too.
/// let read = PilotInput::read(&mut BitReader::new(&w.finish()));
/// assert_eq!(read, Ok(input.quantised()));
/// assert_eq!(input.quantised().gear, 6);
/// assert_eq!(PilotInput::read(&mut BitReader::new(&[7])), Err(WireError::Ended));
///
/// #[derive(Wire, Clone, PartialEq, Debug)]
/// enum Order {
///     Halt,
///     Attack { target: NetId, with: Weapon },
///     Patrol(#[wire(max = 8, range = -500.0..=500.0, step = 0.25)] Vec<f32>),
///     Say {
///         #[wire(max = 100)]
///         text: String,
///     },
/// }
///
/// #[derive(Wire, Clone, Copy, PartialEq, Debug)]
/// enum Weapon {
///     Cannon,
///     Missile,
/// }
///
/// // All of the contract, with random bytes and with a value.
/// assert_eq!(check_wire::<PilotInput>(1, 500), Ok(()));
/// assert_eq!(check_wire::<Order>(1, 500), Ok(()));
/// assert_eq!(check_wire_value(Order::Say { text: "behind you".to_owned() }), Ok(()));
/// ```
///
/// [`check_wire`] checks this contract for derived and for hand-written implementations.
#[doc(alias = "NetSerialize")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no form on the wire",
    label = "the trait `Wire` is not implemented for `{Self}`",
    note = "add `#[derive(Wire)]` to the type, or give the field a form: `#[wire(range = ..., bits = ...)]` \
            for floats, `#[wire(unit, bits = ...)]` for directions, `#[wire(with = ...)]` for anything, \
            `#[wire(skip)]` for none"
)]
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait Wire: Sized {
    /// Appends the value.
    fn write(&self, w: &mut BitWriter);

    /// Reads a value that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid value.
    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError>;

    /// Appends the value for a reader that knows `base`, the previous value in a stream. Override it
    /// together with [`read_delta`](Self::read_delta) if neighbouring values are similar. Default: the whole
    /// value.
    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        self.write(w);
    }

    /// Reads what [`write_delta`](Self::write_delta) wrote with the same `base`.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid value.
    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Self::read(r)
    }

    /// Returns the value that a reader gets. It is idempotent. A move is simulated with the quantised input,
    /// so that client and server compute with the same bits. Default: writes the value and reads it again.
    ///
    /// A value that cannot be read back, such as a NaN in a float without a range, is returned as it is.
    #[must_use]
    fn quantised(self) -> Self {
        Self::from_bytes(&self.to_bytes()).unwrap_or(self)
    }

    /// Returns the value alone in a message, filled up to whole bytes.
    #[must_use]
    fn to_bytes(&self) -> Vec<u8> {
        let mut w = BitWriter::default();
        self.write(&mut w);
        w.finish()
    }

    /// Reads the value at the start of a message.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the message ends early or does not begin with a valid value.
    fn from_bytes(bytes: &[u8]) -> Result<Self, WireError> {
        Self::read(&mut BitReader::new(bytes))
    }
}

/// Packs bits into bytes, lowest bit first.
#[doc(alias = "FBitWriter")]
#[doc(alias = "bf_write")]
#[derive(Default, Clone, Debug)]
pub struct BitWriter {
    /// Whole words of four bytes.
    bytes: Vec<u8>,
    /// Less than 32 bits.
    pending: u64,
    pending_bits: u32,
}

impl BitWriter {
    /// Creates a writer with memory for this many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Appends the lowest `count` bits of `value`; `count` is at most 32.
    pub fn bits(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && (count == 32 || value >> count == 0), "{value} exceeds {count} bits");
        self.pending |= u64::from(value) << self.pending_bits;
        self.pending_bits += count;
        if self.pending_bits >= 32 {
            self.bytes.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.pending_bits -= 32;
        }
    }

    /// Appends one bit.
    pub fn bool(&mut self, value: bool) {
        self.bits(u32::from(value), 1);
    }

    /// Appends the lowest `count` bits of a two's complement number.
    pub fn signed(&mut self, value: i32, count: u32) {
        self.bits(value.cast_unsigned() & mask(count), count);
    }

    /// Appends a float with all its 32 bits.
    pub fn f32(&mut self, value: f32) {
        self.bits(value.to_bits(), 32);
    }

    /// Appends a number in an Exp-Golomb code: `order` + 1 bits if it is below 2^`order`, and two more bits
    /// for each doubling beyond. `value` is at most 65,535, `order` at most 15.
    pub fn golomb(&mut self, value: u16, order: u32) {
        let coded = (u32::from(value) >> order) + 1;
        let bits = 31 - coded.leading_zeros();
        self.bits(0, bits);
        // The leading one goes first, so that the reader knows where the zeros end.
        self.bits(1, 1);
        self.bits(coded & mask(bits), bits);
        self.bits(u32::from(value) & mask(order), order);
    }

    /// Appends a signed number that is usually close to 0, in the same code.
    pub fn signed_golomb(&mut self, value: i16, order: u32) {
        // 0, -1, 1, -2, 2, ...
        self.golomb(((value << 1) ^ (value >> 15)).cast_unsigned(), order);
    }

    /// Appends all bits of another writer.
    pub fn append(&mut self, other: &Self) {
        let (words, _) = other.bytes.as_chunks::<4>();
        for word in words {
            self.bits(u32::from_le_bytes(*word), 32);
        }
        self.bits(other.pending as u32, other.pending_bits);
    }

    /// Removes all bits and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.pending, self.pending_bits) = (0, 0);
    }

    /// Returns the number of bits written.
    #[must_use]
    pub fn len_bits(&self) -> usize {
        self.bytes.len() * 8 + self.pending_bits as usize
    }

    /// Returns the bytes; the last one is padded with zeros.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let rest = self.pending_bits.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..rest]);
        self.bytes
    }
}

/// Reads what a [`BitWriter`] wrote.
#[doc(alias = "FBitReader")]
#[doc(alias = "bf_read")]
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> BitReader<'a> {
    /// Creates a reader at the first bit of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Reads the next `count` bits, at most 32.
    ///
    /// # Errors
    /// Returns [`WireError::Ended`] if fewer bits are left.
    pub fn bits(&mut self, count: u32) -> Result<u32, WireError> {
        let end = self.position + count as usize;
        if end > self.bytes.len() * 8 {
            return Err(WireError::Ended);
        }
        let rest = &self.bytes[self.position / 8..];
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let value = (word >> (self.position % 8)) as u32 & mask(count);
        self.position = end;
        Ok(value)
    }

    /// Returns the number of bits read.
    #[must_use]
    pub fn bits_read(&self) -> usize {
        self.position
    }

    /// Returns the number of bytes read, including a partly read one.
    #[must_use]
    pub fn bytes_read(&self) -> usize {
        self.position.div_ceil(8)
    }

    /// Reads the next bit.
    ///
    /// # Errors
    /// Returns [`WireError::Ended`] if no bit is left.
    pub fn bool(&mut self) -> Result<bool, WireError> {
        Ok(self.bits(1)? == 1)
    }

    /// Reads the next `count` bits as a two's complement number.
    ///
    /// # Errors
    /// Returns [`WireError::Ended`] if fewer bits are left.
    pub fn signed(&mut self, count: u32) -> Result<i32, WireError> {
        let unused = 32 - count.clamp(1, 32);
        Ok((self.bits(count)? << unused).cast_signed() >> unused)
    }

    /// Reads the next number that [`BitWriter::golomb`] wrote with the same order.
    ///
    /// # Errors
    /// Returns [`WireError::Ended`] if the number is cut off, [`WireError::Invalid`] if it is above 65,535.
    pub fn golomb(&mut self, order: u32) -> Result<u16, WireError> {
        let mut bits = 0;
        while !self.bool()? {
            bits += 1;
            if bits > 16 {
                return Err(WireError::Invalid);
            }
        }
        let high = ((1 << bits) | self.bits(bits)?) - 1;
        let value = (u64::from(high) << order) | u64::from(self.bits(order)?);
        u16::try_from(value).map_err(|_| WireError::Invalid)
    }

    /// Reads the next number that [`BitWriter::signed_golomb`] wrote with the same order.
    ///
    /// # Errors
    /// The same as [`golomb`](Self::golomb).
    pub fn signed_golomb(&mut self, order: u32) -> Result<i16, WireError> {
        let coded = self.golomb(order)?;
        Ok((coded >> 1).cast_signed() ^ -((coded & 1).cast_signed()))
    }

    /// Reads the next 32 bits as a finite float.
    ///
    /// # Errors
    /// Returns [`WireError::Invalid`] for an infinity or a NaN, on which rapier panics.
    pub fn f32(&mut self) -> Result<f32, WireError> {
        let value = f32::from_bits(self.bits(32)?);
        if value.is_finite() { Ok(value) } else { Err(WireError::Invalid) }
    }
}

fn mask(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_odd_bit_widths_round_trip() {
        let mut w = BitWriter::default();
        w.bits(5, 3);
        w.signed(-7, 13);
        w.f32(1.25);
        w.bool(true);
        w.bits(u32::MAX, 32);
        let bytes = w.finish();
        let mut r = BitReader::new(&bytes);
        assert_eq!(r.bits(3), Ok(5));
        assert_eq!(r.signed(13), Ok(-7));
        assert_eq!(r.f32(), Ok(1.25));
        assert_eq!(r.bool(), Ok(true));
        assert_eq!(r.bits(32), Ok(u32::MAX));
        assert_eq!(r.bits(32), Err(WireError::Ended));
    }

    #[test]
    fn appended_writer_reads_back_at_any_bit_offset() {
        for before in 0..9 {
            for count in 0..80u32 {
                let mut part = BitWriter::default();
                part.bits(5, 3);
                part.clear();
                (0..count).for_each(|bit| part.bool(bit % 3 == 0));
                let mut w = BitWriter::default();
                w.bits(0, before);
                w.append(&part);
                w.bool(true);
                assert_eq!(w.len_bits(), (before + count + 1) as usize);
                let bytes = w.finish();
                let mut r = BitReader::new(&bytes);
                assert_eq!(r.bits(before), Ok(0));
                for bit in 0..count {
                    assert_eq!(r.bool(), Ok(bit % 3 == 0), "bit {bit} of {count} after {before}");
                }
                assert_eq!(r.bool(), Ok(true));
            }
        }
    }

    #[test]
    fn golomb_code_is_short_for_small_numbers_and_rejects_overlong_ones() {
        for (value, order, bits) in
            [(0, 0, 1), (1, 0, 3), (2, 0, 3), (6, 0, 5), (160, 0, 15), (127, 7, 8), (65_535, 0, 33)]
        {
            let mut w = BitWriter::default();
            w.golomb(value, order);
            assert_eq!(w.len_bits(), bits, "{value}");
            assert_eq!(BitReader::new(&w.finish()).golomb(order), Ok(value));
        }
        for value in [0, 1, -1, 300, -300, i16::MAX, i16::MIN] {
            let mut w = BitWriter::default();
            w.signed_golomb(value, 5);
            assert_eq!(BitReader::new(&w.finish()).signed_golomb(5), Ok(value));
        }
        assert_eq!(BitReader::new(&[0; 9]).golomb(0), Err(WireError::Invalid));
        assert_eq!(BitReader::new(&[0]).golomb(0), Err(WireError::Ended));
        assert_eq!(BitReader::new(&[0, 0, 1, 0xff, 0xff, 0xff]).golomb(9), Err(WireError::Invalid));
    }

    #[test]
    fn reader_rejects_nan() {
        let mut w = BitWriter::default();
        w.f32(f32::NAN);
        assert_eq!(BitReader::new(&w.finish()).f32(), Err(WireError::Invalid));
    }
}
