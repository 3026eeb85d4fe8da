//! Counts of moves and corrections of all pawns, which outlive the pawns.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_prediction::{CorrectionCause, PredictionStats};

/// Number of causes of corrections.
const CAUSES: usize = CorrectionCause::ALL.len();

/// Counters of one pawn, or the sums of all pawns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MoveCounts([u64; CAUSES + 3]);

impl MoveCounts {
    fn of(stats: &PredictionStats) -> Self {
        let mut counts = [0; CAUSES + 3];
        for (count, corrections) in counts.iter_mut().zip(stats.by_cause) {
            *count = u64::from(corrections);
        }
        counts[CAUSES..].copy_from_slice(&[stats.moves, stats.extrapolated_moves, stats.withheld]);
        Self(counts)
    }

    /// Returns the number of corrections by cause.
    pub fn corrections(&self) -> impl Iterator<Item = (&'static str, u64)> {
        CorrectionCause::ALL.into_iter().map(CorrectionCause::name).zip(self.0)
    }

    /// Returns the number of moves that have run.
    pub fn moves(&self) -> u64 {
        self.0[CAUSES]
    }

    /// Returns the number of moves that did not arrive in time.
    pub fn extrapolated(&self) -> u64 {
        self.0[CAUSES + 1]
    }

    /// Returns the number of moves that were not run because they came too fast.
    pub fn withheld(&self) -> u64 {
        self.0[CAUSES + 2]
    }
}

/// Sums of the counters of all pawns since the server started.
#[derive(Resource, Default)]
pub(super) struct MoveTotals {
    seen: EntityHashMap<MoveCounts>,
    sums: MoveCounts,
}

impl MoveTotals {
    /// Adds what a pawn has counted since the last call for it.
    pub fn update(&mut self, pawn: Entity, stats: &PredictionStats) {
        let now = MoveCounts::of(stats);
        let before = self.seen.insert(pawn, now).unwrap_or_default();
        for ((sum, now), before) in self.sums.0.iter_mut().zip(now.0).zip(before.0) {
            // Counters that were reset start at zero.
            *sum += now.checked_sub(before).unwrap_or(now);
        }
    }

    /// Returns the sums.
    pub fn sums(&self) -> MoveCounts {
        self.sums
    }
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<MoveTotals>().add_observer(keep_counts);
}

/// Adds the last counts of a pawn that goes.
fn keep_counts(
    removed: On<Remove, PredictionStats>,
    pawns: Query<&PredictionStats>,
    mut totals: ResMut<MoveTotals>,
) {
    if let Ok(stats) = pawns.get(removed.entity) {
        totals.update(removed.entity, stats);
    }
    totals.seen.remove(&removed.entity);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(moves: u64, late_pushes: u32) -> PredictionStats {
        let mut stats = PredictionStats::default();
        stats.moves = moves;
        stats.by_cause[CorrectionCause::ServerPush as usize] = late_pushes;
        stats
    }

    #[test]
    fn counts_of_a_pawn_outlive_it_and_a_reset() {
        let mut app = App::new();
        app.add_plugins(plugin);
        let pawn = app.world_mut().spawn(stats(10, 1)).id();
        let update = |app: &mut App| {
            let stats = *app.world().get::<PredictionStats>(pawn).expect("the pawn");
            app.world_mut().resource_mut::<MoveTotals>().update(pawn, &stats);
        };
        let sums = |app: &App| {
            let sums = app.world().resource::<MoveTotals>().sums();
            let pushes = sums.corrections().find(|(cause, _)| *cause == "server push");
            (sums.moves(), pushes.map(|(_, count)| count))
        };
        update(&mut app);
        update(&mut app);
        assert_eq!(sums(&app), (10, Some(1)));
        *app.world_mut().get_mut::<PredictionStats>(pawn).expect("the pawn") = stats(4, 0);
        update(&mut app);
        assert_eq!(sums(&app), (14, Some(1)));
        *app.world_mut().get_mut::<PredictionStats>(pawn).expect("the pawn") = stats(9, 2);
        app.world_mut().despawn(pawn);
        assert_eq!(sums(&app), (19, Some(3)));
        assert!(app.world().resource::<MoveTotals>().seen.is_empty());
    }

    #[test]
    fn each_counter_is_read_back_under_its_name() {
        let mut all = stats(1, 4);
        (all.extrapolated_moves, all.withheld) = (2, 3);
        let counts = MoveCounts::of(&all);
        assert_eq!((counts.moves(), counts.extrapolated(), counts.withheld()), (1, 2, 3));
        assert_eq!(counts.corrections().map(|(_, count)| count).sum::<u64>(), 4);
        assert_eq!(counts.corrections().count(), CAUSES);
    }
}
