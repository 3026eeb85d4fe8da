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

/// Functions of [`FloatCheck`] for values that contain no float themselves, and for those that contain others.
macro_rules! serialize {
    (nothing: $($function:ident($($argument:ty),*)),+ $(,)?) => {$(
        fn $function(self, $(_: $argument),*) -> Checked {
            Ok(())
        }
    )+};
    (float: $($function:ident($float:ty)),+ $(,)?) => {$(
        fn $function(self, value: $float) -> Checked {
            if value.is_finite() { Ok(()) } else { Err(NotFinite) }
        }
    )+};
    (value: $($function:ident($($argument:ty),*)),+ $(,)?) => {$(
        fn $function<T: Serialize + ?Sized>(self, $(_: $argument,)* value: &T) -> Checked {
            value.serialize(self)
        }
    )+};
    (elements: $($function:ident($($argument:ty),*)),+ $(,)?) => {$(
        fn $function(self, $(_: $argument),*) -> Result<Self, NotFinite> {
            Ok(self)
        }
    )+};
}

type Name = &'static str;

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

    serialize!(nothing:
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
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(Name),
        serialize_unit_variant(Name, u32, Name),
    );
    serialize!(float: serialize_f32(f32), serialize_f64(f64));
    serialize!(value:
        serialize_some(),
        serialize_newtype_struct(Name),
        serialize_newtype_variant(Name, u32, Name),
    );
    serialize!(elements:
        serialize_seq(Option<usize>),
        serialize_tuple(usize),
        serialize_tuple_struct(Name, usize),
        serialize_tuple_variant(Name, u32, Name, usize),
        serialize_map(Option<usize>),
        serialize_struct(Name, usize),
        serialize_struct_variant(Name, u32, Name, usize),
    );

    /// Like `postcard`, whose form is checked.
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Implementation for one kind of elements; those of structs have names.
macro_rules! elements {
    ($($kind:ident: $($function:ident($($name:ty)?)),+;)+) => {$(
        impl $kind for FloatCheck {
            type Ok = ();
            type Error = NotFinite;

            $(fn $function<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Checked {
                value.serialize(*self)
            })+

            fn end(self) -> Checked {
                Ok(())
            }
        }
    )+};
}
elements!(
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(Name);
    SerializeStructVariant: serialize_field(Name);
);
