//! Quantised state of a pawn at one tick, as it is sent to clients other than the owner.

mod encoding;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

pub(crate) use encoding::Near;

use crate::{
    angle::{angle_to_units, units_to_angle},
    base_poses::{BaseView, heading},
    pose_sample::PoseSample,
    tick::Tick,
    up::Up,
};

/// Resolution of positions on the wire: 1/1024 m, so rounding errors are at most 0.5 mm.
pub const POSITION_UNITS_PER_METRE: f32 = 1024.0;
/// Resolution of velocities on the wire: 1/32 m/s.
pub const VELOCITY_UNITS_PER_METRE: f32 = 32.0;
/// Resolution of accelerations on the wire: 1/2 m/s².
pub const ACCELERATION_UNITS_PER_METRE: f32 = 2.0;
/// Resolution of turn rates on the wire: 1/1024 turn per second.
pub const SPIN_UNITS_PER_TURN: f32 = 1024.0;

/// Bits per position axis: ± 8,192 m.
pub(crate) const POSITION_BITS: u32 = 24;
/// Bits per velocity axis: ± 128 m/s.
const VELOCITY_BITS: u32 = 13;

/// Replicated state of a remote pawn at one tick. It is already quantised, so that the histories of server
/// and client hold the same bits.
#[doc(alias = "FRepMovement")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct Snapshot {
    /// Server tick whose step ended in this state.
    pub tick: Tick,
    /// Movement base that the position, velocity and heading below are relative to; 0 is the world.
    #[doc(alias = "FBasedMovementInfo")]
    pub base: u16,
    /// Whether the heading is relative to that base as well, because the view turns with it.
    pub turns_with_base: bool,
    /// Position of the root in 1/1024 m: ± 8,192 m.
    pub position: [i32; 3],
    /// Departure velocity in 1/32 m/s: ± 128 m/s.
    pub velocity: [i16; 3],
    /// Arrival velocity and spin if they differ from the departure ones, because the pawn landed, hit
    /// something or was hit. `None`: it arrived as it departs.
    pub arrival: Option<Arrival>,
    /// Acceleration in 1/2 m/s². Zero unless the pawn is simulated to the server's present.
    pub acceleration: [i8; 3],
    /// Up direction, against gravity.
    pub up: Up,
    /// Heading about [`up`](Self::up), 65,536 units per turn. It is sent in steps of 16 units (0.09°), or of
    /// 8 units together with a [`spin`](Self::spin).
    pub yaw: u16,
    /// Turn rate of the heading, in 1/1024 turn per second. `None` if the model does not provide it, as for
    /// a player's view: the heading is then interpolated linearly.
    pub spin: Option<i16>,
    /// Pitch of the view, 256 units per turn; up is positive. At most a quarter turn is sent.
    pub pitch: i8,
    /// Crouch amount: 0 is standing, 255 fully crouched.
    pub crouch: u8,
    /// Whether the pawn can be drawn and hit.
    pub alive: bool,
    /// Whether the pawn stands on something.
    pub grounded: bool,
    /// Whether gravity acts on the pawn.
    pub falling: bool,
    /// Teleport counter, of which the lowest two bits are sent. No pose is interpolated across a change.
    pub teleports: u8,
}

/// Velocity and spin with which a pawn arrived at a [`Snapshot`], where they differ from those with which it
/// departs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct Arrival {
    /// Velocity in 1/32 m/s.
    pub velocity: [i16; 3],
    /// Turn rate in 1/1024 turn per second; `None` if the snapshot has no spin.
    pub spin: Option<i16>,
}

/// Rounds to the nearest unit, clamped to `bits` bits; 0 for NaN.
fn units(value: f32, scale: f32, bits: u32) -> i32 {
    let bound = ((1i32 << (bits - 1)) - 1) as f32;
    // A NaN casts to 0.
    (value * scale).round().clamp(-bound, bound) as i32
}

impl Snapshot {
    /// Quantises a position in metres and a velocity in metres per second, both in the world. Values beyond
    /// the range of the wire format are clamped; NaN becomes 0.
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

    /// Quantises a velocity in metres per second.
    #[must_use]
    pub fn velocity_units(velocity: Vec3) -> [i16; 3] {
        velocity.to_array().map(|v| units(v, VELOCITY_UNITS_PER_METRE, VELOCITY_BITS) as i16)
    }

    /// Quantises an acceleration in metres per second squared, clamped to ± 63 m/s².
    #[must_use]
    pub fn acceleration_units(acceleration: Vec3) -> [i8; 3] {
        acceleration.to_array().map(|v| units(v, ACCELERATION_UNITS_PER_METRE, 8) as i8)
    }

    /// Quantises a turn rate in radians per second, clamped to ± 200 rad/s.
    #[must_use]
    pub fn spin_units(spin: f32) -> i16 {
        units(spin / core::f32::consts::TAU, SPIN_UNITS_PER_TURN, 16) as i16
    }

