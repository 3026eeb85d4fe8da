//! Movement modes and the transitions between them.

use bevy::prelude::*;
use bevy_unlag_core::{Wire, with_defaults};
use serde::{Deserialize, Serialize};

/// Movement mode of a pawn. Unreal's `EMovementMode`. As a component of a pawn it is for display: on every machine
/// the mode in which the pawn is drawn.
///
/// On the wire built-in modes take 3 bits, custom modes 11.
#[doc(alias = "EMovementMode")]
#[derive(
    Component, Wire, Clone, Copy, PartialEq, Eq, Default, Debug, Hash, Serialize, Deserialize, Reflect,
)]
#[reflect(Component, Debug, Default)]
pub enum MovementMode {
    /// Walks on a floor.
    #[doc(alias = "MOVE_Walking")]
    Walking,
    /// Falls, or rises in a jump.
    #[default]
    Falling,
    /// Swims in a volume of water.
    Swimming,
    /// Flies, without gravity or floor.
    Flying,
    /// Custom mode of the game: the index into
    /// [`CapsuleConfig::custom_modes`](crate::CapsuleConfig::custom_modes). See
    /// [`CapsuleConfig::register_mode`](crate::CapsuleConfig::register_mode).
    #[doc(alias = "MOVE_Custom")]
    Custom(u8),
}

impl MovementMode {
    /// Returns a unique number, for [`MoveModel::kind`](bevy_unlag_core::MoveModel::kind).
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Walking => 0,
            Self::Falling => 1,
            Self::Swimming => 2,
            Self::Flying => 3,
            Self::Custom(id) => 4 + u32::from(id),
        }
    }
}

with_defaults! {
    /// Table of mode transitions. A pawn in a [`MovementMode::Custom`] mode uses the table of that mode.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
    pub struct Transitions {
        /// Mode after landing on a walkable floor. Default: [`MovementMode::Walking`].
        pub landed: MovementMode = MovementMode::Walking;
        /// Mode after walking off a ledge or jumping. Default: [`MovementMode::Falling`].
        pub airborne: MovementMode = MovementMode::Falling;
        /// Mode when the middle of the standing capsule enters water. Default: [`MovementMode::Swimming`].
        pub submerged: MovementMode = MovementMode::Swimming;
        /// Mode when the middle of the standing capsule leaves the water. Default:
        /// [`MovementMode::Falling`].
        pub surfaced: MovementMode = MovementMode::Falling;
    }
}

/// Physics of a custom mode.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, Reflect)]
pub enum ModePhysics {
    /// Moves along a floor with steps, slopes and ledges, such as for a slide or a crawl.
    Walk,
    /// Moves under gravity and lands, such as for a wall run or a glide.
    Fall,
    /// Moves in all directions with friction and without gravity, such as for a ladder or a grappling
    /// hook.
    #[default]
    Fly,
    /// Does nothing: the game's [`MoveAbility::custom`](crate::MoveAbility::custom) moves the pawn.
    Ability,
}

with_defaults! {
    /// Tuning of a custom mode. Unreal's `MOVE_Custom`.
    #[doc(alias = "PhysCustom")]
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, Reflect)]
    pub struct CustomMode {
        /// Name for [`CapsuleConfig::mode_named`](crate::CapsuleConfig::mode_named).
        pub name: String = String::new();
        /// Physics of the mode. Default: [`ModePhysics::Fly`].
        pub physics: ModePhysics = ModePhysics::default();
        /// Speed at full input in metres per second; default 6.
        pub max_speed: f32 = 6.0;
        /// Acceleration by input in metres per second squared; default 20.48.
        pub acceleration: f32 = 20.48;
        /// Rate at which the velocity turns to a new direction, per second, and the part of braking without
        /// input that is proportional to the speed; default 8. At 0 the pawn keeps sliding.
        pub friction: f32 = 8.0;
        /// Constant part of braking, in metres per second squared; default 20.48.
        pub braking_deceleration: f32 = 20.48;
        /// Factor on the config's gravity; default 1. Only [`ModePhysics::Fall`] falls.
        pub gravity_scale: f32 = 1.0;
        /// Whether the pawn can jump as from a floor. Default: true.
        pub can_jump: bool = true;
        /// Transitions out of the mode.
        pub transitions: Transitions = Transitions::default();
    }
}
