//! What a client sends: its newest moves, and where it thinks they led.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, MoveModel, Tick, Wire, WireError};

/// The most moves that one packet can carry.
pub const MAX_MOVES: usize = 31;

/// Where a move led on the client: the lowest bits of its position and its state's
/// [`kind`](MoveModel::kind) and teleports. Enough to tell whether two results that should be equal are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateCheck {
    position: [u16; 3],
    kind: u16,
}

impl StateCheck {
    const BITS: u32 = 12;
    const UNITS_PER_METRE: f32 = 1024.0;

    /// The check of a state.
    #[must_use]
    pub fn of<M: MoveModel>(state: &M::State) -> Self {
        // Mixed, so that any one difference is seen in the 16 bits that travel.
        let mixed = (M::kind(state) ^ (u32::from(M::teleports(state) & 15) << 28)).wrapping_mul(0x9e37_79b1);
        Self::new(M::position(state), mixed ^ (mixed >> 16))
    }

    fn new(position: Vec3, kind: u32) -> Self {
        let low =
            |v: f32| (f64::from(v * Self::UNITS_PER_METRE).round() as i64 & ((1 << Self::BITS) - 1)) as u16;
        Self { position: position.to_array().map(low), kind: kind as u16 }
    }

    /// How far apart two states with these checks are, in metres, right up to 2 m an axis;
    /// infinite when they differ in kind.
    #[must_use]
    pub fn distance(self, other: Self) -> f32 {
        if self.kind != other.kind {
            return f32::INFINITY;
        }
        let unused = 16 - Self::BITS;
        let axis = |i: usize| {
            let wrapped =
                (self.position[i].wrapping_sub(other.position[i]) << unused).cast_signed() >> unused;
            f32::from(wrapped) / Self::UNITS_PER_METRE
        };
        Vec3::new(axis(0), axis(1), axis(2)).length()
    }
}

impl Wire for StateCheck {
    fn write(&self, w: &mut BitWriter) {
        for axis in self.position {
            w.bits(u32::from(axis), Self::BITS);
        }
        w.bits(u32::from(self.kind), 16);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut axes = [0; 3];
        for axis in &mut axes {
            *axis = r.bits(Self::BITS)? as u16;
        }
        Ok(Self { position: axes, kind: r.bits(16)? as u16 })
    }
}

/// Moves on their way to the server, newest first, one a tick without a gap. Unreal's
/// `ServerMove`.
#[derive(Clone, PartialEq, Debug)]
#[doc(alias = "ServerMove")]
pub struct MovePacket<I> {
    /// The tick of the newest move.
    pub newest: Tick,
    /// Where the newest move led on the client.
    pub check: StateCheck,
    /// The inputs, newest first; 1 to [`MAX_MOVES`].
    pub inputs: Vec<I>,
}

impl<I: Wire + Copy> Wire for MovePacket<I> {
    fn write(&self, w: &mut BitWriter) {
        debug_assert!((1..=MAX_MOVES).contains(&self.inputs.len()));
        self.newest.write(w);
        self.check.write(w);
        w.bits(self.inputs.len() as u32, 5);
        for (i, input) in self.inputs.iter().enumerate() {
            match i.checked_sub(1) {
                None => input.write(w),
                Some(newer) => input.write_delta(&self.inputs[newer], w),
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let newest = Tick::read(r)?;
        let check = StateCheck::read(r)?;
        let count = r.bits(5)? as usize;
        if count == 0 {
            return Err(WireError::Invalid);
        }
        let mut inputs = Vec::with_capacity(count);
        let mut newer = I::read(r)?;
        inputs.push(newer);
        for _ in 1..count {
            newer = I::read_delta(&newer, r)?;
            inputs.push(newer);
        }
        Ok(Self { newest, check, inputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_see_a_centimetre_and_wrap() {
        let a = Vec3::new(-3.999, 12.0, 500.0);
        let b = a + Vec3::new(0.003, 0.0, -0.01);
        let distance = StateCheck::new(a, 1).distance(StateCheck::new(b, 1));
        assert_eq!(StateCheck::new(a, 1).distance(StateCheck::new(a, 2)), f32::INFINITY);
        assert!((distance - 0.0104).abs() < 0.002, "{distance}");
    }
}
