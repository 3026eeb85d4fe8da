//! Network roles and network ids of pawns.

use bevy::prelude::*;
use bevy_unlag_derive::Wire;
use serde::{Deserialize, Serialize};

/// Role of a pawn in this app. Unreal's `ENetRole`.
#[doc(alias = "ENetRole")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Hash, Reflect)]
#[reflect(Component, Debug)]
pub enum NetRole {
    /// This app has authority: the server, or the host of a listen server. Unreal's `ROLE_Authority`.
    #[doc(alias = "ROLE_Authority")]
    Authority,
    /// The player of this app controls and predicts the pawn. Unreal's `ROLE_AutonomousProxy`.
    #[doc(alias = "ROLE_AutonomousProxy")]
    #[doc(alias = "Predicted")]
    AutonomousProxy,
    /// A remote player controls the pawn; this app draws it from snapshots. Unreal's `ROLE_SimulatedProxy`.
    #[doc(alias = "ROLE_SimulatedProxy")]
    #[doc(alias = "Interpolated")]
    SimulatedProxy,
}

/// Marks the pawn that the player of *this* app controls: an [`NetRole::AutonomousProxy`], or the host's own
/// [`NetRole::Authority`] pawn on a listen server.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{DrawnPose, LocalControl};
///
/// /// On a client: prints the distance from its player's pawn to the nearest other one.
/// fn print_nearest(own: Single<&DrawnPose, With<LocalControl>>, others: Query<&DrawnPose, Without<LocalControl>>) {
///     let distance = |other: &DrawnPose| own.pose.position.distance(other.pose.position);
///     if let Some(metres) = others.iter().map(distance).min_by(f32::total_cmp) {
///         println!("{metres:.1} m");
///     }
/// }
/// ```
#[doc(alias = "IsLocallyControlled")]
#[doc(alias = "Controlled")]
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct LocalControl;

/// Marks a pawn that this server controls itself: an AI character, a target, an empty vehicle. The game writes
/// its [`MoveInput`](crate::MoveInput).
#[doc(alias = "AIController")]
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct ServerControl;

/// Id of a pawn on the wire. The server assigns it; it is unique among existing pawns. It takes two bytes,
/// less than an entity, and has the same meaning on every machine.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::NetId;
///
/// /// Returns the entity, in this app, of the pawn that a message names.
/// fn pawn_of(id: NetId, pawns: Query<(Entity, &NetId)>) -> Option<Entity> {
///     pawns.iter().find(|(_, other)| **other == id).map(|(pawn, _)| pawn)
/// }
/// ```
#[doc(alias = "FNetworkGUID")]
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
    Serialize,
    Deserialize,
    Reflect,
    Wire,
)]
#[reflect(Component, Debug, Default)]
pub struct NetId(pub u16);
