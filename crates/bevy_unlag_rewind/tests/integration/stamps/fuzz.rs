//! Fuzz test of view time validation with arbitrary claims at arbitrary ticks.

use core::time::Duration;

use bevy_unlag_core::{SUB_TICKS, SnapshotAck, SnapshotAcks, Tick, ViewTime};
use bevy_unlag_rewind::{ViewClaim, ViewMismatchAction, ViewTimeValidator, ViewValidationConfig};
use rand::{Rng, SeedableRng, rngs::SmallRng};

const TICK: f32 = 1.0 / 64.0;

fn sub(time: Duration) -> i64 {
    (time.as_secs_f64() / f64::from(TICK) * SUB_TICKS as f64) as i64
}

fn config(rng: &mut SmallRng) -> ViewValidationConfig {
    let mut ms = |most: u64| Duration::from_millis(rng.random_range(0..=most));
    let (frame, rtt_slack, max_playout) = (ms(80), ms(60), ms(600));
    let (initial_playout, assumed_rtt, max_frame_allowance) = (ms(300), ms(500), ms(300));
    ViewValidationConfig {
        mismatch: [ViewMismatchAction::Clamp, ViewMismatchAction::Refuse, ViewMismatchAction::ServerEstimate]
            [rng.random_range(0..3)],
        max_extrapolation: Duration::from_nanos(15_625_000) * rng.random_range(0..40_u32),
        frame_allowance: frame,
        max_frame_allowance,
        max_delay_growth: rng.random_range(0..300),
        rtt_slack,
        max_playout,
        initial_playout,
        assumed_rtt,
    }
}

/// Returns a view time that is close to the limits, or arbitrary.
fn claimed(rng: &mut SmallRng, edges: &[ViewTime]) -> ViewTime {
    match rng.random_range(0..10) {
        0 => ViewTime { tick: Tick(rng.random()), fraction: rng.random() },
        1 => edges[0].later(rng.random_range(-20_000..20_000)),
        2 => edges[0].later((1 << 39) * rng.random_range(-1..=1) + rng.random_range(-2..=2)),
        _ => edges[rng.random_range(0..edges.len())]
            .later(rng.random_range(-300..=300) / rng.random_range(1..300)),
    }
}

#[test]
fn a_million_claims_validate_to_possible_view_times_only() {
    let mut rng = SmallRng::seed_from_u64(0x57A3);
    let mut claims = 0;
    for world in 0..5_000 {
        let config = config(&mut rng);
        let mut validator = ViewTimeValidator::default();
        let mut acks = SnapshotAcks::default();
        let origin = if world % 2 == 0 {
            Tick(0_u32.wrapping_sub(rng.random_range(0..400)))
        } else {
            Tick(rng.random())
        };
        // The offset of the client's tick count is arbitrary; its packets take at least this long.
        let (count, rtt) = (rng.random_range(-2_000..2_000), rng.random_range(0..400));
        let (mut now, mut best_up) = (origin, i32::MAX);
        let (mut newest_heard, mut newest_arrival): (Option<Tick>, _) = (None, origin);
        let mut last: Option<ViewTime> = None;
        for _ in 0..200 {
            let most = [2, 30, 700][rng.random_range(0..3)];
            now = now.offset(rng.random_range(0..most));
            acks.begin_tick();
            for _ in 0..rng.random_range(0..3) {
                let late = rng.random_range(0..10);
                let own = now.offset(-count - late);
                let says = (rng.random_range(0..4) > 0).then(|| now.offset(-rng.random_range(0..256)));
                best_up = best_up.min(count + late);
                acks.record(SnapshotAck { own, arrived: now, last_received_snapshot: says }, 0);
            }
            validator.receive_acknowledgements(&acks, false, TICK);
            // The shot may be queued, precede the last one, and acknowledge anything but future snapshots.
            let arrived = now.offset(-rng.random_range(0..20));
            let late = rng.random_range(0..20);
            let own = arrived.offset(-count - late);
            best_up = best_up.min(count + late);
            let says = (rng.random_range(0..8) > 0).then(|| arrived.offset(-rng.random_range(0..256)));
            let rtt = (rng.random_range(0..4) > 0).then(|| Duration::from_millis(rtt));
            newest_heard = newest(newest_heard, says);
            newest_arrival = if arrived.is_newer_than(newest_arrival) { arrived } else { newest_arrival };
            let present = ViewTime::at(newest_arrival);
            let known = newest_heard.map(|last_received_snapshot| {
                ViewTime::at(last_received_snapshot).later(sub(config.max_extrapolation))
            });
            let slack = sub(config.rtt_slack).max(2 * SUB_TICKS);
            let way = sub(rtt.unwrap_or(config.assumed_rtt)) + slack + sub(config.max_playout);
            let floor = ViewTime::at(own.offset(best_up))
                .later(-way - sub(config.frame_allowance.max(config.max_frame_allowance)) - SUB_TICKS - 4);
            let edges = [present, known.unwrap_or(present), last.unwrap_or(present), floor];
            let claim = ViewClaim {
                time: claimed(&mut rng, &edges),
                shooter_tick: own,
                arrived,
                last_received_snapshot: says,
                rtt,
                interval: rng.random_range(0..20),
                interval_spread: 0,
                late: rng.random_range(0..4),
                left_out: rng.random_range(0..5) == 0,
                tick_seconds: TICK,
            };
            let admitted = validator.validate(&claim, &config);
            claims += 1;
            let why = || format!("world {world}: {claim:?}, {config:?}: {admitted:?}");
            let time = admitted.time;
            assert!(time.since(present) <= 0, "in the future: {}", why());
            assert!(
                known.is_none_or(|known| time.since(known) <= 0),
                "newer than acknowledged snapshots allow: {}",
                why()
            );
            assert!(
                last.is_none_or(|last| time.since(last) >= 0),
                "earlier than the last view {last:?}: {}",
                why()
            );
            let newest = known.filter(|known| known.since(present) < 0).unwrap_or(present);
            let floor = if known.is_some_and(|_| floor.since(newest) > 0) { newest } else { floor };
            let low = time.since(floor);
            assert!(known.is_none() || low >= 0, "{low} before the floor {floor:?}: {}", why());
            assert!(
                admitted.error.is_some() || time == claim.time,
                "changed without a reported error: {}",
                why()
            );
            let refuses = config.mismatch == ViewMismatchAction::Refuse || known.is_none();
            assert_eq!(admitted.refused, admitted.error.is_some() && refuses);
            if !admitted.refused {
                last = Some(time);
            }
        }
        assert_eq!(validator.counts().claims, 200);
    }
    assert_eq!(claims, 1_000_000);
}

fn newest(a: Option<Tick>, b: Option<Tick>) -> Option<Tick> {
    a.into_iter().chain(b).reduce(|a, b| if b.is_newer_than(a) { b } else { a })
}
