//! Checks of the contract of [`Wire`] with seeded random bytes.

use core::{any::type_name, fmt::Debug};

use super::{BitReader, BitWriter, Wire};

/// Longest random input, in bytes; a game's message has at most 1,000.
const MAX_INPUT: u64 = 1_200;
/// Number of truncations that are tried per value.
const MAX_TRUNCATIONS: usize = 24;
/// Bits of floats that a reader must refuse, and of extreme ones.
const SPECIAL_FLOATS: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, -0.0];
/// Number of altered forms that are tried per value.
const ROUNDS_PER_VALUE: u32 = 200;

/// Checks the contract of [`Wire`] with `rounds` random inputs. Equal seeds check the same inputs. In a test
/// of a game, `bevy_unlag_testkit::assert_wire` is shorter.
///
/// * Reading is total: it does not panic, and no value that it returns contains a float that is not finite.
/// * A value that was read, written and read again is the same value with the same bits, and the reader takes
///   exactly the bits that were written.
/// * A truncated value is an error, or another valid value.
/// * [`quantised`](Wire::quantised) does not change a value that was read.
/// * All of this also holds for [`write_delta`](Wire::write_delta) and [`read_delta`](Wire::read_delta).
///
/// # Errors
/// Returns a sentence that names the violated property and the value.
///
/// # Panics
/// Panics if an implementation panics, which is a violation as well.
pub fn check_wire<T: Wire + PartialEq + Debug>(seed: u64, rounds: u32) -> Result<(), String> {
    match explore::<T>(None, &mut Random(seed), rounds)? {
        Some(_) => Ok(()),
        None => {
            let name = type_name::<T>();
            Err(format!("{name}: none of {rounds} random inputs is a value, so nothing was checked"))
        }
    }
}

/// Checks that a reader gets [`value.quantised()`](Wire::quantised), and the contract of [`Wire`] for that
/// value and for altered forms of it. Unlike the values of [`check_wire`], this one may lie outside of ranges
/// and between steps; and it may be of a kind that random bytes hardly ever form.
///
/// # Errors
/// Returns a sentence that names the violated property and the value.
///
/// # Panics
/// Panics if an implementation panics, which is a violation as well.
pub fn check_wire_value<T: Wire + PartialEq + Debug>(value: T) -> Result<(), String> {
    let bytes = encode(|w| value.write(w));
    let read = T::read(&mut BitReader::new(&bytes))
        .map_err(|error| violation(&value, &format!("cannot be read back: {error}")))?;
    let text = format!("{value:?}");
    let quantised = value.quantised();
    if quantised != read {
        return Err(format!("{text} is quantised to {quantised:?}, but a reader gets {read:?}"));
    }
    check(&read)?;
    check_delta(&read, &quantised)?;
    explore(Some(read), &mut Random(1), ROUNDS_PER_VALUE).map(|_| ())
}

/// Checks the values that random inputs form, and altered forms of the last one. Returns the last one.
fn explore<T: Wire + PartialEq + Debug>(
    mut last: Option<T>,
    random: &mut Random,
    rounds: u32,
) -> Result<Option<T>, String> {
    for _ in 0..rounds {
        let mut bytes = random.bytes();
        if let Some(last) = &last {
            if random.below(2) == 0 {
                bytes = encode(|w| last.write(w));
                random.alter(&mut bytes);
            }
            if let Ok(value) = T::read_delta(last, &mut BitReader::new(&bytes)) {
                check(&value)?;
            }
        }
        let Ok(value) = T::read(&mut BitReader::new(&bytes)) else { continue };
        check(&value)?;
        let whole = encode(|w| value.write(w));
        check_truncations(&whole, random, |r| T::read(r).ok())?;
        if let Some(last) = &last {
            check_delta(&value, last)?;
            check_delta(last, &value)?;
            let delta = encode(|w| value.write_delta(last, w));
            check_truncations(&delta, random, |r| T::read_delta(last, r).ok())?;
        }
        check_delta(&value, &value)?;
        last = Some(value);
    }
    Ok(last)
}

