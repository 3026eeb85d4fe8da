//! Samples of the connection for the net graph.

use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    smoothing::{ServerClock, SmoothingStats},
};
use lightyear::prelude::Client;
use unlag_examples::timeline::Timeline;

/// Moves over which lost ones are counted: half a second.
const MOVES: usize = 32;
/// Part of a sample in the mean that is shown as a number.
const MEAN_PART: f32 = 0.05;

/// The connection during a column of the graph.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct NetSample {
    /// Longest frame, in milliseconds.
    pub(super) frame_ms: f32,
    /// Delay of the newest clock exchange in each direction, in milliseconds. A constant difference between the two
    /// cannot be measured.
    pub(super) up_ms: f32,
    pub(super) down_ms: f32,
    /// Percentage of packets that the simulated link has lost in both directions, and its mean.
    pub(super) lost_packets: f32,
    pub(super) mean_lost_packets: f32,
    /// Percentage of own moves that never ran on the server.
    pub(super) lost_moves: f32,
    pub(super) playout_ms: f32,
    /// Summed distance of corrections, in centimetres, and their number so far.
    pub(super) corrections_cm: f32,
    pub(super) corrections: u64,
    /// Bytes per second, and their means.
    pub(super) bytes_up: f32,
    pub(super) bytes_down: f32,
    pub(super) mean_bytes_up: f32,
    pub(super) mean_bytes_down: f32,
}

/// Counters at the last sample.
#[derive(Clone, Copy, Default)]
struct Counters {
    bytes: (u64, u64),
    packets: u64,
    lost: u64,
    corrected: f32,
}

/// Collects the frames between two samples.
#[derive(Resource, Default)]
pub(super) struct Sampler {
    seconds: f32,
    longest_frame: f32,
    now: Counters,
    last: Counters,
    current: NetSample,
}

/// Reads the connection in every frame.
pub(super) fn observe(
    (time, clock): (Res<Time<Real>>, Option<Res<ServerClock>>),
    smoothing: Option<Res<SmoothingStats>>,
    timeline: Option<Res<Timeline>>,
    links: Query<&NetSim, With<Client>>,
    own: Query<&PredictionStats, With<LocalControl>>,
    mut sampler: ResMut<Sampler>,
) {
    let sampler = &mut *sampler;
    sampler.seconds += time.delta_secs();
    sampler.longest_frame = sampler.longest_frame.max(time.delta_secs());
    let sample = &mut sampler.current;
    if let Some((up, down)) = clock.and_then(|clock| delays(&clock)) {
        (sample.up_ms, sample.down_ms) = (up, down);
    }
    if let Some(stats) = smoothing {
        sample.playout_ms = stats.delay_ms;
    }
    if let Some(timeline) = timeline {
        let answered = timeline.ticks().rev().filter(|tick| tick.answered.is_some()).take(MOVES);
        let lost = answered.filter(|tick| tick.is_lost).count();
        sample.lost_moves = lost as f32 / MOVES as f32 * 100.0;
    }
    if let Ok(stats) = own.single() {
        sample.corrections = stats.corrections;
        sampler.now.corrected = stats.summed_correction;
    }
    if let Ok(link) = links.single() {
        let (up, down) = (link.up_counters(), link.down_counters());
        let now = &mut sampler.now;
        now.bytes = link.bytes();
        (now.packets, now.lost) = (up.sent + down.sent, up.lost + down.lost);
    }
}

/// Returns the delays of the newest exchange in milliseconds, up and down.
fn delays(clock: &ServerClock) -> Option<(f32, f32)> {
    let [sent, received, answered, arrived] = clock.newest_exchange()?;
    let offset = clock.offset(arrived)?;
    let milliseconds = |seconds: f64| (seconds * 1e3).max(0.0) as f32;
    Some((milliseconds(received - offset - sent), milliseconds(arrived + offset - answered)))
}

impl Sampler {
    /// Returns the sample since the last call.
    pub(super) fn take(&mut self) -> NetSample {
        let (now, last) = (self.now, core::mem::replace(&mut self.last, self.now));
        let seconds = core::mem::take(&mut self.seconds).max(1e-3);
        let sample = &mut self.current;
        sample.frame_ms = core::mem::take(&mut self.longest_frame) * 1e3;
        // Counters restart with a new connection.
        let new = |now: u64, last: u64| now.saturating_sub(last) as f32;
        sample.bytes_up = new(now.bytes.0, last.bytes.0) / seconds;
        sample.bytes_down = new(now.bytes.1, last.bytes.1) / seconds;
        let packets = new(now.packets, last.packets);
        sample.lost_packets = if packets > 0.0 { new(now.lost, last.lost) / packets * 100.0 } else { 0.0 };
        sample.corrections_cm = (now.corrected - last.corrected).max(0.0) * 100.0;
        for (mean, value) in [
            (&mut sample.mean_lost_packets, sample.lost_packets),
            (&mut sample.mean_bytes_up, sample.bytes_up),
            (&mut sample.mean_bytes_down, sample.bytes_down),
        ] {
            *mean += (value - *mean) * MEAN_PART;
        }
        *sample
    }
}
