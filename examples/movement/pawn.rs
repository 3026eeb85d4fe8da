//! The pawn of the course: the capsule with three abilities.

use bevy::prelude::*;
use bevy_unlag::core::{ExtendedInput, ExtendedState, MoveInput, MoveModel};
use bevy_unlag_movement::{
    AbilityPair, CapsuleInput, CapsuleState, CapsuleWith, PushesBodies,
    abilities::{Dash, DashInput, Teleport, TeleportInput},
};

use crate::climb::Climb;

/// How it moves.
pub type Pawn = CapsuleWith<(Teleport, (Dash, Climb))>;
/// All that is predicted about it.
pub type PawnState = <Pawn as MoveModel>::State;
/// What its player wants in one tick.
pub type PawnInput = <Pawn as MoveModel>::Input;

/// The pawn that is steered.
#[derive(Component)]
pub struct Player;

/// A pawn that nobody steers, and where it belongs.
#[derive(Component)]
pub struct Dummy(pub Vec3);

/// The buttons of the abilities.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Taps {
    /// Whether the one for the teleport is down.
    pub teleport: bool,
    /// Whether the one for the dash is down.
    pub dash: bool,
}

/// Puts an input together.
pub fn input(body: CapsuleInput, taps: Taps) -> PawnInput {
    let second = AbilityPair { first: DashInput { pressed: taps.dash }, second: () };
    let extension = AbilityPair { first: TeleportInput { pressed: taps.teleport }, second };
    ExtendedInput { body, extension }
}

/// A state at rest, as after a respawn; `teleports` is what was counted so far.
pub fn fresh(at: Vec3, teleports: u8) -> PawnState {
    let body = CapsuleState { teleports: teleports.wrapping_add(1), ..CapsuleState::at(at) };
    ExtendedState { body, extension: AbilityPair::default() }
}

/// The components of a pawn.
pub fn pawn(at: Vec3) -> impl Bundle {
    (fresh(at, 0), MoveInput::<Pawn>(PawnInput::default()), PushesBodies::default())
}
