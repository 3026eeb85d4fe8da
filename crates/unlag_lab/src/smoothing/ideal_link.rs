//! Interpolation without network effects: every update arrives in time.

use super::{
    error_metrics::DrawnSample,
    truth::{TICKS_PER_SECOND, Truth},
};
use crate::prelude::*;

/// Samples per second: four per tick, so that a sample's time is exact on the wire.
const SAMPLES_PER_SECOND: u32 = 256;
/// Seconds at both ends that are not measured.
const MARGIN: f64 = 2.0;

/// Send interval of updates.
#[derive(Clone, Copy, Debug)]
pub enum SendInterval {
    /// Updates per second on average, each on the last tick before it is due.
    Hz(u32),
    /// Ticks between two updates.
    Ticks(u32),
}

impl SendInterval {
    /// Returns the tick of an update.
    fn tick(self, number: u32) -> u32 {
        match self {
            Self::Hz(hz) => number * TICKS_PER_SECOND / hz,
            Self::Ticks(ticks) => number * ticks,
        }
    }
}

/// Returns the updates that a server sends of a truth.
pub fn updates(truth: &Truth, every: SendInterval, accelerates: bool) -> Vec<ProxyUpdate> {
    let sampler = PoseSampler { tick_seconds: 1.0 / TICKS_PER_SECOND as f32, ..PoseSampler::default() };
    record(truth, every, &sampler, accelerates).into_iter().map(|(update, _)| update).collect()
}

/// Returns the updates for clients with this sampler, and whether the server sends each of them twice.
pub fn record(
    truth: &Truth,
    every: SendInterval,
    sampler: &PoseSampler,
    accelerates: bool,
) -> Vec<(ProxyUpdate, bool)> {
    let config = &PathKnotConfig::default();
    let mut track = PathRecorder::default();
    let mut number = 0;
    let mut all = Vec::new();
    for snapshot in truth.snapshots() {
        let velocity = truth.at(f64::from(snapshot.tick.0) / f64::from(TICKS_PER_SECOND)).velocity;
        track.record_exactly(*snapshot, velocity.as_vec3(), sampler.tick_seconds);
        if snapshot.tick.0 == every.tick(number) {
            number += 1;
            let update = track.update_for(config, sampler, accelerates);
            all.extend(update.map(|update| (update, track.is_unexpected())));
        }
    }
    all
}

/// Returns updates with position and velocity only, without path knots.
pub fn updates_without_knots(truth: &Truth, every: SendInterval) -> Vec<ProxyUpdate> {
    let snapshots = truth.snapshots();
    let ticks = (0..).map(|number| every.tick(number) as usize);
    ticks.map_while(|tick| snapshots.get(tick)).map(|s| ProxyUpdate::new(s.quantised(), &[])).collect()
}

/// Returns the same updates without what they bring of the one before.
pub fn not_resent(updates: &[ProxyUpdate]) -> Vec<ProxyUpdate> {
    updates.iter().map(|update| ProxyUpdate::new(update.snapshot, update.knots())).collect()
}

/// Returns the send time of an update in seconds: the end of its tick.
pub fn sent_at(update: &ProxyUpdate) -> f64 {
    f64::from(update.snapshot.tick.0) / f64::from(TICKS_PER_SECOND)
}

/// Returns the drawn samples of updates that all arrive in time.
pub fn drawn_samples(
    truth: &Truth,
    updates: &[ProxyUpdate],
    interpolation: Interpolation,
) -> Vec<DrawnSample> {
    let sampler = PoseSampler { interpolation, ..PoseSampler::default() };
    let mut history = SnapshotHistory::default();
    let mut coming = updates.iter();
    let end = updates.last().map_or(0.0, sent_at).min(truth.seconds()) - MARGIN;
    let frames =
        (MARGIN * f64::from(SAMPLES_PER_SECOND)) as u32..(end * f64::from(SAMPLES_PER_SECOND)) as u32;
    let mut seen = Vec::with_capacity(frames.len());
    for frame in frames {
        let now = f64::from(frame) / f64::from(SAMPLES_PER_SECOND);
        let view = ViewTime::after(Tick(0), now * f64::from(TICKS_PER_SECOND));
        while history.newest().is_none_or(|newest| view.ticks_since(newest.tick) >= 0.0) {
            let Some(update) = coming.next() else { return seen };
            update.iter().for_each(|snapshot| _ = history.insert(*snapshot));
        }
        let pose = history.stamp(view).and_then(|stamp| history.pose(stamp, &sampler, &BaseView::default()));
        let Some(pose) = pose else { continue };
        let forward = pose.rotation * Vec3::NEG_Z;
        let yaw = f64::from((-forward.x).atan2(-forward.z));
        seen.push(DrawnSample { now, view: now, place: pose.position.as_dvec3(), yaw });
    }
    seen
}
