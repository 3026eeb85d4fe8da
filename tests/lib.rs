//! Doc tests of the guides in `docs/` and of the crates' READMEs. The integration tests are in `scenarios`, a single
//! test binary, which is linked once.

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

/// Doc tests of the guide to recordings.
#[cfg(doctest)]
#[doc = include_str!("../docs/record.md")]
mod record_guide {}

/// Doc tests of the guide to dedicated servers.
#[cfg(doctest)]
#[doc = include_str!("../docs/server.md")]
mod server_guide {}

/// Doc tests of the README of `bevy_unlag`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag/README.md")]
mod bevy_unlag_readme {}

/// Doc tests of the README of `bevy_unlag_record`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_record/README.md")]
mod bevy_unlag_record_readme {}

/// Doc tests of the README of `bevy_unlag_agones`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_agones/README.md")]
mod bevy_unlag_agones_readme {}

/// Doc tests of the README of `bevy_unlag_core`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_core/README.md")]
mod bevy_unlag_core_readme {}

/// Doc tests of the README of `bevy_unlag_derive`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_derive/README.md")]
mod bevy_unlag_derive_readme {}

/// Doc tests of the README of `bevy_unlag_lightyear`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_lightyear/README.md")]
mod bevy_unlag_lightyear_readme {}

/// Doc tests of the README of `bevy_unlag_movement`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_movement/README.md")]
mod bevy_unlag_movement_readme {}

/// Doc tests of the README of `bevy_unlag_prediction`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_prediction/README.md")]
mod bevy_unlag_prediction_readme {}

/// Doc tests of the README of `bevy_unlag_rewind`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_rewind/README.md")]
mod bevy_unlag_rewind_readme {}

/// Doc tests of the README of `bevy_unlag_server`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_server/README.md")]
mod bevy_unlag_server_readme {}

/// Doc tests of the README of `bevy_unlag_smoothing`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_smoothing/README.md")]
mod bevy_unlag_smoothing_readme {}

/// Doc tests of the README of `bevy_unlag_testkit`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_testkit/README.md")]
mod bevy_unlag_testkit_readme {}

/// Doc tests of the README of `bevy_unlag_weapons`.
#[cfg(doctest)]
#[doc = include_str!("../crates/bevy_unlag_weapons/README.md")]
mod bevy_unlag_weapons_readme {}

/// Doc tests of the README of `checked_ron`.
#[cfg(doctest)]
#[doc = include_str!("../crates/checked_ron/README.md")]
mod checked_ron_readme {}

/// Doc tests of the README of `lightyear_guard`.
#[cfg(doctest)]
#[doc = include_str!("../crates/lightyear_guard/README.md")]
mod lightyear_guard_readme {}

/// Doc tests of the README of `link_conditioner`.
#[cfg(doctest)]
#[doc = include_str!("../crates/link_conditioner/README.md")]
mod link_conditioner_readme {}
