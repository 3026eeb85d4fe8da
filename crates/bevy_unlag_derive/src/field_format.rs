//! Format of a field, by its type and its attributes.

use core::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Expr, Field, Result, spanned::Spanned};

use crate::{
    attributes::{Ends, FieldAttributes},
    field_type::{FieldType, Leaf},
    literals::{integer, number},
};

/// Longest list.
const MAX_LENGTH: i128 = 65_535;

/// Form of a field on the wire.
pub(crate) enum FieldFormat {
    /// The type's own `Wire`.
    Whole,
    /// No bits; a reader gets the default.
    Skipped,
    /// A `WireFormat`, by a constant expression.
    Packed(TokenStream),
}

impl FieldFormat {
    /// Returns the format, or an error that says what to write. `core` is the path of `bevy_unlag_core`.
    pub(crate) fn of(field: &Field, core: &TokenStream) -> Result<Self> {
        let attributes = FieldAttributes::of(field)?;
        for alone in ["skip", "with"] {
            let is_given = attributes.given().any(|(name, _)| name == alone);
            if let Some((other, span)) = attributes.given().find(|(name, _)| is_given && *name != alone) {
                return Err(Error::new(span, format!("`{alone}` stands alone: remove `{other}`")));
            }
        }
        if attributes.skip.is_some() {
            return Ok(Self::Skipped);
        }
        if let Some(format) = &attributes.with {
            return Ok(Self::Packed(quote!(#format)));
        }
        let ty = FieldType::of(&field.ty);
        let element = Element { ty: &ty, attributes: &attributes, core, place: field.ty.span() }.format()?;
        let Some(max) = max_of(&attributes, &ty, field.ty.span())? else {
            return Ok(element.map_or(Self::Whole, Self::Packed));
        };
        Ok(Self::Packed(match element {
            Some(element) => quote!(#core::wire_format::BoundedListOf::new(#max, #element)),
            None => quote!(#core::wire_format::BoundedList::new(#max)),
        }))
    }
}

/// Returns the maximum length of a list.
fn max_of<'a>(attributes: &'a FieldAttributes, ty: &FieldType, place: Span) -> Result<Option<&'a Expr>> {
    if ty.lists > 1 || ty.lists > 0 && ty.leaf == Leaf::Text {
        return Err(Error::new(
            place,
            "each list needs a maximum length of its own: put the inner one into a struct with \
             `#[derive(Wire)]`",
        ));
    }
    let Some(max) = &attributes.max else {
        return match (ty.is_list(), ty.leaf) {
            (false, _) => Ok(None),
            (true, Leaf::Text) => Err(Error::new(
                place,
                "a `String` needs a maximum length: write `#[wire(max = 64)]` for at most 64 bytes",
            )),
            (true, _) => Err(Error::new(
                place,
                "a `Vec` needs a maximum length: write `#[wire(max = 16)]` for at most 16 elements",
            )),
        };
    };
    if !ty.is_list() && ty.leaf != Leaf::Other {
        let message = format!("`max` is for `Vec` and `String`, not for `{}`: remove it", ty.name);
        return Err(Error::new_spanned(max, message));
    }
    check_literal(max, 1, MAX_LENGTH, "`max`")?;
    Ok(Some(max))
}

/// A field, or the element of one with a list.
struct Element<'a> {
    ty: &'a FieldType,
    attributes: &'a FieldAttributes,
    core: &'a TokenStream,
    /// Place of the type.
    place: Span,
}

impl Element<'_> {
    /// Returns the format, or `None` for the type's own.
    fn format(&self) -> Result<Option<TokenStream>> {
        let name = &self.ty.name;
        if self.attributes.angle.is_some() {
            return self.angle().map(Some);
        }
        if self.attributes.unit.is_some() {
            return self.unit().map(Some);
        }
        match self.ty.leaf {
            Leaf::Bool => {
                self.refuse(&["bits", "range", "step"], "a `bool` takes one bit")?;
                Ok(None)
            }
            Leaf::Text => {
                self.refuse(&["bits", "range", "step"], "a `String` has only `max`")?;
                Ok(None)
            }
            Leaf::Unsigned(width) => self.integer(width, 0, (1 << width) - 1),
            Leaf::Signed(width) => self.integer(width, -(1 << (width - 1)), (1 << (width - 1)) - 1),
            Leaf::Float32 | Leaf::Float64 | Leaf::Vector => self.float(),
            Leaf::Other => self.other(),
            Leaf::Size => self.error(format!(
                "the size of `{name}` differs between machines: use `u8` to `u64`, with \
                 `#[wire(bits = 10)]` for fewer bits"
            )),
            Leaf::Wide => self.error(format!("`{name}` is too wide: use `u64`, or `[u64; 2]`")),
            Leaf::Direction => self.error(
                "a direction needs a resolution: write `#[wire(unit, bits = 24)]`, or 16 bits for an error \
                 of 1°",
            ),
            Leaf::Reference => self.error(
                "a reader cannot return a reference: store the value itself, or leave the field out with \
                 `#[wire(skip)]`",
            ),
        }
    }

    fn error<T>(&self, message: impl Display) -> Result<T> {
        Err(Error::new(self.place, message))
    }

    /// Refuses the named attributes.
    fn refuse(&self, names: &[&str], reason: &str) -> Result<()> {
        match self.attributes.given().find(|(name, _)| names.contains(name)) {
            None => Ok(()),
            Some((name, span)) => Err(Error::new(span, format!("{reason}: remove `{name}`"))),
        }
    }

    fn angle(&self) -> Result<TokenStream> {
        let Self { core, attributes, .. } = self;
        self.refuse(&["range", "step", "unit"], "an `angle` wraps around and has only `bits`")?;
        if !matches!(self.ty.leaf, Leaf::Float32 | Leaf::Float64 | Leaf::Other) {
            let message =
                format!("`angle` is for an `f32` in radians, not for `{}`: remove it", self.ty.name);
            return Err(Error::new(attributes.angle.unwrap_or(self.place), message));
        }
        let Some(bits) = &attributes.bits else {
            return self.error("an `angle` needs a resolution: write `#[wire(angle, bits = 16)]`");
        };
        check_literal(bits, 1, 24, "`bits` of an `angle`")?;
        Ok(quote!(#core::wire_format::AngleFormat::new(#bits)))
    }

    fn unit(&self) -> Result<TokenStream> {
        let Self { core, attributes, .. } = self;
        self.refuse(&["range", "step"], "a `unit` vector has only `bits`")?;
        let is_vector = self.ty.leaf == Leaf::Vector && self.ty.name == "Vec3";
        if !is_vector && !matches!(self.ty.leaf, Leaf::Direction | Leaf::Other) {
            let message = format!(
                "`unit` is for a direction, a `Vec3` or `Dir3`, not for `{}`: remove it",
                self.ty.name
            );
            return Err(Error::new(attributes.unit.unwrap_or(self.place), message));
        }
        let Some(bits) = &attributes.bits else {
            return self.error("a `unit` vector needs a resolution: write `#[wire(unit, bits = 24)]`");
        };
        check_literal(bits, 4, 32, "`bits` of a `unit` vector")?;
        if let Some(odd) = integer(bits).filter(|bits| bits % 2 != 0) {
            let message = format!("`bits` of a `unit` vector must be an even number, not {odd}");
            return Err(Error::new_spanned(bits, message));
        }
        Ok(quote!(#core::wire_format::UnitVectorFormat::new(#bits)))
    }

    /// Format of an integer of so many bits, from `lowest` to `highest`.
    fn integer(&self, width: u32, lowest: i128, highest: i128) -> Result<Option<TokenStream>> {
        let Self { core, attributes, ty, .. } = self;
        self.refuse(&["step"], "an integer has no steps")?;
        if let Some(ends) = &attributes.range {
            self.refuse(&["bits"], "the range of an integer determines its bits")?;
            for end in [&ends.low, &ends.high] {
                let is_outside = |end: &i128| *end < lowest || *end > highest;
                if let Some(value) = integer(end).filter(is_outside) {
                    let message =
                        format!("{value} is not a `{}`: its values are {lowest} to {highest}", ty.name);
                    return Err(Error::new_spanned(end, message));
                }
            }
            return int_range(core, ends).map(Some);
        }
        let Some(bits) = &attributes.bits else { return Ok(None) };
        check_literal(bits, 1, i128::from(width.min(32)), &format!("`bits` of `{}`", ty.name))?;
        Ok(Some(quote!(#core::wire_format::IntBits::new(#bits))))
    }

    fn float(&self) -> Result<Option<TokenStream>> {
        let Self { core, attributes, ty, .. } = self;
        let Some(ends) = &attributes.range else {
            let vector = if ty.name == "Vec3" { ", or `unit` for a direction" } else { "" };
            let reason = format!("has no range: add `range = -1.0..=1.0`, or `angle` for radians{vector}");
            if let Some((name, span)) = attributes.given().find(|(name, _)| ["bits", "step"].contains(name)) {
                return Err(Error::new(span, format!("`{name}` of `{}` {reason}", ty.name)));
            }
            return match ty.leaf {
                Leaf::Float64 => self.error(
                    "`f64` has no form of its own: use `f32`, or write \
                     `#[wire(range = -1.0..=1.0, bits = 16)]`",
                ),
                _ => Ok(None),
            };
        };
        float_range(core, attributes, ends).map(Some)
    }

    /// Format of a type that is not known by its name, such as an alias: by the attributes alone.
    fn other(&self) -> Result<Option<TokenStream>> {
        let Self { core, attributes, .. } = self;
        match (&attributes.range, &attributes.bits, &attributes.step) {
            (None, None, None) => Ok(None),
            (None, Some(bits), None) => {
                check_literal(bits, 1, 32, "`bits`")?;
                Ok(Some(quote!(#core::wire_format::IntBits::new(#bits))))
            }
            (None, _, Some(step)) => {
                Err(Error::new_spanned(step, "`step` needs a range: add `range = 0.0..=1.0`"))
            }
            (Some(ends), None, None) if integer(&ends.low).is_some() && integer(&ends.high).is_some() => {
                int_range(core, ends).map(Some)
            }
            (Some(ends), _, _) => float_range(core, attributes, ends).map(Some),
        }
    }
}

fn float_range(core: &TokenStream, attributes: &FieldAttributes, ends: &Ends) -> Result<TokenStream> {
    let literals = number(&ends.low).zip(number(&ends.high));
    if let Some((low, high)) = literals.filter(|(low, high)| low >= high) {
        let message = format!("the range is empty: its low end {low} must be below its high end {high}");
        return Err(Error::new(ends.span, message));
    }
    let Ends { low, high, .. } = ends;
    match (&attributes.bits, &attributes.step) {
        (Some(_), Some(step)) => {
            Err(Error::new_spanned(step, "the resolution is given twice: remove `bits` or `step`"))
        }
        (None, None) => Err(Error::new(
            ends.span,
            "the `range` of a float needs a resolution: add `bits = 12`, or `step = 0.01`",
        )),
        (Some(bits), None) => {
            check_literal(bits, 1, 32, "`bits`")?;
            let crosses_0 = literals.is_some_and(|(low, high)| low < 0.0 && high > 0.0);
            if crosses_0 && integer(bits) == Some(1) {
                return Err(Error::new_spanned(
                    bits,
                    "a range across 0 needs at least 2 bits: its ends and 0",
                ));
            }
            Ok(quote!(#core::wire_format::FloatRange::new((#low) as f64, (#high) as f64, #bits)))
        }
        (None, Some(step)) => {
            if let Some(size) = number(step) {
                let width = literals.map_or(f64::INFINITY, |(low, high)| high - low);
                if size <= 0.0 || size > width {
                    return Err(Error::new_spanned(
                        step,
                        "`step` must be above 0 and not larger than the range",
                    ));
                }
                if width.is_finite() && width / size >= f64::from(u32::MAX) {
                    return Err(Error::new_spanned(
                        step,
                        "`step` is too small: the range has more than 2^32 steps",
                    ));
                }
            }
            Ok(quote! {
                #core::wire_format::FloatRange::with_step((#low) as f64, (#high) as f64, (#step) as f64)
            })
        }
    }
}

fn int_range(core: &TokenStream, ends: &Ends) -> Result<TokenStream> {
    for end in [&ends.low, &ends.high] {
        if number(end).is_some() && integer(end).is_none() {
            return Err(Error::new_spanned(
                end,
                "the range of an integer has whole ends: write `range = 1..=6`",
            ));
        }
    }
    if let Some((low, high)) = integer(&ends.low).zip(integer(&ends.high)) {
        if low > high {
            let message =
                format!("the range is empty: its low end {low} must not be above its high end {high}");
            return Err(Error::new(ends.span, message));
        }
        if high - low > i128::from(u32::MAX) {
            return Err(Error::new(ends.span, "the range has more than 2^32 values: leave it out"));
        }
    }
    let Ends { low, high, .. } = ends;
    Ok(quote!(#core::wire_format::IntRange::new((#low) as i128, (#high) as i128)))
}

/// Refuses a literal outside of `least` to `most`. Other constants are checked when they are evaluated.
fn check_literal(expr: &Expr, least: i128, most: i128, what: &str) -> Result<()> {
    match integer(expr) {
        Some(value) if !(least..=most).contains(&value) => {
            Err(Error::new_spanned(expr, format!("{what} must be {least} to {most}, not {value}")))
        }
        _ => Ok(()),
    }
}
