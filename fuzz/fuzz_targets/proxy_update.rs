//! Decoder of proxy updates: every decoded update can be sampled at any time and in any mode. The first four
//! bytes are the base tick.

#![no_main]

use bevy_unlag_core::{
    BaseView, BitReader, BitWriter, Interpolation, MAX_PATH_KNOTS, MAX_RESENT_SNAPSHOTS, PoseSampler,
    ProxyUpdate, Snapshot, SnapshotHistory, Tick, ViewTime,
};
use libfuzzer_sys::fuzz_target;

/// Distance from a known tick, in ticks, beyond which encoded ticks are truncated; our server does not send
/// such ticks.
const MAX_TICK_DISTANCE: i32 = 30_000;

fn check(snapshot: &Snapshot) {
    assert!(snapshot.position().abs().max_element() < 8_192.0, "{snapshot:?}");
    assert!(snapshot.velocity().is_finite() && snapshot.arrival_velocity().is_finite(), "{snapshot:?}");
    assert!(
        snapshot.teleports < 8 && snapshot.yaw.is_multiple_of(8),
        "more bits than the encoding has: {snapshot:?}"
    );
}

/// Samples an update at several times in all modes.
fn draw(update: &ProxyUpdate) {
    let mut history = SnapshotHistory::default();
    for snapshot in update.iter() {
        history.insert(*snapshot);
    }
    let moments = update.iter().flat_map(|snapshot| {
        [-1, 0, 1, 9, 40].map(|ticks| ViewTime { tick: snapshot.tick.offset(ticks), fraction: 77 })
    });
    for time in moments {
        let Some(stamp) = history.stamp(time) else { continue };
        for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::Hermite] {
            let sampler = PoseSampler { interpolation, ..PoseSampler::default() };
            let pose =
                history.pose(stamp, &sampler, &BaseView::default()).expect("the stamp is in the history");
            assert!(pose.position.is_finite() && pose.velocity.is_finite(), "{pose:?}");
            assert!(pose.rotation.is_finite() && pose.spin.is_finite(), "{pose:?}");
            assert!((0.0..=1.0).contains(&pose.crouch), "{pose:?}");
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((base, bytes)) = input.split_first_chunk() else { return };
    let base = Tick(u32::from_le_bytes(*base));
    let Ok(update) = ProxyUpdate::read(base, &mut BitReader::new(bytes)) else { return };
    assert!(update.knots().len() <= MAX_PATH_KNOTS && update.resent().len() <= MAX_RESENT_SNAPSHOTS);
    update.iter().for_each(check);
    draw(&update);

    let newest = update.snapshot.tick;
    let near = |earlier: &Snapshot| (0..=MAX_TICK_DISTANCE).contains(&newest.since(earlier.tick));
    if newest.since(base).abs() <= MAX_TICK_DISTANCE && update.earlier().all(near) {
        let mut w = BitWriter::default();
        update.write(base, &mut w);
        assert_eq!(ProxyUpdate::read(base, &mut BitReader::new(&w.finish())), Ok(update));
    }
});
