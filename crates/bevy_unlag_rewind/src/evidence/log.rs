//! The last shots that were judged.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::NetId;

use super::ShotEvidence;

/// The last shots that were judged, with everything that decided about them. Off until it is told how many to
/// keep: a shot then costs a few times what it costs otherwise, and 5 to 10 KB of memory while it is kept.
///
/// Whoever judges shots fills it; the weapons of this suite do, on the server.
#[derive(Resource, Clone, Debug, Default)]
pub struct EvidenceLog {
    shots: VecDeque<ShotEvidence>,
    capacity: usize,
    recorded: u64,
}

impl EvidenceLog {
    /// The most that is kept, whatever is asked for.
    pub const MOST: usize = 65_536;

    /// Keeps the last so many shots from now on; 0 switches it off and forgets all.
    pub fn keep(&mut self, shots: usize) {
        self.capacity = shots.min(Self::MOST);
        let beyond = self.shots.len().saturating_sub(self.capacity);
        self.shots.drain(..beyond);
    }

    /// Whether shots are to be recorded.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// Takes a shot in; the oldest one makes room. Nothing while it is off.
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

    /// Takes everything out, the oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = ShotEvidence> {
        self.shots.drain(..)
    }

    /// Shots taken in since the app began, kept or not.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// The last `count` shots, the newest first: what a player means who presses a button that says "lag".
    pub fn last_shots(&self, count: usize) -> impl ExactSizeIterator<Item = &ShotEvidence> {
        self.shots.iter().rev().take(count)
    }

    /// The last `count` shots that somebody fired, or that came near somebody, the newest first.
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
    fn the_newest_shots_are_kept_and_found() {
        let shot = |shot: u32| ShotEvidence::default().of_shot(NetId((shot % 3) as u16), shot);
        let mut log = EvidenceLog::default();
        log.record(shot(0));
        assert_eq!((log.is_on(), log.recorded(), log.last_shots(9).len()), (false, 0, 0), "off by default");
        log.keep(10);
        (0..25).for_each(|name| log.record(shot(name)));
        let names = |shots: Vec<&ShotEvidence>| shots.iter().map(|shot| shot.shot).collect::<Vec<_>>();
        assert_eq!(names(log.last_shots(3).collect()), [24, 23, 22]);
        assert_eq!(log.last_shots(99).len(), 10);
        assert_eq!(names(log.last_shots_about(NetId(1), 2).collect()), [22, 19]);
        log.keep(4);
        assert_eq!(names(log.last_shots(99).collect()), [24, 23, 22, 21]);
        assert_eq!(log.drain().map(|shot| shot.shot).collect::<Vec<_>>(), [21, 22, 23, 24]);
        assert_eq!(log.recorded(), 25);
    }
}
