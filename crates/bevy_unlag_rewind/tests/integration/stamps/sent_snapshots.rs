//! Stamp overrides never pose a snapshot that was not sent to the client, that is in the future or that is
//! too old.

use core::time::Duration;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{CurrentTick, NetId, SUB_TICKS, Snapshot, Tick, ViewTime};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_rewind::{
    FrameHistory, QueryView, RewindPlugin, RewindQuery, RewindTime, StampOverride, humanoid_hit_boxes,
    humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_smoothing::SentSnapshots;
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Distance that the runner covers per tick, in metres: its position shows the time.
const STRIDE: f32 = 0.1;
/// Height, in metres, of the runner in all snapshots that the shooter was not sent.
const UNSENT: f32 = 100.0;
const RUNNER: NetId = NetId(7);
/// 400 ms, and a tick for rounding, in ticks.
const OLDEST: f32 = 25.6 + 1.0;
/// Ticks for which a pose is extrapolated.
const MAX_EXTRAPOLATION: f32 = 16.0;

struct World {
    app: App,
    runner: Entity,
    log: SentSnapshots,
    now: Tick,
}

/// A runner that is sent every three ticks, but not always to the shooter.
fn world(rng: &mut SmallRng) -> World {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin, RewindPlugin::<CapsuleModel>::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_nanos(15_625_000)));
    app.finish();
    app.cleanup();
    let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
    let runner = app.world_mut().spawn((RUNNER, CapsuleState::at(Vec3::ZERO), body)).id();
    let mut log = SentSnapshots::default();
    for _ in 0..90 {
        app.update();
        let now = app.world().resource::<CurrentTick>().0;
        if !now.0.is_multiple_of(3) {
            continue;
        }
        let sent = rng.random_bool(0.7);
        let place = Vec3::new(now.0 as f32 * STRIDE, if sent { 0.0 } else { UNSENT }, 0.0);
        let snapshot = Snapshot::new(now, place, Vec3::X * (STRIDE * 64.0));
        app.world_mut()
            .get_mut::<PublishedPath>(runner)
            .expect("the runner must have a history")
            .sent
            .insert(snapshot);
        if sent {
            log.mark(RUNNER, now);
        }
        if rng.random_bool(0.02) {
            log.mark_hidden(now);
        }
    }
    let now = app.world().resource::<CurrentTick>().0;
    World { app, runner, log, now }
}

fn stamp(rng: &mut SmallRng, now: Tick, time: ViewTime) -> StampOverride {
    let snapshot = |rng: &mut SmallRng| match rng.random_range(0..10) {
        0 => Tick(rng.random()),
        1 => now.offset(rng.random_range(-10..40)),
        // Snapshots have these ticks.
        _ => Tick((time.tick.0.wrapping_add_signed(rng.random_range(-12..12))) / 3 * 3),
    };
    let shift = match rng.random_range(0..4) {
        0 => 0,
        1 => rng.random(),
        _ => rng.random_range(-2_000..2_000),
    };
    let from = snapshot(rng);
    let to = rng.random_bool(0.8).then(|| match rng.random_range(0..3) {
        0 => snapshot(rng),
        _ => from.offset(3 * rng.random_range(1..6)),
    });
    StampOverride { target: RUNNER, from, to, shift }
}

#[test]
fn a_million_stamps_never_pose_unsent_future_or_too_old_snapshots() {
    let mut rng = SmallRng::seed_from_u64(0x5e17);
    let (mut posed, mut named, mut unsent_without_log) = (0, 0, 0);
    for _ in 0..100 {
        let World { mut app, runner, log, now } = world(&mut rng);
        let mut seed = SmallRng::seed_from_u64(rng.random());
        let mut ask = move |query: RewindQuery| {
            let mut counts = [0_u32; 3];
            for index in 0..10_000 {
                let time = ViewTime::at(now).later(random_time(&mut seed));
                let overrides = [stamp(&mut seed, now, time)];
                let with = index % 4 > 0;
                let overrides: &[_] = if with { &overrides } else { &[] };
                let view = |sent| QueryView { overrides, sent, ..QueryView::from(time) };
                let Ok(then) = query.at(RewindTime::View(view(Some(&log)))) else { continue };
                if let Ok(pose) = then.pose(runner) {
                    let place = pose.position;
                    let what = || format!("{time:?} {overrides:?} at {now:?}: {place}");
                    assert!(place.y.abs() < 1e-3, "not sent: {}", what());
                    let ago = now.0 as f32 - place.x / STRIDE;
                    // A pose extrapolated for lack of updates comes to rest, so it lies behind its time.
                    let between = overrides.first().is_some_and(|named| named.to.is_some());
                    let oldest = if between { OLDEST } else { OLDEST + MAX_EXTRAPOLATION };
                    assert!((-1.01..=oldest).contains(&ago), "{ago} ticks ago: {}", what());
                    counts[0] += 1;
                    counts[1] += u32::from(with);
                }
                // The control: without the log, unsent snapshots are posed.
                let Ok(then) = query.at(RewindTime::View(view(None))) else { continue };
                counts[2] += u32::from(then.pose(runner).is_ok_and(|pose| pose.position.y > 1.0));
            }
            counts
        };
        let counts = app
            .world_mut()
            .run_system_once(move |query: RewindQuery| ask(query))
            .expect("the query must run");
        posed += counts[0];
        named += counts[1];
        unsent_without_log += counts[2];
    }
    println!(
        "{posed} of 1,000,000 views pose the runner, {named} with an override; \
         {unsent_without_log} unsent poses without the log"
    );
    assert!(posed > 100_000 && named > 20_000, "{posed}, {named}");
    assert!(
        unsent_without_log > 50_000,
        "only {unsent_without_log} unsent poses without the log, so the test shows nothing"
    );
}

/// From a second ago to slightly ahead, in 1/256 of a tick.
fn random_time(rng: &mut SmallRng) -> i64 {
    rng.random_range(-70 * SUB_TICKS..10 * SUB_TICKS)
}
