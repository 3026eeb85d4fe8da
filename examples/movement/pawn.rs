//! Pawn of the course: a capsule with three abilities.

use bevy::prelude::*;
use bevy_unlag::core::{ExtendedInput, ExtendedState, MoveInput, MoveModel};
use bevy_unlag_movement::{
    AbilityPair, CapsuleInput, CapsuleState, CapsuleWith, PushesBodies,
    abilities::{Dash, DashInput, Teleport, TeleportInput},
};

use crate::ladder_climbing::Climb;

/// Move model of the pawn.
pub type Pawn = CapsuleWith<(Teleport, (Dash, Climb))>;
/// Predicted state of the pawn.
pub type PawnState = <Pawn as MoveModel>::State;
/// Input of the pawn for one tick.
pub type PawnInput = <Pawn as MoveModel>::Input;

/// Marks the pawn that the player or the tour steers.
#[derive(Component)]
pub struct Player;

/// A pawn without any input, and its home position.
#[derive(Component)]
pub struct Dummy(pub Vec3);

/// State of a pawn at the time of the frame.
#[derive(Component, Clone, Copy, Default)]
pub struct Drawn(pub CapsuleState);

/// Buttons of the abilities.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AbilityButtons {
    /// Whether the teleport button is down.
    pub teleport: bool,
    /// Whether the dash button is down.
    pub dash: bool,
}

/// Combines a body input with the ability buttons.
pub fn input(body: CapsuleInput, taps: AbilityButtons) -> PawnInput {
    let second = AbilityPair { first: DashInput { pressed: taps.dash }, second: () };
    let extension = AbilityPair { first: TeleportInput { pressed: taps.teleport }, second };
    ExtendedInput { body, extension }
}

/// Returns a state at rest, as after a respawn. `teleports` is the previous teleport counter, which is
/// incremented.
pub fn resting_state(at: Vec3, teleports: u8) -> PawnState {
    let body = CapsuleState { teleports: teleports.wrapping_add(1), ..CapsuleState::at(at) };
    ExtendedState { body, extension: AbilityPair::default() }
}

/// Returns the components of a pawn.
pub fn pawn(at: Vec3) -> impl Bundle {
    (resting_state(at, 0), MoveInput::<Pawn>(PawnInput::default()), PushesBodies::default())
}
