//! All that is predicted about a capsule pawn.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError, look_direction, upright_rotation};

use crate::{BaseId, CapsuleConfig, MovementMode, VolumeId};

/// All that is predicted about a capsule pawn. A step reads nothing else that changes.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct CapsuleState {
    /// The feet, the lowest point of the capsule, in metres.
    pub position: Vec3,
    /// Metres per second, relative to the [`base`](Self::base); level while walking.
    pub velocity: Vec3,
    /// Heading about [`up`](Self::up) in 1/65,536 of a turn; 0 looks along -Z when up is +Y.
    pub yaw: u16,
    /// Elevation in 1/65,536 of a turn; up is positive.
    pub pitch: i16,
    /// Where its head is from its feet, one long: against gravity.
    pub up: Vec3,
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
    /// What it stands on.
    pub base: BaseId,
    /// The feet in the space of the base, in metres; zero without one.
    pub base_position: Vec3,
    /// Metres per second at which the base carries it, in the world.
    pub base_velocity: Vec3,
    /// By how much bases have turned its view, in 1/65,536 of a turn; added to the input's yaw.
    pub base_turn: u16,
    /// The volume that its middle is in.
    pub volume: VolumeId,
    /// Jumps since it last stood.
    pub jumps: u8,
    /// Seconds since it last stood.
    pub air_seconds: f32,
    /// Seconds for which a held button still carries the jump.
    pub jump_hold: f32,
    /// Seconds for which an early press still counts.
    pub jump_buffer: f32,
}

impl Default for CapsuleState {
    fn default() -> Self {
        Self {
            position: Vec3::ZERO,
            velocity: Vec3::ZERO,
            yaw: 0,
            pitch: 0,
            up: Vec3::Y,
            mode: MovementMode::default(),
            crouched: false,
            jump_held: false,
            disabled: false,
            alive: false,
            teleports: 0,
            base: BaseId::NONE,
            base_position: Vec3::ZERO,
            base_velocity: Vec3::ZERO,
            base_turn: 0,
            volume: VolumeId::NONE,
            jumps: 0,
            air_seconds: 0.0,
            jump_hold: 0.0,
            jump_buffer: 0.0,
        }
    }
}

/// Metres from the origin beyond which no pawn gets: a float has no millimetres there.
pub(crate) const MAX_POSITION: f32 = 10_000.0;
/// Metres per second beyond which a velocity is nonsense.
pub(crate) const MAX_VELOCITY: f32 = 1_000.0;
/// Seconds beyond which a timer is nonsense; no timer counts further.
pub(crate) const MAX_TIMER: f32 = 60.0;

impl CapsuleState {
    /// A living pawn with its feet at `position`, falling.
    #[must_use]
    pub fn at(position: Vec3) -> Self {
        // It has not stood for so long that no late jump is due.
        Self { position, alive: true, air_seconds: MAX_TIMER, ..Self::default() }
    }

    /// Puts the pawn somewhere else, at rest and falling.
    pub fn teleport_to(&mut self, position: Vec3) {
        self.position = position;
        self.velocity = Vec3::ZERO;
        self.leave_base();
        self.mode = MovementMode::Falling;
        self.air_seconds = MAX_TIMER;
        self.teleports = self.teleports.wrapping_add(1);
    }

    /// Throws the pawn: knock-back, an explosion, a jump pad. `velocity` is in metres per second
    /// and the world, and is added to the pawn's own; it falls then. Unreal's `LaunchCharacter`. On
    /// the server it reaches the owner as a correction; an ability's
    /// [`Mover::launch`](crate::Mover::launch) and a volume's are predicted.
    pub fn launch(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            let thrown = self.velocity + self.base_velocity + velocity;
            self.velocity = thrown.clamp_length_max(MAX_VELOCITY);
            self.leave_base();
            self.mode = MovementMode::Falling;
            self.jump_hold = 0.0;
            // No late jump on top of it.
            self.air_seconds = MAX_TIMER;
        }
    }

    /// Stands on nothing that moves.
    pub(crate) fn leave_base(&mut self) {
        self.base = BaseId::NONE;
        self.base_position = Vec3::ZERO;
        self.base_velocity = Vec3::ZERO;
    }

    /// Where it looks from, in metres.
    #[must_use]
    pub fn eye(&self, config: &CapsuleConfig) -> Vec3 {
        let height = if self.crouched { config.crouched_eye_height } else { config.eye_height };
        self.position + self.up * height
    }

    /// The direction of view, 1 long.
    #[must_use]
    pub fn look(&self) -> Vec3 {
        let look = look_direction(self.yaw, self.pitch);
        if self.up == Vec3::Y { look } else { upright_rotation(self.up) * look }
    }

    /// How it stands in the world: +Y to its head, turned by its yaw.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        let yaw = Quat::from_rotation_y(bevy_unlag_core::units_to_angle(self.yaw));
        if self.up == Vec3::Y { yaw } else { upright_rotation(self.up) * yaw }
    }

    /// Metres per second in the world, the base's included.
    #[must_use]
    pub fn world_velocity(&self) -> Vec3 {
        self.velocity + self.base_velocity
    }

    /// Whether it stands on a walkable floor.
    #[must_use]
    pub fn is_grounded(&self) -> bool {
        self.mode == MovementMode::Walking
    }

    /// Whether every number in it is one and no timer is absurd.
    pub(crate) fn is_sound(&self) -> bool {
        let vectors = [self.position, self.velocity, self.up, self.base_position, self.base_velocity];
        let timers = [self.air_seconds, self.jump_hold, self.jump_buffer];
        vectors.iter().all(|v| v.is_finite())
            && self.position.abs().max_element() <= MAX_POSITION
            && timers.iter().all(|t| (0.0..=MAX_TIMER).contains(t))
            && (self.up.length_squared() - 1.0).abs() < 1e-3
    }

    /// All that is not continuous, but the teleports, in bits.
    pub(crate) fn kind(&self) -> u32 {
        let flags = [self.crouched, self.jump_held, self.disabled, self.alive]
            .into_iter()
            .fold(self.mode.bits(), |bits, flag| (bits << 1) | u32::from(flag));
        // Odd factors keep the parts apart.
        flags
            ^ u32::from(self.base.0).wrapping_mul(0x27d4_eb2f)
            ^ u32::from(self.volume.0).wrapping_mul(0x1656_67b1)
            ^ u32::from(self.jumps).wrapping_mul(0xc2b2_ae35)
    }
}

