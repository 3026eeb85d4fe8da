//! Inboxes of proxies and their transfer to snapshot histories.

use bevy::prelude::*;
use bevy_unlag_core::{
    DrawnPose, GameClock, LocalControl, MeasuredUpdateInterval, PoseSampler, ProxyUpdate, SnapshotHistory,
    Tick, VisualOffset,
};

use crate::{
    config::PlayoutConfig, last_drawn::LastDrawn, out_of_sight::OutOfSight, playout::PlayoutClocks,
    proxy::ProxyTime, stats::SmoothingStats,
};

/// Received updates of a pawn, in any order. The network integration fills it in [`PreUpdate`], before
/// [`SmoothingSystems::Receive`](crate::SmoothingSystems::Receive) empties it.
///
/// It enables smoothing for the pawn, which is drawn while its [`NetRole`](bevy_unlag_core::NetRole) is
/// `SimulatedProxy`.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(SnapshotHistory, ProxyTime, MeasuredUpdateInterval, DrawnPose, VisualOffset, LastDrawn)]
pub struct SnapshotInbox(pub Vec<ProxyUpdate>);

/// Update intervals without an update after which the path of a predicted pawn starts over.
const MAX_PREDICTED_GAP: i32 = 4;

pub(crate) fn receive(
    config: Res<PlayoutConfig>,
    sampler: Res<PoseSampler>,
    (time, clock): (Res<Time<Real>>, Res<GameClock>),
    mut playout: ResMut<PlayoutClocks>,
    mut stats: ResMut<SmoothingStats>,
    mut proxies: Query<(
        &mut SnapshotInbox,
        &mut SnapshotHistory,
        &mut ProxyTime,
        &mut MeasuredUpdateInterval,
        Has<LocalControl>,
        Option<&OutOfSight>,
    )>,
    mut arrivals: Local<Vec<(u16, Tick, Option<Tick>)>>,
) {
    let (now, tick_seconds) = (clock.seconds(&time), f64::from(sampler.tick_seconds));
    let usual = u16::try_from(sampler.snapshot_ticks.max(1)).unwrap_or(u16::MAX);
    playout.begin(&config, tick_seconds, now);

    // Several proxies share a tick, but a clock takes each tick once, newest first.
    arrivals.clear();
    for (inbox, _, mut proxy, _, predicted, gone) in &mut proxies {
        let back = gone.and_then(|gone| gone.end_in(&inbox, proxy.newest()));
        if let Some(first) = back {
            proxy.resume(first, now, tick_seconds);
        }
        // A pawn that this client controls is updated for a short time only: no measure of the link.
        if predicted {
            continue;
        }
        let ticks = inbox.0.iter().map(|update| update.snapshot.tick);
        let newest = ticks.reduce(|a, b| if b.is_newer_than(a) { b } else { a });
        let Some(tick) = newest.filter(|tick| proxy.newest().is_none_or(|before| tick.is_newer_than(before)))
        else {
            // An old update or another server's: only the clock can distinguish them.
            arrivals.extend(newest.map(|tick| (proxy.interval().max(1), tick, None)));
            continue;
        };
        let interval =
            if proxy.interval() == 0 { PlayoutClocks::interval_class(usual) } else { proxy.interval() };
        arrivals.push((interval, tick, proxy.newest().filter(|_| back.is_none())));
    }
    if let Some(&(_, any, _)) = arrivals.first() {
        let key = |tick: Tick| core::cmp::Reverse(tick.since(any));
        arrivals
            .sort_unstable_by_key(|(interval, tick, previous)| (*interval, key(*tick), previous.map(key)));
        arrivals.dedup();
    }
    for &arrival in &*arrivals {
        playout.arrived(arrival, (&config, tick_seconds), now);
    }

    for (mut inbox, mut history, mut proxy, mut usually, predicted, _) in &mut proxies {
        let first = inbox
            .0
            .iter()
            .map(|update| update.snapshot.tick)
            .reduce(|a, b| if b.is_newer_than(a) { a } else { b });
        if predicted
            && let Some((first, newest)) = first.zip(proxy.newest())
            && first.since(newest) > i32::from(usual) * MAX_PREDICTED_GAP
        {
            // Its path does not continue across the time in which it was predicted.
            history.clear();
            proxy.restart();
        }
        if playout.restarted(proxy.interval()) {
            // Ticks of another server must not mix with those of the current one.
            history.clear();
            proxy.restart();
        }
        if !inbox.0.is_empty() {
            for update in inbox.0.drain(..) {
                take(&update, &playout, (&mut history, &mut proxy), &mut stats, (usual, now));
            }
        }
        usually.set_if_neq(MeasuredUpdateInterval(proxy.interval()));
        if !predicted {
            playout.count(proxy.interval(), now);
        }
    }
}

fn take(
    update: &ProxyUpdate,
    playout: &PlayoutClocks,
    (history, proxy): (&mut SnapshotHistory, &mut ProxyTime),
    stats: &mut SmoothingStats,
    (usual, now): (u16, f64),
) {
    let tick = update.snapshot.tick;
    if update.iter().any(|snapshot| playout.is_stray(proxy.interval(), snapshot.tick, now)) {
        stats.implausible += 1;
        return;
    }
    for snapshot in update.earlier() {
        history.insert(*snapshot);
    }
    // A later update that overtook this one may have brought its snapshot already.
    if !history.insert(update.snapshot) && !proxy.missed(tick) {
        stats.duplicates += 1;
        return;
    }
    if proxy.drawn.is_some_and(|view| view.ticks_since(tick) > 0.0) {
        stats.late += 1;
    }
    proxy.updated(tick, PlayoutClocks::interval_class(usual), now);
}
