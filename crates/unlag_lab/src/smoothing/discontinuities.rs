//! Teleports that must not slide, and outages that must not snap.

use super::{
    Plan,
    error_metrics::{DrawnSample, measure_errors},
    headless_client::{Actor, FPS, play},
    ideal_link::{SendInterval, drawn_samples, sent_at, updates, updates_without_knots},
    link::{Link, LinkDirection},
    playout::arrivals_of,
    truth::{Path, Truth},
};
use crate::prelude::*;

/// Learning time of the clock in seconds.
const LEARNING: f64 = 5.0;
/// Seconds between outages, and duration of an outage.
const OUTAGE: (f64, f64) = (5.0, 0.5);
/// Fraction of the missed distance beyond which a single frame's step counts as a snap.
const SNAP: f64 = 0.25;

/// Adds slides across teleports and snaps without a teleport.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let (mut slides, mut control, mut frames, mut teleports) = (0, 0, 0, 0);
    let (mut snaps, mut snap_frames, mut outages, mut largest) = (0, 0, 0, 0.0_f64);
    for seed in &plan.seeds {
        let truth = Path::Teleport.truth(plan.seconds, *seed)?;
        teleports += truth.teleports().len();
        for hz in [10, 20, 60] {
            let sent = updates(&truth, SendInterval::Hz(hz), false);
            let seen = shown(&sent, *seed, plan);
            frames += seen.len();
            slides += measure_errors(&truth, &seen, false).slides;
            slides +=
                measure_errors(&truth, &drawn_samples(&truth, &sent, Interpolation::Hermite), false).slides;
            control += measure_errors(
                &truth,
                &shown(
                    &without_teleport_marks(&updates_without_knots(&truth, SendInterval::Hz(hz))),
                    *seed,
                    plan,
                ),
                false,
            )
            .slides;
        }
        let truth = Path::Fast.truth(plan.seconds, *seed)?;
        let sent = updates(&truth, SendInterval::Hz(20), false);
        let in_outage = |update: &ProxyUpdate| sent_at(update) % OUTAGE.0 > OUTAGE.0 - OUTAGE.1;
        let seen = drawn_with_outages(&sent, *seed, plan, in_outage);
        outages += (seen.len() as f64 / f64::from(FPS) / OUTAGE.0) as usize;
        snap_frames += seen.len();
        let (count, step) = snapped(&truth, &seen);
        (snaps, largest) = (snaps + count, largest.max(step));
    }
    figures.add(
        "teleport_sliding_frames",
        slides as f64,
        format!(
            "of {frames} frames at 10, 20 and 60 Hz, and of 256 samples per second without a clock, that lie \
         between the two positions of one of {teleports} teleports of 15 m; goal 0; {control} frames if the \
         updates do not mark teleports"
        ),
    )?;
    figures.add("false_snaps", snaps as f64, format!(
        "of {snap_frames} frames at 20 Hz with a step of {:.2} m or more, at 30 m/s over {outages} gaps of \
         0.5 s without updates; goal 0; the largest step of a frame is {largest:.2} m",
        SNAP * 30.0 * OUTAGE.1
    ))
}

/// Returns what a client draws of updates with 50 ms of latency.
fn shown(sent: &[ProxyUpdate], seed: u64, plan: &Plan) -> Vec<DrawnSample> {
    drawn_with_outages(sent, seed, plan, |_| false)
}

fn drawn_with_outages(
    sent: &[ProxyUpdate],
    seed: u64,
    plan: &Plan,
    lost: impl Fn(&ProxyUpdate) -> bool,
) -> Vec<DrawnSample> {
    let mut arrivals = arrivals_of(&Link::LinkDirection(LinkDirection::clean(0.05)), sent, seed);
    arrivals.retain(|arrival| !lost(&sent[arrival.packet]));
    let actor = Actor { updates: sent, mode: ProxySmoothing::Hermite };
    play(&[actor], &arrivals, LEARNING, plan.seconds - 1.0).seen.pop().unwrap_or_default()
}

/// Returns the updates without teleport marks.
fn without_teleport_marks(sent: &[ProxyUpdate]) -> Vec<ProxyUpdate> {
    let without = |s: &Snapshot| Snapshot { teleports: 0, ..*s };
    let one = |update: &ProxyUpdate| {
        let knots: Vec<_> = update.knots().iter().map(without).collect();
        ProxyUpdate::new(without(&update.snapshot), &knots)
    };
    sent.iter().map(one).collect()
}

/// Returns the number of frames that snap over an outage, and the largest step in metres.
fn snapped(truth: &Truth, seen: &[DrawnSample]) -> (usize, f64) {
    let steps = seen.windows(2).map(|pair| pair[1].place.distance(pair[0].place));
    let limit = SNAP * truth.top_speed * OUTAGE.1;
    steps.fold((0, 0.0), |(count, most), step| (count + usize::from(step > limit), most.max(step)))
}