/// A pawn that walks takes 31 bytes; a base, a turned up and running timers come on top.
impl Wire for CapsuleState {
    fn write(&self, w: &mut BitWriter) {
        self.position.write(w);
        self.velocity.write(w);
        w.bits(u32::from(self.yaw), 16);
        w.signed(i32::from(self.pitch), 16);
        self.mode.write(w);
        for flag in [self.crouched, self.jump_held, self.disabled, self.alive] {
            w.bool(flag);
        }
        w.bits(u32::from(self.teleports), 8);
        w.bool(self.up != Vec3::Y);
        if self.up != Vec3::Y {
            self.up.write(w);
        }
        let on_base = self.base != BaseId::NONE;
        w.bool(on_base);
        if on_base {
            w.bits(u32::from(self.base.0), 16);
            self.base_position.write(w);
            self.base_velocity.write(w);
        }
        w.bool(self.base_turn != 0);
        if self.base_turn != 0 {
            w.bits(u32::from(self.base_turn), 16);
        }
        w.bool(self.volume != VolumeId::NONE);
        if self.volume != VolumeId::NONE {
            w.bits(u32::from(self.volume.0), 16);
        }
        w.bool(self.jumps != 0);
        if self.jumps != 0 {
            w.bits(u32::from(self.jumps), 8);
        }
        for timer in [self.air_seconds, self.jump_hold, self.jump_buffer] {
            w.bool(timer != 0.0);
            if timer != 0.0 {
                w.bits(timer.to_bits(), 32);
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut state = Self {
            position: Vec3::read(r)?,
            velocity: Vec3::read(r)?,
            yaw: r.bits(16)? as u16,
            pitch: r.signed(16)? as i16,
            mode: MovementMode::read(r)?,
            crouched: r.bool()?,
            jump_held: r.bool()?,
            disabled: r.bool()?,
            alive: r.bool()?,
            teleports: r.bits(8)? as u8,
            ..Self::default()
        };
        if r.bool()? {
            state.up = Vec3::read(r)?;
        }
        if r.bool()? {
            state.base = BaseId(r.bits(16)? as u16);
            if state.base == BaseId::NONE {
                return Err(WireError::Invalid);
            }
            state.base_position = Vec3::read(r)?;
            state.base_velocity = Vec3::read(r)?;
        }
        if r.bool()? {
            state.base_turn = r.bits(16)? as u16;
        }
        if r.bool()? {
            state.volume = VolumeId(r.bits(16)? as u16);
        }
        if r.bool()? {
            state.jumps = r.bits(8)? as u8;
        }
        for timer in [&mut state.air_seconds, &mut state.jump_hold, &mut state.jump_buffer] {
            if r.bool()? {
                *timer = f32::from_bits(r.bits(32)?);
            }
        }
        // Axis by axis: the square of a huge finite number is infinite.
        let beyond = |v: Vec3, limit: f32| v.abs().max_element() > limit;
        let absurd = !state.is_sound()
            || beyond(state.position, MAX_POSITION)
            || beyond(state.base_position, 2.0 * MAX_POSITION)
            || beyond(state.velocity, MAX_VELOCITY)
            || beyond(state.base_velocity, MAX_VELOCITY);
        if absurd { Err(WireError::Invalid) } else { Ok(state) }
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
        state.up = Vec3::new(0.6, -0.8, 0.0);
        state.base = BaseId(7);
        state.base_position = Vec3::new(0.5, 1.5, -2.0);
        state.base_velocity = Vec3::Y;
        state.base_turn = 40_000;
        state.volume = VolumeId(3);
        state.jumps = 2;
        state.air_seconds = 0.25;
        state.jump_buffer = 0.1;
        for mode in [MovementMode::Walking, MovementMode::Swimming, MovementMode::Custom(200)] {
            state.mode = mode;
            assert_eq!(round_trip(state), Ok(state));
        }
    }

    #[test]
    fn absurd_states_are_refused() {
        let far = CapsuleState::at(Vec3::X * 1e30);
        assert_eq!(round_trip(far), Err(WireError::Invalid));
        let nan = CapsuleState { velocity: Vec3::NAN, ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(round_trip(nan), Err(WireError::Invalid));
        let fast = CapsuleState { velocity: Vec3::Y * 2_000.0, ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(round_trip(fast), Err(WireError::Invalid));
        let lying = CapsuleState { up: Vec3::new(3.0, 0.0, 0.0), ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(round_trip(lying), Err(WireError::Invalid));
        let old = CapsuleState { air_seconds: f32::INFINITY, ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(round_trip(old), Err(WireError::Invalid));
    }
}
