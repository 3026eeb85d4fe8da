//! What the server answers: well done, or here is where you are.

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError};

use crate::{CorrectionCause, LossLevel, packet::near};

/// The most pushes that one answer can carry.
pub const MAX_PUSHES: usize = 7;

/// The server's state after a move, when the client's own is not it. Unreal's
/// `ClientAdjustPosition`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[doc(alias = "ClientAdjustPosition")]
pub struct ClientAdjustment<S> {
    /// Why, as far as the server knows.
    pub cause: CorrectionCause,
    /// The lowest bits of [`MoveModel::config_hash`](bevy_unlag_core::MoveModel::config_hash).
    pub config: u16,
    /// The lowest bits of
    /// [`MoveModel::surroundings_hash`](bevy_unlag_core::MoveModel::surroundings_hash) at the state.
    pub surroundings: u16,
    /// Where the pawn is.
    pub state: S,
}

/// Which move an answer is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered {
    /// The server has run no move yet. The owner counts its moves on from the server's tick, so
    /// that a move's tick says when it is.
    Start {
        /// The server's tick when the answer left.
        now: Tick,
    },
    /// Everything up to the move with these lowest bits of its tick is settled.
    Move(u16),
}

/// One answer per pawn, repeated until a newer one replaces it.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerAnswer<S, P> {
    /// Names a time line of the pawn, 3 bits: when the server starts afresh, moves and answers of
    /// the old one mean nothing any more.
    pub epoch: u8,
    /// Counts answers, so that stragglers and copies are known for what they are: two answers may be
    /// about the same move. It wraps.
    pub sequence: u8,
    /// Which move.
    pub answered: Answered,
    /// How many moves right after that one are there and only wait to be run, at most 15: they need
    /// not be sent again.
    pub waiting: u8,
    /// How long that move had waited on the server when the answer left, up to a second: what is
    /// left of the time since the move was sent is the round trip.
    pub held: Duration,
    /// How many ticks before the server's the move was when it arrived; what steers the client's
    /// clock.
    pub lag: i16,
    /// How many packets are lost on the way up.
    pub loss: LossLevel,
    /// Whether the client's clock was too fast and it is paying back.
    pub resolving: bool,
    /// Bit n: in the nth move before that one something happened whose outcome the owner is to
    /// learn; see [`MoveModel::is_outcome`](bevy_unlag_core::MoveModel::is_outcome).
    pub outcomes: u64,
    /// Pushes by the lowest bits of the tick they are due in. At most [`MAX_PUSHES`].
    pub pushes: Vec<(u16, P)>,
    /// The server's state, when the client's own is not it.
    pub adjustment: Option<ClientAdjustment<S>>,
}

impl<S, P> ServerAnswer<S, P> {
    const HELD_BITS: u32 = 12;
    const HELD_UNITS_PER_SECOND: f32 = 4_000.0;
    const LAG_BITS: u32 = 10;

    /// The tick of the settled move: of all with these lowest bits the one closest to `now`, the
    /// client's own tick.
    #[must_use]
    pub fn tick(&self, now: Tick) -> Option<Tick> {
        match self.answered {
            Answered::Start { .. } => None,
            Answered::Move(low) => Some(near(now, low)),
        }
    }
}

impl<S: Wire> Wire for ClientAdjustment<S> {
    fn write(&self, w: &mut BitWriter) {
        self.cause.write(w);
        w.bits(u32::from(self.config), 16);
        w.bits(u32::from(self.surroundings), 16);
        self.state.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            cause: CorrectionCause::read(r)?,
            config: r.bits(16)? as u16,
            surroundings: r.bits(16)? as u16,
            state: S::read(r)?,
        })
    }
}

impl<S: Wire, P: Wire + Copy> Wire for ServerAnswer<S, P> {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.epoch & 7), 3);
        w.bits(u32::from(self.sequence), 8);
        match self.answered {
            Answered::Start { now } => {
                w.bool(true);
                now.write(w);
            }
            Answered::Move(low) => {
                w.bool(false);
                w.bits(u32::from(low), 16);
            }
        }
        w.bits(u32::from(self.waiting.min(15)), 4);
        let held = (self.held.as_secs_f32() * Self::HELD_UNITS_PER_SECOND) as u32;
        w.bits(held.min((1 << Self::HELD_BITS) - 1), Self::HELD_BITS);
        w.signed(i32::from(self.lag.clamp(-512, 511)), Self::LAG_BITS);
        self.loss.write(w);
        w.bool(self.resolving);
        w.bool(self.outcomes != 0);
        if self.outcomes != 0 {
            w.bits(self.outcomes as u32, 32);
            w.bits((self.outcomes >> 32) as u32, 32);
        }
        debug_assert!(self.pushes.len() <= MAX_PUSHES);
        w.bits(self.pushes.len() as u32, 3);
        for (tick, push) in &self.pushes {
            w.bits(u32::from(*tick), 16);
            push.write(w);
        }
        self.adjustment.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            epoch: r.bits(3)? as u8,
            sequence: r.bits(8)? as u8,
            answered: if r.bool()? {
                Answered::Start { now: Tick::read(r)? }
            } else {
                Answered::Move(r.bits(16)? as u16)
            },
            waiting: r.bits(4)? as u8,
            held: Duration::from_secs_f32(r.bits(Self::HELD_BITS)? as f32 / Self::HELD_UNITS_PER_SECOND),
            lag: r.signed(Self::LAG_BITS)? as i16,
            loss: LossLevel::read(r)?,
            resolving: r.bool()?,
            outcomes: if r.bool()? { u64::from(r.bits(32)?) | u64::from(r.bits(32)?) << 32 } else { 0 },
            pushes: (0..r.bits(3)?)
                .map(|_| Ok((r.bits(16)? as u16, P::read(r)?)))
                .collect::<Result<_, WireError>>()?,
            adjustment: Option::read(r)?,
        })
    }
}