    /// Converts the snapshot to the space of a movement base, whose pose `bases` holds at the tick of this
    /// snapshot. Returns it unchanged if there is no such base.
    ///
    /// `position` is the unrounded position of the pawn in the world; `turns`: whether its view turns with
    /// the base.
    #[must_use]
    pub fn on_base(self, base: u16, position: Vec3, turns: bool, bases: &BaseView<'_>) -> Self {
        let Some(pose) = bases.pose(base) else { return self };
        let local: Vec3 = (pose.inverse() * position.to_vec3a()).into();
        let velocity = pose.rotation.inverse() * (self.velocity() - bases.velocity(base, local));
        Self {
            base,
            position: Self::position_units(local),
            velocity: Self::velocity_units(velocity),
            yaw: if turns { self.yaw.wrapping_sub(angle_to_units(heading(pose.rotation))) } else { self.yaw },
            turns_with_base: turns,
            ..self
        }
    }

    /// Rounds and clamps all fields to what the wire format can represent, so that the histories of server
    /// and client agree.
    #[must_use]
    pub fn quantised(self) -> Self {
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

    /// Returns the position of the root, in metres.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        Vec3::from_array(self.position.map(|v| v as f32 / POSITION_UNITS_PER_METRE))
    }

    /// Returns the departure velocity, in metres per second.
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        Self::metres(self.velocity)
    }

    /// Returns the arrival velocity, in metres per second.
    #[must_use]
    pub fn arrival_velocity(&self) -> Vec3 {
        Self::metres(self.arrival.map_or(self.velocity, |arrival| arrival.velocity))
    }

    /// Returns the velocity of a straight line from another snapshot, `seconds` before, in wire units.
    pub(crate) fn chord_units(&self, from: &Self, seconds: f32) -> [i16; 3] {
        Self::velocity_units((self.position() - from.position()) / seconds)
    }

    /// Returns whether the pawn moved to this snapshot in a straight line from the one a tick before: its velocity
    /// jumped at the start of the tick, and it arrived with that of the line. A cubic would begin with the velocity
    /// from before the jump.
    pub(crate) fn arrives_straight_from(&self, from: &Self, seconds: f32) -> bool {
        self.arrival.is_some_and(|arrival| {
            self.tick.since(from.tick) == 1 && arrival.velocity == self.chord_units(from, seconds)
        })
    }

    fn metres(velocity: [i16; 3]) -> Vec3 {
        Vec3::from_array(velocity.map(|v| f32::from(v) / VELOCITY_UNITS_PER_METRE))
    }

    /// Returns the acceleration, in metres per second squared.
    #[must_use]
    pub fn acceleration(&self) -> Vec3 {
        Vec3::from_array(self.acceleration.map(|v| f32::from(v) / ACCELERATION_UNITS_PER_METRE))
    }

    /// Returns the departure turn rate about the up axis, in radians per second.
    #[must_use]
    pub fn spin(&self) -> Option<f32> {
        self.spin.map(Self::radians)
    }

    /// Returns the arrival turn rate about the up axis, in radians per second.
    #[must_use]
    pub fn arrival_spin(&self) -> Option<f32> {
        self.arrival.map_or(self.spin, |arrival| arrival.spin).map(Self::radians)
    }

    fn radians(spin: i16) -> f32 {
        f32::from(spin) / SPIN_UNITS_PER_TURN * core::f32::consts::TAU
    }

    /// Returns the orientation: +Y points to the head, turned by the heading.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        orientation(self.up, units_to_angle(self.yaw))
    }

    /// Returns the pitch of the view, in radians.
    #[must_use]
    pub fn pitch(&self) -> f32 {
        f32::from(self.pitch) / 256.0 * core::f32::consts::TAU
    }

    /// Returns the pose in the world. `bases` holds the poses of movement bases as the screen shows or
    /// showed them.
    #[must_use]
    pub fn pose(&self, bases: &BaseView<'_>) -> PoseSample {
        PoseSample::from(self).to_world(self.base, self.turns_with_base, bases)
    }

    /// Returns whether poses may be interpolated from this snapshot to `next`.
    #[must_use]
    pub fn continues_to(&self, next: &Self) -> bool {
        self.teleports & 3 == next.teleports & 3 && self.alive == next.alive
    }

    /// Returns whether a curve may lead to `next`: no teleport in between, and the same base.
    pub(crate) fn is_continuous_with(&self, next: &Self) -> bool {
        self.continues_to(next) && self.base == next.base
    }
}

/// Pose in the space of the snapshot's base. Use [`Snapshot::pose`] for the pose in the world.
impl From<&Snapshot> for PoseSample {
    fn from(s: &Snapshot) -> Self {
        Self {
            position: s.position(),
            velocity: s.velocity(),
            acceleration: s.acceleration(),
            rotation: s.rotation(),
            spin: s.spin().unwrap_or(0.0),
            pitch: s.pitch(),
            crouch: f32::from(s.crouch) / 255.0,
            alive: s.alive,
            grounded: s.grounded,
            falling: s.falling,
        }
    }
}

/// Returns the orientation with +Y along `up`, turned by a heading in radians.
pub(crate) fn orientation(up: Up, yaw: f32) -> Quat {
    let yaw = Quat::from_rotation_y(yaw);
    if up == Up::Y { yaw } else { up.rotation() * yaw }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_wire_range_are_clamped_and_nan_becomes_zero() {
        let snapshot = Snapshot::new(Tick(0), Vec3::new(f32::NAN, 1e9, -1e9), Vec3::splat(f32::INFINITY));
        assert_eq!(snapshot.position()[0], 0.0);
        assert!(snapshot.position()[1] > 8_191.0 && snapshot.position()[2] < -8_191.0);
        assert!(snapshot.velocity()[0] > 127.0);
    }
}
