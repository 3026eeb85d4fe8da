//! All that is predicted about a capsule pawn.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError, look_direction};

use crate::CapsuleConfig;

/// How a pawn moves.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Hash)]
pub enum MovementMode {
    /// On a walkable floor.
    Walking,
    /// In the air.
    #[default]
    Falling,
}

/// All that is predicted about a capsule pawn. A step reads nothing else that changes.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub struct CapsuleState {
    /// The feet, the lowest point of the capsule, in metres.
    pub position: Vec3,
    /// Metres per second; level while walking.
    pub velocity: Vec3,
    /// Heading about +Y in 1/65,536 of a turn; 0 looks along -Z.
    pub yaw: u16,
    /// Elevation in 1/65,536 of a turn; up is positive.
    pub pitch: i16,
    /// How it moves.
    pub mode: MovementMode,
    /// Whether the capsule is shrunk.
    pub crouched: bool,
    /// Whether the jump button was down in the last step: a jump needs a new press.
    pub jump_held: bool,
    /// Whether input is ignored, such as after death. The pawn still falls and brakes.
    pub disabled: bool,
    /// Whether the pawn can be drawn and hit.
    pub alive: bool,
    /// Counts teleports.
    pub teleports: u8,
}

/// Metres from the origin beyond which no pawn gets: a float has no millimetres there.
pub(crate) const MAX_POSITION: f32 = 10_000.0;
/// Metres per second beyond which a velocity is nonsense.
const MAX_VELOCITY: f32 = 1_000.0;

impl CapsuleState {
    /// A living pawn with its feet at `position`, falling.
    #[must_use]
    pub fn at(position: Vec3) -> Self {
        Self { position, alive: true, ..Self::default() }
    }

    /// Puts the pawn somewhere else, at rest and falling.
    pub fn teleport_to(&mut self, position: Vec3) {
        self.position = position;
        self.velocity = Vec3::ZERO;
        self.mode = MovementMode::Falling;
        self.teleports = self.teleports.wrapping_add(1);
    }

    /// Where it looks from, in metres.
    #[must_use]
    pub fn eye(&self, config: &CapsuleConfig) -> Vec3 {
        let height = if self.crouched { config.crouched_eye_height } else { config.eye_height };
        self.position + Vec3::Y * height
    }

    /// The direction of view, 1 long.
    #[must_use]
    pub fn look(&self) -> Vec3 {
        look_direction(self.yaw, self.pitch)
    }

    /// Whether it stands on a walkable floor.
    #[must_use]
    pub fn is_grounded(&self) -> bool {
        self.mode == MovementMode::Walking
    }

    /// Whether every number in it is one.
    pub(crate) fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.is_finite()
    }

    /// All that is not continuous, but the teleports, in bits.
    pub(crate) fn kind(&self) -> u32 {
        [self.is_grounded(), self.crouched, self.jump_held, self.disabled, self.alive]
            .into_iter()
            .fold(0, |bits, flag| (bits << 1) | u32::from(flag))
    }
}

impl Wire for CapsuleState {
    fn write(&self, w: &mut BitWriter) {
        self.position.write(w);
        self.velocity.write(w);
        w.bits(u32::from(self.yaw), 16);
        w.signed(i32::from(self.pitch), 16);
        w.bool(self.is_grounded());
        w.bool(self.crouched);
        w.bool(self.jump_held);
        w.bool(self.disabled);
        w.bool(self.alive);
        w.bits(u32::from(self.teleports), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let state = Self {
            position: Vec3::read(r)?,
            velocity: Vec3::read(r)?,
            yaw: r.bits(16)? as u16,
            pitch: r.signed(16)? as i16,
            mode: if r.bool()? { MovementMode::Walking } else { MovementMode::Falling },
            crouched: r.bool()?,
            jump_held: r.bool()?,
            disabled: r.bool()?,
            alive: r.bool()?,
            teleports: r.bits(8)? as u8,
        };
        // Axis by axis: the square of a huge finite number is infinite.
        let far = state.position.abs().max_element() > MAX_POSITION;
        let fast = state.velocity.abs().max_element() > MAX_VELOCITY;
        if far || fast { Err(WireError::Invalid) } else { Ok(state) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(state: CapsuleState) -> Result<CapsuleState, WireError> {
        let mut w = BitWriter::default();
        state.write(&mut w);
        CapsuleState::read(&mut BitReader::new(&w.finish()))
    }

    #[test]
    fn a_state_survives_the_wire_bit_by_bit() {
        let mut state = CapsuleState::at(Vec3::new(1.0 / 3.0, -7.1, 4_000.3));
        state.teleport_to(Vec3::new(0.1, 0.2, 0.3));
        state.velocity = Vec3::new(-0.1, 5.0, 1e-7);
        state.pitch = -9_000;
        state.crouched = true;
        assert_eq!(round_trip(state), Ok(state));
    }

    #[test]
    fn absurd_states_are_refused() {
        let far = CapsuleState::at(Vec3::X * 1e30);
        assert_eq!(round_trip(far), Err(WireError::Invalid));
        let nan = CapsuleState { velocity: Vec3::NAN, ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(round_trip(nan), Err(WireError::Invalid));
        let fast = CapsuleState { velocity: Vec3::Y * 2_000.0, ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(round_trip(fast), Err(WireError::Invalid));
    }
}
