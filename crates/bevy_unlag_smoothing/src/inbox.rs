//! From the network's mailbox into a pawn's memory.

use bevy::prelude::*;
use bevy_unlag_core::{DrawnPose, DrawnViewTime, Sampler, Snapshot, SnapshotHistory, Tick};

use crate::{PlayoutClock, PlayoutConfig, SmoothingStats};

/// Where the network puts a pawn's snapshots, in any order, before
/// [`SmoothingSystems::Receive`](crate::SmoothingSystems::Receive) in [`PreUpdate`] empties it.
/// Having one is what lets a pawn be smoothed.
#[derive(Component, Clone, Debug, Default)]
#[require(SnapshotHistory, DrawnPose)]
pub struct SnapshotInbox(pub Vec<Snapshot>);

pub(crate) fn receive(
    config: Res<PlayoutConfig>,
    sampler: Res<Sampler>,
    time: Res<Time<Real>>,
    drawn: Res<DrawnViewTime>,
    mut clock: ResMut<PlayoutClock>,
    mut stats: ResMut<SmoothingStats>,
    mut proxies: Query<(&mut SnapshotInbox, &mut SnapshotHistory)>,
    mut ticks: Local<Vec<Tick>>,
) {
    clock.configure(*config, f64::from(sampler.tick_seconds));

    // Proxies share ticks, and the clock wants each once, newest first.
    ticks.clear();
    ticks.extend(proxies.iter().flat_map(|(inbox, _)| &inbox.0).map(|snapshot| snapshot.tick));
    if let Some(&any) = ticks.first() {
        ticks.sort_unstable_by_key(|tick| core::cmp::Reverse(tick.since(any)));
        ticks.dedup();
    }
    let restarts = clock.restarts();
    for &tick in &*ticks {
        clock.arrived(tick, time.elapsed_secs_f64());
    }
    let restarted = clock.restarts() != restarts;

    for (mut inbox, mut history) in &mut proxies {
        if restarted {
            // Another server's ticks must not be taken for this one's past or future.
            history.clear();
        }
        if inbox.0.is_empty() {
            continue;
        }
        for snapshot in inbox.0.drain(..) {
            if !history.insert(snapshot) {
                stats.duplicates += 1;
            } else if !restarted && drawn.0.is_some_and(|view| view.ticks_since(snapshot.tick) > 0.0) {
                stats.late += 1;
            }
        }
    }
}
