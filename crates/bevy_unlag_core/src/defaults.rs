//! Structs whose fields state their defaults.

/// Declares a struct together with its `Default`. `@if(...)` in front of a field is its `#[cfg(...)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! with_defaults {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {$(
            $(@if($cfg:meta))?
            $(#[$field_meta:meta])*
            pub $field:ident: $type:ty = $default:expr;
        )+}
    ) => {
        $(#[$meta])*
        pub struct $name {$(
            $(#[cfg($cfg)])?
            $(#[$field_meta])*
            pub $field: $type,
        )+}

        impl Default for $name {
            fn default() -> Self {
                Self {$(
                    $(#[cfg($cfg)])?
                    $field: $default,
                )+}
            }
        }
    };
}
