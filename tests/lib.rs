//! Doc tests of the guides in `docs/`. The integration tests are in `scenarios`, a single test binary, which
//! is linked once.

/// Doc tests of the movement guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/movement.md")]
mod movement_guide {}

/// Doc tests of the prediction guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/prediction.md")]
mod prediction_guide {}

/// Doc tests of the smoothing guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/smoothing.md")]
mod smoothing_guide {}

/// Doc tests of the rewind guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/rewind.md")]
mod rewind_guide {}

/// Doc tests of the weapons guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/weapons.md")]
mod weapons_guide {}

/// Doc tests of the link guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/link.md")]
mod link_guide {}

/// Doc tests of the session guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/session.md")]
mod session_guide {}

/// Doc tests of the guide to game messages.
#[cfg(doctest)]
#[doc = include_str!("../docs/messages.md")]
mod messages_guide {}

/// Doc tests of the guide to lightyear games.
#[cfg(doctest)]
#[doc = include_str!("../docs/lightyear.md")]
mod lightyear_guide {}

/// Doc tests of the guide to dedicated servers.
#[cfg(doctest)]
#[doc = include_str!("../docs/server.md")]
mod server_guide {}
