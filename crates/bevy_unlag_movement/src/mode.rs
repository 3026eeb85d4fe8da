//! How a pawn moves, and what leads from one way of moving to another.

use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};

/// How a pawn moves. Unreal's `EMovementMode`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Hash, serde::Serialize, serde::Deserialize)]
pub enum MovementMode {
    /// On a walkable floor.
    Walking,
    /// In the air.
    #[default]
    Falling,
    /// In a volume of water.
    Swimming,
    /// Free of gravity and floor.
    Flying,
    /// A mode that the game has registered: its place in
    /// [`CapsuleConfig::custom_modes`](crate::CapsuleConfig::custom_modes). See
    /// [`CapsuleConfig::register_mode`](crate::CapsuleConfig::register_mode).
    Custom(u8),
}

impl MovementMode {
    /// A number for [`MoveModel::kind`](bevy_unlag_core::MoveModel::kind).
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

/// Built-in modes take 3 bits, custom ones 11.
impl Wire for MovementMode {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.bits().min(4), 3);
        if let Self::Custom(id) = self {
            w.bits(u32::from(*id), 8);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(match r.bits(3)? {
            0 => Self::Walking,
            1 => Self::Falling,
            2 => Self::Swimming,
            3 => Self::Flying,
            4 => Self::Custom(r.bits(8)? as u8),
            _ => return Err(WireError::Invalid),
        })
    }
}

/// Which mode follows what, as data. A pawn in a [`MovementMode::Custom`] mode follows the
/// table of that mode.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Transitions {
    /// Feet met a walkable floor. Default: [`MovementMode::Walking`].
    pub landed: MovementMode,
    /// The floor ended, or the pawn jumped. Default: [`MovementMode::Falling`].
    pub airborne: MovementMode,
    /// The middle of the capsule, as it stands, came into water. Default: [`MovementMode::Swimming`].
    pub submerged: MovementMode,
    /// The middle of the capsule left the water. Default: [`MovementMode::Falling`].
    pub surfaced: MovementMode,
}

impl Default for Transitions {
    fn default() -> Self {
        Self {
            landed: MovementMode::Walking,
            airborne: MovementMode::Falling,
            submerged: MovementMode::Swimming,
            surfaced: MovementMode::Falling,
        }
    }
}

/// What a custom mode does with the capsule.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum ModePhysics {
    /// Along a floor: steps, slopes, ledges. A slide, a crawl.
    Walk,
    /// Under gravity, and lands. A wall run, a glide.
    Fall,
    /// In all directions, with friction and without gravity. A ladder, a hook.
    #[default]
    Fly,
    /// Nothing: the game's [`MoveAbility::custom`](crate::MoveAbility::custom) moves it.
    Ability,
}

/// The tuning of a mode that a game registers.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct CustomMode {
    /// Its name, for [`CapsuleConfig::mode_named`](crate::CapsuleConfig::mode_named).
    pub name: String,
    /// What it does with the capsule. Default: [`ModePhysics::Fly`].
    pub physics: ModePhysics,
    /// Metres per second; default 6.
    pub max_speed: f32,
    /// Metres per second squared; default 20.48.
    pub acceleration: f32,
    /// Per second; default 8. How fast the velocity turns to a new direction, and how hard a pawn
    /// without input brakes in proportion to its speed. 0 slides on.
    pub friction: f32,
    /// Metres per second squared; default 20.48. The constant part of braking.
    pub braking_deceleration: f32,
    /// Times the config's gravity; default 1. Only [`ModePhysics::Fall`] falls.
    pub gravity_scale: f32,
    /// Whether jumping is possible, as from a floor. Default: true.
    pub can_jump: bool,
    /// What leads out of it.
    pub transitions: Transitions,
}

impl Default for CustomMode {
    fn default() -> Self {
        Self {
            name: String::new(),
            physics: ModePhysics::default(),
            max_speed: 6.0,
            acceleration: 20.48,
            friction: 8.0,
            braking_deceleration: 20.48,
            gravity_scale: 1.0,
            can_jump: true,
            transitions: Transitions::default(),
        }
    }
}
