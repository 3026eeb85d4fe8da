//! Integration tests of the suite; everything is in `scenarios`, one binary for one link. The code in
//! the guides is compiled as doc tests of this crate.

/// The guide to the mover.
#[cfg(doctest)]
#[doc = include_str!("../docs/movement.md")]
mod movement_guide {}

/// The guide to prediction.
#[cfg(doctest)]
#[doc = include_str!("../docs/prediction.md")]
mod prediction_guide {}

/// The guide to smoothing.
#[cfg(doctest)]
#[doc = include_str!("../docs/smoothing.md")]
mod smoothing_guide {}

/// The guide to rewind.
#[cfg(doctest)]
#[doc = include_str!("../docs/rewind.md")]
mod rewind_guide {}

/// The guide to weapons.
#[cfg(doctest)]
#[doc = include_str!("../docs/weapons.md")]
mod weapons_guide {}

/// The guide to the link.
#[cfg(doctest)]
#[doc = include_str!("../docs/link.md")]
mod link_guide {}

/// The guide to sessions.
#[cfg(doctest)]
#[doc = include_str!("../docs/session.md")]
mod session_guide {}

/// The guide to a game's own messages.
#[cfg(doctest)]
#[doc = include_str!("../docs/messages.md")]
mod messages_guide {}

/// The guide to dedicated servers.
#[cfg(doctest)]
#[doc = include_str!("../docs/server.md")]
mod server_guide {}
