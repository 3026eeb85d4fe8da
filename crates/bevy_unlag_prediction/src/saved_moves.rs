//! The moves that the server has not answered yet.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

use crate::LossLevel;

/// A move that the client has made and may have to make again. Unreal's `FSavedMove_Character`.
#[derive(Clone, Debug)]
#[doc(alias = "FSavedMove_Character")]
pub struct SavedMove<M: MoveModel> {
    /// The client's tick of the move, its name.
    pub tick: Tick,
    /// What the player wanted, as it travels.
    pub input: M::Input,
    /// Where it began, before any push.
    pub start: M::State,
    /// Where it led.
    pub result: M::State,
    /// When it was first sent: seconds of real time since the app began. `None` while it waits for
    /// its packet.
    pub sent_at: Option<f64>,
    /// Whether the app stood still when it was due, and nobody wanted anything.
    pub unattended: bool,
    /// What happened in it, as it was first made, that the server has to confirm.
    pub outcomes: Vec<M::Event>,
}

/// The unanswered moves, oldest first. When full, the oldest make room and are counted in
/// [`PredictionStats::forgotten`](crate::PredictionStats::forgotten): what is kept can still be
/// replayed, and a correction older than it simply starts from the server's state.
#[derive(Component, Clone, Debug)]
pub struct SavedMoves<M: MoveModel> {
    moves: VecDeque<SavedMove<M>>,
    last_answered: Option<Tick>,
    /// Up to here the server has every move, run or waiting.
    received: Option<Tick>,
    /// Which time line they belong to, and where it began.
    pub(crate) epoch: Option<(u8, Tick)>,
    pub(crate) loss: LossLevel,
    pub(crate) sequence: u8,
    pub(crate) since_packet: u32,
    last_made: Option<Tick>,
    /// The number of the last answer that counted.
    pub(crate) answer: Option<u8>,
    /// The server's count of teleports when it last answered.
    pub(crate) teleports: Option<u8>,
}

impl<M: MoveModel> Default for SavedMoves<M> {
    fn default() -> Self {
        Self {
            moves: VecDeque::with_capacity(Self::CAPACITY),
            last_answered: None,
            received: None,
            epoch: None,
            loss: LossLevel::UNKNOWN,
            sequence: 0,
            since_packet: 0,
            last_made: None,
            answer: None,
            teleports: None,
        }
    }
}

impl<M: MoveModel> SavedMoves<M> {
    /// Three seconds at 64 Hz, twice Unreal's 96.
    pub const CAPACITY: usize = 192;

    /// Keeps a move. Says whether an older one had to make room for it.
    pub fn push(&mut self, saved: SavedMove<M>) -> bool {
        let full = self.moves.len() == Self::CAPACITY;
        if full {
            self.moves.pop_front();
        }
        self.last_made = Some(saved.tick);
        self.moves.push_back(saved);
        full
    }

    /// The moves, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &SavedMove<M>> + ExactSizeIterator {
        self.moves.iter()
    }

    /// How many moves wait for an answer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether every move is answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The newest move that was made.
    #[must_use]
    pub fn last_made(&self) -> Option<Tick> {
        self.last_made
    }

    /// The newest move that was answered.
    #[must_use]
    pub fn last_answered(&self) -> Option<Tick> {
        self.last_answered
    }

    /// How bad the way up is, as the server last told.
    #[must_use]
    pub fn loss(&self) -> LossLevel {
        self.loss
    }

    /// Whether the move of `tick` is newer than every answered one. An answer need not be about such
    /// a move: the server may have moved the pawn since, without any move of its owner.
    #[must_use]
    pub fn is_news(&self, tick: Tick) -> bool {
        self.last_answered.is_none_or(|last| tick.is_newer_than(last))
    }

    /// Whether an answer about `tick` is a straggler or a copy of one that counted. One about the same
    /// move is told by its number.
    #[must_use]
    pub fn is_stale(&self, tick: Tick, sequence: u8) -> bool {
        self.last_answered.zip(self.answer).is_some_and(|(known, last)| {
            let copy = sequence.wrapping_sub(last).cast_signed() <= 0;
            known.is_newer_than(tick) || known == tick && copy
        })
    }

    /// Whether the server has not said yet that it has the move of `tick`.
    pub(crate) fn is_wanted(&self, tick: Tick) -> bool {
        self.received.is_none_or(|received| tick.is_newer_than(received))
    }

    /// Settles every move up to `tick`, the oldest first; `waiting` more have arrived.
    pub(crate) fn settle(&mut self, tick: Tick, waiting: u8) -> impl Iterator<Item = SavedMove<M>> + '_ {
        self.last_answered = Some(tick);
        self.received = Some(tick.offset(i32::from(waiting)));
        let settled = self.moves.partition_point(|m| !m.tick.is_newer_than(tick));
        self.moves.drain(..settled)
    }

    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut SavedMove<M>> {
        self.moves.iter_mut()
    }

    /// Begins a time line: what belonged to another means nothing any more.
    pub(crate) fn restart(&mut self, epoch: u8, now: Tick) {
        let sequence = self.sequence;
        *self = Self { epoch: Some((epoch, now)), sequence, ..Self::default() };
    }
}
