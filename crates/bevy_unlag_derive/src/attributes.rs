//! Attributes `#[wire(...)]` of types, variants and fields.

use proc_macro2::Span;
use syn::{
    Attribute, Error, Expr, ExprRange, Field, Path, RangeLimits, Result, meta::ParseNestedMeta,
    spanned::Spanned,
};

/// Low and high end of a range, both included.
pub(crate) struct Ends {
    pub(crate) low: Expr,
    pub(crate) high: Expr,
    pub(crate) span: Span,
}

/// Attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) bits: Option<Expr>,
    pub(crate) range: Option<Ends>,
    pub(crate) step: Option<Expr>,
    pub(crate) max: Option<Expr>,
    pub(crate) with: Option<Expr>,
    pub(crate) angle: Option<Span>,
    pub(crate) unit: Option<Span>,
    pub(crate) skip: Option<Span>,
}

impl FieldAttributes {
    pub(crate) fn of(field: &Field) -> Result<Self> {
        let mut found = Self::default();
        for attribute in wire_attributes(&field.attrs) {
            attribute.parse_nested_meta(|meta| found.read(&meta))?;
        }
        Ok(found)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "bits" => set(&mut self.bits, meta.value()?.parse()?, meta),
            "range" => set(&mut self.range, ends(meta.value()?.parse()?)?, meta),
            "step" => set(&mut self.step, meta.value()?.parse()?, meta),
            "max" => set(&mut self.max, meta.value()?.parse()?, meta),
            "with" => set(&mut self.with, meta.value()?.parse()?, meta),
            "angle" => set(&mut self.angle, meta.path.span(), meta),
            "unit" => set(&mut self.unit, meta.path.span(), meta),
            "skip" => set(&mut self.skip, meta.path.span(), meta),
            "crate" => Err(meta.error("`crate` belongs on the type, not on a field")),
            _ => Err(meta.error(
                "unknown attribute: use `bits`, `range`, `step`, `angle`, `unit`, `max`, `with` or `skip`",
            )),
        }
    }

    /// Returns the names and places of the given attributes.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, Span)> {
        [
            ("bits", self.bits.as_ref().map(Spanned::span)),
            ("range", self.range.as_ref().map(|ends| ends.span)),
            ("step", self.step.as_ref().map(Spanned::span)),
            ("max", self.max.as_ref().map(Spanned::span)),
            ("with", self.with.as_ref().map(Spanned::span)),
            ("angle", self.angle),
            ("unit", self.unit),
            ("skip", self.skip),
        ]
        .into_iter()
        .filter_map(|(name, span)| span.map(|span| (name, span)))
    }
}

fn set<T>(slot: &mut Option<T>, value: T, meta: &ParseNestedMeta<'_>) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("the attribute is given twice: remove one")),
    }
}

fn ends(expr: Expr) -> Result<Ends> {
    let span = expr.span();
    match expr {
        Expr::Range(ExprRange {
            start: Some(low), limits: RangeLimits::Closed(_), end: Some(high), ..
        }) => Ok(Ends { low: *low, high: *high, span }),
        _ => Err(Error::new(span, "a range has both ends: write `range = -1.0..=1.0`")),
    }
}

/// Returns the path of `bevy_unlag_core` if the type names it.
pub(crate) fn crate_of_type(attributes: &[Attribute]) -> Result<Option<Path>> {
    let mut found: Option<Path> = None;
    for attribute in wire_attributes(attributes) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                set(&mut found, meta.value()?.parse()?, &meta)
            } else {
                Err(meta.error("a type has only the attribute `crate = path`; others belong on a field"))
            }
        })?;
    }
    Ok(found)
}

/// Refuses attributes of a variant.
pub(crate) fn check_variant(attributes: &[Attribute]) -> Result<()> {
    match wire_attributes(attributes).next() {
        None => Ok(()),
        Some(attribute) => {
            Err(Error::new_spanned(attribute, "a variant has no attributes: put them on its fields"))
        }
    }
}

fn wire_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("wire"))
}
