//! Property tests of interpolation and playout, for any snapshots in any order.

use bevy_unlag_core::{
    Arrival, BaseView, Interpolation, PoseSampler, Snapshot, SnapshotHistory, Tick, ViewStamp, ViewTime,
};
use bevy_unlag_smoothing::PlayoutClock;
use proptest::{collection::vec, prelude::*};

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let numbers = (any::<[i32; 3]>(), any::<[i16; 3]>(), any::<Option<[i16; 3]>>(), any::<[i8; 3]>());
    let turns = (any::<u16>(), any::<Option<i16>>(), any::<Option<i16>>(), any::<i8>());
    (0u32..400, numbers, turns, any::<u8>(), any::<[bool; 3]>(), 0u8..3).prop_map(
        |(
            tick,
            (position, velocity, arrival, acceleration),
            (yaw, spin, turned, pitch),
            crouch,
            flags,
            teleports,
        )| {
            Snapshot {
                tick: Tick(tick.wrapping_sub(200)),
                position,
                velocity,
                arrival: arrival.map(|velocity| Arrival { velocity, spin: turned }),
                acceleration,
                yaw,
                spin,
                pitch,
                crouch,
                alive: flags[0],
                grounded: flags[1],
                falling: flags[2],
                teleports,
                ..Snapshot::default()
            }
        },
    )
}

fn moment() -> impl Strategy<Value = ViewTime> {
    (0u32..500, any::<u8>())
        .prop_map(|(tick, fraction)| ViewTime { tick: Tick(tick.wrapping_sub(220)), fraction })
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop_oneof![Just(Interpolation::Step), Just(Interpolation::Linear), Just(Interpolation::Hermite)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn poses_of_any_snapshots_are_finite(
        snapshots in vec(snapshot(), 1..80),
        moments in vec(moment(), 1..40),
        interpolation in interpolation(),
    ) {
        let sampler = PoseSampler { interpolation, ..PoseSampler::default() };
        let mut history = SnapshotHistory::default();
        for snapshot in snapshots {
            history.insert(snapshot);
        }
        for time in moments {
            let Some(stamp) = history.stamp(time) else { continue };
            let pose = history.pose(stamp, &sampler, &BaseView::default()).expect("stored");
            prop_assert!(pose.position.is_finite() && pose.velocity.is_finite(), "{pose:?}");
            prop_assert!(pose.rotation.is_finite() && pose.spin.is_finite() && pose.pitch.is_finite());
            prop_assert!((0.0..=1.0).contains(&pose.crouch), "{}", pose.crouch);
        }
    }

    #[test]
    fn sampled_poses_are_exact_at_their_snapshots(
        snapshots in vec(snapshot(), 1..60),
        interpolation in interpolation(),
    ) {
        let sampler = PoseSampler { interpolation, ..PoseSampler::default() };
        let mut history = SnapshotHistory::default();
        for snapshot in &snapshots {
            history.insert(*snapshot);
        }
        for snapshot in history.iter() {
            let stamp = history.stamp(ViewTime::at(snapshot.tick)).expect("a stored snapshot");
            let pose = history.pose(stamp, &sampler, &BaseView::default()).expect("known");
            prop_assert_eq!(pose.position, snapshot.position());
            prop_assert!(pose.rotation.angle_between(snapshot.rotation()) < 1e-3);
            prop_assert_eq!(pose.alive, snapshot.alive);
        }
    }

    #[test]
    fn poses_are_never_interpolated_across_a_teleport(
        snapshots in vec(snapshot(), 2..60),
        moments in vec(moment(), 1..40),
        interpolation in interpolation(),
    ) {
        let sampler = PoseSampler { interpolation, ..PoseSampler::default() };
        let mut history = SnapshotHistory::default();
        for snapshot in snapshots {
            history.insert(snapshot);
        }
        for time in moments {
            let Some(stamp @ ViewStamp::Interpolated { from, to, .. }) = history.stamp(time) else { continue };
            let [a, b] = [from, to].map(|tick| *history.get(tick).expect("known"));
            if a.teleports != b.teleports || a.alive != b.alive {
                let pose = history.pose(stamp, &sampler, &BaseView::default()).expect("known");
                prop_assert!(pose.position == a.position() || pose.position == b.position());
            }
        }
    }

    #[test]
    fn playout_never_runs_backward_or_too_fast(
        arrivals in vec((0u32..60, -20i32..4, 0.0f64..0.3), 1..200),
    ) {
        let mut clock = PlayoutClock::default();
        let (mut now, mut newest, mut last) = (0.0f64, None::<Tick>, None::<(f64, ViewTime)>);
        for (frames, off, jitter) in arrivals {
            let sent = Tick((now * 64.0) as u32).offset(off);
            if newest.is_none_or(|newest| sent.is_newer_than(newest)) {
                clock.arrived(sent, newest, now);
                newest = Some(sent);
            }
            for _ in 0..=frames / 10 {
                now += 0.004 + jitter * 0.1;
                let jumps = clock.jumps();
                let Some(view) = clock.advance(now) else { continue };
                if let Some((at, before)) = last {
                    let went = view.since(before) as f64 / 256.0 / 64.0;
                    prop_assert!(went >= 0.0 || clock.jumps() > jumps, "{went} s backward");
                    // Before the first snapshot's moment nothing is drawn, and the delay may change freely.
                    if clock.jumps() == jumps && before.tick.since(Tick(0)) > 60 {
                        prop_assert!(went <= (now - at) * 1.03 + 1e-3, "{went} in {}", now - at);
                    }
                }
                last = Some((now, view));
            }
        }
    }
}
