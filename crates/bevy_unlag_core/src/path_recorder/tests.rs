use super::*;
use crate::{
    base_poses::BaseView,
    history::SnapshotHistory,
    sampler::PoseSampler,
    tick::{Tick, ViewTime},
};

const DT: f32 = 1.0 / 64.0;

/// Sends a path every `every` ticks. Returns the largest distance of the drawn path from the true one, in
/// metres, and the mean number of path knots per update.
fn expect_drawn_error(
    path: impl Fn(u32) -> Snapshot,
    ticks: u32,
    every: u32,
    config: &PathKnotConfig,
) -> (f32, f32) {
    let mut track = PathRecorder::default();
    let mut history = SnapshotHistory::new(2_000);
    let (mut updates, mut knots) = (0, 0);
    for tick in 0..=ticks {
        track.record(path(tick), DT);
        if tick.is_multiple_of(every) {
            let update = track.update(config, DT, false).expect("a tick was recorded");
            updates += 1;
            knots += update.knots().len();
            for resent in update.resent() {
                assert_eq!(history.get(resent.tick), Some(resent), "sent again with other values");
            }
            for snapshot in update.knots().iter().chain([&update.snapshot]) {
                assert!(history.insert(*snapshot), "tick {} was sent twice", snapshot.tick.0);
            }
        }
    }
    let sampler = PoseSampler::default();
    let worst = (0..ticks - ticks % every).map(|tick| {
        let stamp = history.stamp(ViewTime::at(Tick(tick))).expect("the tick must be in the history");
        let pose = history.pose(stamp, &sampler, &BaseView::default()).expect("stored snapshots");
        pose.position.distance(path(tick).position())
    });
    (worst.fold(0.0, f32::max), knots as f32 / updates as f32)
}

/// Hops of 0.7 s at 8 m/s: the velocity jumps at each landing.
fn hop(tick: u32) -> Snapshot {
    let (period, gravity) = (0.7f32, 10.0);
    let seconds = tick as f32 * DT;
    let into = seconds % period;
    let up = gravity * period / 2.0;
    let position = Vec3::new(8.0 * seconds, up * into - gravity * into * into / 2.0, 0.0);
    Snapshot::new(Tick(tick), position, Vec3::new(8.0, up - gravity * into, 0.0))
}

/// Runs at 6 m/s and stops abruptly for a third of each second.
fn stop(tick: u32) -> Snapshot {
    let (second, into) = (tick / 64, (tick % 64).min(43));
    let x = 6.0 * DT * (second * 43 + into) as f32;
    let velocity = if tick % 64 <= 43 && !tick.is_multiple_of(64) { 6.0 } else { 0.0 };
    Snapshot::new(Tick(tick), Vec3::X * x, Vec3::X * velocity)
}

#[test]
fn curve_follows_landings_and_abrupt_stops_with_few_path_knots() {
    let config = PathKnotConfig::default();
    for (name, path) in [("hop", hop as fn(u32) -> Snapshot), ("stop", stop)] {
        for every in [3, 6, 16] {
            let (worst, knots) = expect_drawn_error(path, 960, every, &config);
            assert!(worst < 0.006, "{name} every {every} ticks: {worst} m");
            let allowed = if every <= 6 { 0.25 } else { 0.6 };
            assert!(knots < allowed, "{name} every {every} ticks: {knots} path knots per update");
        }
        let (plain, _) =
            expect_drawn_error(path, 960, 6, &PathKnotConfig { max_knots: 0, tolerance: 100.0, ..config });
        assert!(
            plain > 0.03,
            "{name}: the control without path knots must miss the path, not by only {plain} m"
        );
    }
}

