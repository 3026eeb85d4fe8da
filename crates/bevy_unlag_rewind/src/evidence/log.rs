//! Log of recent shot evidence.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::NetId;

use super::ShotEvidence;

/// Log of the last resolved shots, with their evidence. Off until a capacity is set with
/// [`set_capacity`](Self::set_capacity); a shot then costs a few times as much, and uses 5 to 10 KB of memory
/// while it is stored.
///
/// The code that resolves shots fills the log; the weapons of this suite do so on the server.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct EvidenceLog {
    // Evidence in the form in which it is recorded.
    #[reflect(ignore)]
    shots: VecDeque<ShotEvidence>,
    capacity: usize,
    recorded: u64,
}

impl EvidenceLog {
    /// Maximum capacity.
    pub const MOST: usize = 65_536;

    /// Sets the number of shots to keep; 0 switches the log off and clears it.
    pub fn set_capacity(&mut self, shots: usize) {
        self.capacity = shots.min(Self::MOST);
        let beyond = self.shots.len().saturating_sub(self.capacity);
        self.shots.drain(..beyond);
    }

    /// Returns whether shots are recorded.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// Adds a shot and drops the oldest one if the log is full. Does nothing while the log is off.
    pub fn record(&mut self, evidence: ShotEvidence) {
        if !self.is_on() {
            return;
        }
        if self.shots.len() >= self.capacity {
            self.shots.pop_front();
        }
        self.shots.push_back(evidence);
        self.recorded += 1;
    }

    /// Removes and returns all shots, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = ShotEvidence> {
        self.shots.drain(..)
    }

    /// Returns the number of shots recorded since the app started, including dropped ones.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Returns the last `count` shots, newest first, for example for a player's report of a lag problem.
    pub fn last_shots(&self, count: usize) -> impl ExactSizeIterator<Item = &ShotEvidence> {
        self.shots.iter().rev().take(count)
    }

    /// Returns the last `count` shots that a pawn fired or that came near it, newest first.
    pub fn last_shots_about(&self, who: NetId, count: usize) -> impl Iterator<Item = &ShotEvidence> {
        let about = move |shot: &&ShotEvidence| {
            shot.shooter == Some(who) || shot.candidates.iter().any(|candidate| candidate.target == who)
        };
        self.shots.iter().rev().filter(about).take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_shots_are_kept_and_found_by_pawn() {
        let shot = |shot: u32| {
            let shooter = Some(NetId((shot % 3) as u16));
            ShotEvidence { shooter, shot, ..default() }
        };
        let mut log = EvidenceLog::default();
        log.record(shot(0));
        assert_eq!((log.is_on(), log.recorded(), log.last_shots(9).len()), (false, 0, 0), "off by default");
        log.set_capacity(10);
        (0..25).for_each(|name| log.record(shot(name)));
        let names = |shots: Vec<&ShotEvidence>| shots.iter().map(|shot| shot.shot).collect::<Vec<_>>();
        assert_eq!(names(log.last_shots(3).collect()), [24, 23, 22]);
        assert_eq!(log.last_shots(99).len(), 10);
        assert_eq!(names(log.last_shots_about(NetId(1), 2).collect()), [22, 19]);
        log.set_capacity(4);
        assert_eq!(names(log.last_shots(99).collect()), [24, 23, 22, 21]);
        assert_eq!(log.drain().map(|shot| shot.shot).collect::<Vec<_>>(), [21, 22, 23, 24]);
        assert_eq!(log.recorded(), 25);
    }
}
