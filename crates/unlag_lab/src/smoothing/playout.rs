//! Effect of jitter, loss and latency on drawn proxies.

mod article;
mod presets;
mod time_rates;

pub use presets::slug;

use bevy_unlag::core::{PathKnotConfig, ProxySmoothing, ProxyUpdate};

use super::{
    Plan,
    error_metrics::{ErrorMetrics, Spread, measure_errors, overshoot, spread},
    headless_client::{Actor, FPS, RunResult, play},
    ideal_link::{SendInterval, sent_at, updates},
    link::{Arrival, Link, LinkDirection},
    truth::{Path, Truth},
};
use crate::figures::Figures;
use time_rates::TimeRates;

/// Learning time of the clock in seconds.
const LEARNING: f64 = 8.0;
/// Runs of two players on one link.
struct LinkResult {
    verdicts: Vec<ErrorMetrics>,
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
    fn of(&self, number: impl Fn(&ErrorMetrics) -> f64) -> Spread {
        spread(self.verdicts.iter().map(number))
    }

    fn pops(&self) -> usize {
        self.verdicts.iter().map(|v| v.pops).sum()
    }

    fn delay(&self) -> Spread {
        spread(self.delays.iter().copied())
    }
}

/// Truths of the two watched players.
struct WatchedPlayers {
    truths: [Truth; 2],
    seed: u64,
}

impl WatchedPlayers {
    fn all(plan: &Plan) -> Result<Vec<Self>, String> {
        let one = |seed: &u64| {
            let truths =
                [Path::StopStart.truth(plan.seconds, *seed)?, Path::Adad.truth(plan.seconds, *seed)?];
            Ok(Self { truths, seed: *seed })
        };
        plan.seeds.iter().map(one).collect()
    }

    fn play(&self, link: &Link, every: SendInterval, plan: &Plan) -> (RunResult, f64) {
        let sent = self.truths.each_ref().map(|t| updates(t, every, &PathKnotConfig::default(), false));
        let actors = sent.each_ref().map(|updates| Actor { updates, mode: ProxySmoothing::Hermite });
        let arrivals = arrivals_of(link, &sent[0], self.seed);
        let fastest = fastest(&arrivals, &sent[0]);
        (play(&actors, &arrivals, LEARNING, plan.seconds - 1.0), fastest)
    }
}

/// Returns the arrivals of updates sent over a link.
pub fn arrivals_of(link: &Link, updates: &[ProxyUpdate], seed: u64) -> Vec<Arrival> {
    link.arrivals(&updates.iter().map(sent_at).collect::<Vec<_>>(), seed)
}

/// Returns the shortest latency of the arrived updates.
fn fastest(arrivals: &[Arrival], updates: &[ProxyUpdate]) -> f64 {
    arrivals.iter().map(|a| a.at - sent_at(&updates[a.packet])).fold(f64::INFINITY, f64::min)
}

fn watch(casts: &[WatchedPlayers], link: &Link, every: SendInterval, plan: &Plan) -> LinkResult {
    let mut all =
        LinkResult { verdicts: Vec::new(), delays: Vec::new(), jumps: 0, changes: 0, curve: Vec::new() };
    for cast in casts {
        let (played, fastest) = cast.play(link, every, plan);
        for (truth, seen) in cast.truths.iter().zip(&played.seen) {
            let verdict = measure_errors(truth, seen, false);
            all.delays.push((verdict.delay.0 - fastest) * 1_000.0);
            all.verdicts.push(verdict);
        }
        all.jumps += played.jumps;
        all.changes += played.changes;
        if all.curve.is_empty() {
            all.curve = played.ages.iter().map(|(at, age)| (*at, (age - fastest) * 1_000.0)).collect();
        }
    }
    all
}

/// Adds the measurements of every link.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let casts = WatchedPlayers::all(plan)?;
    let mut speeds = TimeRates::default();
    article::add(figures, plan, &casts, &mut speeds)?;
    for hz in [10, 20, 30, 60] {
        let clean =
            watch(&casts, &Link::LinkDirection(LinkDirection::clean(0.05)), SendInterval::Hz(hz), plan);
        speeds.add_runs(&clean, &format!("50 ms at {hz} Hz"));
        let goal = 1_000.0 * (1.0 / f64::from(hz) + 1.0 / f64::from(FPS));
        figures.add(
            format!("delay_ms_clean_{hz}hz"),
            clean.delay().mean,
            format!(
                "ms behind the fastest packet, 50 ms without jitter and loss; goal {goal:.1}, a send \
                 interval and a frame; worst {:.1}; {} pops, {:.3} % frozen; {} changes of the clock",
                clean.delay().worst,
                clean.pops(),
                clean.of(|v| v.frozen_percent).worst,
                clean.changes
            ),
        )?;
    }
    for ms in [0, 50, 100, 150, 200, 250, 300] {
        let late = watch(
            &casts,
            &Link::LinkDirection(LinkDirection::clean(f64::from(ms) / 1_000.0)),
            SendInterval::Hz(20),
            plan,
        );
        speeds.add_runs(&late, &format!("{ms} ms at 20 Hz"));
        figures.add(
            format!("freeze_percent_latency_{ms}ms"),
            late.of(|v| v.frozen_percent).worst,
            format!(
                "% of frames frozen, worst of {} runs, {ms} ms one way, no loss, 20 Hz; goal 0; {:.1} ms \
                 delay",
                late.verdicts.len(),
                late.delay().mean
            ),
        )?;
    }
    presets::add(figures, plan, &casts, &mut speeds)?;
    speeds.add(figures)?;
    add_stops(figures, plan)
}

/// Adds the overshoot of the smoothing modes where a player stops.
fn add_stops(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let link = Link::LinkDirection(LinkDirection::clean(0.1));
    for (mode, name) in [(ProxySmoothing::Linear, "linear"), (ProxySmoothing::Hermite, "hermite")] {
        let (mut most, mut stops) = (0.0_f64, 0);
        for seed in &plan.seeds {
            let truth = Path::StopStart.truth(plan.seconds, *seed)?;
            let sent = updates(&truth, SendInterval::Hz(20), &PathKnotConfig::default(), false);
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
