//! What everyone but the owner learns of a pawn at one tick.

mod wire;

use bevy::prelude::*;

use crate::{BaseView, PoseSample, Tick, Up, base::heading, units_to_angle};

/// A position travels in 1/1024 m: rounding is at most 0.5 mm.
pub const POSITION_UNITS_PER_METRE: f32 = 1024.0;
/// A velocity travels in 1/32 m/s.
pub const VELOCITY_UNITS_PER_METRE: f32 = 32.0;
/// An acceleration travels in 1/2 m/s².
pub const ACCELERATION_UNITS_PER_METRE: f32 = 2.0;
/// A spin travels in 1/1024 turn a second.
pub const SPIN_UNITS_PER_TURN: f32 = 1024.0;

/// Bits of one position axis: ± 8,192 m.
const POSITION_BITS: u32 = 24;
/// Bits of one velocity axis: ± 128 m/s.
const VELOCITY_BITS: u32 = 13;

/// What everyone but the owner learns of a pawn, already quantised, so that the server's memory
/// of it and the client's are the same bits.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// The server's tick whose step ended in this state.
    pub tick: Tick,
    /// The movement base that places and directions below are relative to; 0 is the world.
    pub base: u16,
    /// Whether its heading is relative to that base as well, because its view turns with it.
    pub turns_with_base: bool,
    /// The root, in 1/1024 m: ± 8,192 m.
    pub position: [i32; 3],
    /// With which it leaves, in 1/32 m/s: ± 128 m/s.
    pub velocity: [i16; 3],
    /// How it arrived, where that is something else: it landed, hit something or was hit. `None`:
    /// as it leaves.
    pub arrival: Option<Arrival>,
    /// In 1/2 m/s²; zero unless the pawn is to be simulated to the present.
    pub acceleration: [i8; 3],
    /// Against gravity.
    pub up: Up,
    /// Heading about [`up`](Self::up), 65,536 units a turn. The least that travels is 16 of them, 0.09°,
    /// or half of that beside a [`spin`](Self::spin).
    pub yaw: u16,
    /// How fast the heading turns, in 1/1024 turn a second; `None` when the model does not say, as
    /// for a player's view: it then turns evenly.
    pub spin: Option<i16>,
    /// Elevation of the view, 256 units a turn; up is positive. A quarter turn travels at most.
    pub pitch: i8,
    /// How far crouched: 0 stands, 255 is down.
    pub crouch: u8,
    /// Whether the pawn can be drawn and hit.
    pub alive: bool,
    /// Whether it stands on something.
    pub grounded: bool,
    /// Whether gravity pulls it.
    pub falling: bool,
    /// Counts teleports, lowest two bits: a pose is never interpolated across a change.
    pub teleports: u8,
}

/// How a pawn came to where a [`Snapshot`] shows it, when it left in another way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arrival {
    /// In 1/32 m/s.
    pub velocity: [i16; 3],
    /// In 1/1024 turn a second; `None` when the snapshot has none.
    pub spin: Option<i16>,
}

/// The nearest whole number of units within `bits` bits; 0 for what is no number.
fn units(value: f32, scale: f32, bits: u32) -> i32 {
    let bound = ((1i32 << (bits - 1)) - 1) as f32;
    // A NaN casts to 0.
    (value * scale).round().clamp(-bound, bound) as i32
}

impl Snapshot {
    /// Quantises what a model knows, in metres and metres per second of the world. Values beyond the range
    /// of the wire are clamped; a value that is not finite becomes 0.
    #[must_use]
    pub fn new(tick: Tick, position: Vec3, velocity: Vec3) -> Self {
        Self {
            tick,
            position: Self::position_units(position),
            velocity: Self::velocity_units(velocity),
            alive: true,
            ..Self::default()
        }
    }

    fn position_units(position: Vec3) -> [i32; 3] {
        position.to_array().map(|v| units(v, POSITION_UNITS_PER_METRE, POSITION_BITS))
    }

    /// A velocity as it travels.
    #[must_use]
    pub fn velocity_units(velocity: Vec3) -> [i16; 3] {
        velocity.to_array().map(|v| units(v, VELOCITY_UNITS_PER_METRE, VELOCITY_BITS) as i16)
    }

    /// An acceleration as it travels, in metres per second squared: up to 63 of them.
    #[must_use]
    pub fn acceleration_units(acceleration: Vec3) -> [i8; 3] {
        acceleration.to_array().map(|v| units(v, ACCELERATION_UNITS_PER_METRE, 8) as i8)
    }

    /// A spin, in radians per second, as it travels: up to 200 of them.
    #[must_use]
    pub fn spin_units(spin: f32) -> i16 {
        units(spin / core::f32::consts::TAU, SPIN_UNITS_PER_TURN, 16) as i16
    }

