//! Effect of jitter, loss and latency on drawn proxies.

mod article;
mod presets;
mod time_rates;

use time_rates::TimeRates;

use super::{
    Plan,
    error_metrics::{Runs, measure_errors, overshoot},
    headless_client::{Actor, FPS, play},
    ideal_link::{SendInterval, sent_at, updates},
    link::{Arrival, Link, LinkDirection},
    truth::{Path, Truth},
};
use crate::prelude::*;

pub use presets::slug;

/// Learning time of the clock in seconds.
const LEARNING: f64 = 8.0;

/// Runs of two players on one link.
#[derive(Default)]
struct LinkResult {
    runs: Runs,
    /// Mean delays beyond the latency of the fastest packet, in milliseconds.
    delays: Vec<f64>,
    /// Number of clock jumps.
    jumps: u64,
    /// Number of times a proxy switched to another playout clock.
    changes: usize,
    /// Ages of the first run's samples beyond the latency of the fastest packet: seconds, milliseconds.
    curve: Vec<(f64, f64)>,
}

impl LinkResult {
    /// Returns the mean delay in milliseconds.
    fn delay(&self) -> f64 {
        mean(self.delays.iter().copied())
    }

    /// Returns the longest delay of a run in milliseconds.
    fn worst_delay(&self) -> f64 {
        largest(self.delays.iter().copied())
    }
}

/// Client that watches two players over different links.
struct Audience<'a> {
    plan: &'a Plan,
    /// Truths of the two players, and the seed.
    casts: Vec<([Truth; 2], u64)>,
    speeds: TimeRates,
}

impl<'a> Audience<'a> {
    fn new(plan: &'a Plan) -> Result<Self, String> {
        let one = |seed: &u64| {
            let truths =
                [Path::StopStart.truth(plan.seconds, *seed)?, Path::Adad.truth(plan.seconds, *seed)?];
            Ok((truths, *seed))
        };
        let casts = plan.seeds.iter().map(one).collect::<Result<_, String>>()?;
        Ok(Self { plan, casts, speeds: TimeRates::default() })
    }

    /// Watches the players of all seeds over a link.
    fn watch(&mut self, link: &Link, every: SendInterval, name: &str) -> LinkResult {
        let mut all = LinkResult::default();
        for (truths, seed) in &self.casts {
            let sent = truths.each_ref().map(|truth| updates(truth, every, false));
            let actors = sent.each_ref().map(|updates| Actor { updates, mode: ProxySmoothing::Hermite });
            let arrivals = arrivals_of(link, &sent[0], *seed);
            let latencies = arrivals.iter().map(|a| a.at - sent_at(&sent[0][a.packet]));
            let fastest = latencies.fold(f64::INFINITY, f64::min);
            let played = play(&actors, &arrivals, LEARNING, self.plan.seconds - 1.0);
            for (truth, seen) in truths.iter().zip(&played.seen) {
                let verdict = measure_errors(truth, seen, false);
                all.delays.push((verdict.delay.0 - fastest) * 1_000.0);
                all.runs.0.push(verdict);
            }
            all.jumps += played.jumps;
            all.changes += played.changes;
            if all.curve.is_empty() {
                all.curve = played.ages.iter().map(|(at, age)| (*at, (age - fastest) * 1_000.0)).collect();
            }
        }
        self.speeds.add_runs(&all, name);
        all
    }
}

/// Returns the arrivals of updates sent over a link.
pub fn arrivals_of(link: &Link, updates: &[ProxyUpdate], seed: u64) -> Vec<Arrival> {
    link.arrivals(&updates.iter().map(sent_at).collect::<Vec<_>>(), seed)
}

/// Adds the measurements of every link.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let mut audience = Audience::new(plan)?;
    article::add(figures, &mut audience)?;
    let clean = |seconds| Link::LinkDirection(LinkDirection::clean(seconds));
    for hz in [10, 20, 30, 60] {
        let watched = audience.watch(&clean(0.05), SendInterval::Hz(hz), &format!("50 ms at {hz} Hz"));
        let goal = 1_000.0 * (1.0 / f64::from(hz) + 1.0 / f64::from(FPS));
        figures.add(format!("delay_ms_clean_{hz}hz"), watched.delay(), format!(
            "ms behind the fastest packet, 50 ms without jitter and loss; goal {goal:.1}, a send interval \
             and a frame; worst {:.1}; {} pops, {:.3} % frozen; {} changes of the clock",
            watched.worst_delay(),
            watched.runs.sum(|v| v.pops),
            watched.runs.worst(|v| v.frozen_percent),
            watched.changes
        ))?;
    }
    for ms in [0, 50, 100, 150, 200, 250, 300] {
        let link = clean(f64::from(ms) / 1_000.0);
        let late = audience.watch(&link, SendInterval::Hz(20), &format!("{ms} ms at 20 Hz"));
        let (runs, delay) = (late.runs.0.len(), late.delay());
        figures.add(format!("freeze_percent_latency_{ms}ms"), late.runs.worst(|v| v.frozen_percent), format!(
                "% of frames frozen, worst of {runs} runs, {ms} ms one way, no loss, 20 Hz; goal 0; {delay:.1} ms delay"
            ))?;
    }
    presets::add(figures, &mut audience)?;
    audience.speeds.add(figures)?;
    add_stops(figures, plan)
}

/// Adds the overshoot of the smoothing modes where a player stops.
fn add_stops(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let link = Link::LinkDirection(LinkDirection::clean(0.1));
    for (mode, name) in [(ProxySmoothing::Linear, "linear"), (ProxySmoothing::Hermite, "hermite")] {
        let (mut most, mut stops) = (0.0_f64, 0);
        for seed in &plan.seeds {
            let truth = Path::StopStart.truth(plan.seconds, *seed)?;
            let sent = updates(&truth, SendInterval::Hz(20), false);
            let arrivals = arrivals_of(&link, &sent, *seed);
            let played = play(&[Actor { updates: &sent, mode }], &arrivals, LEARNING, plan.seconds - 1.0);
            let (beyond, of) = overshoot(&truth, &played.seen[0], false);
            most = most.max(beyond);
            stops += of;
        }
        figures.add(
            format!("stop_overshoot_cm_{name}"),
            most,
            format!("cm beyond the stop, maximum of {stops} stops, 100 ms, 20 Hz; goal 1"),
        )?;
    }
    Ok(())
}
