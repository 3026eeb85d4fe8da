//! Scripted input as data.

use bevy::math::{Vec2, Vec3};
use bevy_unlag_movement::CapsuleInput;

use crate::pawn::{AbilityButtons, PawnInput, input};

/// Held keys, and the view pitch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Keys {
    /// Forward axis, -1 to 1.
    pub forward: f32,
    /// View pitch upwards, in degrees.
    pub pitch: f32,
    /// Whether the jump button is down.
    pub jump: bool,
    /// Whether the crouch button is down.
    pub crouch: bool,
    /// Whether the walk button is down.
    pub walk: bool,
    /// Whether the teleport button is down.
    pub teleport: bool,
    /// Whether the dash button is down.
    pub dash: bool,
}

/// Neutral input.
pub const IDLE: Keys =
    Keys { forward: 0.0, pitch: 0.0, jump: false, crouch: false, walk: false, teleport: false, dash: false };

/// Straight ahead.
pub const FORWARD: Keys = Keys { forward: 1.0, ..IDLE };

impl Keys {
    /// Returns the input of one tick, facing `yaw` radians to the left of -Z.
    pub fn input(&self, yaw: f32) -> PawnInput {
        let mut body =
            CapsuleInput { jump: self.jump, crouch: self.crouch, walk: self.walk, ..CapsuleInput::default() };
        body.set_axes(Vec2::new(0.0, self.forward));
        body.set_look(f64::from(yaw), f64::from(self.pitch.to_radians()));
        input(body, AbilityButtons { teleport: self.teleport, dash: self.dash })
    }
}

/// One action of a script. Positions are relative to the station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Act {
    /// Holds keys for a number of seconds, facing -Z.
    Hold(f32, Keys),
    /// Walks straight to a ground position with keys held, until it arrives or times out.
    Go {
        /// Target along X.
        x: f32,
        /// Target along Z.
        z: f32,
        /// Timeout in seconds.
        seconds: f32,
        /// Other held keys.
        keys: Keys,
    },
    /// Stands until a base arrives at a position, or the wait times out.
    Arrival {
        /// Id of the base.
        base: u16,
        /// Position that its centre arrives at.
        at: Vec3,
        /// Timeout in seconds.
        seconds: f32,
    },
}

/// Creates an [`Act::Hold`].
pub const fn hold(seconds: f32, keys: Keys) -> Act {
    Act::Hold(seconds, keys)
}

/// Creates an [`Act::Go`] without any other keys.
pub const fn go(x: f32, z: f32, seconds: f32) -> Act {
    go_with(x, z, seconds, IDLE)
}

/// Creates an [`Act::Go`].
pub const fn go_with(x: f32, z: f32, seconds: f32, keys: Keys) -> Act {
    Act::Go { x, z, seconds, keys: Keys { forward: 1.0, ..keys } }
}

/// Creates an [`Act::Arrival`].
pub const fn arrival(base: u16, at: Vec3, seconds: f32) -> Act {
    Act::Arrival { base, at, seconds }
}
