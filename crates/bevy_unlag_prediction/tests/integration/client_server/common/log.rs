//! Log of both sides' moves and messages.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, StepEvent, Tick};
use bevy_unlag_prediction::{Correction, MoveOutcome, TimeDiscrepancyDetected};

/// Messages sent by an app.
#[derive(Resource)]
pub struct MessageLog<M: MoveModel> {
    pub events: Vec<StepEvent<M>>,
    pub outcomes: Vec<MoveOutcome<M>>,
    pub corrections: Vec<Correction<M>>,
    pub detected: usize,
}

impl<M: MoveModel> Default for MessageLog<M> {
    fn default() -> Self {
        Self { events: Vec::new(), outcomes: Vec::new(), corrections: Vec::new(), detected: 0 }
    }
}

impl<M: MoveModel + Clone> MessageLog<M> {
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

/// A move and its first result on one side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecordedMove {
    pub tick: Tick,
    pub at: Vec3,
    /// Seconds since the test started.
    pub when: f64,
}

/// All moves of both sides, and the published states.
#[derive(Default)]
pub struct Log {
    pub client: Vec<RecordedMove>,
    pub server: HashMap<Tick, RecordedMove>,
    /// Published tick and position in each tick of the server.
    pub shown: Vec<(Tick, Vec3)>,
    /// Running hash of both sides' states.
    pub hash: u64,
}

impl Log {
    /// Returns the distance between both sides' results of a move, or `None` if the server has not run it.
    pub fn error(&self, mine: &RecordedMove) -> Option<f32> {
        self.server.get(&mine.tick).map(|theirs| theirs.at.distance(mine.at))
    }

    /// Returns the owner's largest error per move in metres, of moves simulated from `from` on.
    pub fn largest_error(&self, from: f64) -> f32 {
        let errors = self.client.iter().filter(|mine| mine.when >= from).filter_map(|mine| self.error(mine));
        errors.fold(0.0, f32::max)
    }

    /// Returns the seconds from `from` to the last move that was never run or was off by more than a
    /// centimetre. Ignores the moves of the last second, which may still be in flight.
    pub fn seconds_to_convergence(&self, from: f64) -> f64 {
        let end = self.client.last().map_or(0.0, |last| last.when);
        let mut made = self.client.iter().filter(|mine| mine.when >= from && mine.when < end - 1.0);
        let off = made.rfind(|mine| self.error(mine).is_none_or(|error| error > 0.01));
        off.map_or(0.0, |off| off.when - from)
    }

    /// Returns the sorted seconds from a move's simulation on the client to its run on the server, of the
    /// moves from `from` to `to`; infinite for moves that were never run.
    pub fn input_latencies(&self, from: f64, to: f64) -> Vec<f64> {
        let made = self.client.iter().filter(|mine| (from..to).contains(&mine.when));
        let mut input_latencies: Vec<f64> = made
            .map(|mine| self.server.get(&mine.tick).map_or(f64::INFINITY, |run| run.when - mine.when))
            .collect();
        input_latencies.sort_by(f64::total_cmp);
        input_latencies
    }

    /// Adds a state to the hash.
    pub fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
