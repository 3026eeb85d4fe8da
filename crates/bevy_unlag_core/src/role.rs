//! Network roles and network ids of pawns.

use bevy::prelude::*;
use bevy_unlag_derive::Wire;
use serde::{Deserialize, Serialize};

use crate::interpolate::{Interpolate, InterpolationSpan};

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

/// On a pawn with [`ServerControl`]: it sits in a vehicle, does not move by itself, and does not collide with
/// other pawns. Its state follows the vehicle's, so it is seen, and hit, where it sits. The umbrella crate
/// moves capsule pawns so. It removes the component when the vehicle is gone, and with an error from a pawn
/// that cannot sit: one that is no capsule or that a player controls, or whose vehicle is no pawn.
#[doc(alias = "AttachToActor")]
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct Passenger {
    /// The vehicle, a pawn on this server.
    pub vehicle: Entity,
    /// Place of the passenger's feet in the space of the vehicle, in metres.
    pub seat: Vec3,
}

/// Whether a pawn sits in a vehicle, on all machines; a pawn without it does not. It follows [`Passenger`].
#[derive(Component, Wire, Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct Seated(pub bool);

/// Not interpolated: the older value holds until the moment of the newer one.
impl Interpolate for Seated {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// Id of a pawn on the wire. The server assigns it; it is unique among existing pawns. It takes two bytes,
/// less than an entity, and has the same meaning on every machine.
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
