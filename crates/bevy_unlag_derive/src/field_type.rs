//! Types of fields, as far as they can be known by their names.

use syn::{GenericArgument, PathArguments, Type};

/// Element type within arrays, options and lists. A macro sees names only, so a type with the same name as
/// one of these is taken for it, and an alias is [`Leaf::Other`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    Bool,
    /// Integer of so many bits.
    Unsigned(u32),
    /// Integer of so many bits.
    Signed(u32),
    /// `usize` or `isize`.
    Size,
    /// `u128` or `i128`.
    Wide,
    Float32,
    Float64,
    /// `Vec2`, `Vec3` or `Vec4`.
    Vector,
    Direction,
    Text,
    Reference,
    Other,
}

/// Type of a field.
#[derive(Debug)]
pub(crate) struct FieldType {
    pub(crate) leaf: Leaf,
    /// Name of the leaf, for messages.
    pub(crate) name: String,
    /// Number of `Vec`s around the leaf.
    pub(crate) lists: u32,
}

impl FieldType {
    pub(crate) fn of(ty: &Type) -> Self {
        let nested = |ty: &Type, lists: u32| {
            let inner = Self::of(ty);
            Self { lists: inner.lists + lists, ..inner }
        };
        let path = match ty {
            Type::Array(array) => return nested(&array.elem, 0),
            Type::Paren(paren) => return nested(&paren.elem, 0),
            Type::Group(group) => return nested(&group.elem, 0),
            Type::Reference(_) | Type::Ptr(_) => return Self::leaf(Leaf::Reference, "reference"),
            Type::Path(path) if path.qself.is_none() => &path.path,
            _ => return Self::leaf(Leaf::Other, "type"),
        };
        let Some(last) = path.segments.last() else { return Self::leaf(Leaf::Other, "type") };
        let name = last.ident.to_string();
        if let PathArguments::AngleBracketed(arguments) = &last.arguments {
            let mut arguments = arguments.args.iter();
            return match (name.as_str(), arguments.next(), arguments.next()) {
                ("Option", Some(GenericArgument::Type(inner)), None) => nested(inner, 0),
                ("Vec", Some(GenericArgument::Type(inner)), None) => nested(inner, 1),
                _ => Self::leaf(Leaf::Other, &name),
            };
        }
        let leaf = match name.as_str() {
            "bool" => Leaf::Bool,
            "u8" => Leaf::Unsigned(8),
            "u16" => Leaf::Unsigned(16),
            "u32" => Leaf::Unsigned(32),
            "u64" => Leaf::Unsigned(64),
            "i8" => Leaf::Signed(8),
            "i16" => Leaf::Signed(16),
            "i32" => Leaf::Signed(32),
            "i64" => Leaf::Signed(64),
            "usize" | "isize" => Leaf::Size,
            "u128" | "i128" => Leaf::Wide,
            "f32" => Leaf::Float32,
            "f64" => Leaf::Float64,
            "Vec2" | "Vec3" | "Vec4" => Leaf::Vector,
            "Dir3" => Leaf::Direction,
            "String" => Leaf::Text,
            _ => Leaf::Other,
        };
        Self::leaf(leaf, &name)
    }

    fn leaf(leaf: Leaf, name: &str) -> Self {
        Self { leaf, name: name.to_owned(), lists: 0 }
    }

    /// Whether the type has no maximum length.
    pub(crate) fn is_list(&self) -> bool {
        self.lists > 0 || self.leaf == Leaf::Text
    }
}
