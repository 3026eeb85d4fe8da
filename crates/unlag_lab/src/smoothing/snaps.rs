//! What must be jumped over, and what must not.

use bevy_unlag::core::{Interpolation, PathKnotConfig, ProxySmoothing, ProxyUpdate, Snapshot};

use super::{
    Plan,
    judge::{Seen, judge},
    link::{Link, Way},
    perfect::{Every, pictures, plain, sent_at, updates},
    playout::on_the_way,
    stage::{Actor, FPS, play},
    truth::{Path, Truth},
};
use crate::figures::Figures;

/// Seconds in which the clock may learn.
const LEARNING: f64 = 5.0;
/// Seconds between outages, and how long one lasts.
const OUTAGE: (f64, f64) = (5.0, 0.5);
/// A snap goes this part of what was missed in one frame.
const SNAP: f64 = 0.25;

/// Adds slides over teleports and snaps without one.
///
/// # Errors
/// When nothing could be measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let (mut slides, mut control, mut frames, mut teleports) = (0, 0, 0, 0);
    let (mut snaps, mut snap_frames, mut outages, mut largest) = (0, 0, 0, 0.0_f64);
    for seed in &plan.seeds {
        let truth = Path::Teleport.truth(plan.seconds, *seed)?;
        teleports += truth.teleports().len();
        for hz in [10, 20, 60] {
            let sent = updates(&truth, Every::Hz(hz), &PathKnotConfig::default(), false);
            let seen = shown(&sent, *seed, plan);
            frames += seen.len();
            slides += judge(&truth, &seen, false).slides;
            slides += judge(&truth, &pictures(&truth, &sent, Interpolation::Hermite), false).slides;
            control +=
                judge(&truth, &shown(&unflagged(&plain(&truth, Every::Hz(hz))), *seed, plan), false).slides;
        }
        let truth = Path::Fast.truth(plan.seconds, *seed)?;
        let sent = updates(&truth, Every::Hz(20), &PathKnotConfig::default(), false);
        let in_outage = |update: &ProxyUpdate| sent_at(update) % OUTAGE.0 > OUTAGE.0 - OUTAGE.1;
        let seen = shown_but(&sent, *seed, plan, in_outage);
        outages += (seen.len() as f64 / f64::from(FPS) / OUTAGE.0) as usize;
        snap_frames += seen.len();
        let (count, step) = snapped(&truth, &seen);
        (snaps, largest) = (snaps + count, largest.max(step));
    }
    figures.add(
        "teleport_sliding_frames",
        slides as f64,
        format!(
            "of {frames} frames at 10, 20 and 60 Hz and four pictures a tick without a clock that show it between the \
             two places of one of {teleports} teleports of 15 m; goal 0; {control} frames when the updates do not \
             say that it was a teleport"
        ),
    )?;
    figures.add(
        "false_snaps",
        snaps as f64,
        format!(
            "of {snap_frames} frames at 20 Hz that go {:.2} m and more at once, at 30 m/s over {outages} gaps of 0.5 s \
             without an update; goal 0; the largest step of a frame is {largest:.2} m",
            SNAP * 30.0 * OUTAGE.1
        ),
    )
}

/// What a client shows of updates that take 50 ms.
fn shown(sent: &[ProxyUpdate], seed: u64, plan: &Plan) -> Vec<Seen> {
    shown_but(sent, seed, plan, |_| false)
}

fn shown_but(sent: &[ProxyUpdate], seed: u64, plan: &Plan, lost: impl Fn(&ProxyUpdate) -> bool) -> Vec<Seen> {
    let mut arrivals = on_the_way(&Link::Way(Way::clean(0.05)), sent, seed);
    arrivals.retain(|arrival| !lost(&sent[arrival.packet]));
    let actor = Actor { updates: sent, mode: ProxySmoothing::Hermite };
    play(&[actor], &arrivals, LEARNING, plan.seconds - 1.0).seen.pop().unwrap_or_default()
}

/// The same updates, which no longer say that something was put somewhere else.
fn unflagged(sent: &[ProxyUpdate]) -> Vec<ProxyUpdate> {
    let without = |s: &Snapshot| Snapshot { teleports: 0, ..*s };
    let one = |update: &ProxyUpdate| {
        let knots: Vec<_> = update.knots().iter().map(without).collect();
        ProxyUpdate::new(without(&update.snapshot), &knots)
    };
    sent.iter().map(one).collect()
}

/// Frames that go a good part of what an outage hid at once, and the largest step in metres.
fn snapped(truth: &Truth, seen: &[Seen]) -> (usize, f64) {
    let steps = seen.windows(2).map(|pair| pair[1].place.distance(pair[0].place));
    let limit = SNAP * truth.top_speed * OUTAGE.1;
    steps.fold((0, 0.0), |(count, most), step| (count + usize::from(step > limit), most.max(step)))
}
