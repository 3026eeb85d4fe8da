// Its code is tested by the package `unlag_tests`, also where the tests of all documents are asked for.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
#![expect(clippy::doc_markdown, reason = "the title of the README is the name of the crate")]

mod attributes;
mod core_path;
mod expansion;
mod field_format;
mod field_type;
mod fields_code;
mod literals;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Implements the trait `Wire`: reading and writing bit by bit, deltas, and quantisation.
///
/// Fields are written in order, and an enum as the number of its variant in as few bits as all variants need.
/// Reading is total: any bytes are a valid value or an error, floats are finite, and lists have a maximum
/// length.
///
/// The documentation of the trait has an example. A test of a game checks a type with
/// `bevy_unlag_testkit::assert_wire`.
///
/// # Attributes of fields
///
/// | Attribute | Fields | Bits |
/// | --- | --- | --- |
/// | none | `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `Vec2` to `Vec4`, other types with `Wire`, and arrays and options of all these | 1, those of the type, or its own |
/// | `bits = 5` | integers: of the values beyond the bits the nearest | 5 |
/// | `range = 1..=6` | integers | as few as the range needs |
/// | `range = -1.0..=1.0, bits = 8` | `f32`, `f64`, `Vec2` to `Vec4`: both ends and 0 are exact | 8 per float |
/// | `range = 0.0..=5.0, step = 0.01` | the same, in steps of a known size | as few as the steps need |
/// | `angle, bits = 16` | `f32`, `f64`: radians, read as -π to π | 16, at most 24 |
/// | `unit, bits = 24` | `Vec3`, `Dir3`: a direction | 24, an even number |
/// | `max = 16` | `Vec` and `String`, of at most 16 elements or bytes; beside the attributes of the elements | those of the length and the elements |
/// | `with = MyFormat` | any: a constant of a type with `WireFormat` | its own |
/// | `skip` | any type with `Default`, which a reader gets | none |
///
/// All of them also apply to arrays and options. Ends, steps and bits may be constants. A value beyond a
/// range is written as its nearest end, and a NaN as 0 or as the end that is nearest to 0. Predicted states
/// must not be rounded: leave their floats without attributes.
///
/// A mistake is a compile-time error at the field that says what to write.
///
/// `#[wire(crate = path)]` on the type names the path of `bevy_unlag_core` where it is not found by itself.
///
/// # Deltas
///
/// In the delta to a previous value, such as from one move to the next, a field that has not changed takes
/// one bit. A nested type has a delta of its own, and an enum takes one bit for its unchanged variant.
///
/// # Compatibility
///
/// Fields, their order, their attributes and the order of variants are the format. It has no version of its
/// own.
#[proc_macro_derive(Wire, attributes(wire))]
pub fn derive_wire(input: TokenStream) -> TokenStream {
    expansion::expand(input.into(), core_path::core_path).into()
}
