//! Numbers of the classes of a configuration: 0 is the configuration itself, the others are its list, from 1 on.

use bevy_unlag_core::PawnClass;

/// Error when a `CapsuleConfig` or a `KartConfig` already has 256 classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyClasses;

impl core::fmt::Display for TooManyClasses {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a configuration holds at most 256 classes, itself included; reuse one of them")
    }
}

impl core::error::Error for TooManyClasses {}

/// Returns the number of the class that is added next.
pub(crate) fn next<C>(classes: &[C]) -> Result<PawnClass, TooManyClasses> {
    u8::try_from(classes.len() + 1).map(PawnClass).map_err(|_| TooManyClasses)
}

/// Returns whether there is a class.
pub(crate) fn has<C>(classes: &[C], class: PawnClass) -> bool {
    usize::from(class.0) <= classes.len()
}

/// Returns the configuration of a class; `own`, that of class 0, for an unknown one.
pub(crate) fn find<'a, C>(own: &'a C, classes: &'a [C], class: PawnClass) -> &'a C {
    usize::from(class.0).checked_sub(1).and_then(|index| classes.get(index)).unwrap_or(own)
}
