//! Integration tests of `bevy_unlag_smoothing`, in one binary: linking Bevy takes longer than most of them.

mod falling;
mod gliding;
mod properties;
mod reflection;
