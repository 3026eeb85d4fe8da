//! What a target was doing, and counts of hits.

use core::ops::{AddAssign, Sub};

use bevy_unlag::{core::SnapshotHistory, prelude::*};

/// What a target was doing on the shooter's screen when a round was fired at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// On foot, upright, on the fixed world: mostly running across the line of fire.
    Strafe,
    /// In the air.
    Air,
    /// Crouched, or on the way there.
    Crouch,
    /// On a movement base, whatever it did there.
    Platform,
}

impl Doing {
    /// All of them, in the order of [`ShotLedger::doing`](super::ShotLedger::doing).
    pub const ALL: [Self; 4] = [Self::Strafe, Self::Air, Self::Crouch, Self::Platform];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Strafe => "strafe",
            Self::Air => "air",
            Self::Crouch => "crouch",
            Self::Platform => "platform",
        }
    }

    /// What a drawn pawn does. Without the snapshots that it is drawn from nobody knows whether it stands
    /// on a movement base.
    #[must_use]
    pub fn read(drawn: &DrawnPose, history: Option<&SnapshotHistory>) -> Self {
        if history.is_some_and(|history| history.is_on_base(drawn.stamp)) {
            Self::Platform
        } else if !drawn.pose.grounded {
            Self::Air
        } else if drawn.pose.crouch > 0.0 {
            Self::Crouch
        } else {
            Self::Strafe
        }
    }
}

/// Rounds, and how many of them hit according to whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Rounds.
    pub rounds: u64,
    /// Rounds that the screen showed hitting somebody.
    pub drawn: u64,
    /// Rounds that the server confirmed to have hit somebody.
    pub confirmed: u64,
    /// Rounds that both have hitting the same part of the same player.
    pub agreed: u64,
}

impl Tally {
    /// P(confirmed | drawn) in percent; `None` without a drawn hit.
    #[must_use]
    pub fn confirmed_of_drawn(&self) -> Option<f64> {
        (self.drawn > 0).then(|| self.agreed as f64 * 100.0 / self.drawn as f64)
    }

    /// P(drawn | confirmed) in percent; `None` without a confirmed hit.
    #[must_use]
    pub fn drawn_of_confirmed(&self) -> Option<f64> {
        (self.confirmed > 0).then(|| self.agreed as f64 * 100.0 / self.confirmed as f64)
    }

    /// The lower of both in percent; `None` when there is nothing to agree on.
    #[must_use]
    pub fn agreement(&self) -> Option<f64> {
        match (self.confirmed_of_drawn(), self.drawn_of_confirmed()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            // One side alone has hits: nothing agrees.
            (None, None) => None,
            _ => Some(0.0),
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.drawn += other.drawn;
        self.confirmed += other.confirmed;
        self.agreed += other.agreed;
    }
}

impl Sub for Tally {
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