#[test]
fn one_update_a_second_needs_its_path_knots_to_follow_a_circle() {
    let path = |tick: u32| {
        let (sin, cos) = (tick as f32 * DT * 3.0).sin_cos();
        Snapshot::new(Tick(tick), Vec3::new(cos, 0.0, sin) * 2.0, Vec3::new(-sin, 0.0, cos) * 6.0)
    };
    let (with, knots) = expect_drawn_error(path, 640, 64, &PathKnotConfig::default());
    let (without, _) =
        expect_drawn_error(path, 640, 64, &PathKnotConfig { max_knots: 0, ..PathKnotConfig::default() });
    assert!(
        knots > 1.0 && with < 0.02 && without > 0.1,
        "{with} m with {knots} path knots, {without} m without"
    );
}

#[test]
fn teleport_between_updates_is_drawn_at_its_exact_tick() {
    let (worst, _) = expect_drawn_error(teleport, 96, 6, &PathKnotConfig::default());
    assert!(worst < 0.002, "{worst} m");
}

/// Runs at 6 m/s and turns by a right angle every 26 ticks.
fn corners(tick: u32) -> Snapshot {
    let (legs, into) = (tick / 26, tick % 26);
    let way = |half: u32, runs: bool| 6.0 * DT * (half * 26 + if runs { into } else { 0 }) as f32;
    let along_x = legs.is_multiple_of(2);
    let place = Vec3::new(way(legs.div_ceil(2), along_x), 0.0, way(legs / 2, !along_x));
    let came_along_x = (tick.saturating_sub(1) / 26).is_multiple_of(2);
    Snapshot::new(Tick(tick), place, if came_along_x { Vec3::X } else { Vec3::Z } * 6.0)
}

/// Runs at 6 m/s and covers the way of two ticks in every twentieth, as when late moves are caught up.
fn hurry(tick: u32) -> Snapshot {
    Snapshot::new(Tick(tick), Vec3::X * (6.0 * DT * (tick + tick / 20) as f32), Vec3::X * 6.0)
}

/// Runs at 6 m/s and is put 15 m further at tick 34.
fn teleport(tick: u32) -> Snapshot {
    let jumped = tick >= 34;
    let x = tick as f32 * DT * 6.0 + if jumped { 15.0 } else { 0.0 };
    Snapshot { teleports: u8::from(jumped), ..Snapshot::new(Tick(tick), Vec3::X * x, Vec3::X * 6.0) }
}

/// Returns the updates of a path that is sent every `every` ticks.
fn sent(path: impl Fn(u32) -> Snapshot, ticks: u32, every: u32, config: &PathKnotConfig) -> Vec<ProxyUpdate> {
    let mut track = PathRecorder::default();
    let mut updates = Vec::new();
    for tick in 0..=ticks {
        track.record(path(tick), DT);
        if tick.is_multiple_of(every) {
            updates.extend(track.update(config, DT, false));
        }
    }
    updates
}

/// Returns the largest distance of the drawn path from the true one, in metres, on clients that each lost another
/// update.
fn lost_update_error(path: impl Fn(u32) -> Snapshot, updates: &[ProxyUpdate]) -> f32 {
    let sampler = PoseSampler::default();
    let mut worst = 0.0f32;
    for around in updates.windows(3) {
        let mut history = SnapshotHistory::new(20);
        history.insert(around[0].snapshot);
        around[2].iter().for_each(|snapshot| _ = history.insert(*snapshot));
        for tick in around[0].snapshot.tick.0..=around[2].snapshot.tick.0 {
            let stamp = history.stamp(ViewTime::at(Tick(tick))).expect("the tick must be in the history");
            let pose = history.pose(stamp, &sampler, &BaseView::default()).expect("stored snapshots");
            worst = worst.max(pose.position.distance(path(tick).position()));
        }
    }
    worst
}

