//! Acknowledgements and corrections of moves, sent by the server to the pawn's owner.

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError};

use crate::{cause::CorrectionCause, packet::nearest_tick, packet_loss::LossLevel};

/// Maximum number of pushes in one acknowledgement.
pub const MAX_PUSHES: usize = 7;

/// Correction: the server's state after a move whose result differs on the client. Unreal's
/// `ClientAdjustPosition`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[doc(alias = "ClientAdjustPosition")]
pub struct ClientAdjustment<S> {
    /// Cause of the correction, as far as the server knows.
    pub cause: CorrectionCause,
    /// Lowest bits of [`config_hash`](bevy_unlag_core::MoveDiagnostics::config_hash) on the server.
    pub config: u16,
    /// Lowest bits of [`surroundings_hash`](bevy_unlag_core::MoveDiagnostics::surroundings_hash) at this
    /// state on the server.
    pub surroundings: u16,
    /// State of the pawn after the move.
    pub state: S,
}

/// Move that an acknowledgement is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckedMove {
    /// The server has not run any move of this epoch. The owner continues its count of moves at the
    /// server's tick, so that the tick of a move denotes its time.
    Start {
        /// Server tick at which the acknowledgement was sent.
        now: Tick,
    },
    /// All moves up to the one with these lowest bits of its tick are acknowledged.
    Move(u16),
}

/// Acknowledgement of a pawn's moves, with a correction if needed. The server repeats it until a newer one
/// replaces it. Unreal's `ClientAckGoodMove` and `ClientAdjustPosition` in one.
#[doc(alias = "ClientAckGoodMove")]
#[derive(Clone, PartialEq, Debug)]
pub struct MoveAck<S, P> {
    /// Epoch of the pawn, 3 bits. It changes when the server restarts the tick count of the owner's moves:
    /// moves and acknowledgements of another epoch are ignored.
    pub epoch: u8,
    /// Sequence number of the acknowledgement, which identifies late packets and duplicates: two
    /// acknowledgements can be about the same move. It wraps.
    pub sequence: u8,
    /// The acknowledged move.
    pub acked: AckedMove,
    /// Number of received moves that directly follow the acknowledged one and are queued, at most 15. The
    /// client need not send them again.
    pub queued_moves: u8,
    /// Time that the acknowledged move had spent on the server when the acknowledgement was sent, at most
    /// one second. The rest of the time since the move was sent is the round trip.
    pub ack_delay: Duration,
    /// Difference in ticks between the server's tick at the arrival of the newest move and that move's
    /// tick. The client steers its clock with it.
    pub lag: i16,
    /// Packet loss on the uplink.
    pub loss: LossLevel,
    /// Whether the client's clock ran too fast and the server is taking back the time gained.
    pub resolving: bool,
    /// Bit n: an event whose outcome the server reports to the owner occurred in the n-th move before the
    /// acknowledged one; see [`MoveModel::is_outcome`](bevy_unlag_core::MoveModel::is_outcome).
    pub outcomes: u64,
    /// Pushes, each with the lowest bits of the tick at which it is due. At most [`MAX_PUSHES`].
    pub pushes: Vec<(u16, P)>,
    /// The server's state, if the client's result differs.
    pub adjustment: Option<ClientAdjustment<S>>,
}

impl<S, P> MoveAck<S, P> {
    const ACK_DELAY_BITS: u32 = 12;
    const ACK_DELAY_UNITS_PER_SECOND: f32 = 4_000.0;
    const LAG_BITS: u32 = 10;

    /// Returns the tick of the acknowledged move: of all ticks with these lowest bits the one closest to
    /// `now`, the client's own tick.
    #[must_use]
    pub fn tick(&self, now: Tick) -> Option<Tick> {
        match self.acked {
            AckedMove::Start { .. } => None,
            AckedMove::Move(low) => Some(nearest_tick(now, low)),
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

impl<S: Wire, P: Wire + Copy> Wire for MoveAck<S, P> {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.epoch & 7), 3);
        w.bits(u32::from(self.sequence), 8);
        match self.acked {
            AckedMove::Start { now } => {
                w.bool(true);
                now.write(w);
            }
            AckedMove::Move(low) => {
                w.bool(false);
                w.bits(u32::from(low), 16);
            }
        }
        w.bits(u32::from(self.queued_moves.min(15)), 4);
        let held = (self.ack_delay.as_secs_f32() * Self::ACK_DELAY_UNITS_PER_SECOND) as u32;
        w.bits(held.min((1 << Self::ACK_DELAY_BITS) - 1), Self::ACK_DELAY_BITS);
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
            acked: if r.bool()? {
                AckedMove::Start { now: Tick::read(r)? }
            } else {
                AckedMove::Move(r.bits(16)? as u16)
            },
            queued_moves: r.bits(4)? as u8,
            ack_delay: Duration::from_secs_f32(
                r.bits(Self::ACK_DELAY_BITS)? as f32 / Self::ACK_DELAY_UNITS_PER_SECOND,
            ),
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
