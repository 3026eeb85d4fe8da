//! Expansion of correct types, and the errors of mistaken ones.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemImpl, Lit, Macro};

use crate::expansion::expand;

fn derive(input: TokenStream) -> TokenStream {
    expand(input, || Ok(quote!(::bevy_unlag_core)))
}

/// The text of the implementation, without spaces.
fn implementation(input: TokenStream) -> String {
    let tokens = derive(input);
    let text = tokens.to_string();
    syn::parse2::<ItemImpl>(tokens).unwrap_or_else(|error| panic!("{error}: {text}"));
    text.split_whitespace().collect()
}

/// The messages of the compile-time errors.
fn errors(input: TokenStream) -> Vec<String> {
    let text = derive(input).to_string();
    let file = syn::parse_str::<syn::File>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let message = |mac: &Macro| {
        assert!(mac.path.segments.last().is_some_and(|name| name.ident == "compile_error"), "{text}");
        match mac.parse_body::<Lit>() {
            Ok(Lit::Str(message)) => message.value(),
            _ => panic!("an error without a message: {text}"),
        }
    };
    file.items
        .iter()
        .map(|item| match item {
            syn::Item::Macro(item) => message(&item.mac),
            _ => panic!("no error: {text}"),
        })
        .collect()
}

/// The message of a struct with one field, attributes included.
fn error_of(field: TokenStream) -> String {
    let found = errors(quote!(struct Mistaken { #field }));
    let [message] = &found[..] else { panic!("{} errors: {found:?}", found.len()) };
    message.clone()
}

#[test]
fn correct_types_expand_to_an_implementation() {
    for input in [
        quote!(
            struct Unit;
        ),
        quote!(
            struct Empty {}
        ),
        quote!(
            struct Pair(bool, #[wire(bits = 3)] u8);
        ),
        quote!(
            struct Generic<'a, T: Copy, const N: usize = 3>
            where
                T: Send,
            {
                list: [T; N],
                #[wire(skip)]
                life: PhantomData<&'a ()>,
            }
        ),
        quote!(
            struct Input {
                #[wire(range = -1.0..=1.0, bits = 8)]
                axes: [Option<Vec2>; 2],
                #[wire(range = -LIMIT..=LIMIT, step = STEP)]
                height: f64,
                #[wire(angle, bits = 16)]
                yaw: f32,
                #[wire(unit, bits = 24)]
                aim: Option<bevy::math::Dir3>,
                #[wire(range = 1..=6)]
                slot: u8,
                #[wire(bits = 5)]
                timer: i32,
                #[wire(max = Self::MOST, bits = 4)]
                keys: Vec<u8>,
                #[wire(max = 20)]
                name: String,
                #[wire(with = Compact::new(3))]
                own: Own,
                nested: Nested<f64>,
            }
        ),
        quote!(
            enum Mixed {
                Nothing,
                One(u8),
                Two { first: f32, second: Vec3 },
            }
        ),
        quote!(
            enum Single {
                Only,
            }
        ),
    ] {
        let text = implementation(input);
        assert!(text.contains("::bevy_unlag_core::Wirefor"), "{text}");
    }
}

#[test]
fn type_parameters_are_bounded_and_the_path_of_the_crate_can_be_given() {
    let text = implementation(quote!(
        #[wire(crate = crate::reexported::core)]
        struct Wrapper<T>(T);
    ));
    assert!(text.contains("impl<T:crate::reexported::core::Wire>"), "{text}");
    assert!(!text.contains("bevy_unlag_core"), "{text}");
}

#[test]
fn variants_have_as_few_bits_as_they_need() {
    for (count, bits) in [(1usize, 0), (2, 1), (3, 2), (4, 2), (5, 3), (16, 4), (17, 5)] {
        let names = (0..count).map(|i| quote::format_ident!("Variant{}", i));
        let text = implementation(quote!(enum Variants { #(#names),* }));
        assert!(text.contains(&format!("__r.bits({bits}u32)?")), "{count} variants: {text}");
        assert_eq!(text.contains("write_delta"), bits > 1, "{count} variants");
    }
}

#[test]
fn skipped_fields_have_defaults_and_no_bits() {
    let text = implementation(quote!(
        struct Half {
            #[wire(skip)]
            gone: String,
            here: u8,
        }
    ));
    assert!(text.contains("gone:::core::default::Default::default()"), "{text}");
    assert!(!text.contains("String"), "{text}");
}

#[test]
fn types_without_a_form_have_errors_that_say_what_to_write() {
    for (field, part) in [
        (quote!(x: f64), "use `f32`, or write `#[wire(range = -1.0..=1.0, bits = 16)]`"),
        (quote!(x: [f64; 3]), "use `f32`"),
        (quote!(x: usize), "use `u8` to `u64`, with `#[wire(bits = 10)]`"),
        (quote!(x: isize), "the size of `isize` differs between machines"),
        (quote!(x: u128), "use `u64`, or `[u64; 2]`"),
        (quote!(x: String), "write `#[wire(max = 64)]` for at most 64 bytes"),
        (quote!(x: Vec<u8>), "write `#[wire(max = 16)]` for at most 16 elements"),
        (quote!(x: Option<Vec<u8>>), "write `#[wire(max = 16)]`"),
        (quote!(#[wire(max = 4)] x: Vec<Vec<u8>>), "put the inner one into a struct with `#[derive(Wire)]`"),
        (quote!(#[wire(max = 4)] x: Vec<String>), "each list needs a maximum length of its own"),
        (quote!(#[wire(max = 4)] x: Vec<f64>), "`f64` has no form of its own"),
        (quote!(x: Dir3), "write `#[wire(unit, bits = 24)]`"),
        (quote!(x: &'static str), "store the value itself"),
    ] {
        let message = error_of(field.clone());
        assert!(message.contains(part), "{field}: {message}");
    }
}

#[test]
fn incomplete_and_wrong_attributes_have_errors_that_say_what_to_write() {
    for (field, part) in [
        (quote!(#[wire(range = -1.0..=1.0)] x: f32), "add `bits = 12`, or `step = 0.01`"),
        (quote!(#[wire(range = -1.0..=1.0)] x: Alias), "add `bits = 12`, or `step = 0.01`"),
        (quote!(#[wire(range = 0.0..=1.0, bits = 4, step = 0.1)] x: f32), "remove `bits` or `step`"),
        (
            quote!(#[wire(range = 1.0..=-1.0, bits = 8)] x: Vec3),
            "its low end 1 must be below its high end -1",
        ),
        (quote!(#[wire(range = 2.0..=2.0, bits = 8)] x: f32), "the range is empty"),
        (quote!(#[wire(range = 5..=4)] x: u8), "its low end 5 must not be above its high end 4"),
        (quote!(#[wire(range = 0..=256)] x: u8), "256 is not a `u8`: its values are 0 to 255"),
        (quote!(#[wire(range = -1..=4)] x: u16), "-1 is not a `u16`"),
        (quote!(#[wire(range = 0..=4294967296)] x: u64), "more than 2^32 values"),
        (quote!(#[wire(range = 0.5..=4.0)] x: i8), "whole ends"),
        (quote!(#[wire(range = 0..=4, bits = 3)] x: i8), "determines its bits: remove `bits`"),
        (quote!(#[wire(range = 0..4)] x: u8), "write `range = -1.0..=1.0`"),
        (quote!(#[wire(range = ..=1.0, bits = 3)] x: f32), "a range has both ends"),
        (quote!(#[wire(range = -1.0..=1.0, bits = 1)] x: f32), "at least 2 bits"),
        (quote!(#[wire(range = -1.0..=1.0, bits = 33)] x: f32), "`bits` must be 1 to 32, not 33"),
        (quote!(#[wire(range = 0.0..=1.0, step = 2.0)] x: f32), "not larger than the range"),
        (quote!(#[wire(range = 0.0..=1.0, step = 0)] x: f32), "must be above 0"),
        (quote!(#[wire(range = 0.0..=1.0, step = 1e-12)] x: f32), "`step` is too small"),
        (quote!(#[wire(step = 0.1)] x: Alias), "add `range = 0.0..=1.0`"),
        (quote!(#[wire(step = 1)] x: u8), "an integer has no steps: remove `step`"),
        (quote!(#[wire(bits = 0)] x: u8), "`bits` of `u8` must be 1 to 8, not 0"),
        (quote!(#[wire(bits = 9)] x: Option<i8>), "`bits` of `i8` must be 1 to 8, not 9"),
        (quote!(#[wire(bits = 40)] x: u64), "must be 1 to 32, not 40"),
        (quote!(#[wire(bits = 40)] x: Alias), "must be 1 to 32, not 40"),
        (quote!(#[wire(bits = 12)] x: f32), "add `range = -1.0..=1.0`, or `angle` for radians"),
        (quote!(#[wire(bits = 12)] x: Vec3), "or `unit` for a direction"),
        (quote!(#[wire(bits = 1)] x: bool), "a `bool` takes one bit: remove `bits`"),
        (quote!(#[wire(max = 9, bits = 7)] x: String), "remove `bits`"),
        (quote!(#[wire(angle)] x: f32), "write `#[wire(angle, bits = 16)]`"),
        (quote!(#[wire(angle, bits = 25)] x: f32), "1 to 24, not 25"),
        (quote!(#[wire(angle, bits = 8)] x: u8), "`angle` is for an `f32` in radians, not for `u8`"),
        (quote!(#[wire(angle, bits = 8, range = 0.0..=1.0)] x: f32), "remove `range`"),
        (quote!(#[wire(unit)] x: Vec3), "write `#[wire(unit, bits = 24)]`"),
        (quote!(#[wire(unit, bits = 15)] x: Vec3), "even number, not 15"),
        (quote!(#[wire(unit, bits = 2)] x: Dir3), "4 to 32, not 2"),
        (quote!(#[wire(unit, bits = 16)] x: Vec2), "not for `Vec2`"),
        (quote!(#[wire(max = 3)] x: u8), "`max` is for `Vec` and `String`, not for `u8`"),
        (quote!(#[wire(max = 0)] x: String), "`max` must be 1 to 65535, not 0"),
        (quote!(#[wire(skip, bits = 3)] x: u8), "`skip` stands alone: remove `bits`"),
        (quote!(#[wire(with = Own, max = 3)] x: u8), "`with` stands alone: remove `max`"),
        (quote!(#[wire(bits = 3, bits = 4)] x: u8), "given twice"),
        (quote!(#[wire(bitz = 3)] x: u8), "unknown attribute: use `bits`"),
        (quote!(#[wire(crate = core)] x: u8), "belongs on the type"),
    ] {
        let message = error_of(field.clone());
        assert!(message.contains(part), "{field}: {message}");
    }
}

#[test]
fn mistaken_types_and_variants_have_errors() {
    for (input, part) in [
        (
            quote!(
                union Both {
                    a: u8,
                    b: i8,
                }
            ),
            "write an enum",
        ),
        (
            quote!(
                enum Never {}
            ),
            "add a variant",
        ),
        (
            quote!(
                #[wire(bits = 3)]
                struct Unit;
            ),
            "others belong on a field",
        ),
        (
            quote!(
                enum Marked {
                    #[wire(skip)]
                    Variant,
                }
            ),
            "put them on its fields",
        ),
    ] {
        let found = errors(input);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let fields = quote!(
        struct Three {
            a: usize,
            b: u8,
            c: f64,
        }
    );
    assert_eq!(errors(fields).len(), 2);
    let variants = quote!(
        enum Three {
            A(usize),
            B(u8),
            C { c: f64, d: String },
        }
    );
    assert_eq!(errors(variants).len(), 3);
}

#[test]
fn missing_dependency_is_reported() {
    let tokens = expand(
        quote!(
            struct Unit;
        ),
        || Err(syn::Error::new(proc_macro2::Span::call_site(), "missing")),
    );
    assert!(tokens.to_string().contains("missing"));
}
