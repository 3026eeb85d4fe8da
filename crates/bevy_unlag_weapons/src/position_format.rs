//! Wire format of positions.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, WireError, wire_format::WireFormat};

/// Position in steps of a fraction of a metre, the same number of bits for each axis.
pub(crate) struct PositionFormat {
    /// Steps per metre.
    pub units: f32,
    /// Bits per axis.
    pub bits: u32,
}

impl PositionFormat {
    /// Rounds to what the wire can represent.
    pub fn rounded(&self, position: Vec3) -> Vec3 {
        Vec3::from_array(position.to_array().map(|v| steps(v, self.units, self.bits) as f32 / self.units))
    }
}

impl WireFormat<Vec3> for PositionFormat {
    fn write(&self, position: &Vec3, w: &mut BitWriter) {
        for axis in position.to_array() {
            w.signed(steps(axis, self.units, self.bits), self.bits);
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Vec3, WireError> {
        let mut axis = || r.signed(self.bits).map(|steps| steps as f32 / self.units);
        Ok(Vec3::new(axis()?, axis()?, axis()?))
    }
}

/// Returns the nearest number of steps that fits into a signed number of so many bits; 0 for NaN.
pub(crate) fn steps(value: f32, units: f32, bits: u32) -> i32 {
    let bound = ((1_u32 << (bits - 1)) - 1) as f32;
    (value * units).round().clamp(-bound, bound) as i32
}
