//! Passengers of vehicles.

use bevy::prelude::*;
use bevy_unlag_derive::Wire;

use crate::interpolate::{Interpolate, InterpolationSpan};

/// On a pawn with [`ServerControl`](crate::ServerControl): it sits in a vehicle, does not move by itself, and
/// does not collide with other pawns. Its state follows the vehicle's, so it is seen, and hit, where it sits.
/// The umbrella crate moves capsule pawns so. It removes the component when the vehicle is gone, and with an
/// error from a pawn that cannot sit: one that is no capsule or that a player controls, or whose vehicle is
/// no pawn.
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
