//! Predicted state of a capsule pawn.

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, PawnClass, TimeDilation, Wire, WireError, look_direction, upright_rotation,
    with_defaults,
};

use crate::{base::BaseId, config::CapsuleConfig, mode::MovementMode, volume::VolumeId};

with_defaults! {
    /// Complete predicted state of a capsule pawn. A step reads nothing else that changes.
    #[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
    #[reflect(Component, Debug, Default)]
    pub struct CapsuleState {
        /// Position of the feet, the lowest point of the capsule, in metres.
        pub position: Vec3 = Vec3::ZERO;
        /// Velocity in metres per second of the pawn's own time, relative to the [`base`](Self::base); horizontal
        /// while walking. [`world_velocity`](Self::world_velocity) is the one in the world.
        pub velocity: Vec3 = Vec3::ZERO;
        /// Heading about [`up`](Self::up) in 1/65,536 of a turn; 0 looks along -Z when up is +Y.
        pub yaw: u16 = 0;
        /// Pitch in 1/65,536 of a turn; up is positive.
        pub pitch: i16 = 0;
        /// Unit vector from the feet to the head, against gravity.
        pub up: Vec3 = Vec3::Y;
        /// Movement mode.
        pub mode: MovementMode = MovementMode::default();
        /// Whether the capsule has its crouched height.
        pub crouched: bool = false;
        /// Whether the jump button was down in the last step: a jump needs a new press.
        pub jump_held: bool = false;
        /// Whether input is ignored, such as after death. The pawn still falls and brakes.
        pub disabled: bool = false;
        /// Whether the pawn is drawn and can be hit.
        pub alive: bool = false;
        /// Class, which selects the configuration; see [`PawnClass`].
        pub class: PawnClass = PawnClass(0);
        /// Rate of the pawn's own time: movement, timers, abilities and weapons follow it. Set it by
        /// [`CapsulePush::TimeDilation`](crate::CapsulePush::TimeDilation) or
        /// [`Mover::set_time_dilation`](crate::Mover::set_time_dilation). Default 1, which costs nothing; others cost
        /// a correction two bytes.
        #[doc(alias = "CustomTimeDilation")]
        pub time_dilation: TimeDilation = TimeDilation::NORMAL;
        /// Counter of teleports.
        pub teleports: u8 = 0;
        /// Movement base that the pawn stands on.
        pub base: BaseId = BaseId::NONE;
        /// Position of the feet in the space of the base, in metres; zero without a base.
        pub base_position: Vec3 = Vec3::ZERO;
        /// Velocity of the base at the pawn in metres per second of the pawn's own time, in world space.
        pub base_velocity: Vec3 = Vec3::ZERO;
        /// Angle by which bases have turned the view, in 1/65,536 of a turn; added to the input's yaw.
        pub base_turn: u16 = 0;
        /// Volume that contains the middle of the standing capsule.
        pub volume: VolumeId = VolumeId::NONE;
        /// Number of jumps since the pawn last stood.
        pub jumps: u8 = 0;
        /// Time in seconds since the pawn last stood.
        pub air_seconds: f32 = 0.0;
        /// Remaining time in seconds for which a held button continues the jump.
        pub jump_hold: f32 = 0.0;
        /// Remaining time in seconds for which an early press still counts.
        pub jump_buffer: f32 = 0.0;
    }
}

/// Largest coordinate of a pawn in metres; a float has no millimetre precision beyond it.
pub(crate) const MAX_POSITION: f32 = 10_000.0;
/// Largest plausible speed in metres per second.
pub(crate) const MAX_VELOCITY: f32 = 1_000.0;
/// Largest value of a timer in seconds; timers stop there, and larger ones from the network are
/// rejected.
pub(crate) const MAX_TIMER: f32 = 60.0;

impl CapsuleState {
    /// Creates a living pawn with its feet at `position`, falling.
    #[must_use]
    pub fn at(position: Vec3) -> Self {
        // In the air for so long that no coyote jump is possible.
        Self { position, alive: true, air_seconds: MAX_TIMER, ..Self::default() }
    }

    /// Moves the pawn to another place, at rest and falling.
    pub fn teleport_to(&mut self, position: Vec3) {
        self.position = position;
        self.velocity = Vec3::ZERO;
        self.leave_base();
        self.mode = MovementMode::Falling;
        self.air_seconds = MAX_TIMER;
        self.teleports = self.teleports.wrapping_add(1);
    }

