//! Path of `bevy_unlag_core` in the crate that uses the derive.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Returns the path of `bevy_unlag_core`, by itself or as `core` of `bevy_unlag`.
pub(crate) fn core_path() -> syn::Result<TokenStream> {
    if let Some(core) = dependency("bevy_unlag_core") {
        return Ok(quote!(::#core));
    }
    if let Some(suite) = dependency("bevy_unlag") {
        return Ok(quote!(::#suite::core));
    }
    Err(syn::Error::new(
        Span::call_site(),
        "`bevy_unlag` and `bevy_unlag_core` are not among the dependencies: add one of them to Cargo.toml, or \
         name the path of `bevy_unlag_core` with `#[wire(crate = path)]` on the type",
    ))
}

/// Returns the name of a dependency, or that of the crate itself: it is declared as `extern crate self`.
fn dependency(package: &str) -> Option<Ident> {
    let name = match crate_name(package).ok()? {
        FoundCrate::Itself => package.to_owned(),
        FoundCrate::Name(name) => name,
    };
    Some(Ident::new(&name, Span::call_site()))
}
