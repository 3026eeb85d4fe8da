use std::collections::BTreeSet;

use bevy_unlag_core::Snapshot;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

const ID: NetId = NetId(7);

#[test]
fn contains_exactly_the_marked_ticks_across_tick_wraparound() {
    let mut rng = SmallRng::seed_from_u64(3);
    for origin in [0, u32::MAX - 3_000] {
        let (mut log, mut marked, mut newest) =
            (SentSnapshots::default(), BTreeSet::from([1_000]), 1_000_i64);
        log.mark(ID, Tick(origin).offset(1_000));
        for _ in 0..5_000 {
            let step = match rng.random_range(0..10) {
                0 => rng.random_range(-89..=0),
                1 => rng.random_range(0..90),
                _ => rng.random_range(0..4),
            };
            let tick = newest + step;
            let at = |tick: i64| Tick(origin).offset(tick as i32);
            log.mark(ID, at(tick));
            if newest - tick <= 64 {
                marked.insert(tick);
            }
            newest = newest.max(tick);
            marked = marked.split_off(&(newest - 64));
            assert_eq!(log.newest(ID), Some(at(newest)));
            for asked in newest - 200..newest + 100 {
                assert_eq!(log.contains(ID, at(asked)), marked.contains(&asked), "{asked} of {newest}");
            }
        }
    }
}

#[test]
fn pawns_are_recorded_separately_and_despawned_ones_are_removed() {
    let mut log = SentSnapshots::default();
    for id in [9, 2, 65_535, 0] {
        log.mark(NetId(id), Tick(u32::from(id) + 3));
    }
    assert!(log.contains(NetId(9), Tick(12)) && !log.contains(NetId(2), Tick(12)));
    log.keep(Tick(132), |id| id == NetId(9));
    assert_eq!(log.len(), 3, "only one other pawn was last sent long ago");
    log.keep(Tick(70_000), |id| id == NetId(9));
    assert_eq!((log.len(), log.newest(NetId(9)), log.newest(NetId(2))), (1, Some(Tick(12)), None));
}

#[test]
fn stamp_uses_only_snapshots_that_were_sent() {
    let mut history = SnapshotHistory::default();
    let mut log = SentSnapshots::default();
    for tick in [4, 7, 10, 13] {
        history.insert(Snapshot::new(Tick(tick), Vec3::ZERO, Vec3::ZERO));
    }
    let at = |tick| ViewTime { tick: Tick(tick), fraction: 128 };
    assert_eq!(log.stamp(ID, &history, at(8)), None);
    for tick in [4, 10] {
        log.mark(ID, Tick(tick));
    }
    let between = ViewStamp::Interpolated { from: Tick(4), to: Tick(10), time: at(8) };
    assert_eq!(log.stamp(ID, &history, at(8)), Some(between));
    let beyond = ViewStamp::Extrapolated { from: Tick(10), time: at(14) };
    assert_eq!(log.stamp(ID, &history, at(14)), Some(beyond));
    assert_eq!(log.stamp(ID, &history, at(3)), None);
    assert_eq!(log.stamp(NetId(8), &history, at(8)), None);
}

#[test]
fn pawn_that_the_client_does_not_draw_has_no_stamp_until_it_is_sent_again() {
    let mut history = SnapshotHistory::default();
    let mut log = SentSnapshots::default();
    for tick in [4, 7, 30, 33] {
        history.insert(Snapshot::new(Tick(tick), Vec3::ZERO, Vec3::ZERO));
        log.mark_update(ID, core::iter::once(Tick(tick)), Tick(tick));
        if tick == 7 {
            log.mark_gone(ID, Tick(9));
        }
    }
    let stamp = |log: &SentSnapshots, tick| log.stamp(ID, &history, ViewTime::at(Tick(tick)));
    for (tick, is_drawn) in [(8, true), (9, true), (10, false), (29, false), (30, true), (34, true)] {
        assert_eq!(stamp(&log, tick).is_some(), is_drawn, "tick {tick}");
    }
    // The gap is no update interval.
    assert_eq!(log.rates(ID, 3).longest, 3);
    // Control: the same snapshots without the notice.
    let mut log = SentSnapshots::default();
    [4, 7, 30, 33].into_iter().for_each(|tick| log.mark(ID, Tick(tick)));
    assert!(stamp(&log, 10).is_some());
}