#[test]
fn lost_update_on_a_sharp_path_is_drawn_within_its_tolerance_as_the_next_one_brings_it() {
    let config = PathKnotConfig::default();
    let paths = [("hop", hop as fn(u32) -> Snapshot), ("stop", stop), ("corners", corners), ("hurry", hurry)];
    for (name, path) in paths {
        for every in [3, 6, 16] {
            let updates = sent(path, 960, every, &config);
            let worst = lost_update_error(path, &updates);
            assert!(worst < 0.041, "{name} every {every} ticks: {worst} m");
            // The control: the same updates, without what they bring of the one before.
            let bare: Vec<_> =
                updates.iter().map(|one| ProxyUpdate::new(one.snapshot, one.knots())).collect();
            let worst = lost_update_error(path, &bare);
            assert!(
                worst > 0.07,
                "{name} every {every} ticks: the control must miss the path, not by {worst} m"
            );
            // Not just in any update, and always as a whole: shots are tested against the curve through all snapshots.
            let again = updates.windows(2).filter(|pair| !pair[1].resent().is_empty());
            assert!(again.clone().all(|pair| pair[1].resending(&pair[0]) == pair[1]), "{name}: not whole");
            let share = again.count() as f32 / updates.len() as f32;
            assert!(every > 3 || share < 0.25, "{name}: {share} of the updates are sent again");
        }
    }
}

#[test]
fn updates_are_not_sent_again_on_a_smooth_path_or_with_an_infinite_tolerance() {
    let circle = |tick: u32| {
        let (sin, cos) = (tick as f32 * DT * 3.0).sin_cos();
        Snapshot::new(Tick(tick), Vec3::new(cos, 0.0, sin) * 2.0, Vec3::new(-sin, 0.0, cos) * 6.0)
    };
    let again = |updates: Vec<ProxyUpdate>| updates.iter().filter(|one| !one.resent().is_empty()).count();
    let config = PathKnotConfig::default();
    assert_eq!([3, 6].map(|every| again(sent(circle, 640, every, &config))), [0, 0]);
    assert!(again(sent(circle, 640, 64, &config)) > 5, "a second without an update must not be guessed");
    let never = PathKnotConfig { lost_update_tolerance: f32::INFINITY, ..config };
    assert_eq!(again(sent(hop, 960, 3, &never)), 0);
    assert!(again(sent(hop, 960, 3, &config)) > 10);
    assert!(again(sent(teleport, 96, 6, &never)) > 0, "nothing stands for a teleport that was lost");
}

#[test]
fn teleport_in_a_lost_update_is_drawn_at_its_exact_tick() {
    for every in [3, 6, 10] {
        let updates = sent(teleport, 96, every, &PathKnotConfig::default());
        let worst = lost_update_error(teleport, &updates);
        assert!(worst < 0.002, "every {every} ticks: {worst} m");
    }
}

#[test]
fn updates_are_sent_again_also_when_they_are_further_apart_than_the_recorder_remembers() {
    for every in [200, 256, 300] {
        let updates = sent(hop, 1_200, every, &PathKnotConfig::default());
        assert_eq!(updates.len() as u32, 1_200 / every + 1);
        assert!(updates.iter().skip(2).all(|one| !one.resent().is_empty()), "every {every} ticks");
    }
}

#[test]
fn curve_follows_a_heading_with_a_changing_spin() {
    // Steered left and right like a kart: the spin jumps every half second.
    let yaw = |tick: u32| {
        let (half, into) = (tick / 32, tick % 32);
        let turned = if half.is_multiple_of(2) { into } else { 32 - into };
        turned as f32 * DT * 2.0
    };
    let path = |tick: u32| {
        let spin = if ((tick.max(1) - 1) / 32).is_multiple_of(2) { 2.0 } else { -2.0 };
        let snapshot = Snapshot::new(Tick(tick), Vec3::ZERO, Vec3::ZERO);
        Snapshot { yaw: crate::angle_to_units(yaw(tick)), spin: Some(Snapshot::spin_units(spin)), ..snapshot }
    };
    let mut track = PathRecorder::default();
    let mut history = SnapshotHistory::new(500);
    for tick in 0..=252u32 {
        track.record(path(tick), DT);
        if tick.is_multiple_of(6) {
            let update = track.update(&PathKnotConfig::default(), DT, false).expect("a tick was recorded");
            let new = update.knots().iter().chain([&update.snapshot]);
            new.for_each(|snapshot| assert!(history.insert(*snapshot)));
        }
    }
    for tick in 0..252u32 {
        let stamp = history.stamp(ViewTime::at(Tick(tick))).expect("the tick must be in the history");
        let pose =
            history.pose(stamp, &PoseSampler::default(), &BaseView::default()).expect("stored snapshots");
        let off = pose.rotation.angle_between(path(tick).rotation()).to_degrees();
        assert!(off < 0.2, "tick {tick}: {off}°");
    }
}

