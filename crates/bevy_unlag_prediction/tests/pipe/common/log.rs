//! What both ends did, written down as it happened.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, StepEvent, Tick};
use bevy_unlag_prediction::{Correction, MoveOutcome, TimeDiscrepancyDetected};

/// The messages that an app wrote.
#[derive(Resource)]
pub struct Seen<M: MoveModel> {
    pub events: Vec<StepEvent<M>>,
    pub outcomes: Vec<MoveOutcome<M>>,
    pub corrections: Vec<Correction<M>>,
    pub detected: usize,
}

impl<M: MoveModel> Default for Seen<M> {
    fn default() -> Self {
        Self { events: Vec::new(), outcomes: Vec::new(), corrections: Vec::new(), detected: 0 }
    }
}

impl<M: MoveModel + Clone> Seen<M> {
    pub fn install(app: &mut App) {
        app.init_resource::<Self>().add_systems(Last, Self::read);
    }

    fn read(
        mut seen: ResMut<Self>,
        mut events: MessageReader<StepEvent<M>>,
        mut outcomes: MessageReader<MoveOutcome<M>>,
        mut corrections: MessageReader<Correction<M>>,
        mut detected: MessageReader<TimeDiscrepancyDetected>,
    ) {
        seen.events.extend(events.read().cloned());
        seen.outcomes.extend(outcomes.read().cloned());
        seen.corrections.extend(corrections.read().cloned());
        seen.detected += detected.read().count();
    }
}

/// A move as one side made it first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Made {
    pub tick: Tick,
    pub at: Vec3,
    /// Seconds since the test began.
    pub when: f64,
}

/// Every move on both sides, and what others were shown.
#[derive(Default)]
pub struct Log {
    pub client: Vec<Made>,
    pub server: HashMap<Tick, Made>,
    /// What the server showed of the pawn, in each of its ticks.
    pub shown: Vec<(Tick, Vec3)>,
    /// A running hash of both sides' states.
    pub hash: u64,
}

impl Log {
    /// How far the two sides were apart in a move; `None` when the server has not made it.
    pub fn error(&self, mine: &Made) -> Option<f32> {
        self.server.get(&mine.tick).map(|theirs| theirs.at.distance(mine.at))
    }

    /// The owner's largest error at equal move, in metres, of moves made from `from` on.
    pub fn largest_error(&self, from: f64) -> f32 {
        let errors = self.client.iter().filter(|mine| mine.when >= from).filter_map(|mine| self.error(mine));
        errors.fold(0.0, f32::max)
    }

    /// Seconds after `from` until which a move was made that was a centimetre off or never run. What
    /// was made in the last second is left out: it may still be on its way.
    pub fn converged(&self, from: f64) -> f64 {
        let end = self.client.last().map_or(0.0, |last| last.when);
        let mut made = self.client.iter().filter(|mine| mine.when >= from && mine.when < end - 1.0);
        let off = made.rfind(|mine| self.error(mine).is_none_or(|error| error > 0.01));
        off.map_or(0.0, |off| off.when - from)
    }

    /// Seconds from the making of a move to its running on the server, of the moves that were made
    /// from `from` to `to`, sorted; those that were never run count as infinite.
    pub fn waits(&self, from: f64, to: f64) -> Vec<f64> {
        let made = self.client.iter().filter(|mine| (from..to).contains(&mine.when));
        let mut waits: Vec<f64> = made
            .map(|mine| self.server.get(&mine.tick).map_or(f64::INFINITY, |run| run.when - mine.when))
            .collect();
        waits.sort_by(f64::total_cmp);
        waits
    }

    /// Takes a state into the hash.
    pub fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
