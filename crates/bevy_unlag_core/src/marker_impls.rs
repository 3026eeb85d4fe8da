//! `Default` and `Debug` of types that only name a type parameter.

/// Implements `Default` and `Debug` for a type with one field, a `PhantomData`, for any type parameter within
/// its bound: a derive would require the same traits of the parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! marker_impls {
    ($($name:ident<$parameter:ident $(: $bound:path)?>),* $(,)?) => {$(
        impl<$parameter $(: $bound)?> Default for $name<$parameter> {
            fn default() -> Self {
                Self(::core::marker::PhantomData)
            }
        }

        impl<$parameter $(: $bound)?> ::core::fmt::Debug for $name<$parameter> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}