    /// Launches the pawn: knock-back, an explosion, a jump pad. Adds `velocity`, in metres per second
    /// and in world space, to the pawn's own, and makes it fall. Unreal's `LaunchCharacter`. A launch on
    /// the server reaches the owner as a correction; launches by an ability's
    /// [`Mover::launch`](crate::Mover::launch) and by a volume are predicted.
    #[doc(alias = "LaunchCharacter")]
    pub fn launch(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            let thrown = self.velocity + self.base_velocity + velocity;
            self.velocity = thrown.clamp_length_max(MAX_VELOCITY);
            self.leave_base();
            self.mode = MovementMode::Falling;
            self.jump_hold = 0.0;
            // No coyote jump in addition.
            self.air_seconds = MAX_TIMER;
        }
    }

    /// Changes the rate of the pawn's own time. The velocity in that time stays: in the world the pawn is as much
    /// slower or faster at once.
    pub(crate) fn set_time_dilation(&mut self, time_dilation: TimeDilation) {
        if time_dilation != self.time_dilation {
            // The base moves on as before.
            self.base_velocity *= self.time_dilation.factor() / time_dilation.factor();
            self.time_dilation = time_dilation;
        }
    }

    /// Detaches the pawn from its movement base.
    pub(crate) fn leave_base(&mut self) {
        self.base = BaseId::NONE;
        self.base_position = Vec3::ZERO;
        self.base_velocity = Vec3::ZERO;
    }

    /// Returns the position of the eyes in metres.
    #[must_use]
    pub fn eye(&self, config: &CapsuleConfig) -> Vec3 {
        let config = config.class(self.class);
        let height = if self.crouched { config.crouched_eye_height } else { config.eye_height };
        self.position + self.up * height
    }

    /// Returns the view direction, a unit vector.
    #[must_use]
    pub fn look(&self) -> Vec3 {
        let look = look_direction(self.yaw, self.pitch);
        if self.up == Vec3::Y { look } else { upright_rotation(self.up) * look }
    }

    /// Returns the rotation of the body in world space: +Y points to the head, and the yaw is applied.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        let yaw = Quat::from_rotation_y(bevy_unlag_core::units_to_angle(self.yaw));
        if self.up == Vec3::Y { yaw } else { upright_rotation(self.up) * yaw }
    }

    /// Returns the velocity in world space, including that of the base, in metres per second of the world's time.
    #[must_use]
    pub fn world_velocity(&self) -> Vec3 {
        (self.velocity + self.base_velocity) * self.time_dilation.factor()
    }

    /// Returns whether the pawn stands on a walkable floor.
    #[must_use]
    pub fn is_grounded(&self) -> bool {
        self.mode == MovementMode::Walking
    }

    /// Returns whether all values are finite and in range.
    pub(crate) fn is_valid(&self) -> bool {
        let vectors = [self.position, self.velocity, self.up, self.base_position, self.base_velocity];
        let timers = [self.air_seconds, self.jump_hold, self.jump_buffer];
        vectors.iter().all(|v| v.is_finite())
            && self.position.abs().max_element() <= MAX_POSITION
            && timers.iter().all(|t| (0.0..=MAX_TIMER).contains(t))
            && (self.up.length_squared() - 1.0).abs() < 1e-3
    }

    /// Hashes everything discrete except the teleport counter.
    pub(crate) fn kind(&self) -> u32 {
        let flags = [self.crouched, self.jump_held, self.disabled, self.alive]
            .into_iter()
            .fold(self.mode.bits(), |bits, flag| (bits << 1) | u32::from(flag));
        // Odd factors keep equal values from cancelling out.
        flags
            ^ u32::from(self.base.0).wrapping_mul(0x27d4_eb2f)
            ^ u32::from(self.volume.0).wrapping_mul(0x1656_67b1)
            ^ u32::from(self.jumps).wrapping_mul(0xc2b2_ae35)
            ^ u32::from(self.class.0).wrapping_mul(0x1b87_3593)
            ^ self.time_dilation.kind().wrapping_mul(0x85eb_ca6b)
    }
}

