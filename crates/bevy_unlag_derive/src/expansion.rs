//! Implementation of `Wire` for a struct or an enum.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result, parse_quote};

use crate::{
    attributes,
    fields_code::{FieldsCode, all_or_errors},
};

/// Widest number of a variant that a delta sends without a bit that states whether the variant changed: with
/// so few bits, that bit costs more than it saves.
const UNFLAGGED_BITS: u32 = 1;

/// Returns the implementation, or compile-time errors. `core` returns the path of `bevy_unlag_core` if the
/// type does not name it.
pub(crate) fn expand(input: TokenStream, core: impl FnOnce() -> Result<TokenStream>) -> TokenStream {
    syn::parse2::<DeriveInput>(input)
        .and_then(|input| implementation(&input, core))
        .unwrap_or_else(Error::into_compile_error)
}

fn implementation(input: &DeriveInput, core: impl FnOnce() -> Result<TokenStream>) -> Result<TokenStream> {
    let core = match attributes::crate_of_type(&input.attrs)? {
        Some(path) => quote!(#path),
        None => core()?,
    };
    let functions = match &input.data {
        Data::Struct(data) => struct_functions(&core, &data.fields)?,
        Data::Enum(data) => enum_functions(&core, input, data)?,
        Data::Union(_) => {
            return Err(Error::new_spanned(
                &input.ident,
                "a union does not know which of its fields is valid: write an enum",
            ));
        }
    };
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#core::Wire));
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        #[allow(clippy::unnecessary_cast, deprecated, unused_qualifications)]
        impl #impl_generics #core::Wire for #name #ty_generics #where_clause {
            #functions
        }
    })
}

fn struct_functions(core: &TokenStream, fields: &Fields) -> Result<TokenStream> {
    let code = FieldsCode::new(core, quote!(Self), fields)?;
    let (values, bases) = (code.values(), code.bases());
    let (write, write_delta) = (code.write(), code.write_delta());
    let (read, read_delta, quantised) = (code.read(), code.read_delta(), code.quantised());
    Ok(quote! {
        fn write(&self, __w: &mut #core::BitWriter) {
            let #values = self;
            #write
        }

        fn read(__r: &mut #core::BitReader<'_>) -> ::core::result::Result<Self, #core::WireError> {
            ::core::result::Result::Ok(#read)
        }

        fn write_delta(&self, __base: &Self, __w: &mut #core::BitWriter) {
            let #values = self;
            let #bases = __base;
            #write_delta
        }

        fn read_delta(
            __base: &Self,
            __r: &mut #core::BitReader<'_>,
        ) -> ::core::result::Result<Self, #core::WireError> {
            let #bases = __base;
            ::core::result::Result::Ok(#read_delta)
        }

        fn quantised(self) -> Self {
            let #values = self;
            #quantised
        }
    })
}

fn enum_functions(core: &TokenStream, input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let variants = all_or_errors(data.variants.iter().map(|variant| {
        attributes::check_variant(&variant.attrs)?;
        let name = &variant.ident;
        FieldsCode::new(core, quote!(Self::#name), &variant.fields)
    }))?;
    let Some(last) = variants.len().checked_sub(1) else {
        return Err(Error::new_spanned(
            &input.ident,
            "an enum without variants has no values: add a variant",
        ));
    };
    let bits = usize::BITS - last.leading_zeros();
    let numbers: Vec<u32> = (0..).take(variants.len()).collect();
    let values: Vec<_> = variants.iter().map(FieldsCode::values).collect();
    let write: Vec<_> = variants.iter().map(FieldsCode::write).collect();
    let read: Vec<_> = variants.iter().map(FieldsCode::read).collect();
    let quantised: Vec<_> = variants.iter().map(FieldsCode::quantised).collect();
    let is_flagged = bits > UNFLAGGED_BITS || variants.iter().any(|variant| !variant.is_empty());
    let delta = is_flagged.then(|| enum_delta(core, &variants));
    Ok(quote! {
        fn write(&self, __w: &mut #core::BitWriter) {
            match self {
                #(#values => {
                    __w.bits(#numbers, #bits);
                    #write
                })*
            }
        }

        fn read(__r: &mut #core::BitReader<'_>) -> ::core::result::Result<Self, #core::WireError> {
            match __r.bits(#bits)? {
                #(#numbers => ::core::result::Result::Ok(#read),)*
                _ => ::core::result::Result::Err(#core::WireError::Invalid),
            }
        }

        #delta

        fn quantised(self) -> Self {
            match self {
                #(#values => #quantised,)*
            }
        }
    })
}

/// Deltas of an enum: one bit states whether the variant is that of the base.
fn enum_delta(core: &TokenStream, variants: &[FieldsCode<'_>]) -> TokenStream {
    let values: Vec<_> = variants.iter().map(FieldsCode::values).collect();
    let bases: Vec<_> = variants.iter().map(FieldsCode::bases).collect();
    let write_delta: Vec<_> = variants.iter().map(FieldsCode::write_delta).collect();
    let read_delta: Vec<_> = variants.iter().map(FieldsCode::read_delta).collect();
    let otherwise = (variants.len() > 1).then(|| {
        quote! {
            _ => {
                __w.bool(false);
                <Self as #core::Wire>::write(self, __w);
            }
        }
    });
    quote! {
        fn write_delta(&self, __base: &Self, __w: &mut #core::BitWriter) {
            match (self, __base) {
                #((#values, #bases) => {
                    __w.bool(true);
                    #write_delta
                })*
                #otherwise
            }
        }

        fn read_delta(
            __base: &Self,
            __r: &mut #core::BitReader<'_>,
        ) -> ::core::result::Result<Self, #core::WireError> {
            if !__r.bool()? {
                return <Self as #core::Wire>::read(__r);
            }
            match __base {
                #(#bases => ::core::result::Result::Ok(#read_delta),)*
            }
        }
    }
}
