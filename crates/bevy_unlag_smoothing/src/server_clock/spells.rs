//! What exchanges say about the server's clock: a line through the best of each few seconds.

use std::collections::VecDeque;

use super::ServerClockConfig;

/// An exchange as it is for the clock: how long each way seems to take when nothing is known of the
/// other machine's clock. Both are wrong by the offset, one up and one down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Legs {
    /// When the answer came back, in seconds of this machine.
    pub at: f64,
    /// Server's time of arrival − this machine's of sending.
    pub up: f64,
    /// This machine's time of arrival − server's of sending.
    pub down: f64,
}

impl Legs {
    /// By how much an offset lies outside of what this exchange allows. Nothing arrives before it was
    /// sent, so the offset is at most `up` and at least −`down`, however bad the link was.
    pub(super) fn excludes(&self, offset: f64) -> f64 {
        (offset - self.up).max(-self.down - offset).max(0.0)
    }
}

/// The fastest way up and the fastest way down within a few seconds, which are usually those of two
/// exchanges.
#[derive(Clone, Copy, Debug)]
struct Spell {
    began: f64,
    up: (f64, f64),
    down: (f64, f64),
}

impl Spell {
    fn new(legs: &Legs) -> Self {
        Self { began: legs.at, up: (legs.at, legs.up), down: (legs.at, legs.down) }
    }

    fn take(&mut self, legs: &Legs) {
        if legs.up < self.up.1 {
            self.up = (legs.at, legs.up);
        }
        if legs.down < self.down.1 {
            self.down = (legs.at, legs.down);
        }
    }

    fn round_trip(&self) -> f64 {
        self.up.1 + self.down.1
    }
}

/// An offset, server − client in seconds, and how fast it changes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Line {
    pub at: f64,
    pub offset: f64,
    pub drift: f64,
}

impl Line {
    pub(super) fn offset_at(&self, seconds: f64) -> f64 {
        self.offset + self.drift * (seconds - self.at)
    }
}

/// A bounded memory of spells, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Spells(VecDeque<Spell>);

impl Spells {
    /// No more than this many are kept, whatever the configuration says.
    const MOST: usize = 64;
    /// Seconds by which the best spell of all may be wrong: a frame's time stamp is no finer.
    const FLOOR: f64 = 3e-4;
    /// How far a spell is wrong, in parts of what its round trip has above the best there can be. At most
    /// a half; both ways share it, so usually half of that.
    const SHARE: f64 = 0.25;
    /// Quartz differs by about this much, in seconds a second. What is beyond has to be seen for longer.
    const USUAL_DRIFT: f64 = 1.5e-4;
    /// No clock drifts more.
    const MOST_DRIFT: f64 = 1e-3;

    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(Self::MOST))
    }

    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.0.capacity()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The fastest round trip, and how far below it the best there can be may lie: about as far as the
    /// third fastest lies above it.
    pub(super) fn best(&self) -> Option<(f64, f64)> {
        let mut fastest = [f64::INFINITY; 3];
        for spell in &self.0 {
            let mut slower = spell.round_trip();
            for place in &mut fastest {
                if slower < *place {
                    core::mem::swap(place, &mut slower);
                }
            }
        }
        let mut known = fastest.iter().filter(|round_trip| round_trip.is_finite());
        Some((fastest[0], known.next_back()? - fastest[0]))
    }

    pub(super) fn take(&mut self, legs: &Legs, config: &ServerClockConfig) {
        match self.0.back_mut() {
            Some(spell) if legs.at - spell.began < config.spell => spell.take(legs),
            _ => {
                while self.0.len() >= config.spells.clamp(1, Self::MOST) {
                    self.0.pop_front();
                }
                self.0.push_back(Spell::new(legs));
            }
        }
        // Not only by their number: after an outage the old ones know nothing of a clock that drifts.
        let oldest = legs.at - config.spell.max(0.0) * config.spells.clamp(1, Self::MOST) as f64;
        while self.0.front().is_some_and(|spell| spell.began < oldest) {
            self.0.pop_front();
        }
    }

    /// The line of least squares through the spells, each with the weight that its round trip deserves.
    /// A few excellent spells decide alone, many equally bad ones are averaged, and one that a full
    /// buffer has spoilt does not count. `now` is where the line is wanted.
    pub(super) fn line(&self, now: f64) -> Option<Line> {
        let (best, below) = self.best()?;
        let (mut weights, mut times, mut offsets) = (0.0, 0.0, 0.0);
        let points = self.0.iter().map(|spell| {
            let wrong = (spell.round_trip() - best + below) * Self::SHARE;
            let weight = 1.0 / (Self::FLOOR * Self::FLOOR + wrong * wrong);
            ((spell.up.0 + spell.down.0) / 2.0 - now, (spell.up.1 - spell.down.1) / 2.0, weight)
        });
        for (time, offset, weight) in points.clone() {
            weights += weight;
            times += weight * time;
            offsets += weight * offset;
        }
        let (time_mean, offset_mean) = (times / weights, offsets / weights);
        let (mut spread, mut slope) = (1.0 / (Self::USUAL_DRIFT * Self::USUAL_DRIFT), 0.0);
        for (time, offset, weight) in points {
            spread += weight * (time - time_mean) * (time - time_mean);
            slope += weight * (time - time_mean) * (offset - offset_mean);
        }
        let drift = (slope / spread).clamp(-Self::MOST_DRIFT, Self::MOST_DRIFT);
        let offset = offset_mean - drift * time_mean;
        offset.is_finite().then_some(Line { at: now, offset, drift })
    }
}