#[test]
fn acceleration_is_sent_only_on_request_and_not_after_an_impulse() {
    let speeding = |tick: u32| {
        let t = tick as f32 * DT;
        Snapshot::new(Tick(tick), Vec3::X * (10.0 * t * t), Vec3::X * (20.0 * t))
    };
    let send = |path: &dyn Fn(u32) -> Snapshot, accelerates| {
        let mut track = PathRecorder::default();
        let mut last = None;
        for tick in 0..=6 {
            track.record(path(tick), DT);
            if tick % 3 == 0 {
                last = track.update(&PathKnotConfig::default(), DT, accelerates);
            }
        }
        last.expect("an update was sent").snapshot.acceleration()
    };
    assert!((send(&speeding, true) - Vec3::X * 20.0).length() < 1.5, "{}", send(&speeding, true));
    assert_eq!(send(&speeding, false), Vec3::ZERO);
    let hit =
        |tick: u32| Snapshot::new(Tick(tick), Vec3::ZERO, if tick < 6 { Vec3::X * 6.0 } else { Vec3::ZERO });
    assert_eq!(send(&hit, true), Vec3::ZERO);
}

/// Sends a pawn that falls with `actual` for 16 ticks, from rising at 0.5 m/s. Returns the update.
fn fall(actual: f32, sampler: &PoseSampler) -> Snapshot {
    let mut track = PathRecorder::default();
    for tick in 0..16 {
        let seconds = tick as f32 * DT;
        let velocity = Vec3::new(3.0, 0.5 - actual * seconds, 0.0);
        let place = Vec3::new(3.0 * seconds, (0.5 - actual * 0.5 * seconds) * seconds, 0.0);
        let falling = Snapshot { falling: true, ..Snapshot::new(Tick(tick), place, velocity) };
        track.record_exactly(falling, velocity, DT);
    }
    let update = track.update_for(&PathKnotConfig::default(), sampler, false);
    update.expect("ticks were recorded").snapshot
}

/// Fails without `fall_as`.
#[test]
fn fall_in_another_gravity_is_extrapolated_with_it_and_costs_nothing_in_ordinary_gravity() {
    let sampler = PoseSampler { gravity: 10.0, ..PoseSampler::default() };
    for actual in [10.0, 10.5, 20.0, 5.0, 0.0, -4.0] {
        let sent = fall(actual, &sampler);
        let pose = sampler.extrapolate(&sent, ViewTime::at(Tick(23)), &BaseView::default());
        let seconds = 23.0 * DT;
        let truth = Vec3::new(3.0 * seconds, (0.5 - actual * 0.5 * seconds) * seconds, 0.0);
        // A velocity is sent in steps of 1/32 m/s.
        assert!(pose.position.distance(truth) < 0.008, "{actual}: {} for {truth}", pose.position);
        assert_eq!(sent.acceleration == [0; 3], [10.0, 10.5, 0.0].contains(&actual), "{actual}");
    }
}

/// Returns the ticks of the updates, every three ticks, that should be sent again.
fn unexpected(path: impl Fn(u32) -> Snapshot, config: &PathKnotConfig, sampler: &PoseSampler) -> Vec<u32> {
    let mut track = PathRecorder::default();
    let mut ticks = Vec::new();
    for tick in 0..=60 {
        track.record(path(tick), sampler.tick_seconds);
        if tick % 3 == 0 && track.update_for(config, sampler, false).is_some() && track.is_unexpected() {
            ticks.push(tick);
        }
    }
    ticks
}

