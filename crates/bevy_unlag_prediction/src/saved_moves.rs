//! Moves that the server has not acknowledged yet.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

use crate::packet_loss::LossLevel;

/// A move that the client has simulated and may have to replay. Unreal's `FSavedMove_Character`.
#[derive(Clone, Debug)]
#[doc(alias = "FSavedMove_Character")]
pub struct SavedMove<M: MoveModel> {
    /// Client's tick of the move, which identifies it.
    pub tick: Tick,
    /// Input of the move, quantised as it is sent.
    pub input: M::Input,
    /// State before the move and before its pushes.
    pub start: M::State,
    /// State after the move.
    pub result: M::State,
    /// Time at which the move was first sent, in seconds of real time since the app started. `None` while
    /// it waits for its packet.
    pub sent_at: Option<f64>,
    /// Whether the move was skipped in a stall of the app and simulated afterwards with substitute input.
    pub missing_input: bool,
    /// Events of the first simulation of the move whose outcome the server reports.
    pub outcomes: Vec<M::Event>,
}

/// Unacknowledged moves, oldest first. When the list is full, the oldest are dropped and counted in
/// [`PredictionStats::dropped_moves`](crate::PredictionStats::dropped_moves). The remaining ones can still be
/// replayed, and a correction older than them starts from the server's state.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::MoveModel;
/// use bevy_unlag_prediction::SavedMoves;
///
/// /// On a client: how far its player is ahead of what the server has confirmed.
/// fn print_unconfirmed<M: MoveModel>(own: Single<&SavedMoves<M>>) {
///     let Some((first, last)) = own.iter().next().zip(own.iter().next_back()) else { return };
///     let metres = M::position(&first.start).distance(M::position(&last.result));
///     println!("{} moves, {metres:.2} m; acknowledged up to {:?}", own.len(), own.last_acked());
/// }
/// ```
#[doc(alias = "FNetworkPredictionData_Client_Character")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Default, type_path = false)]
pub struct SavedMoves<M: MoveModel> {
    // Inputs and states of a model need not be reflected.
    #[reflect(ignore)]
    moves: VecDeque<SavedMove<M>>,
    last_acked: Option<Tick>,
    /// Tick up to which the server has received all moves, run or queued.
    received: Option<Tick>,
    /// Epoch of the moves, and the tick at which it started.
    pub(crate) epoch: Option<(u8, Tick)>,
    pub(crate) loss: LossLevel,
    pub(crate) sequence: u8,
    pub(crate) since_packet: u32,
    last_simulated: Option<Tick>,
    /// Sequence number of the last acknowledgement applied.
    pub(crate) last_ack: Option<u8>,
    /// The server's teleport count in the last acknowledgement.
    pub(crate) teleports: Option<u8>,
}

impl<M: MoveModel> Default for SavedMoves<M> {
    fn default() -> Self {
        Self {
            moves: VecDeque::with_capacity(Self::CAPACITY),
            last_acked: None,
            received: None,
            epoch: None,
            loss: LossLevel::UNKNOWN,
            sequence: 0,
            since_packet: 0,
            last_simulated: None,
            last_ack: None,
            teleports: None,
        }
    }
}

impl<M: MoveModel> SavedMoves<M> {
    /// Maximum number of saved moves: three seconds at 64 Hz, twice Unreal's 96.
    pub const CAPACITY: usize = 192;

    /// Adds a move. Returns whether the oldest one was dropped for it.
    pub fn push(&mut self, saved: SavedMove<M>) -> bool {
        let full = self.moves.len() == Self::CAPACITY;
        if full {
            self.moves.pop_front();
        }
        self.last_simulated = Some(saved.tick);
        self.moves.push_back(saved);
        full
    }

    /// Returns the moves, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &SavedMove<M>> + ExactSizeIterator {
        self.moves.iter()
    }

    /// Returns the number of unacknowledged moves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns whether every move is acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Returns the newest move that was simulated.
    #[must_use]
    pub fn last_simulated(&self) -> Option<Tick> {
        self.last_simulated
    }

    /// Returns the newest acknowledged move.
    #[must_use]
    pub fn last_acked(&self) -> Option<Tick> {
        self.last_acked
    }

    /// Returns the uplink's packet loss as the server last reported it.
    #[must_use]
    pub fn loss(&self) -> LossLevel {
        self.loss
    }

    /// Returns whether the move of `tick` is newer than all acknowledged ones. An acknowledgement can be
    /// about an older move: the server may have moved the pawn since, without a move of its owner.
    #[must_use]
    pub fn is_newer_than_acked(&self, tick: Tick) -> bool {
        self.last_acked.is_none_or(|last| tick.is_newer_than(last))
    }

    /// Returns whether an acknowledgement about `tick` is late or a duplicate. For acknowledgements about
    /// the same move the sequence number decides.
    #[must_use]
    pub fn is_stale(&self, tick: Tick, sequence: u8) -> bool {
        self.last_acked.zip(self.last_ack).is_some_and(|(known, last)| {
            let copy = sequence.wrapping_sub(last).cast_signed() <= 0;
            known.is_newer_than(tick) || known == tick && copy
        })
    }

    /// Returns whether the server has not acknowledged the receipt of the move of `tick`.
    pub(crate) fn is_unreceived(&self, tick: Tick) -> bool {
        self.received.is_none_or(|received| tick.is_newer_than(received))
    }

    /// Removes and returns all moves up to the acknowledged `tick`, oldest first. The next `queued_moves`
    /// moves have been received.
    pub(crate) fn acknowledge(
        &mut self,
        tick: Tick,
        queued_moves: u8,
    ) -> impl Iterator<Item = SavedMove<M>> + '_ {
        self.last_acked = Some(tick);
        self.received = Some(tick.offset(i32::from(queued_moves)));
        let settled = self.moves.partition_point(|m| !m.tick.is_newer_than(tick));
        self.moves.drain(..settled)
    }

    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut SavedMove<M>> {
        self.moves.iter_mut()
    }

    /// Starts an epoch and drops all moves of the previous one.
    pub(crate) fn restart(&mut self, epoch: u8, now: Tick) {
        let sequence = self.sequence;
        *self = Self { epoch: Some((epoch, now)), sequence, ..Self::default() };
    }
}
