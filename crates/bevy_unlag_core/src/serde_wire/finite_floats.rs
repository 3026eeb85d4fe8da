//! Search for floats that are not finite, by a serializer without output.

use core::fmt::{Display, Formatter};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Returns whether all floats that `value` serialises are finite.
pub(super) fn has_finite_floats<T: Serialize>(value: &T) -> bool {
    value.serialize(FloatCheck).is_ok()
}

/// Serializer that fails at a float that is not finite.
#[derive(Clone, Copy)]
struct FloatCheck;

/// A float is not finite, or the value cannot be serialised.
#[derive(Debug)]
struct NotFinite;

impl Display for NotFinite {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("a float is not finite")
    }
}

impl core::error::Error for NotFinite {}

impl Error for NotFinite {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

type Checked = Result<(), NotFinite>;

macro_rules! without_floats {
    ($($function:ident($type:ty)),* $(,)?) => {$(
        fn $function(self, _: $type) -> Checked {
            Ok(())
        }
    )*};
}

impl Serializer for FloatCheck {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    without_floats!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str),
    );

    fn serialize_f32(self, value: f32) -> Checked {
        if value.is_finite() { Ok(()) } else { Err(NotFinite) }
    }

    fn serialize_f64(self, value: f64) -> Checked {
        if value.is_finite() { Ok(()) } else { Err(NotFinite) }
    }

    fn serialize_none(self) -> Checked {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Checked {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }

    /// Like `postcard`, whose form is checked.
    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! elements {
    ($($kind:ident: $($function:ident),+;)+) => {$(
        impl $kind for FloatCheck {
            type Ok = ();
            type Error = NotFinite;

            $(fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
                value.serialize(*self)
            })+

            fn end(self) -> Checked {
                Ok(())
            }
        }
    )+};
}
elements!(
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
    SerializeMap: serialize_key, serialize_value;
);

macro_rules! named_fields {
    ($($kind:ident),+) => {$(
        impl $kind for FloatCheck {
            type Ok = ();
            type Error = NotFinite;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Checked {
                value.serialize(*self)
            }

            fn end(self) -> Checked {
                Ok(())
            }
        }
    )+};
}
named_fields!(SerializeStruct, SerializeStructVariant);
