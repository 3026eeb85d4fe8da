//! The moves that the server has not answered yet.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

/// A move that the client has made and may have to make again. Unreal's `FSavedMove_Character`.
#[derive(Clone, Copy, Debug)]
pub struct SavedMove<M: MoveModel> {
    /// The client's tick of the move, its name.
    pub tick: Tick,
    /// What the player wanted.
    pub input: M::Input,
    /// Where it led.
    pub result: M::State,
    /// When it was first sent: seconds of real time since the app began.
    pub sent_at: f64,
}

/// The unanswered moves, oldest first. When full the oldest make room: what is kept can still be
/// replayed, and a correction older than it simply starts from the server's state.
#[derive(Component, Clone, Debug)]
pub struct SavedMoves<M: MoveModel> {
    moves: VecDeque<SavedMove<M>>,
    last_answered: Option<Tick>,
}

impl<M: MoveModel> Default for SavedMoves<M> {
    fn default() -> Self {
        Self { moves: VecDeque::with_capacity(Self::CAPACITY), last_answered: None }
    }
}

impl<M: MoveModel> SavedMoves<M> {
    /// Two seconds at 64 Hz, and more than Unreal's 96.
    pub const CAPACITY: usize = 128;

    /// Keeps a move.
    pub fn push(&mut self, saved: SavedMove<M>) {
        if self.moves.len() == Self::CAPACITY {
            self.moves.pop_front();
        }
        self.moves.push_back(saved);
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

    /// Whether an answer about `tick` is newer than every answer before. Duplicates and stragglers
    /// are not.
    #[must_use]
    pub fn is_news(&self, tick: Tick) -> bool {
        self.last_answered.is_none_or(|last| tick.is_newer_than(last))
    }

    /// Whether an answer about `tick` is a straggler that a newer one has replaced. One about the
    /// same tick is not: the server may have moved the pawn since, without any move of its owner.
    #[must_use]
    pub fn is_stale(&self, tick: Tick) -> bool {
        self.last_answered.is_some_and(|last| last.is_newer_than(tick))
    }

    /// Settles every move up to `tick`, and gives back the one of exactly that tick.
    pub fn settle(&mut self, tick: Tick) -> Option<SavedMove<M>> {
        self.last_answered = Some(tick);
        let mut settled = None;
        while self.moves.front().is_some_and(|m| !m.tick.is_newer_than(tick)) {
            settled = self.moves.pop_front();
        }
        settled.filter(|m| m.tick == tick)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut SavedMove<M>> {
        self.moves.iter_mut()
    }
}
