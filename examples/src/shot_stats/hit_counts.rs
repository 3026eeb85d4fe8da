//! Counts of drawn and confirmed hits.

use core::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Numbers of rounds, drawn hits and confirmed hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HitCounts {
    /// Rounds fired.
    pub rounds: u64,
    /// Rounds drawn as hits on the client's screen.
    pub drawn: u64,
    /// Rounds that the server confirmed as hits.
    pub confirmed: u64,
    /// Rounds for which client and server agree on the target and its hit group.
    pub agreed: u64,
}

impl HitCounts {
    /// Returns P(confirmed | drawn) in percent; `None` without a drawn hit.
    #[must_use]
    pub fn confirmed_of_drawn(&self) -> Option<f64> {
        (self.drawn > 0).then(|| self.agreed as f64 * 100.0 / self.drawn as f64)
    }

    /// Returns P(drawn | confirmed) in percent; `None` without a confirmed hit.
    #[must_use]
    pub fn drawn_of_confirmed(&self) -> Option<f64> {
        (self.confirmed > 0).then(|| self.agreed as f64 * 100.0 / self.confirmed as f64)
    }

    /// Returns the lower of the two shares in percent; `None` without any hit.
    #[must_use]
    pub fn agreement(&self) -> Option<f64> {
        match (self.confirmed_of_drawn(), self.drawn_of_confirmed()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            // Only one side has hits, so nothing agrees.
            (None, None) => None,
            _ => Some(0.0),
        }
    }
}

impl AddAssign for HitCounts {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.drawn += other.drawn;
        self.confirmed += other.confirmed;
        self.agreed += other.agreed;
    }
}

impl Sub for HitCounts {
    type Output = Self;

    fn sub(self, part: Self) -> Self {
        Self {
            rounds: self.rounds.saturating_sub(part.rounds),
            drawn: self.drawn.saturating_sub(part.drawn),
            confirmed: self.confirmed.saturating_sub(part.confirmed),
            agreed: self.agreed.saturating_sub(part.agreed),
        }
    }
}
