//! Formats of fields: values in fewer bits than their type has.
//!
//! `#[derive(Wire)]` selects a format by the attributes of a field; a hand-written
//! [`Wire`](crate::Wire) can use the same. A value outside of a format's range is written as the
//! nearest value in it, and a NaN as 0 or as the end of the range that is nearest to 0.
//!
//! | Format | Attribute | Values |
//! | --- | --- | --- |
//! | [`FloatRange`] | `range = -1.0..=1.0, bits = 8` or `range = 0.0..=5.0, step = 0.01` | floats, and vectors per axis |
//! | [`AngleFormat`] | `angle, bits = 16` | an angle in radians |
//! | [`UnitVectorFormat`] | `unit, bits = 24` | a direction |
//! | [`IntBits`] | `bits = 5` | integers |
//! | [`IntRange`] | `range = 1..=6` | integers |
//! | [`BoundedList`], [`BoundedListOf`] | `max = 16` | a `Vec` or `String` |
//!
//! Each format also applies to arrays and options of its values. A format of a game's own implements
//! [`WireFormat`]; the attribute is `with = MyFormat`:
//!
//! ```
//! use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError, check_wire, wire_format::WireFormat};
//!
//! /// Even numbers up to 62.
//! struct Even;
//!
//! impl WireFormat<u32> for Even {
//!     fn write(&self, value: &u32, w: &mut BitWriter) {
//!         w.bits((value / 2).min(31), 5);
//!     }
//!
//!     fn read(&self, r: &mut BitReader<'_>) -> Result<u32, WireError> {
//!         Ok(r.bits(5)? * 2)
//!     }
//! }
//!
//! #[derive(Wire, PartialEq, Debug)]
//! struct Shoes {
//!     #[wire(with = Even)]
//!     number: u32,
//!     #[wire(with = Even)]
//!     sizes: [u32; 4],
//! }
//!
//! assert_eq!(check_wire::<Shoes>(1, 100), Ok(()));
//! assert_eq!(Shoes { number: 7, sizes: [99; 4] }.quantised(), Shoes { number: 6, sizes: [62; 4] });
//! ```

mod angle_format;
mod codec;
mod float_range;
mod integers;
mod lists;
mod unit_vector;

pub use angle_format::AngleFormat;
pub use float_range::FloatRange;
pub use integers::{IntBits, IntRange};
pub use lists::{BoundedList, BoundedListOf};
pub use unit_vector::UnitVectorFormat;

use crate::wire::{BitReader, BitWriter, WireError, array_of};

/// Form of values of the type `T` on the wire. The contract is that of [`Wire`](crate::Wire):
/// reading is total, and floats are finite.
#[diagnostic::on_unimplemented(
    message = "the format `{Self}` has no values of the type `{T}`",
    label = "this field",
    note = "`bits` is for integers; `range` is for integers and, with `bits` or `step`, for floats and \
            vectors; `angle` is for `f32`; `unit` is for `Vec3` and `Dir3`; `max` is for `Vec` and `String`",
    note = "a type of your own needs no attribute if it has `#[derive(Wire)]`"
)]
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait WireFormat<T> {
    /// Appends the value.
    fn write(&self, value: &T, w: &mut BitWriter);

    /// Reads a value that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid value.
    fn read(&self, r: &mut BitReader<'_>) -> Result<T, WireError>;

    /// Appends the value for a reader that knows `base`. Default: the whole value.
    fn write_delta(&self, value: &T, base: &T, w: &mut BitWriter) {
        WireFormat::<T>::write(self, value, w);
    }

    /// Reads what [`write_delta`](Self::write_delta) wrote with the same `base`.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid value.
    fn read_delta(&self, base: &T, r: &mut BitReader<'_>) -> Result<T, WireError> {
        WireFormat::<T>::read(self, r)
    }

    /// Returns the value that a reader gets. Default: writes the value and reads it again.
    #[must_use]
    fn quantised(&self, value: T) -> T {
        let mut w = BitWriter::default();
        WireFormat::<T>::write(self, &value, &mut w);
        WireFormat::<T>::read(self, &mut BitReader::new(&w.finish())).unwrap_or(value)
    }
}

/// One bit states whether the value is present.
impl<T, F: WireFormat<T>> WireFormat<Option<T>> for F {
    fn write(&self, value: &Option<T>, w: &mut BitWriter) {
        w.bool(value.is_some());
        if let Some(value) = value {
            WireFormat::<T>::write(self, value, w);
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Option<T>, WireError> {
        Ok(if r.bool()? { Some(WireFormat::<T>::read(self, r)?) } else { None })
    }

    fn write_delta(&self, value: &Option<T>, base: &Option<T>, w: &mut BitWriter) {
        w.bool(value.is_some());
        match (value, base) {
            (Some(value), Some(base)) => WireFormat::<T>::write_delta(self, value, base, w),
            (Some(value), None) => WireFormat::<T>::write(self, value, w),
            (None, _) => {}
        }
    }

    fn read_delta(&self, base: &Option<T>, r: &mut BitReader<'_>) -> Result<Option<T>, WireError> {
        Ok(match (r.bool()?, base) {
            (true, Some(base)) => Some(WireFormat::<T>::read_delta(self, base, r)?),
            (true, None) => Some(WireFormat::<T>::read(self, r)?),
            (false, _) => None,
        })
    }

    fn quantised(&self, value: Option<T>) -> Option<T> {
        value.map(|value| WireFormat::<T>::quantised(self, value))
    }
}

/// The elements in order.
impl<T, F: WireFormat<T>, const N: usize> WireFormat<[T; N]> for F {
    fn write(&self, value: &[T; N], w: &mut BitWriter) {
        for element in value {
            WireFormat::<T>::write(self, element, w);
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<[T; N], WireError> {
        array_of((0..N).map(|_| WireFormat::<T>::read(self, r)))
    }

    fn write_delta(&self, value: &[T; N], base: &[T; N], w: &mut BitWriter) {
        for (element, base) in value.iter().zip(base) {
            WireFormat::<T>::write_delta(self, element, base, w);
        }
    }

    fn read_delta(&self, base: &[T; N], r: &mut BitReader<'_>) -> Result<[T; N], WireError> {
        array_of(base.iter().map(|base| WireFormat::<T>::read_delta(self, base, r)))
    }

    fn quantised(&self, value: [T; N]) -> [T; N] {
        value.map(|element| WireFormat::<T>::quantised(self, element))
    }
}
