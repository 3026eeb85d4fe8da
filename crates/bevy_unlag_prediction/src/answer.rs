//! What the server answers: well done, or here is where you are.

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError};

/// One answer per pawn, repeated until a newer one replaces it.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerAnswer<S> {
    /// The newest move that the server has run; everything up to it is settled. `None` before
    /// the first.
    pub tick: Option<Tick>,
    /// The server's tick when the answer left; only in answers before the first move. The owner
    /// counts its moves on from it, so that a move's tick says when it is: what moves by itself,
    /// such as a lift, is for the owner where it was for the server within a round trip.
    pub now: Option<Tick>,
    /// How long that move had waited on the server when the answer left, up to a second: what is
    /// left of the time since the move was sent is the round trip.
    pub held: Duration,
    /// The state after that move, when the client's own is not it. Unreal's `ClientAdjustment`.
    pub adjustment: Option<S>,
}

impl<S> ServerAnswer<S> {
    const HELD_BITS: u32 = 12;
    const HELD_UNITS_PER_SECOND: f32 = 4_000.0;
}

impl<S: Wire> Wire for ServerAnswer<S> {
    fn write(&self, w: &mut BitWriter) {
        self.tick.write(w);
        if self.tick.is_none() {
            self.now.write(w);
        }
        let held = (self.held.as_secs_f32() * Self::HELD_UNITS_PER_SECOND) as u32;
        w.bits(held.min((1 << Self::HELD_BITS) - 1), Self::HELD_BITS);
        self.adjustment.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let tick = Option::read(r)?;
        Ok(Self {
            tick,
            now: if tick.is_none() { Option::read(r)? } else { None },
            held: Duration::from_secs_f32(r.bits(Self::HELD_BITS)? as f32 / Self::HELD_UNITS_PER_SECOND),
            adjustment: Option::read(r)?,
        })
    }
}