#[test]
fn update_that_clients_cannot_foresee_is_unexpected_and_others_are_not() {
    let (config, sampler) =
        (PathKnotConfig::default(), PoseSampler { gravity: 9.8, ..PoseSampler::default() });
    // Turns round at the end of tick 31, at 6 m/s.
    let turn = |tick: u32| {
        let ahead = if tick <= 31 { tick as f32 } else { 62.0 - tick as f32 };
        let velocity = if tick < 31 { 6.0 } else { -6.0 };
        Snapshot::new(Tick(tick), Vec3::X * (6.0 * DT * ahead), Vec3::X * velocity)
    };
    assert_eq!(unexpected(turn, &config, &sampler), [33]);
    let never = PathKnotConfig { repeat_acceleration: f32::INFINITY, ..config };
    assert_eq!(unexpected(turn, &never, &sampler), [0; 0]);
    // In free fall, and accelerating as a walker does.
    let accelerating = |tick: u32, by: Vec3, falling: bool| {
        let t = tick as f32 * DT;
        Snapshot { falling, ..Snapshot::new(Tick(tick), by * (0.5 * t * t), by * t) }
    };
    assert_eq!(unexpected(|tick| accelerating(tick, Vec3::NEG_Y * 9.8, true), &config, &sampler), [0; 0]);
    assert_eq!(unexpected(|tick| accelerating(tick, Vec3::X * 10.0, false), &config, &sampler), [0; 0]);
    assert_eq!(unexpected(|tick| accelerating(tick, Vec3::X * 20.48, false), &config, &sampler), [0; 0]);
    let faster = unexpected(|tick| accelerating(tick, Vec3::X * 28.0, false), &config, &sampler);
    assert!(faster.len() > 18, "{faster:?}");
    // A teleport in tick 40.
    let teleport =
        |tick: u32| Snapshot { teleports: u8::from(tick >= 40), ..accelerating(tick, Vec3::ZERO, false) };
    assert_eq!(unexpected(teleport, &never, &sampler), [42]);
}

#[test]
fn update_in_every_tick_is_never_unexpected() {
    let mut track = PathRecorder::default();
    for tick in 0..40 {
        track.record(stop(tick), DT);
        assert!(track.update(&PathKnotConfig::default(), DT, false).is_some() && !track.is_unexpected());
    }
}

/// Fails if a cubic is drawn within the tick of a jump.
#[test]
fn take_off_at_the_start_of_a_tick_is_drawn_as_a_straight_line() {
    // Stands until tick 6 and rises at 4.2 m/s from then on.
    let rise = |tick: u32| {
        let height = 4.2 * DT * tick.saturating_sub(6) as f32;
        let velocity = if tick > 6 { Vec3::Y * 4.2 } else { Vec3::ZERO };
        Snapshot { falling: tick > 6, ..Snapshot::new(Tick(tick), Vec3::Y * height, velocity) }
    };
    let mut history = SnapshotHistory::default();
    for update in sent(rise, 30, 3, &PathKnotConfig::default()) {
        update.iter().for_each(|snapshot| _ = history.insert(*snapshot));
    }
    for part in 0..64u8 {
        let time = ViewTime { tick: Tick(6), fraction: part * 4 };
        let pose =
            history.pose_at(time, &PoseSampler::default(), &BaseView::default()).expect("stored snapshots");
        let height = 4.2 * DT * f32::from(part) / 64.0;
        assert!((pose.position.y - height).abs() < 0.002, "{} m at {part}, not {height}", pose.position.y);
    }
    // A bounce in the middle of a tick is no straight line.
    let (worst, _) = expect_drawn_error(hop, 960, 3, &PathKnotConfig::default());
    assert!(worst < 0.006, "{worst} m");
}
