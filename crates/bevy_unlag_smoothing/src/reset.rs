//! Resets of published paths, of snapshots and of clocks: reconnects, new matches, another server.

use bevy::prelude::*;
use bevy_unlag_core::{
    LastReceivedSnapshot, LocalControl, MatchReset, OwnerReconnected, ServerLeft, Snapshot, SnapshotHistory,
    Tick,
};

use crate::{
    inbox::SnapshotInbox, out_of_sight, playout::PlayoutClocks, proxy::ProxyTime,
    published_path::PublishedPath, sent_snapshots::SentSnapshots,
};

pub(crate) fn server_plugin(app: &mut App) {
    app.add_observer(reset_connection).add_observer(reset_paths);
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_observer(reset_proxies)
        .add_observer(reset_clocks)
        .add_observer(reset_predicted)
        .add_observer(out_of_sight::forget);
}

fn reset_connection(reconnected: On<OwnerReconnected>, mut logs: Query<&mut SentSnapshots>) {
    if let Ok(mut log) = logs.get_mut(reconnected.entity) {
        *log = SentSnapshots::default();
    }
}

fn reset_paths(_: On<MatchReset>, mut paths: Query<&mut PublishedPath>) {
    for mut path in &mut paths {
        *path = PublishedPath::default();
    }
}

/// Snapshots of the new match may arrive before the message about it: they are kept.
fn reset_proxies(reset: On<MatchReset>, mut proxies: Query<(&mut SnapshotInbox, &mut SnapshotHistory)>) {
    let tick = reset.tick;
    for (mut inbox, mut history) in &mut proxies {
        inbox.0.retain(|update| update.snapshot.tick.is_newer_than(tick));
        retain_newer(&mut history, tick);
    }
}

/// The path of a pawn does not continue across the time in which this client predicts it.
fn reset_predicted(
    taken: On<Add, LocalControl>,
    mut pawns: Query<(&mut SnapshotInbox, &mut SnapshotHistory, &mut ProxyTime)>,
) {
    if let Ok((mut inbox, mut history, mut time)) = pawns.get_mut(taken.entity) {
        inbox.0.clear();
        history.clear();
        time.restart();
    }
}

fn retain_newer(history: &mut SnapshotHistory, tick: Tick) {
    let new: Vec<Snapshot> = history.iter().filter(|s| s.tick.is_newer_than(tick)).copied().collect();
    history.clear();
    for snapshot in new {
        history.insert(snapshot);
    }
}

fn reset_clocks(
    _: On<ServerLeft>,
    (playout, last_received): (Option<ResMut<PlayoutClocks>>, Option<ResMut<LastReceivedSnapshot>>),
) {
    if let Some(mut playout) = playout {
        *playout = PlayoutClocks::default();
    }
    if let Some(mut last_received) = last_received {
        *last_received = LastReceivedSnapshot::default();
    }
}
