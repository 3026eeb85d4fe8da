//! Effect of jitter, loss and latency on drawn proxies.

use super::{
    Plan,
    error_metrics::{Runs, measure_errors, overshoot},
    headless_client::{Actor, play},
    ideal_link::{SendInterval, sent_at, updates},
    link::{Arrival, Jitter, Link, LinkDirection},
    truth::{Path, Truth},
};
use crate::prelude::*;

/// Learning time of the clock in seconds.
const LEARNING: f64 = 8.0;

/// Link of a well-known article on snapshot interpolation: 50 ms latency, 0 to 66 ms jitter, 5 % loss.
const ARTICLE: Link = Link::LinkDirection(LinkDirection {
    jitter: Jitter::Uniform(0.066),
    loss: 0.05,
    ..LinkDirection::clean(0.05)
});

/// Runs of two players on one link.
#[derive(Default)]
struct LinkResult {
    runs: Runs,
    /// Mean delays beyond the latency of the fastest packet, in milliseconds.
    delays: Vec<f64>,
    /// Number of clock jumps.
    jumps: u64,
    /// Ages of the first run's samples beyond the latency of the fastest packet: seconds, milliseconds.
    curve: Vec<(f64, f64)>,
}

impl LinkResult {
    /// Returns the mean delay in milliseconds.
    fn delay(&self) -> f64 {
        mean(self.delays.iter().copied())
    }
}

/// Client that watches two players over different links.
struct Audience<'a> {
    plan: &'a Plan,
    /// Truths of the two players, and the seed.
    casts: Vec<([Truth; 2], u64)>,
    /// Slowest and fastest rate of the drawn time on all links without clock jumps.
    speed: (f64, f64),
}

impl<'a> Audience<'a> {
    fn new(plan: &'a Plan) -> Result<Self, String> {
        let one = |seed: &u64| {
            let truths =
                [Path::StopStart.truth(plan.seconds, *seed)?, Path::Adad.truth(plan.seconds, *seed)?];
            Ok((truths, *seed))
        };
        let casts = plan.seeds.iter().map(one).collect::<Result<_, String>>()?;
        Ok(Self { plan, casts, speed: (f64::INFINITY, f64::NEG_INFINITY) })
    }

    /// Watches the players of all seeds over a link.
    fn watch(&mut self, link: &Link, every: SendInterval) -> LinkResult {
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
                all.delays.push((verdict.delay - fastest) * 1_000.0);
                all.runs.0.push(verdict);
            }
            all.jumps += played.jumps;
            if all.curve.is_empty() {
                all.curve = played.ages.iter().map(|(at, age)| (*at, (age - fastest) * 1_000.0)).collect();
            }
        }
        // Clocks that jump over an outage do not count for the rates.
        if all.jumps == 0 {
            self.speed.0 = self.speed.0.min(-all.runs.worst(|v| -v.speed.0));
            self.speed.1 = self.speed.1.max(all.runs.worst(|v| v.speed.1));
        }
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
    add_article(figures, &mut audience)?;
    for hz in [10, 20, 30, 60] {
        let watched = audience.watch(&Link::clean(0.05), SendInterval::Hz(hz));
        figures.add(format!("delay_ms_clean_{hz}hz"), watched.delay())?;
    }
    for ms in [0, 50, 100, 150, 200, 250, 300] {
        let late = audience.watch(&Link::clean(f64::from(ms) / 1_000.0), SendInterval::Hz(20));
        let frozen = late.runs.worst(|v| v.frozen_percent);
        figures.add(format!("freeze_percent_latency_{ms}ms"), frozen)?;
    }
    add_presets(figures, &mut audience)?;
    let (slowest, fastest) = audience.speed;
    figures.add("time_speed_min", slowest)?;
    figures.add("time_speed_max", fastest)?;
    add_stops(figures, plan)
}

/// Adds delay, freezes and pops on the article's link at four update rates.
fn add_article(figures: &mut Figures, audience: &mut Audience<'_>) -> Result<(), String> {
    let mut curves = Vec::new();
    for (hz, name) in [(10, "10 Hz"), (20, "20 Hz"), (30, "30 Hz"), (60, "60 Hz")] {
        let watched = audience.watch(&ARTICLE, SendInterval::Hz(hz));
        figures.add(format!("delay_ms_article_{hz}hz"), watched.delay())?;
        figures.add(format!("freeze_percent_article_{hz}hz"), watched.runs.mean(|v| v.frozen_percent))?;
        figures.add(format!("pops_article_{hz}hz"), watched.runs.sum(|v| v.pops) as f64)?;
        curves.push((name, watched.curve));
    }
    let Some(folder) = &audience.plan.plot else { return Ok(()) };
    Chart {
        file: "smoothing_delay.svg",
        caption: "Delay beyond the fastest packet, 50 ms + 0 to 66 ms, 5 % loss",
        x: "s",
        y: "ms",
        curves: &curves,
        ..default()
    }
    .draw(folder)
}

/// Adds the measurements of every preset at the default interval.
fn add_presets(figures: &mut Figures, audience: &mut Audience<'_>) -> Result<(), String> {
    // Nothing arrives over presets that lose all packets.
    for preset in PRESETS.iter().filter(|preset| preset.up().loss < 1.0) {
        let slug = slug(&preset.name);
        let watched = audience.watch(&Link::Conditions(preset.down()), SendInterval::Ticks(3));
        figures.add(format!("max_step_excess_cm_{slug}"), watched.runs.worst(|v| v.step_excess))?;
        figures.add(format!("freeze_percent_{slug}"), watched.runs.mean(|v| v.frozen_percent))?;
        figures.add(format!("delay_ms_{slug}"), watched.delay())?;
    }
    Ok(())
}

/// Converts a preset name into its form in JSON keys.
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// Adds the overshoot of the smoothing modes where a player stops.
fn add_stops(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    for (mode, name) in [(ProxySmoothing::Linear, "linear"), (ProxySmoothing::Hermite, "hermite")] {
        let mut most = 0.0_f64;
        for seed in &plan.seeds {
            let truth = Path::StopStart.truth(plan.seconds, *seed)?;
            let sent = updates(&truth, SendInterval::Hz(20), false);
            let arrivals = arrivals_of(&Link::clean(0.1), &sent, *seed);
            let played = play(&[Actor { updates: &sent, mode }], &arrivals, LEARNING, plan.seconds - 1.0);
            most = most.max(overshoot(&truth, &played.seen[0], false));
        }
        figures.add(format!("stop_overshoot_cm_{name}"), most)?;
    }
    Ok(())
}
