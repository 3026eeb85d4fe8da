//! Enums whose variants have names.

/// Declares an enum without fields, the list `ALL` of its variants, and their `name`s.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        pub enum $type:ident { $($(#[$variant_meta:meta])* $variant:ident => $name:literal,)* }
    ) => {
        $(#[$meta])*
        pub enum $type { $($(#[$variant_meta])* $variant,)* }

        impl $type {
            /// All variants, in their order.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name of the variant.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

pub(crate) use named_enum;