/// Checks a value that was read.
fn check<T: Wire + PartialEq + Debug>(value: &T) -> Result<(), String> {
    let is_word = |word: &str| word == "inf" || word == "NaN";
    // Texts are in quotes, and may contain anything.
    let has_word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(is_word);
    if format!("{value:?}").split('"').step_by(2).any(has_word) {
        return Err(violation(value, "was read, but contains a float that is not finite"));
    }
    let bytes = encode(|w| value.write(w));
    let again = check_reading(value, &bytes, T::read)?;
    let quantised = again.quantised();
    if quantised != *value || encode(|w| quantised.write(w)) != bytes {
        return Err(violation(value, &format!("was read, but is quantised to {quantised:?}")));
    }
    Ok(())
}

/// Checks a value against another one; both were read.
fn check_delta<T: Wire + PartialEq + Debug>(value: &T, base: &T) -> Result<(), String> {
    let bytes = encode(|w| value.write_delta(base, w));
    check_reading(value, &bytes, |r| T::read_delta(base, r))
        .map(|_| ())
        .map_err(|error| format!("{error}, as a delta to {base:?}"))
}

/// Checks that `bytes` are read as `value`, with the same bits and to the end. Returns what was read.
fn check_reading<T: Wire + PartialEq + Debug, E: Debug>(
    value: &T,
    bytes: &[u8],
    read: impl FnOnce(&mut BitReader<'_>) -> Result<T, E>,
) -> Result<T, String> {
    let mut reader = BitReader::new(bytes);
    let again = read(&mut reader)
        .map_err(|error| violation(value, &format!("was written, but reading fails: {error:?}")))?;
    if again != *value || encode(|w| again.write(w)) != encode(|w| value.write(w)) {
        return Err(violation(value, &format!("was written, but is read as {again:?}")));
    }
    if reader.bytes_read() != bytes.len() {
        let (read, written) = (reader.bytes_read(), bytes.len());
        return Err(violation(value, &format!("was written to {written} bytes, but {read} are read")));
    }
    Ok(again)
}

/// Checks every truncation of `bytes`, or some if they are long.
fn check_truncations<T: Wire + PartialEq + Debug>(
    bytes: &[u8],
    random: &mut Random,
    read: impl Fn(&mut BitReader<'_>) -> Option<T>,
) -> Result<(), String> {
    for length in 0..bytes.len().min(MAX_TRUNCATIONS) {
        let length = if bytes.len() > MAX_TRUNCATIONS { random.below(bytes.len() as u64) } else { length };
        if let Some(value) = read(&mut BitReader::new(&bytes[..length])) {
            check(&value).map_err(|error| format!("{error}, after a truncation"))?;
        }
    }
    Ok(())
}

fn encode(write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    let mut w = BitWriter::default();
    write(&mut w);
    w.finish()
}

fn violation<T: Debug>(value: &T, problem: &str) -> String {
    format!("{}: {value:?} {problem}", type_name::<T>())
}

/// Random numbers by `SplitMix64`: `check_wire` is in the library, for the tests of games, and `rand` would become a
/// dependency of every game for it.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which is at least 1.
    fn below(&mut self, end: u64) -> usize {
        (self.number() % end) as usize
    }

    /// Returns bytes of one of several kinds, half of the time only a few.
    fn bytes(&mut self) -> Vec<u8> {
        let end = if self.below(2) == 0 { 17 } else { MAX_INPUT + 1 };
        let length = self.below(end);
        let kind = self.below(7);
        let byte = |random: &mut Self| {
            let [a, b, ..] = random.number().to_le_bytes();
            match kind {
                0 => 0,
                1 => u8::MAX,
                // Mostly zeros, mostly ones, small numbers, text.
                2 => a & b,
                3 => a | b,
                4 => a % 4,
                5 => b' ' + a % 95,
                _ => a,
            }
        };
        (0..length).map(|_| byte(self)).collect()
    }

    /// Changes a few bits, or overwrites some with a float.
    fn alter(&mut self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        let bits = bytes.len() as u64 * 8;
        if self.below(2) == 0 {
            for _ in 0..=self.below(3) {
                let bit = self.below(bits);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            return;
        }
        let (start, float) = (self.below(bits), SPECIAL_FLOATS[self.below(SPECIAL_FLOATS.len() as u64)]);
        for offset in 0..32 {
            let bit = start + offset;
            if let Some(byte) = bytes.get_mut(bit / 8) {
                *byte &= !(1 << (bit % 8));
                *byte |= ((float.to_bits() >> offset) as u8 & 1) << (bit % 8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::WireError;

    /// A type whose implementation has the mistake `MISTAKE`.
    #[derive(PartialEq, Debug)]
    struct Faulty<const MISTAKE: u8> {
        number: u8,
        float: f32,
    }

    const NONE: u8 = 0;
    const UNCHECKED_FLOAT: u8 = 1;
    const LOST_BITS: u8 = 2;
    const TRAILING_BITS: u8 = 3;
    const WRONG_DELTA: u8 = 4;
    const WRONG_QUANTISATION: u8 = 5;
    const NO_VALUE: u8 = 6;

    impl<const MISTAKE: u8> Wire for Faulty<MISTAKE> {
        fn write(&self, w: &mut BitWriter) {
            let number = if MISTAKE == LOST_BITS { self.number & 0x7f } else { self.number };
            w.bits(u32::from(number), 8);
            w.f32(self.float);
            if MISTAKE == TRAILING_BITS && self.number >= 64 {
                w.bits(0, 8);
            }
        }

        fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
            let number = r.bits(8)? as u8;
            let float = if MISTAKE == UNCHECKED_FLOAT { f32::from_bits(r.bits(32)?) } else { r.f32()? };
            if MISTAKE == NO_VALUE { Err(WireError::Invalid) } else { Ok(Self { number, float }) }
        }

        fn write_delta(&self, base: &Self, w: &mut BitWriter) {
            w.bool(self.number != base.number);
            if self.number != base.number {
                w.bits(u32::from(self.number), 8);
            }
            self.float.write_delta(&base.float, w);
        }

        fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
            let number = if r.bool()? { r.bits(8)? as u8 } else { base.number };
            let float = if MISTAKE == WRONG_DELTA { r.f32()? } else { f32::read_delta(&base.float, r)? };
            Ok(Self { number, float })
        }

        fn quantised(self) -> Self {
            let number = if MISTAKE == WRONG_QUANTISATION { self.number.min(9) } else { self.number };
            Self { number, ..self }
        }
    }

    #[test]
    fn each_mistake_of_an_implementation_is_found_and_named() {
        assert_eq!(check_wire::<Faulty<NONE>>(1, 2_000), Ok(()));
        for (result, part) in [
            (check_wire::<Faulty<UNCHECKED_FLOAT>>(1, 2_000), "not finite"),
            (check_wire::<Faulty<LOST_BITS>>(1, 2_000), "is read as"),
            (check_wire::<Faulty<TRAILING_BITS>>(1, 2_000), "bytes, but"),
            (check_wire::<Faulty<WRONG_DELTA>>(1, 2_000), "as a delta to"),
            (check_wire::<Faulty<WRONG_QUANTISATION>>(1, 2_000), "is quantised to"),
            (check_wire::<Faulty<NO_VALUE>>(1, 2_000), "nothing was checked"),
        ] {
            let error = result.expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn value_that_cannot_be_read_back_is_reported() {
        assert_eq!(check_wire_value(0.5f32), Ok(()));
        assert!(check_wire_value(f32::NAN).is_err_and(|error| error.contains("cannot be read back")));
    }
}