#[test]
fn omitted_and_hidden_updates_make_the_record_incomplete() {
    let mut log = SentSnapshots::default();
    assert!(!log.is_complete_since(Tick(5)));
    log.mark(ID, Tick(10));
    assert!(log.is_complete_since(Tick(10)) && !log.is_complete_since(Tick(9)));
    log.mark_over_budget(Tick(13));
    assert!(!log.is_complete_since(Tick(13)) && log.is_complete_since(Tick(14)));
    assert_eq!(log.over_budget_count(), 1);
    log.mark_hidden(Tick(15));
    assert!(!log.is_complete_since(Tick(15)) && log.is_complete_since(Tick(16)));
    assert!(log.was_over_budget_since(Tick(13)) && !log.was_over_budget_since(Tick(14)));
}

#[test]
fn interval_is_the_most_common_one() {
    let mut log = SentSnapshots::default();
    assert_eq!(log.interval(), 0);
    for (id, interval) in [(1, 3), (2, 3), (3, 64), (4, 6)] {
        for k in 0..3 {
            let tick = Tick(k * interval);
            log.mark_update(NetId(id), [tick, tick.offset(-1)].into_iter(), tick);
        }
    }
    assert_eq!((log.interval(), log.common(), log.interval_spread()), (3, (3, 64), 61));
}

#[test]
fn interval_that_most_pawns_had_counts_until_screens_have_followed() {
    let mut log = SentSnapshots::default();
    let send = |log: &mut SentSnapshots, ticks: core::ops::Range<u32>, slow: u32| {
        for tick in ticks {
            let is_due = |interval: u32| tick.is_multiple_of(interval);
            for (id, interval) in [(1, 3), (2, slow), (3, slow), (4, slow)] {
                if is_due(interval) {
                    log.mark_update(NetId(id), [Tick(tick)].into_iter(), Tick(tick));
                }
            }
        }
    };
    send(&mut log, 0..600, 12);
    assert_eq!((log.interval(), log.common()), (12, (3, 12)));
    send(&mut log, 600..700, 3);
    assert_eq!((log.interval(), log.common(), log.interval_spread()), (3, (3, 12), 9));
    send(&mut log, 700..1_300, 3);
    assert_eq!((log.common(), log.interval_spread()), ((3, 3), 0));
}

#[test]
fn lateness_is_the_99th_percentile_of_recent_updates() {
    let mut log = SentSnapshots::default();
    let send = |log: &mut SentSnapshots, k: u32, late: i32| {
        let now = Tick(k * 3);
        log.mark_update(ID, [now.offset(-late)].into_iter(), now);
    };
    (0..1_000).for_each(|k| send(&mut log, k, if k % 200 == 0 { 9 } else { 0 }));
    assert_eq!(log.late(), 0);
    (1_000..2_000).for_each(|k| send(&mut log, k, i32::from(k % 20 == 0) * 2));
    assert_eq!(log.late(), 2);
    (2_000..3_000).for_each(|k| send(&mut log, k, 0));
    assert_eq!(log.late(), 0);
    // One of 238 is later than the two that are late by a tick.
    (3_000..4_000).for_each(|k| {
        send(&mut log, k, if k % 150 == 0 { 2 } else { i32::from(k % 100 == 49) });
    });
    assert_eq!(log.late(), 1);
}

#[test]
fn clone_from_reuses_the_allocation() {
    let mut log = SentSnapshots::default();
    (0..64).for_each(|id| log.mark(NetId(id), Tick(9)));
    let mut copy = log.clone();
    let room = copy.targets.as_ptr();
    log.mark(NetId(3), Tick(12));
    copy.clone_from(&log);
    assert_eq!(copy.targets.as_ptr(), room);
    assert!(copy.contains(NetId(3), Tick(12)) && copy.is_complete_since(Tick(9)));
}
