//! Acknowledgements and corrections of moves, sent by the server to the pawn's owner.

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError, wire_format::WireFormat};

use crate::{cause::CorrectionCause, packet::nearest_tick, packet_loss::LossLevel, run_record::RanMoves};

/// Maximum number of pushes in one acknowledgement.
pub const MAX_PUSHES: usize = 7;

/// Correction: the server's state after a move whose result differs on the client. Unreal's
/// `ClientAdjustPosition`.
#[derive(Wire, Clone, Copy, PartialEq, Debug)]
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
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckedMove {
    /// All moves up to the one with these lowest bits of its tick are acknowledged.
    Move(u16),
    /// The server has not run any move of this epoch. The owner continues its count of moves at the
    /// server's tick, so that the tick of a move denotes its time.
    Start {
        /// Server tick at which the acknowledgement was sent.
        now: Tick,
    },
}

/// Acknowledgement of a pawn's moves, with a correction if needed. The server repeats it until a newer one
/// replaces it. Unreal's `ClientAckGoodMove` and `ClientAdjustPosition` in one.
#[doc(alias = "ClientAckGoodMove")]
#[derive(Wire, Clone, PartialEq, Debug)]
pub struct MoveAck<S, P> {
    /// Epoch of the pawn, 3 bits. It changes when the server restarts the tick count of the owner's moves:
    /// moves and acknowledgements of another epoch are ignored.
    #[wire(bits = 3)]
    pub epoch: u8,
    /// Sequence number of the acknowledgement, which identifies late packets and duplicates: two
    /// acknowledgements can be about the same move. It wraps.
    pub sequence: u8,
    /// The acknowledged move.
    pub acked: AckedMove,
    /// Number of received moves that directly follow the acknowledged one and are queued, at most 15. The
    /// client need not send them again.
    #[wire(bits = 4)]
    pub queued_moves: u8,
    /// Time that the acknowledged move had spent on the server when the acknowledgement was sent, at most
    /// one second. The rest of the time since the move was sent is the round trip.
    #[wire(with = AckDelay)]
    pub ack_delay: Duration,
    /// Difference in ticks between the server's tick at the arrival of the newest move and that move's
    /// tick. The client steers its clock with it.
    #[wire(bits = 10)]
    pub lag: i16,
    /// Ticks from a move's own tick to the server's tick in which it is due.
    #[wire(bits = 10)]
    pub delay: i16,
    /// Packet loss on the uplink.
    pub loss: LossLevel,
    /// Whether the client's clock ran too fast and the server is taking back the time gained.
    pub resolving: bool,
    /// Bit n: an event whose outcome the server reports to the owner occurred in the n-th move before the
    /// acknowledged one; see [`MoveModel::is_outcome`](bevy_unlag_core::MoveModel::is_outcome).
    #[wire(with = OutcomeBits)]
    pub outcomes: u64,
    /// Moves that ran with the owner's input; in an [`AckedMove::Start`] those of the previous epoch.
    pub ran: RanMoves,
    /// Pushes, each with the lowest bits of the tick at which it is due. At most [`MAX_PUSHES`].
    #[wire(max = MAX_PUSHES)]
    pub pushes: Vec<(u16, P)>,
    /// The server's state, if the client's result differs.
    pub adjustment: Option<ClientAdjustment<S>>,
}

impl<S, P> MoveAck<S, P> {
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

/// Time in 12 bits, in units of 1/4,000 s.
struct AckDelay;

impl AckDelay {
    const BITS: u32 = 12;
    const UNITS_PER_SECOND: f32 = 4_000.0;
}

impl WireFormat<Duration> for AckDelay {
    fn write(&self, value: &Duration, w: &mut BitWriter) {
        let units = (value.as_secs_f32() * Self::UNITS_PER_SECOND) as u32;
        w.bits(units.min((1 << Self::BITS) - 1), Self::BITS);
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Duration, WireError> {
        Ok(Duration::from_secs_f32(r.bits(Self::BITS)? as f32 / Self::UNITS_PER_SECOND))
    }
}

/// Bits of which usually none is set: then they take one bit.
struct OutcomeBits;

impl WireFormat<u64> for OutcomeBits {
    fn write(&self, value: &u64, w: &mut BitWriter) {
        Wire::write(&(*value != 0).then_some(*value), w);
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<u64, WireError> {
        Ok(<Option<u64> as Wire>::read(r)?.unwrap_or(0))
    }
}
