//! Predicted state of a kart.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, ExtendedState, PawnClass, Wire, WireError};

use super::{KartInput, heading};
use crate::{
    pawn_capsules::{HasStance, Stance},
    state::{MAX_POSITION, MAX_VELOCITY},
};

/// Largest plausible turn rate in radians per second.
const MAX_SPIN: f32 = 1e4;
/// Longest step in seconds; a longer one is cut off.
pub(super) const MAX_SECONDS: f32 = 0.25;

/// Complete predicted state of a kart: transform, velocity, the last input, and values derived from
/// them. A step reads nothing else that changes.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct KartState {
    /// Lowest point between the wheels, in metres.
    pub position: Vec3,
    /// Velocity in metres per second; along the floor while the wheels are on it.
    pub velocity: Vec3,
    /// Heading about +Y in 1/2^32 of a turn: 0 is along -Z, and it grows to the left.
    pub heading: u32,
    /// Turn rate in radians per second, to the left.
    pub spin: f32,
    /// Driver input of the last step; the visible wheels are turned accordingly.
    pub last_input: KartInput,
    /// Duration of the last step in seconds.
    pub seconds: f32,
    /// Whether the wheels are on a floor.
    pub grounded: bool,
    /// Whether the kart is drawn and collides with others. A dead kart rolls on without a driver.
    pub alive: bool,
    /// Counter of teleports.
    pub teleports: u8,
    /// Class, which selects the configuration; see [`PawnClass`].
    pub class: PawnClass,
}

impl KartState {
    /// Creates a kart at rest in the air at `position`; `yaw` is in 1/65,536 of a turn, and 0 points
    /// along -Z.
    #[must_use]
    pub fn at(position: Vec3, yaw: u16) -> Self {
        Self { position, heading: u32::from(yaw) << 16, alive: true, ..Self::default() }
    }

    /// Moves the kart to another place, at rest, in the air and with the same heading.
    pub fn teleport_to(&mut self, position: Vec3) {
        self.position = position;
        self.velocity = Vec3::ZERO;
        self.spin = 0.0;
        self.grounded = false;
        self.teleports = self.teleports.wrapping_add(1);
    }

    /// Adds to the velocity, in metres per second; an upward push takes the wheels off the floor.
    /// Ignores values that are not finite.
    pub fn shove(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            let most = Vec3::splat(MAX_VELOCITY);
            self.velocity = (self.velocity + velocity.clamp(-most, most)).clamp_length_max(MAX_VELOCITY);
            self.grounded &= velocity.y <= 0.0;
        }
    }

    /// Returns the forward direction, a horizontal unit vector.
    #[must_use]
    pub fn forward(&self) -> Vec3 {
        heading::axes(self.heading).0
    }

    /// Returns the speed along the heading in metres per second; negative is backwards.
    #[must_use]
    pub fn speed(&self) -> f32 {
        self.velocity.dot(self.forward())
    }

    /// Returns the tangent of the path in metres per second. In a curve the kart moves straight for a
    /// tick, along a side of a polygon: its velocity is the direction of the last side, which lags
    /// behind the tangent by half a corner.
    #[must_use]
    pub fn tangent(&self) -> Vec3 {
        let ahead = 0.5 * self.spin * self.seconds;
        let level = self.velocity.with_y(0.0);
        // The turn is small: its cube is negligible.
        level * (1.0 - 0.5 * ahead * ahead) + Vec3::Y.cross(level) * ahead + Vec3::Y * self.velocity.y
    }

    /// Returns the heading in 1/65,536 of a turn.
    #[must_use]
    pub fn yaw(&self) -> u16 {
        heading::rounded(self.heading).0
    }

    /// Returns whether all values are finite and in range.
    pub(crate) fn is_valid(&self) -> bool {
        // Axis by axis, because the square of a huge finite number is infinite. The comparison is false
        // for a NaN.
        let within = |v: Vec3, limit: f32| v.to_array().into_iter().all(|v| v.abs() <= limit);
        within(self.position, MAX_POSITION)
            && within(self.velocity, MAX_VELOCITY)
            && self.spin.abs() <= MAX_SPIN
            && (0.0..=MAX_SECONDS).contains(&self.seconds)
    }
}

