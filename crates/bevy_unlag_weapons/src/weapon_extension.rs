//! Weapons as part of the predicted movement state.

mod input;
mod state;
mod step;

use bevy::prelude::*;
use bevy_unlag_core::{BodyStep, Extended, MoveExtension, StepContext, Tick, TimeDilation};

use crate::{aim::Aim, arsenal::Arsenal, fire_input::FireInput, spread::SpreadCone, weapon::WeaponId};

pub use input::WeaponInput;
pub use state::{FastestTurn, HasWeapons, MAX_ROUNDS, SLOTS, WeaponSlot, WeaponState};

/// Movement extension for weapons: held weapon, ammunition, cooldown, spread, charge and reload are predicted
/// and replayed with the movement. A model extended with it is [`WithWeapons<M>`].
#[derive(Clone, Copy, Debug, TypePath)]
pub struct WeaponExtension;

/// A movement model extended with weapons ([`WeaponExtension`]).
pub type WithWeapons<M> = Extended<M, WeaponExtension>;

/// A fired shot, as predicted on the client and simulated on the server.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct PredictedShot {
    /// Identifier of the shot: the tick of its move, as counted by the owner.
    pub shot: Tick,
    /// Number of the shot, counted per pawn from 1.
    pub number: u32,
    /// Weapon that fired it.
    pub weapon: WeaponId,
    /// View on the shooter's screen.
    pub fire: FireInput,
    /// Look direction of the move.
    pub look: Aim,
    /// Look direction of the previous move; `None` for a pawn's first move.
    pub before: Option<Aim>,
    /// Fastest recent turn of the view up to this move: see [`WeaponState::fastest_turn`].
    pub fastest_turn: FastestTurn,
    /// Aim including recoil, with the spread around it, in the world.
    pub cone: SpreadCone,
    /// Up direction of the shooter, a unit vector.
    pub up: Vec3,
    /// Seed of the pellet directions: see [`pellet_offset`](crate::pellet_offset).
    pub seed: u16,
    /// Charge, 0 to 255; 255 for weapons without charging.
    pub power: u8,
}

impl PredictedShot {
    /// Returns the charge, 0 to 1.
    #[must_use]
    pub fn power(&self) -> f32 {
        f32::from(self.power) / 255.0
    }
}

/// Reason why a requested shot was not fired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Reflect)]
pub enum NotFired {
    /// The cooldown is not over, or the weapon was just equipped.
    TooSoon,
    /// The magazine is empty.
    Empty,
    /// The weapon is reloading.
    Reloading,
    /// The weapon was not charged.
    NotCharged,
    /// No weapon is held.
    Unarmed,
}

/// Weapon event of a step.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub enum WeaponEvent {
    /// A shot was fired.
    Fired(PredictedShot),
    /// A requested shot was not fired: on a client because of a correction by the server, on the server
    /// because of a misprediction or a cheat.
    NotFired {
        /// Identifier of the shot.
        shot: Tick,
        /// Reason.
        why: NotFired,
    },
    /// The trigger was pulled with no ammunition left.
    Dry {
        /// The held weapon.
        weapon: WeaponId,
    },
    /// A reload started.
    Reloading {
        /// The weapon.
        weapon: WeaponId,
        /// Ticks until the reload, or its first round, is complete.
        ticks: u16,
    },
    /// A reload was completed, or one more round was loaded.
    Reloaded {
        /// The weapon.
        weapon: WeaponId,
        /// Rounds in the magazine now.
        magazine: u16,
    },
    /// Another slot was equipped.
    Equipped {
        /// The weapon; `None` for an empty slot.
        weapon: Option<WeaponId>,
        /// Ticks until it can fire.
        ticks: u16,
    },
}

impl MoveExtension for WeaponExtension {
    type Config = Arsenal;
    type Input = WeaponInput;
    type State = WeaponState;
    type Event = WeaponEvent;

    fn step(
        arsenal: &Arsenal,
        state: &WeaponState,
        input: &WeaponInput,
        body: &BodyStep,
        ctx: &StepContext,
        events: &mut Vec<WeaponEvent>,
    ) -> WeaponState {
        step::step(arsenal, state, input, body, ctx, events)
    }

    fn kind(state: &WeaponState) -> u32 {
        state.kind()
    }

    fn missing_input(last: &WeaponInput) -> WeaponInput {
        // Without input, a pawn does not fire, reload or change weapons.
        WeaponInput { aiming: last.aiming, substituted: true, ..WeaponInput::default() }
    }

    fn change_control(state: &WeaponState) -> WeaponState {
        // The view of the previous player is no turn of the new one.
        WeaponState { look: None, fastest_turn: FastestTurn::default(), ..*state }
    }

    fn change_time_dilation(state: &WeaponState, from: TimeDilation, to: TimeDilation) -> WeaponState {
        state.rescaled(from, to)
    }

    fn config_hash(arsenal: &Arsenal) -> u32 {
        arsenal.hash()
    }
}
