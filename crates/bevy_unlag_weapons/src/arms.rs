//! Weapons in hand, as predicted state.

mod input;
mod state;
mod step;

use bevy_unlag_core::{BodyStep, MoveExtension, StepContext, Tick};

use crate::{Aim, Arsenal, Cone, FireInput, WeaponId};

pub use input::ArmsInput;
pub use state::{ArmsState, MOST_ROUNDS, SLOTS, Slot, Turn};

/// Weapons as a [`MoveExtension`]: what is in hand, ammunition, cooldown, spread, charge and reload are
/// predicted with the body and replayed with it. A model with them is [`Armed<M>`](crate::Armed).
#[derive(Clone, Copy, Debug)]
pub struct Arms;

/// One shot that left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Round {
    /// Its name: the tick of its move, on the owner's count.
    pub shot: Tick,
    /// Which one it is of its pawn's, from 1.
    pub number: u32,
    /// Out of what.
    pub weapon: WeaponId,
    /// What the screen showed.
    pub fire: FireInput,
    /// Where the move looked.
    pub look: Aim,
    /// Where the move before it looked; `None` for a pawn's first.
    pub before: Option<Aim>,
    /// How far the view turned in one tick up to this move: see [`ArmsState::turned`].
    pub turned: Turn,
    /// Where it goes: the aim with the weapon's kick, and the spread around it.
    pub cone: Cone,
    /// From this every pellet follows: see [`offset`](crate::offset).
    pub seed: u16,
    /// How far it was charged, 0 to 255; 255 for what is not charged.
    pub power: u8,
}

impl Round {
    /// How far it was charged, 0 to 1.
    #[must_use]
    pub fn power(&self) -> f32 {
        f32::from(self.power) / 255.0
    }
}

/// Why nothing left although a shot was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NotFired {
    /// The last one's time is not over, or the weapon was just taken in hand.
    TooSoon,
    /// The magazine is empty.
    Empty,
    /// It is being loaded.
    Reloading,
    /// It was not charged.
    NotCharged,
    /// Nothing is in hand.
    Unarmed,
}

/// What happened to weapons in a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArmsEvent {
    /// A shot left.
    Fired(Round),
    /// A shot was asked for, and nothing left: on a client because the server knew better, on the server because
    /// client and server disagree, or somebody cheats.
    NotFired {
        /// The shot's name.
        shot: Tick,
        /// Why.
        why: NotFired,
    },
    /// The trigger was pulled on an empty magazine.
    Dry {
        /// Of what.
        weapon: WeaponId,
    },
    /// Loading begins.
    Reloading {
        /// What.
        weapon: WeaponId,
        /// Ticks that it takes, to the first round.
        ticks: u16,
    },
    /// A magazine is full, or one round more is in it.
    Reloaded {
        /// Of what.
        weapon: WeaponId,
        /// Rounds in it now.
        magazine: u16,
    },
    /// Something else is taken in hand.
    Equipped {
        /// What; `None` for an empty slot.
        weapon: Option<WeaponId>,
        /// Ticks until it can be used.
        ticks: u16,
    },
}

impl MoveExtension for Arms {
    type Config = Arsenal;
    type Input = ArmsInput;
    type State = ArmsState;
    type Event = ArmsEvent;

    fn step(
        arsenal: &Arsenal,
        state: &ArmsState,
        input: &ArmsInput,
        body: &BodyStep,
        ctx: &StepContext,
        events: &mut Vec<ArmsEvent>,
    ) -> ArmsState {
        step::step(arsenal, state, input, body, ctx, events)
    }

    fn kind(state: &ArmsState) -> u32 {
        state.kind()
    }

    fn unattended(last: &ArmsInput) -> ArmsInput {
        // Nobody fires, loads or changes weapons for somebody who is away.
        ArmsInput { aiming: last.aiming, nobodys: true, ..ArmsInput::default() }
    }

    fn config_hash(arsenal: &Arsenal) -> u32 {
        arsenal.hash()
    }
}
