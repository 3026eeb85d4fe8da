//! Code that writes and reads the fields of a struct or of a variant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Error, Fields, Index, Member, Result, Type, spanned::Spanned};

use crate::field_format::FieldFormat;

/// Fields of a struct or of a variant, whose name is `path`. `core` is the path of `bevy_unlag_core`.
pub(crate) struct FieldsCode<'a> {
    core: &'a TokenStream,
    path: TokenStream,
    fields: Vec<FieldCode<'a>>,
}

struct FieldCode<'a> {
    member: Member,
    ty: &'a Type,
    format: FieldFormat,
    /// Names of the field, of itself and of the same field in the base of a delta.
    value: Ident,
    base: Ident,
}

/// Returns all values, or all errors as one.
pub(crate) fn all_or_errors<T>(results: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let mut errors: Option<Error> = None;
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => match &mut errors {
                Some(errors) => errors.combine(error),
                None => errors = Some(error),
            },
        }
    }
    errors.map_or(Ok(values), Err)
}

impl<'a> FieldsCode<'a> {
    /// Finds the formats of all fields, or returns all their errors.
    pub(crate) fn new(core: &'a TokenStream, path: TokenStream, fields: &'a Fields) -> Result<Self> {
        let fields = all_or_errors(fields.iter().enumerate().map(|(index, field)| {
            Ok(FieldCode {
                member: match &field.ident {
                    Some(name) => Member::Named(name.clone()),
                    None => Member::Unnamed(Index::from(index)),
                },
                ty: &field.ty,
                format: FieldFormat::of(field, core)?,
                value: format_ident!("__value_{}", index),
                base: format_ident!("__base_{}", index),
            })
        }))?;
        Ok(Self { core, path, fields })
    }

    /// Whether no field has any bits.
    pub(crate) fn is_empty(&self) -> bool {
        self.sent().next().is_none()
    }

    fn sent(&self) -> impl Iterator<Item = &FieldCode<'a>> {
        self.fields.iter().filter(|field| !matches!(field.format, FieldFormat::Skipped))
    }

    /// Pattern that binds the values.
    pub(crate) fn values(&self) -> TokenStream {
        self.pattern(|field| &field.value)
    }

    /// Pattern that binds the values of the base.
    pub(crate) fn bases(&self) -> TokenStream {
        self.pattern(|field| &field.base)
    }

    fn pattern(&self, name: for<'f> fn(&'f FieldCode<'a>) -> &'f Ident) -> TokenStream {
        let path = &self.path;
        let bindings = self.sent().map(|field| {
            let (member, name) = (&field.member, name(field));
            quote!(#member: #name)
        });
        let rest = (self.sent().count() < self.fields.len()).then(|| quote!(..));
        quote!(#path { #(#bindings,)* #rest })
    }

    /// Statements that write the values.
    pub(crate) fn write(&self) -> TokenStream {
        self.statements(|field| {
            let value = &field.value;
            field.call(self.core, "write", quote!(#value, __w))
        })
    }

    /// Statements that write the values as deltas to those of the base.
    pub(crate) fn write_delta(&self) -> TokenStream {
        self.statements(|field| {
            let (value, base) = (&field.value, &field.base);
            field.call(self.core, "write_delta", quote!(#value, #base, __w))
        })
    }

    fn statements(&self, statement: impl Fn(&FieldCode<'a>) -> TokenStream) -> TokenStream {
        let statements = self.sent().map(statement);
        quote!(#(#statements;)*)
    }

    /// Expression that reads the fields.
    pub(crate) fn read(&self) -> TokenStream {
        self.construction(|field| {
            let read = field.call(self.core, "read", quote!(__r));
            quote!(#read?)
        })
    }

    /// Expression that reads the fields as deltas to those of the base.
    pub(crate) fn read_delta(&self) -> TokenStream {
        self.construction(|field| {
            let base = &field.base;
            let read = field.call(self.core, "read_delta", quote!(#base, __r));
            quote!(#read?)
        })
    }

    /// Expression with the quantised values.
    pub(crate) fn quantised(&self) -> TokenStream {
        self.construction(|field| {
            let value = &field.value;
            field.call(self.core, "quantised", quote!(#value))
        })
    }

    fn construction(&self, value: impl Fn(&FieldCode<'a>) -> TokenStream) -> TokenStream {
        let path = &self.path;
        let fields = self.fields.iter().map(|field| {
            let member = &field.member;
            let value = match field.format {
                FieldFormat::Skipped => quote!(::core::default::Default::default()),
                FieldFormat::Whole | FieldFormat::Packed(_) => value(field),
            };
            quote!(#member: #value)
        });
        quote!(#path { #(#fields,)* })
    }
}

impl FieldCode<'_> {
    /// Calls a function of the field's format. A missing implementation is reported at the type of the field.
    fn call(&self, core: &TokenStream, function: &str, arguments: TokenStream) -> TokenStream {
        let ty = self.ty;
        let place = Span::call_site().located_at(ty.span());
        let function = Ident::new(function, place);
        match &self.format {
            FieldFormat::Packed(format) => quote_spanned! {place=>
                #core::wire_format::WireFormat::<#ty>::#function(&const { #format }, #arguments)
            },
            FieldFormat::Whole | FieldFormat::Skipped => {
                quote_spanned!(place=> <#ty as #core::Wire>::#function(#arguments))
            }
        }
    }
}
