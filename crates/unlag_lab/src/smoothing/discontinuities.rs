//! Teleports that must not slide, and outages that must not snap.

use super::{
    Plan,
    error_metrics::{DrawnSample, measure_errors},
    headless_client::{Actor, play},
    ideal_link::{SendInterval, drawn_samples, sent_at, updates},
    link::Link,
    playout::arrivals_of,
    truth::{self, Path},
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
    let (mut slides, mut snaps) = (0, 0);
    for seed in &plan.seeds {
        let truth = Path::Teleport.truth(plan.seconds, *seed)?;
        for hz in [10, 20, 60] {
            let sent = updates(&truth, SendInterval::Hz(hz), false);
            let exact = drawn_samples(&truth, &sent, Interpolation::Hermite);
            for seen in [drawn(&sent, *seed, plan, |_| false), exact] {
                slides += measure_errors(&truth, &seen, false).slides;
            }
        }
        let truth = truth::fast_circle(plan.seconds);
        let sent = updates(&truth, SendInterval::Hz(20), false);
        let in_outage = |update: &ProxyUpdate| sent_at(update) % OUTAGE.0 > OUTAGE.0 - OUTAGE.1;
        let seen = drawn(&sent, *seed, plan, in_outage);
        let steps = seen.windows(2).map(|pair| pair[1].place.distance(pair[0].place));
        snaps += steps.filter(|step| *step > SNAP * truth.top_speed * OUTAGE.1).count();
    }
    figures.add("teleport_sliding_frames", slides as f64)?;
    figures.add("false_snaps", snaps as f64)
}

/// Returns what a client draws of updates with 50 ms of latency, some of which are lost.
fn drawn(
    sent: &[ProxyUpdate],
    seed: u64,
    plan: &Plan,
    lost: impl Fn(&ProxyUpdate) -> bool,
) -> Vec<DrawnSample> {
    let mut arrivals = arrivals_of(&Link::clean(0.05), sent, seed);
    arrivals.retain(|arrival| !lost(&sent[arrival.packet]));
    let actor = Actor { updates: sent, mode: ProxySmoothing::Hermite };
    play(&[actor], &arrivals, LEARNING, plan.seconds - 1.0).seen.pop().unwrap_or_default()
}
