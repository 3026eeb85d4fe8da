//! Variable-length bit packing of snapshots: about 12 bytes for a pawn that runs in an arena.

use bevy::prelude::*;

use super::{Arrival, POSITION_BITS, Snapshot, VELOCITY_BITS};
use crate::{
    tick::Tick,
    up::Up,
    wire::{BitReader, BitWriter, WireError},
};

/// Returns the number of bits of a signed number; 0 needs none.
fn width(value: i32) -> u32 {
    if value == 0 { 0 } else { 33 - (if value < 0 { !value } else { value }).leading_zeros() }
}

/// Writes the two horizontal axes with a common width.
fn write_level(w: &mut BitWriter, [x, _, z]: [i32; 3], header: u32) {
    let level = width(x).max(width(z));
    w.bits(level, header);
    w.signed(x, level);
    w.signed(z, level);
}

fn read_level(r: &mut BitReader<'_>, header: u32, limit: u32) -> Result<[i32; 3], WireError> {
    let level = read_width(r, header, limit)?;
    Ok([axis(r, level)?, 0, axis(r, level)?])
}

/// Writes all axes. The vertical axis has a width of its own, because most pawns stand on a floor.
fn write_axes(w: &mut BitWriter, axes: [i32; 3], header: u32) {
    write_level(w, axes, header);
    let y = axes[1];
    w.bits(width(y), header);
    w.signed(y, width(y));
}

fn read_axes(r: &mut BitReader<'_>, header: u32, limit: u32) -> Result<[i32; 3], WireError> {
    let [x, _, z] = read_level(r, header, limit)?;
    let own = read_width(r, header, limit)?;
    Ok([x, axis(r, own)?, z])
}

fn read_width(r: &mut BitReader<'_>, header: u32, limit: u32) -> Result<u32, WireError> {
    let width = r.bits(header)?;
    if width > limit { Err(WireError::Invalid) } else { Ok(width) }
}

fn axis(r: &mut BitReader<'_>, width: u32) -> Result<i32, WireError> {
    if width == 0 { Ok(0) } else { r.signed(width) }
}

/// Writes a velocity with a prefix: one bit for zero, two for horizontal or for any direction.
fn write_velocity(w: &mut BitWriter, velocity: [i16; 3]) {
    let axes = velocity.map(i32::from);
    w.bool(axes != [0; 3]);
    if axes == [0; 3] {
        return;
    }
    w.bool(axes[1] != 0);
    if axes[1] != 0 {
        write_axes(w, axes, 4);
    } else {
        write_level(w, axes, 4);
    }
}

fn read_velocity(r: &mut BitReader<'_>) -> Result<[i16; 3], WireError> {
    // One bit more than a velocity: the difference of two velocities.
    const LIMIT: u32 = VELOCITY_BITS + 1;
    if !r.bool()? {
        return Ok([0; 3]);
    }
    let axes = if r.bool()? { read_axes(r, 4, LIMIT)? } else { read_level(r, 4, LIMIT)? };
    Ok(axes.map(|v| v as i16))
}

/// Writes the state flags. The common combinations (on a floor, in the air, neither) take two bits, all
/// others three more.
fn write_state_flags(w: &mut BitWriter, [alive, grounded, falling]: [bool; 3]) {
    let common = match [alive, grounded, falling] {
        [true, true, false] => 0,
        [true, false, true] => 1,
        [true, false, false] => 2,
        _ => 3,
    };
    w.bits(common, 2);
    if common == 3 {
        for flag in [alive, grounded, falling] {
            w.bool(flag);
        }
    }
}

fn read_state_flags(r: &mut BitReader<'_>) -> Result<[bool; 3], WireError> {
    Ok(match r.bits(2)? {
        0 => [true, true, false],
        1 => [true, false, true],
        2 => [true, false, false],
        _ => [r.bool()?, r.bool()?, r.bool()?],
    })
}

/// Position and velocity that the reader knows, and to which a snapshot is relative: zero, those of another snapshot
/// in the same update and on the same base, or expected ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Near {
    pub position: [i32; 3],
    pub velocity: [i16; 3],
}

impl From<&Snapshot> for Near {
    fn from(snapshot: &Snapshot) -> Self {
        Self { position: snapshot.position, velocity: snapshot.velocity }
    }
}

impl Snapshot {
    /// Appends all fields but the tick.
    pub(crate) fn write_body(&self, near: &Near, w: &mut BitWriter) {
        write_state_flags(w, [self.alive, self.grounded, self.falling]);
        w.bits(u32::from(self.teleports & 3), 2);
        let off: [i32; 3] = core::array::from_fn(|i| self.position[i] - near.position[i]);
        write_axes(w, off, 5);
        write_velocity(w, core::array::from_fn(|i| self.velocity[i].saturating_sub(near.velocity[i])));
        w.bits(u32::from(self.yaw >> 4), 12);
        w.signed(i32::from(self.pitch.clamp(-64, 63)), 7);
        let optional_fields = self.optional_fields();
        w.bool(optional_fields.contains(&true));
        if !optional_fields.contains(&true) {
            return;
        }
        for flag in optional_fields {
            w.bool(flag);
        }
        if self.base != 0 {
            w.golomb(self.base, 4);
            w.bool(self.turns_with_base);
        }
        if self.crouch != 0 {
            w.bits(u32::from(self.crouch), 8);
        }
        if self.up != Up::Y {
            for axis in self.up.bits() {
                w.signed(i32::from(axis), 8);
            }
        }
        if let Some(spin) = self.spin {
            w.bool(self.yaw & 8 != 0);
            w.signed_golomb(spin, 6);
        }
        if self.acceleration != [0; 3] {
            write_axes(w, self.acceleration.map(i32::from), 4);
        }
        if let Some(arrival) = self.arrival {
            write_velocity(w, core::array::from_fn(|i| arrival.velocity[i] - self.velocity[i]));
            if let Some(spin) = self.spin {
                w.signed_golomb(arrival.spin.unwrap_or(spin), 6);
            }
        }
    }

