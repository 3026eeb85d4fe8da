//! Sums of a server's questions to its level, and of what it concealed, over all ticks.

use bevy_unlag::net::{HiddenPawns, InterestStats, InterestSystems};
use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// Sums over the ticks of a server.
#[derive(Resource, Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Tests of a pair, and those without an answer.
    pub tested: u64,
    unanswered: u64,
    /// Concealed pawns of all clients, and how many there would be if all were.
    hidden: u64,
    pairs: u64,
}

impl Tally {
    /// Adds the tally to a server, from now on.
    pub fn begin(server: &mut App) {
        if !server.world().contains_resource::<Self>() {
            server.add_systems(PostUpdate, count.after(InterestSystems::Decide));
        }
        server.insert_resource(Self::default());
    }

    /// Returns the percentage of tests without an answer.
    pub fn unanswered_percent(&self) -> f64 {
        self.unanswered as f64 * 100.0 / self.tested.max(1) as f64
    }

    /// Returns the percentage of pawns that were concealed.
    pub fn hidden_percent(&self) -> f64 {
        self.hidden as f64 * 100.0 / self.pairs.max(1) as f64
    }
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.tested += other.tested;
        self.unanswered += other.unanswered;
        self.hidden += other.hidden;
        self.pairs += other.pairs;
    }
}

fn count(stats: Option<Res<InterestStats>>, links: Query<&HiddenPawns>, mut tally: ResMut<Tally>) {
    let Some(stats) = stats else { return };
    let players = links.iter().len() as u64;
    tally.tested += u64::from(stats.tested);
    tally.unanswered += u64::from(stats.unanswered);
    tally.hidden += links.iter().map(|pawns| pawns.iter().count() as u64).sum::<u64>();
    tally.pairs += players * players.saturating_sub(1);
}
