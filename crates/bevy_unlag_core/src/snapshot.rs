//! What everyone but the owner learns of a pawn at one tick.

use bevy::prelude::*;

use crate::{BitReader, BitWriter, Tick, Up, Wire, WireError, units_to_angle};

/// A position travels in 1/1024 m: rounding is at most 0.5 mm.
pub const POSITION_UNITS_PER_METRE: f32 = 1024.0;
/// A velocity travels in 1/64 m/s.
pub const VELOCITY_UNITS_PER_METRE: f32 = 64.0;

/// Bits of one position axis: ± 512 m.
const POSITION_BITS: u32 = 20;
/// Bits of one velocity axis: ± 64 m/s.
const VELOCITY_BITS: u32 = 13;

/// What everyone but the owner learns of a pawn, already quantised, so that the server's memory
/// of it and the client's are the same bits.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// The server's tick whose step ended in this state.
    pub tick: Tick,
    /// The root, in 1/1024 m.
    pub position: [i32; 3],
    /// In 1/64 m/s.
    pub velocity: [i16; 3],
    /// Against gravity.
    pub up: Up,
    /// Heading about [`up`](Self::up), 65,536 units a turn.
    pub yaw: u16,
    /// Elevation of the view, 256 units a turn; up is positive.
    pub pitch: i8,
    /// How far crouched: 0 stands, 255 is down.
    pub crouch: u8,
    /// Whether the pawn can be drawn and hit.
    pub alive: bool,
    /// Whether it stands on something.
    pub grounded: bool,
    /// Counts teleports, lowest four bits: a pose is never interpolated across a change.
    pub teleports: u8,
}

impl Snapshot {
    /// Quantises what a model knows. Values beyond the range of the wire are clamped; a value
    /// that is not finite becomes 0.
    #[must_use]
    pub fn new(tick: Tick, position: Vec3, velocity: Vec3) -> Self {
        let limit = |value: f32, scale: f32, bits: u32| {
            let bound = ((1i32 << (bits - 1)) - 1) as f32;
            // A NaN casts to 0.
            (value * scale).round().clamp(-bound, bound) as i32
        };
        Self {
            tick,
            position: position.to_array().map(|v| limit(v, POSITION_UNITS_PER_METRE, POSITION_BITS)),
            velocity: velocity.to_array().map(|v| limit(v, VELOCITY_UNITS_PER_METRE, VELOCITY_BITS) as i16),
            alive: true,
            ..Self::default()
        }
    }

    /// The root, in metres.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        Vec3::from_array(self.position.map(|v| v as f32 / POSITION_UNITS_PER_METRE))
    }

    /// Metres per second.
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        Vec3::from_array(self.velocity.map(|v| f32::from(v) / VELOCITY_UNITS_PER_METRE))
    }

    /// How it stands: +Y to its head, turned by its heading.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        let yaw = Quat::from_rotation_y(units_to_angle(self.yaw));
        if self.up == Up::Y { yaw } else { self.up.rotation() * yaw }
    }

    /// Elevation of the view in radians.
    #[must_use]
    pub fn pitch(&self) -> f32 {
        f32::from(self.pitch) / 256.0 * core::f32::consts::TAU
    }

    /// Whether a pose may be interpolated from this snapshot to `next`.
    #[must_use]
    pub fn continues_to(&self, next: &Self) -> bool {
        self.teleports & 15 == next.teleports & 15 && self.alive == next.alive
    }
}

impl Wire for Snapshot {
    fn write(&self, w: &mut BitWriter) {
        self.tick.write(w);
        for axis in self.position {
            w.signed(axis, POSITION_BITS);
        }
        for axis in self.velocity {
            w.signed(i32::from(axis), VELOCITY_BITS);
        }
        w.bool(self.up != Up::Y);
        if self.up != Up::Y {
            for axis in self.up.bits() {
                w.signed(i32::from(axis), 8);
            }
        }
        w.bits(u32::from(self.yaw), 16);
        w.signed(i32::from(self.pitch), 8);
        w.bits(u32::from(self.crouch), 8);
        w.bool(self.alive);
        w.bool(self.grounded);
        w.bits(u32::from(self.teleports & 15), 4);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let tick = Tick::read(r)?;
        let mut position = [0; 3];
        for axis in &mut position {
            *axis = r.signed(POSITION_BITS)?;
        }
        let mut velocity = [0; 3];
        for axis in &mut velocity {
            *axis = r.signed(VELOCITY_BITS)? as i16;
        }
        let up = if r.bool()? { Up::from_bits([r.signed(8)? as i8, r.signed(8)? as i8]) } else { Up::Y };
        Ok(Self {
            tick,
            position,
            velocity,
            up,
            yaw: r.bits(16)? as u16,
            pitch: r.signed(8)? as i8,
            crouch: r.bits(8)? as u8,
            alive: r.bool()?,
            grounded: r.bool()?,
            teleports: r.bits(4)? as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_survives_the_wire() {
        let tilted = Snapshot { up: Up::new(Vec3::new(0.3, -1.0, 0.2)), ..Snapshot::default() };
        let mut w = BitWriter::default();
        tilted.write(&mut w);
        assert_eq!(Snapshot::read(&mut BitReader::new(&w.finish())), Ok(tilted));
        let snapshot = Snapshot {
            yaw: 40_000,
            pitch: -20,
            crouch: 128,
            grounded: true,
            teleports: 9,
            ..Snapshot::new(Tick(77), Vec3::new(-12.5, 3.25, 400.0), Vec3::new(6.0, -20.0, 0.5))
        };
        let mut w = BitWriter::default();
        snapshot.write(&mut w);
        assert!(w.len_bits() - 32 <= 18 * 8, "{} bits beside the tick", w.len_bits() - 32);
        assert_eq!(Snapshot::read(&mut BitReader::new(&w.finish())), Ok(snapshot));
    }

    #[test]
    fn absurd_values_are_clamped_not_wrapped() {
        let snapshot = Snapshot::new(Tick(0), Vec3::new(f32::NAN, 1e9, -1e9), Vec3::splat(f32::INFINITY));
        assert_eq!(snapshot.position()[0], 0.0);
        assert!(snapshot.position()[1] > 511.0 && snapshot.position()[2] < -511.0);
        assert!(snapshot.velocity()[0] > 63.0);
    }
}