impl HasStance for KartState {
    fn stance(&self) -> Stance {
        Stance { feet: self.position, up: Vec3::Y, crouched: false, class: self.class, alive: self.alive }
    }
}

impl<X: Send + Sync + 'static> HasStance for ExtendedState<KartState, X> {
    fn stance(&self) -> Stance {
        self.body.stance()
    }
}

/// A state takes 38 bytes with keys and 40 with an analogue stick; a class other than 0 takes one more.
impl Wire for KartState {
    fn write(&self, w: &mut BitWriter) {
        self.position.write(w);
        self.velocity.write(w);
        w.bits(self.heading, 32);
        w.f32(self.spin);
        self.last_input.write(w);
        w.f32(self.seconds);
        w.bool(self.grounded);
        w.bool(self.alive);
        w.bits(u32::from(self.teleports), 8);
        let has_class = self.class != PawnClass::default();
        w.bool(has_class);
        if has_class {
            self.class.write(w);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let state = Self {
            position: Vec3::read(r)?,
            velocity: Vec3::read(r)?,
            heading: r.bits(32)?,
            spin: r.f32()?,
            last_input: KartInput::read(r)?,
            seconds: r.f32()?,
            grounded: r.bool()?,
            alive: r.bool()?,
            teleports: r.bits(8)? as u8,
            class: if r.bool()? { PawnClass::read(r)? } else { PawnClass::default() },
        };
        if state.is_valid() { Ok(state) } else { Err(WireError::Invalid) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_size_and_round_trip(state: KartState) -> Result<KartState, WireError> {
        let mut w = BitWriter::default();
        state.write(&mut w);
        let most = if state.class == PawnClass::default() { 40 } else { 41 };
        assert!(w.len_bits().div_ceil(8) <= most, "{} bits", w.len_bits());
        KartState::read(&mut BitReader::new(&w.finish()))
    }

    #[test]
    fn state_survives_a_wire_round_trip_bit_by_bit() {
        let mut state = KartState::at(Vec3::new(1.0 / 3.0, -7.1, 4_000.3), 40_000);
        state.teleport_to(Vec3::new(0.1, 0.2, 0.3));
        state.shove(Vec3::new(-0.1, -5.0, 1e-7));
        state.heading ^= 0x1234;
        state.spin = -2.481;
        for last_input in [KartInput::new(1.0, -1.0), KartInput::new(0.3, 0.7)] {
            for (grounded, class) in [(false, PawnClass(0)), (true, PawnClass(0)), (true, PawnClass(255))] {
                let state = KartState { last_input, grounded, class, ..state };
                assert_eq!(assert_size_and_round_trip(state), Ok(state));
            }
        }
    }

    #[test]
    fn out_of_range_and_truncated_states_are_rejected() {
        let usual = KartState::at(Vec3::ONE, 0);
        assert_eq!(assert_size_and_round_trip(usual), Ok(usual));
        for hostile in [
            KartState { position: Vec3::X * 1e30, ..usual },
            KartState { position: Vec3::NAN, ..usual },
            KartState { velocity: Vec3::Y * 2_000.0, ..usual },
            KartState { velocity: Vec3::splat(f32::INFINITY), ..usual },
            KartState { velocity: Vec3::splat(f32::MAX), ..usual },
            KartState { spin: f32::NAN, ..usual },
            KartState { spin: -1e9, ..usual },
            KartState { seconds: -1.0, ..usual },
            KartState { seconds: 1e3, ..usual },
        ] {
            assert_eq!(assert_size_and_round_trip(hostile), Err(WireError::Invalid), "{hostile:?}");
        }
        let mut w = BitWriter::default();
        usual.write(&mut w);
        let bytes = w.finish();
        for length in 0..bytes.len() {
            assert_eq!(KartState::read(&mut BitReader::new(&bytes[..length])), Err(WireError::Ended));
        }
    }

    #[test]
    fn shove_ignores_non_finite_and_clamps_huge_velocities() {
        let mut state = KartState::at(Vec3::ONE, 0);
        let before = state;
        state.shove(Vec3::NAN);
        assert_eq!(state, before);
        state.shove(Vec3::splat(f32::MAX));
        assert!(state.is_valid(), "{state:?}");
    }
}
