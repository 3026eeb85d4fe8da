//! What interpolation alone gets wrong: every update arrives.

use bevy_unlag::core::{
    BaseView, Interpolation, PathKnotConfig, PathRecorder, PoseSampler, ProxyUpdate, SnapshotHistory, Tick,
    ViewTime,
};

use super::{
    judge::Seen,
    truth::{TICKS, Truth},
};

/// Pictures a second: four a tick, so that a picture's time is exact on the wire.
const PICTURES: u32 = 256;
/// Seconds at both ends that do not count.
const MARGIN: f64 = 2.0;

/// When updates are sent.
#[derive(Clone, Copy, Debug)]
pub enum Every {
    /// So many a second on average, on the last tick before.
    Hz(u32),
    /// After so many ticks each.
    Ticks(u32),
}

impl Every {
    /// The tick of the update of this number.
    fn tick(self, number: u32) -> u32 {
        match self {
            Self::Hz(hz) => number * TICKS / hz,
            Self::Ticks(ticks) => number * ticks,
        }
    }
}

/// What a server sends of a truth.
pub fn updates(truth: &Truth, every: Every, config: &PathKnotConfig, accelerates: bool) -> Vec<ProxyUpdate> {
    let mut track = PathRecorder::default();
    let mut number = 0;
    let mut all = Vec::new();
    for snapshot in truth.snapshots() {
        let velocity = truth.at(f64::from(snapshot.tick.0) / f64::from(TICKS)).velocity;
        track.record_exactly(*snapshot, velocity.as_vec3(), 1.0 / TICKS as f32);
        if snapshot.tick.0 == every.tick(number) {
            number += 1;
            all.extend(track.update(config, 1.0 / TICKS as f32, accelerates));
        }
    }
    all
}

/// Nothing but where it was and how fast, without a look at what happened in between.
pub fn plain(truth: &Truth, every: Every) -> Vec<ProxyUpdate> {
    let snapshots = truth.snapshots();
    let ticks = (0..).map(|number| every.tick(number) as usize);
    ticks.map_while(|tick| snapshots.get(tick)).map(|s| ProxyUpdate::new(s.quantised(), &[])).collect()
}

/// When an update is sent, in seconds: as its tick ends.
pub fn sent_at(update: &ProxyUpdate) -> f64 {
    f64::from(update.snapshot.tick.0) / f64::from(TICKS)
}

/// What is seen of updates that all arrive in time.
pub fn pictures(truth: &Truth, updates: &[ProxyUpdate], interpolation: Interpolation) -> Vec<Seen> {
    let sampler = PoseSampler { interpolation, ..PoseSampler::default() };
    let mut history = SnapshotHistory::default();
    let mut coming = updates.iter();
    let end = updates.last().map_or(0.0, sent_at).min(truth.seconds()) - MARGIN;
    let frames = (MARGIN * f64::from(PICTURES)) as u32..(end * f64::from(PICTURES)) as u32;
    let mut seen = Vec::with_capacity(frames.len());
    for frame in frames {
        let now = f64::from(frame) / f64::from(PICTURES);
        let view = ViewTime::after(Tick(0), now * f64::from(TICKS));
        while history.newest().is_none_or(|newest| view.ticks_since(newest.tick) >= 0.0) {
            let Some(update) = coming.next() else { return seen };
            update.iter().for_each(|snapshot| _ = history.insert(*snapshot));
        }
        let pose = history.stamp(view).and_then(|stamp| history.pose(stamp, &sampler, &BaseView::default()));
        let Some(pose) = pose else { continue };
        let forward = pose.rotation * bevy::math::Vec3::NEG_Z;
        let yaw = f64::from((-forward.x).atan2(-forward.z));
        seen.push(Seen { now, view: now, place: pose.position.as_dvec3(), yaw });
    }
    seen
}
