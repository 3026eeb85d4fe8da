//! Integration tests of the suite; everything is in `scenarios`, one binary for one link. The code in
//! the guide is compiled as doc tests of this crate.

/// The guide to the mover.
#[cfg(doctest)]
#[doc = include_str!("../docs/movement.md")]
mod movement_guide {}