    /// Returns which of the optional fields are present. Most snapshots have none.
    fn optional_fields(&self) -> [bool; 6] {
        [
            self.base != 0,
            self.crouch != 0,
            self.up != Up::Y,
            self.spin.is_some(),
            self.acceleration != [0; 3],
            self.arrival.is_some(),
        ]
    }

    /// Reads what [`write_body`](Self::write_body) wrote.
    pub(crate) fn read_body(tick: Tick, near: &Near, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let [alive, grounded, falling] = read_state_flags(r)?;
        let teleports = r.bits(2)? as u8;
        let off = read_axes(r, 5, POSITION_BITS + 1)?;
        let bound = (1i32 << (POSITION_BITS - 1)) - 1;
        let position: [i32; 3] = core::array::from_fn(|i| near.position[i] + off[i]);
        if position.iter().any(|v| v.abs() > bound) {
            return Err(WireError::Invalid);
        }
        let off = read_velocity(r)?;
        let velocity: [i16; 3] = core::array::from_fn(|i| near.velocity[i] + off[i]);
        if velocity.iter().any(|v| v.abs() >= 1 << (VELOCITY_BITS - 1)) {
            return Err(WireError::Invalid);
        }
        let yaw = (r.bits(12)? << 4) as u16;
        let pitch = r.signed(7)? as i8;
        let mut snapshot = Self {
            tick,
            position,
            velocity,
            yaw,
            pitch,
            alive,
            grounded,
            falling,
            teleports,
            ..Self::default()
        };
        if !r.bool()? {
            return Ok(snapshot);
        }
        let mut optional_fields = [false; 6];
        for flag in &mut optional_fields {
            *flag = r.bool()?;
        }
        let [base, crouch, up, spin, acceleration, arrival] = optional_fields;
        if base {
            snapshot.base = r.golomb(4)?;
            snapshot.turns_with_base = r.bool()? && snapshot.base != 0;
        }
        if crouch {
            snapshot.crouch = r.bits(8)? as u8;
        }
        if up {
            snapshot.up = Up::from_bits([r.signed(8)? as i8, r.signed(8)? as i8]);
        }
        if spin {
            snapshot.yaw |= u16::from(r.bool()?) << 3;
            snapshot.spin = Some(r.signed_golomb(6)?);
        }
        if acceleration {
            snapshot.acceleration = read_axes(r, 4, 8)?.map(|v| v as i8);
        }
        if arrival {
            let off = read_velocity(r)?;
            let velocity = core::array::from_fn(|i| snapshot.velocity[i].saturating_add(off[i]));
            let spin = if spin { Some(r.signed_golomb(6)?) } else { None };
            snapshot.arrival = Some(Arrival { velocity, spin });
        }
        Ok(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(snapshot: Snapshot) -> (Result<Snapshot, WireError>, usize) {
        let mut w = BitWriter::default();
        let near = Near { position: [5, -7, 9], ..default() };
        snapshot.write_body(&near, &mut w);
        let bits = w.len_bits();
        (Snapshot::read_body(snapshot.tick, &near, &mut BitReader::new(&w.finish())), bits)
    }

    #[test]
    fn snapshot_round_trips_with_and_without_optional_fields() {
        let runner = Snapshot {
            yaw: 40_000,
            pitch: -20,
            grounded: true,
            teleports: 2,
            ..Snapshot::new(Tick(77), Vec3::new(-12.5, 0.002, 17.0), Vec3::new(6.0, 0.0, 0.5))
        };
        let (read, bits) = round_trip(runner);
        assert_eq!(read, Ok(runner));
        assert!(bits <= 12 * 8, "{bits} bits");
        let odd = Snapshot {
            base: 900,
            turns_with_base: true,
            crouch: 128,
            up: Up::new(Vec3::new(0.3, -1.0, 0.2)),
            yaw: 40_008,
            spin: Some(-7_000),
            acceleration: [-128, 127, 3],
            arrival: Some(Arrival { velocity: [-4_000, 4_095, 12], spin: Some(30_000) }),
            falling: true,
            ..Snapshot::new(Tick(77), Vec3::new(-8_000.0, 3.25, 8_000.0), Vec3::new(-100.0, 100.0, 0.5))
        };
        assert_eq!(round_trip(odd).0, Ok(odd));
        let stander = Snapshot { alive: false, ..Snapshot::default() };
        assert_eq!(round_trip(stander).0, Ok(stander));
    }

    #[test]
    fn arbitrary_bits_are_rejected_or_give_bounded_values() {
        let near = Near { position: [8_000_000; 3], velocity: [4_095; 3] };
        for seed in 0..4_000u32 {
            let bytes: Vec<u8> =
                (0..40u32).map(|i| ((seed * 40 + i).wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            if let Ok(snapshot) = Snapshot::read_body(Tick(0), &near, &mut BitReader::new(&bytes)) {
                assert!(snapshot.position().abs().max_element() < 8_192.0);
                assert!(snapshot.arrival_velocity().is_finite());
            }
        }
    }
}