/// Writes a value; the usual one takes one bit.
pub(crate) fn write_unless<T: Wire + PartialEq>(usual: T, value: T, w: &mut BitWriter) {
    w.bool(value != usual);
    if value != usual {
        value.write(w);
    }
}

/// Reads what [`write_unless`] wrote.
pub(crate) fn read_unless<T: Wire>(usual: T, r: &mut BitReader<'_>) -> Result<T, WireError> {
    if r.bool()? { T::read(r) } else { Ok(usual) }
}

/// The state of a walking pawn takes 31 bytes; a base, an up direction other than +Y and running timers
/// add to that.
impl Wire for CapsuleState {
    fn write(&self, w: &mut BitWriter) {
        self.position.write(w);
        self.velocity.write(w);
        self.yaw.write(w);
        self.pitch.write(w);
        self.mode.write(w);
        for flag in [self.crouched, self.jump_held, self.disabled, self.alive] {
            w.bool(flag);
        }
        self.teleports.write(w);
        // Few pawns have one or the other: together they take one bit.
        let usual = (PawnClass(0), TimeDilation::NORMAL);
        w.bool((self.class, self.time_dilation) != usual);
        if (self.class, self.time_dilation) != usual {
            self.class.write(w);
            write_unless(usual.1, self.time_dilation, w);
        }
        write_unless(Vec3::Y, self.up, w);
        w.bool(self.base != BaseId::NONE);
        if self.base != BaseId::NONE {
            self.base.write(w);
            self.base_position.write(w);
            self.base_velocity.write(w);
        }
        write_unless(0, self.base_turn, w);
        write_unless(VolumeId::NONE, self.volume, w);
        write_unless(0, self.jumps, w);
        for timer in [self.air_seconds, self.jump_hold, self.jump_buffer] {
            write_unless(0.0, timer, w);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut state = Self {
            position: Vec3::read(r)?,
            velocity: Vec3::read(r)?,
            yaw: u16::read(r)?,
            pitch: i16::read(r)?,
            mode: MovementMode::read(r)?,
            crouched: r.bool()?,
            jump_held: r.bool()?,
            disabled: r.bool()?,
            alive: r.bool()?,
            teleports: u8::read(r)?,
            ..Self::default()
        };
        if r.bool()? {
            state.class = PawnClass::read(r)?;
            state.time_dilation = read_unless(TimeDilation::NORMAL, r)?;
        }
        state.up = read_unless(Vec3::Y, r)?;
        if r.bool()? {
            state.base = BaseId::read(r)?;
            if state.base == BaseId::NONE {
                return Err(WireError::Invalid);
            }
            state.base_position = Vec3::read(r)?;
            state.base_velocity = Vec3::read(r)?;
        }
        state.base_turn = read_unless(0, r)?;
        state.volume = read_unless(VolumeId::NONE, r)?;
        state.jumps = read_unless(0, r)?;
        for timer in [&mut state.air_seconds, &mut state.jump_hold, &mut state.jump_buffer] {
            *timer = read_unless(0.0, r)?;
        }
        // Axis by axis, because the square of a huge finite number is infinite.
        let beyond = |v: Vec3, limit: f32| v.abs().max_element() > limit;
        let absurd = !state.is_valid()
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
    fn state_survives_a_wire_round_trip_bit_by_bit() {
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
        for (class, factor) in [(0, 0.25), (3, 1.0), (3, 4.0)] {
            (state.class, state.time_dilation) = (PawnClass(class), TimeDilation::new(factor));
            assert_eq!(round_trip(state), Ok(state));
        }
    }

    #[test]
    fn time_dilation_costs_no_bit_while_it_is_normal() {
        let bits = |state: CapsuleState| {
            let mut w = BitWriter::default();
            state.write(&mut w);
            w.len_bits()
        };
        let usual =
            CapsuleState { mode: MovementMode::Walking, air_seconds: 0.0, ..CapsuleState::at(Vec3::ZERO) };
        assert_eq!(bits(usual).div_ceil(8), 31, "{} bits", bits(usual));
        let slow = CapsuleState { time_dilation: TimeDilation::new(0.5), ..usual };
        assert_eq!(bits(slow), bits(usual) + 17);
    }

    #[test]
    fn out_of_range_states_are_rejected() {
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
