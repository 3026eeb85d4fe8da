//! Accuracy of the client's estimate of the server time.

use super::{Plan, link::Jitter};
use crate::prelude::*;

/// Minimum one-way latency in seconds.
const LATENCY: f64 = 0.04;
/// Drift of the server's clock relative to the client's.
const DRIFT: f64 = 50e-6;
/// Server time in seconds at client time 0.
const OFFSET: f64 = 1.234;
/// Seconds between exchanges.
const EVERY: f64 = 0.1;
/// Learning time in seconds.
const LEARNING: f64 = 5.0;
/// Window of the control's running mean, in exchanges.
const MEAN_OF: usize = 20;

/// Adds the errors of the client's clock.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let seconds = plan.seconds.max(60.0) * 2.0;
    let errors = |jitter: Jitter, bloat: f64| -> [f64; 2] {
        let runs = plan.seeds.iter().map(|seed| run(jitter, bloat, seconds, *seed));
        let (ours, means): (Vec<f64>, Vec<f64>) = runs.unzip();
        [ours, means].map(mean)
    };
    let [ours, running_mean] = errors(Jitter::Exponential(0.01), 0.0);
    figures.add("clock_p95_ms", ours)?;
    figures.add("clock_p95_ms_bufferbloat", errors(Jitter::Exponential(0.01), 0.1)[0])?;
    figures.add("clock_p95_ms_gamma", errors(Jitter::Gamma(0.01), 0.0)[0])?;
    figures.add("clock_p95_ms_mean", running_mean)
}

/// Returns the server time at a client time.
fn server(seconds: f64) -> f64 {
    OFFSET + seconds * (1.0 + DRIFT)
}

/// Returns the 95th percentiles of the error in milliseconds: of the server clock and of a running mean. `bloat` is the
/// number of seconds that bufferbloat adds to the uplink, for 4 of every 20 s.
fn run(jitter: Jitter, bloat: f64, seconds: f64, seed: u64) -> (f64, f64) {
    let mut rng = SmallRng::seed_from_u64(seed ^ 0xC10C);
    let mut clock = ServerClock::new(ServerClockConfig::default(), 1.0 / 64.0);
    let mut answers: Vec<(f64, f64, f64)> = Vec::new();
    for k in 0..(seconds / EVERY) as u32 {
        let t0 = f64::from(k) * EVERY;
        let phase = t0 % 20.0;
        let full = if (10.0..14.0).contains(&phase) { ((phase - 10.0) / 0.5).min(1.0) } else { 0.0 };
        let there = t0 + LATENCY + jitter.draw(&mut rng) + bloat * full;
        let back = there + LATENCY + jitter.draw(&mut rng);
        answers.push((t0, there, back));
    }
    answers.sort_by(|a, b| a.2.total_cmp(&b.2));
    let mut coming = answers.into_iter().peekable();
    let mut offsets: Vec<f64> = Vec::new();
    let (mut ours, mut means) = (Vec::new(), Vec::new());
    for frame in 0..(seconds * 60.0) as u32 {
        let now = f64::from(frame) / 60.0;
        while let Some((t0, there, back)) = coming.next_if(|answer| answer.2 <= now) {
            let at_server = server(there);
            clock.sample(t0, at_server, at_server, back);
            offsets.push(at_server - (t0 + back) / 2.0);
        }
        if now < LEARNING {
            continue;
        }
        let off = |time: f64| (time - server(now)).abs() * 1_000.0;
        ours.push(off(clock.seconds(now).unwrap_or(f64::INFINITY)));
        let last = &offsets[offsets.len().saturating_sub(MEAN_OF)..];
        means.push(off(now + last.iter().sum::<f64>() / last.len().max(1) as f64));
    }
    (upper_quantile(&mut ours, 950), upper_quantile(&mut means, 950))
}
