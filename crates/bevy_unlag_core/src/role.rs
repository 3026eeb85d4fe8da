//! Who decides about a pawn, and what it is called on the wire.

use bevy::prelude::*;

/// Who decides about this pawn in this app. Unreal's `ENetRole`.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NetRole {
    /// This app decides: the server, or the host of a listen server. Unreal's `ROLE_Authority`.
    Authority,
    /// This app's player steers it and predicts it. Unreal's `ROLE_AutonomousProxy`.
    AutonomousProxy,
    /// Somebody else steers it; it is drawn from snapshots. Unreal's `ROLE_SimulatedProxy`.
    SimulatedProxy,
}

/// Marks the pawn that the player of *this* app steers: an [`NetRole::AutonomousProxy`], or the
/// host's own [`NetRole::Authority`] pawn on a listen server.
#[derive(Component, Clone, Copy, Default, Debug)]
pub struct LocalControl;

/// The pawn's name on the wire, given by the server and unique among living pawns. Two bytes are
/// cheaper than an entity and mean the same on every machine.
#[derive(
    Component,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct NetId(pub u16);
