//! Binary forms of primitive types, vectors, arrays and options.

use bevy::prelude::*;

use super::{BitReader, BitWriter, Wire, WireError};

/// Takes no bits.
impl Wire for () {
    fn write(&self, _: &mut BitWriter) {}

    fn read(_: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(())
    }
}

/// Takes one bit.
impl Wire for bool {
    fn write(&self, w: &mut BitWriter) {
        w.bool(*self);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        r.bool()
    }

    fn quantised(self) -> Self {
        self
    }
}

/// Implements [`Wire`] with all bits of a type. A delta has one bit that states whether the value changed.
macro_rules! all_bits {
    (
        same($old:ident, $new:ident) => $same:expr;
        $($type:ty: write($value:ident, $w:ident) => $write:expr, read($r:ident) => $read:expr;)+
    ) => {$(
        impl Wire for $type {
            fn write(&self, $w: &mut BitWriter) {
                let $value = *self;
                $write;
            }

            fn read($r: &mut BitReader<'_>) -> Result<Self, WireError> {
                $read
            }

            fn write_delta(&self, base: &Self, w: &mut BitWriter) {
                let ($old, $new) = (*base, *self);
                let same: bool = $same;
                w.bool(!same);
                if !same {
                    self.write(w);
                }
            }

            fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
                if r.bool()? { Self::read(r) } else { Ok(*base) }
            }

            fn quantised(self) -> Self {
                self
            }
        }
    )+};
}

all_bits! {
    same(old, new) => old == new;
    u8: write(value, w) => w.bits(u32::from(value), 8), read(r) => Ok(r.bits(8)? as u8);
    u16: write(value, w) => w.bits(u32::from(value), 16), read(r) => Ok(r.bits(16)? as u16);
    u32: write(value, w) => w.bits(value, 32), read(r) => r.bits(32);
    u64:
        write(value, w) => [value as u32, (value >> 32) as u32].into_iter().for_each(|half| w.bits(half, 32)),
        read(r) => Ok(u64::from(r.bits(32)?) | (u64::from(r.bits(32)?) << 32));
    i8: write(value, w) => w.signed(i32::from(value), 8), read(r) => Ok(r.signed(8)? as i8);
    i16: write(value, w) => w.signed(i32::from(value), 16), read(r) => Ok(r.signed(16)? as i16);
    i32: write(value, w) => w.signed(value, 32), read(r) => r.signed(32);
    i64: write(value, w) => value.cast_unsigned().write(w), read(r) => u64::read(r).map(u64::cast_signed);
}

all_bits! {
    same(old, new) => old.to_bits() == new.to_bits();
    f32: write(value, w) => w.f32(value), read(r) => r.f32();
}

all_bits! {
    same(old, new) => old.to_array().map(f32::to_bits) == new.to_array().map(f32::to_bits);
    Vec2:
        write(value, w) => value.to_array().into_iter().for_each(|axis| w.f32(axis)),
        read(r) => Ok(Self::new(r.f32()?, r.f32()?));
    Vec3:
        write(value, w) => value.to_array().into_iter().for_each(|axis| w.f32(axis)),
        read(r) => Ok(Self::new(r.f32()?, r.f32()?, r.f32()?));
    Vec4:
        write(value, w) => value.to_array().into_iter().for_each(|axis| w.f32(axis)),
        read(r) => Ok(Self::new(r.f32()?, r.f32()?, r.f32()?, r.f32()?));
}

/// One bit states whether the value is present.
impl<T: Wire> Wire for Option<T> {
    fn write(&self, w: &mut BitWriter) {
        w.bool(self.is_some());
        if let Some(value) = self {
            value.write(w);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(if r.bool()? { Some(T::read(r)?) } else { None })
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        w.bool(self.is_some());
        match (self, base) {
            (Some(value), Some(base)) => value.write_delta(base, w),
            (Some(value), None) => value.write(w),
            (None, _) => {}
        }
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(match (r.bool()?, base) {
            (true, Some(base)) => Some(T::read_delta(base, r)?),
            (true, None) => Some(T::read(r)?),
            (false, _) => None,
        })
    }

    fn quantised(self) -> Self {
        self.map(T::quantised)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, w: &mut BitWriter) {
        self.0.write(w);
        self.1.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok((A::read(r)?, B::read(r)?))
    }
}

/// The elements in order.
impl<T: Wire, const N: usize> Wire for [T; N] {
    fn write(&self, w: &mut BitWriter) {
        for element in self {
            element.write(w);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        array_of((0..N).map(|_| T::read(r)))
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        for (element, base) in self.iter().zip(base) {
            element.write_delta(base, w);
        }
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        array_of(base.iter().map(|base| T::read_delta(base, r)))
    }

    fn quantised(self) -> Self {
        self.map(T::quantised)
    }
}

/// Collects `N` elements, or returns the first error.
pub(crate) fn array_of<T, const N: usize>(
    elements: impl Iterator<Item = Result<T, WireError>>,
) -> Result<[T; N], WireError> {
    let elements = elements.collect::<Result<Vec<T>, WireError>>()?;
    elements.try_into().map_err(|_| WireError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::check_wire;

    #[test]
    fn primitives_keep_the_contract_of_wire() {
        for result in [
            check_wire::<bool>(1, 400),
            check_wire::<u8>(2, 400),
            check_wire::<u16>(3, 400),
            check_wire::<u32>(4, 400),
            check_wire::<u64>(5, 400),
            check_wire::<i8>(6, 400),
            check_wire::<i16>(7, 400),
            check_wire::<i32>(8, 400),
            check_wire::<i64>(9, 400),
            check_wire::<f32>(10, 400),
            check_wire::<Vec2>(11, 400),
            check_wire::<Vec3>(12, 400),
            check_wire::<Vec4>(13, 400),
            check_wire::<Option<u16>>(14, 400),
            check_wire::<[Option<Vec3>; 3]>(15, 400),
        ] {
            assert_eq!(result, Ok(()));
        }
    }

    #[test]
    fn equal_primitives_have_deltas_of_one_bit() {
        fn bits<T: Wire>(value: T, base: T) -> usize {
            let mut w = BitWriter::default();
            value.write_delta(&base, &mut w);
            w.len_bits()
        }

        assert_eq!((bits(7u8, 7), bits(7u8, 8)), (1, 9));
        assert_eq!((bits(-7i64, -7), bits(-7i64, 7)), (1, 65));
        assert_eq!((bits(Vec3::ONE, Vec3::ONE), bits(Vec3::ONE, Vec3::X)), (1, 97));
        assert_eq!(
            (bits(Some(7u16), Some(7)), bits(Some(7u16), None), bits(None::<u16>, Some(7))),
            (2, 17, 1)
        );
        assert_eq!(bits([1u8, 2, 3], [1, 9, 3]), 1 + 9 + 1);
        // Equal, but with other bits.
        assert_eq!(bits(0.0f32, -0.0), 33);
    }
}
