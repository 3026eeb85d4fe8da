//! Values with serde as values on the wire.

mod finite_floats;

use bevy::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use self::finite_floats::has_finite_floats;
use crate::wire::{BitReader, BitWriter, Wire, WireError};

/// A value whose form on the wire is that of serde, in the binary format of `postcard`. For messages and
/// components whose types have serde anyway; inputs and states are smaller with `#[derive(Wire)]`.
///
/// Reading is total and bounded like that of any [`Wire`] value: a value of more than `MAX_BYTES`, with bytes
/// behind its end, or with a float that is not finite is refused. It costs more than a derived form:
///
/// * Size: whole bytes, one per `bool` and per variant, four per `f32`, and a length in front, ten bits by
///   default. There are no ranges, no resolutions and no deltas.
/// * Memory: reading allocates the bytes, and serde reserves up to a mebibyte per list before it has read the
///   elements. `T` must not contain lists of values without bytes, such as `Vec<()>`: a few bytes would claim
///   2⁶⁴ of them, and reading them all takes forever.
/// * Time: a value that was read is serialised once more, to find floats that are not finite.
///
/// A value that is too large is sent as one that every reader refuses, and an error is logged once.
///
/// ```
/// use bevy_unlag_core::{SerdeWire, Wire, check_wire, check_wire_value};
///
/// #[derive(serde::Serialize, serde::Deserialize, Clone, PartialEq, Debug)]
/// struct ChatLine {
///     text: String,
///     to_team: bool,
/// }
///
/// /// At most 200 bytes.
/// type Chat = SerdeWire<ChatLine, 200>;
///
/// assert_eq!(check_wire::<Chat>(1, 2_000), Ok(()));
/// let line = ChatLine { text: "behind you".to_owned(), to_team: true };
/// assert_eq!(check_wire_value::<Chat>(SerdeWire(line)), Ok(()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct SerdeWire<T, const MAX_BYTES: usize = 1_000>(pub T);

impl<T, const MAX_BYTES: usize> SerdeWire<T, MAX_BYTES> {
    /// Length of a value that could not be written.
    const UNSENT: u32 = {
        assert!(MAX_BYTES < u32::MAX as usize, "the maximum size of a value is below 2^32 - 1 bytes");
        MAX_BYTES as u32 + 1
    };
    const LENGTH_BITS: u32 = u32::BITS - Self::UNSENT.leading_zeros();
}

impl<T: Serialize + DeserializeOwned, const MAX_BYTES: usize> Wire for SerdeWire<T, MAX_BYTES> {
    fn write(&self, w: &mut BitWriter) {
        match postcard::to_extend(&self.0, Vec::<u8>::new()) {
            Ok(bytes) if bytes.len() <= MAX_BYTES => {
                w.bits(bytes.len() as u32, Self::LENGTH_BITS);
                bytes.into_iter().for_each(|byte| w.bits(u32::from(byte), 8));
            }
            result => {
                let name = core::any::type_name::<T>();
                match result {
                    Ok(bytes) => {
                        error_once!("a {name} of {} bytes cannot be sent: at most {MAX_BYTES}", bytes.len());
                    }
                    Err(error) => {
                        error_once!("a {name} cannot be sent: {error}");
                    }
                }
                w.bits(Self::UNSENT, Self::LENGTH_BITS);
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let length = r.bits(Self::LENGTH_BITS)?;
        if length >= Self::UNSENT {
            return Err(WireError::Invalid);
        }
        let bytes = (0..length).map(|_| r.bits(8).map(|byte| byte as u8));
        let bytes = bytes.collect::<Result<Vec<u8>, WireError>>()?;
        match postcard::take_from_bytes::<T>(&bytes) {
            Ok((value, [])) if has_finite_floats(&value) => Ok(Self(value)),
            _ => Err(WireError::Invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{check_wire, check_wire_value};

    #[derive(serde::Serialize, serde::Deserialize, Clone, PartialEq, Debug)]
    enum Order {
        Halt,
        Walk { to: Vec3, speed: Option<f32> },
        Say(String),
        Form(Vec<(u8, f64)>),
    }

    fn encode<T: Wire>(value: &T) -> Vec<u8> {
        let mut w = BitWriter::default();
        value.write(&mut w);
        w.finish()
    }

    #[test]
    fn serde_values_keep_the_contract_of_wire() {
        assert_eq!(check_wire::<SerdeWire<Order>>(1, 4_000), Ok(()));
        assert_eq!(check_wire::<SerdeWire<Order, 20>>(2, 4_000), Ok(()));
        for order in [
            Order::Halt,
            Order::Walk { to: Vec3::new(1.0, -2.0, 0.3), speed: Some(4.0) },
            Order::Say("behind you".to_owned()),
            Order::Form(vec![(1, 0.5), (2, -0.5)]),
        ] {
            assert_eq!(check_wire_value::<SerdeWire<Order>>(SerdeWire(order)), Ok(()));
        }
    }

    #[test]
    fn values_that_are_too_large_or_not_finite_are_refused() {
        type Short = SerdeWire<Order, 20>;
        let read = |order: Order| Short::read(&mut BitReader::new(&encode::<Short>(&SerdeWire(order))));
        assert_eq!(read(Order::Say("x".repeat(18))), Ok(SerdeWire(Order::Say("x".repeat(18)))));
        assert_eq!(read(Order::Say("x".repeat(19))), Err(WireError::Invalid));
        assert_eq!(read(Order::Form(vec![(0, f64::NAN)])), Err(WireError::Invalid));
        assert_eq!(read(Order::Walk { to: Vec3::INFINITY, speed: None }), Err(WireError::Invalid));
        // Two bytes for a variant without fields.
        let mut w = BitWriter::default();
        w.bits(2, Short::LENGTH_BITS);
        w.bits(0, 16);
        assert_eq!(Short::read(&mut BitReader::new(&w.finish())), Err(WireError::Invalid));
    }
}
