//! Compact checksum of the state after a move, by which the server detects a misprediction.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, MoveModel, Tick, Wire, WireError};

/// Checksum of a move's result on the client, 35 bits: the lowest bits of the position, and a hash of the
/// state's [`kind`](MoveModel::kind) and teleport count. In every eighth packet the position is coarser and
/// has a longer range, and the hash differs from tick to tick, so that a difference invisible to one check
/// shows in one of the next.
#[doc(alias = "checksum")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateCheck {
    position: [u16; 3],
    kind: u8,
    /// Derived from the sequence number of the packet, not sent with the check.
    coarse: bool,
}

impl StateCheck {
    const BITS: u32 = 9;
    const FINE: f32 = 256.0;
    const COARSE: f32 = 1.0;

    /// Returns the check of a state that resulted from the move of `tick`.
    #[must_use]
    pub fn of<M: MoveModel>(state: &M::State, tick: Tick, coarse: bool) -> Self {
        let kind = M::kind(state) ^ (u32::from(M::teleports(state) & 15) << 28);
        Self::new(M::position(state), kind, tick, coarse)
    }

    fn new(position: Vec3, kind: u32, tick: Tick, coarse: bool) -> Self {
        let scale = if coarse { Self::COARSE } else { Self::FINE };
        let low = |v: f32| (f64::from(v * scale).round() as i64 & ((1 << Self::BITS) - 1)) as u16;
        // Finalizer of MurmurHash3: every bit of the kind and the tick affects every bit that is sent.
        let mut mixed = kind ^ tick.0.wrapping_mul(0x9e37_79b1);
        mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
        mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
        Self { position: position.to_array().map(low), kind: (mixed ^ (mixed >> 16)) as u8, coarse }
    }

    /// Returns whether this is a coarse check: longer range, lower resolution.
    #[must_use]
    pub fn is_coarse(self) -> bool {
        self.coarse
    }

    /// Returns the same bits as a coarse or a fine check.
    #[must_use]
    pub(crate) fn read_as(self, coarse: bool) -> Self {
        Self { coarse, ..self }
    }

    /// Returns the vector in metres from the other's position to this one, for two checks of the same tick.
    /// Fine checks are right up to 1 m per axis, coarse ones up to 256 m with a resolution of 1 m.
    #[must_use]
    pub fn difference(self, other: Self) -> Vec3 {
        let unused = 16 - Self::BITS;
        let scale = if self.coarse { Self::COARSE } else { Self::FINE };
        let axis = |i: usize| {
            let wrapped =
                (self.position[i].wrapping_sub(other.position[i]) << unused).cast_signed() >> unused;
            // Two close positions on either side of a rounding boundary differ by one.
            let units = if self.coarse && wrapped.abs() == 1 { 0 } else { wrapped };
            f32::from(units) / scale
        };
        Vec3::new(axis(0), axis(1), axis(2))
    }

    /// Returns the distance in metres between two states, from their checks of the same tick; infinite if
    /// their kinds differ.
    #[must_use]
    pub fn distance(self, other: Self) -> f32 {
        if self.kind == other.kind { self.difference(other).length() } else { f32::INFINITY }
    }
}

impl Wire for StateCheck {
    fn write(&self, w: &mut BitWriter) {
        for axis in self.position {
            w.bits(u32::from(axis), Self::BITS);
        }
        w.bits(u32::from(self.kind), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut axes = [0; 3];
        for axis in &mut axes {
            *axis = r.bits(Self::BITS)? as u16;
        }
        Ok(Self { position: axes, kind: r.bits(8)? as u8, coarse: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Vec3, b: Vec3, coarse: bool) -> f32 {
        StateCheck::new(a, 1, Tick(5), coarse).distance(StateCheck::new(b, 1, Tick(5), coarse))
    }

    #[test]
    fn fine_check_resolves_one_centimetre_and_coarse_check_reaches_100_m() {
        let a = Vec3::new(-3.999, 12.0, 500.0);
        let near = distance(a, a + Vec3::new(0.003, 0.0, -0.01), false);
        assert!((near - 0.0104).abs() < 0.003, "{near}");
        let far = a + Vec3::new(100.0, 0.0, 0.0);
        assert_eq!(distance(a, far, false), 0.0, "beyond the range of a fine check");
        assert!((distance(a, far, true) - 100.0).abs() <= 1.0);
        assert_eq!(distance(a, a + Vec3::splat(0.01), true), 0.0, "a rounding boundary is no error");
    }

    #[test]
    fn difference_of_kind_is_hidden_in_at_most_4_of_64_ticks() {
        let check = |kind, tick| StateCheck::new(Vec3::ZERO, kind, Tick(tick), false);
        for other in 1..2_000 {
            let hidden = (0..64).filter(|tick| check(0, *tick) == check(other, *tick)).count();
            assert!(hidden <= 4, "kind {other} has the check of kind 0 in {hidden} of 64 ticks");
        }
    }
}