    /// The same relative to a movement base, whose pose `bases` knows at the moment of this
    /// snapshot. `position` is where the pawn exactly is; `turns` says whether its view turns with the
    /// base. As it is when there is no such base.
    #[must_use]
    pub fn on_base(self, base: u16, position: Vec3, turns: bool, bases: &BaseView<'_>) -> Self {
        let Some(pose) = bases.pose(base) else { return self };
        let local: Vec3 = (pose.inverse() * position.to_vec3a()).into();
        let velocity = pose.rotation.inverse() * (self.velocity() - bases.velocity(base, local));
        Self {
            base,
            position: Self::position_units(local),
            velocity: Self::velocity_units(velocity),
            yaw: if turns {
                self.yaw.wrapping_sub(crate::angle_to_units(heading(pose.rotation)))
            } else {
                self.yaw
            },
            turns_with_base: turns,
            ..self
        }
    }

    /// With no more in it than travels, so that the server's memory and the client's are the same.
    #[must_use]
    pub fn as_sent(self) -> Self {
        let step = if self.spin.is_some() { 8 } else { 16 };
        let place = (1i32 << (POSITION_BITS - 1)) - 1;
        let speed = |velocity: [i16; 3]| {
            let most = (1i16 << (VELOCITY_BITS - 1)) - 1;
            velocity.map(|v| v.clamp(-most, most))
        };
        let arrival = self.arrival.map(|arrival| Arrival {
            velocity: speed(arrival.velocity),
            spin: self.spin.map(|spin| arrival.spin.unwrap_or(spin)),
        });
        Self {
            position: self.position.map(|v| v.clamp(-place, place)),
            velocity: speed(self.velocity),
            arrival,
            turns_with_base: self.turns_with_base && self.base != 0,
            yaw: self.yaw.wrapping_add(step / 2) & !(step - 1),
            pitch: self.pitch.clamp(-64, 63),
            teleports: self.teleports & 3,
            ..self
        }
    }

    /// The root, in metres.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        Vec3::from_array(self.position.map(|v| v as f32 / POSITION_UNITS_PER_METRE))
    }

    /// Metres per second, with which it leaves.
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        Self::metres(self.velocity)
    }

    /// Metres per second, with which it arrived.
    #[must_use]
    pub fn arrival_velocity(&self) -> Vec3 {
        Self::metres(self.arrival.map_or(self.velocity, |arrival| arrival.velocity))
    }

    fn metres(velocity: [i16; 3]) -> Vec3 {
        Vec3::from_array(velocity.map(|v| f32::from(v) / VELOCITY_UNITS_PER_METRE))
    }

    /// Metres per second squared.
    #[must_use]
    pub fn acceleration(&self) -> Vec3 {
        Vec3::from_array(self.acceleration.map(|v| f32::from(v) / ACCELERATION_UNITS_PER_METRE))
    }

    /// Radians per second about its up, with which it leaves.
    #[must_use]
    pub fn spin(&self) -> Option<f32> {
        self.spin.map(Self::radians)
    }

    /// Radians per second about its up, with which it arrived.
    #[must_use]
    pub fn arrival_spin(&self) -> Option<f32> {
        self.arrival.map_or(self.spin, |arrival| arrival.spin).map(Self::radians)
    }

    fn radians(spin: i16) -> f32 {
        f32::from(spin) / SPIN_UNITS_PER_TURN * core::f32::consts::TAU
    }

    /// How it stands: +Y to its head, turned by its heading.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        standing(self.up, units_to_angle(self.yaw))
    }

    /// Elevation of the view in radians.
    #[must_use]
    pub fn pitch(&self) -> f32 {
        f32::from(self.pitch) / 256.0 * core::f32::consts::TAU
    }

    /// The pose that it shows. `bases` says where movement bases are on the screen that is drawn,
    /// or was.
    #[must_use]
    pub fn pose(&self, bases: &BaseView<'_>) -> PoseSample {
        PoseSample::from(self).onto(self.base, self.turns_with_base, bases)
    }

    /// Whether a pose may be interpolated from this snapshot to `next`.
    #[must_use]
    pub fn continues_to(&self, next: &Self) -> bool {
        self.teleports & 3 == next.teleports & 3 && self.alive == next.alive
    }

    /// Whether a curve leads to `next`, in one space.
    pub(crate) fn leads_to(&self, next: &Self) -> bool {
        self.continues_to(next) && self.base == next.base
    }
}

/// +Y to its head, turned by its heading in radians.
pub(crate) fn standing(up: Up, yaw: f32) -> Quat {
    let yaw = Quat::from_rotation_y(yaw);
    if up == Up::Y { yaw } else { up.rotation() * yaw }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_values_are_clamped_not_wrapped() {
        let snapshot = Snapshot::new(Tick(0), Vec3::new(f32::NAN, 1e9, -1e9), Vec3::splat(f32::INFINITY));
        assert_eq!(snapshot.position()[0], 0.0);
        assert!(snapshot.position()[1] > 8_191.0 && snapshot.position()[2] < -8_191.0);
        assert!(snapshot.velocity()[0] > 127.0);
    }
}
