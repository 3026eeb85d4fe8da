//! What a scripted player does, as data.

use bevy::math::{Vec2, Vec3};
use bevy_unlag_movement::CapsuleInput;

use crate::pawn::{PawnInput, Taps, input};

/// What is held down, and where it looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Keys {
    /// Forwards, -1 to 1.
    pub forward: f32,
    /// Degrees upwards.
    pub pitch: f32,
    /// Whether the jump button is down.
    pub jump: bool,
    /// Whether the crouch button is down.
    pub crouch: bool,
    /// Whether the button for a slow walk is down.
    pub walk: bool,
    /// Whether the teleport button is down.
    pub teleport: bool,
    /// Whether the dash button is down.
    pub dash: bool,
}

/// Nothing.
pub const IDLE: Keys =
    Keys { forward: 0.0, pitch: 0.0, jump: false, crouch: false, walk: false, teleport: false, dash: false };

/// Straight ahead.
pub const FORWARD: Keys = Keys { forward: 1.0, ..IDLE };

impl Keys {
    /// The input of one tick, headed `yaw` radians to the left of -Z.
    pub fn input(&self, yaw: f32) -> PawnInput {
        let mut body =
            CapsuleInput { jump: self.jump, crouch: self.crouch, walk: self.walk, ..CapsuleInput::default() };
        body.set_axes(Vec2::new(0.0, self.forward));
        body.set_look(f64::from(yaw), f64::from(self.pitch.to_radians()));
        input(body, Taps { teleport: self.teleport, dash: self.dash })
    }
}

/// One thing to do. Places are relative to the station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Act {
    /// Holds keys for some seconds, looking along -Z.
    Hold(f32, Keys),
    /// Walks straight to a place on the level, with keys held, or gives up.
    Go {
        /// The place along X.
        x: f32,
        /// The place along Z.
        z: f32,
        /// When it gives up.
        seconds: f32,
        /// What is held besides.
        keys: Keys,
    },
    /// Stands until a base comes to a place, or gives up.
    Arrival {
        /// Which base.
        base: u16,
        /// Where its middle comes to.
        at: Vec3,
        /// When it gives up.
        seconds: f32,
    },
}

/// [`Act::Hold`].
pub const fn hold(seconds: f32, keys: Keys) -> Act {
    Act::Hold(seconds, keys)
}

/// [`Act::Go`] with nothing else held.
pub const fn go(x: f32, z: f32, seconds: f32) -> Act {
    go_with(x, z, seconds, IDLE)
}

/// [`Act::Go`].
pub const fn go_with(x: f32, z: f32, seconds: f32, keys: Keys) -> Act {
    Act::Go { x, z, seconds, keys: Keys { forward: 1.0, ..keys } }
}

/// [`Act::Arrival`].
pub const fn arrival(base: u16, at: Vec3, seconds: f32) -> Act {
    Act::Arrival { base, at, seconds }
}
