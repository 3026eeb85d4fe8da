//! Error of proxies that are extrapolated to the server's present.

use super::{
    Plan,
    error_metrics::{DrawnSample, Runs, measure_errors, overshoot},
    headless_client::{Actor, HeadlessClient},
    ideal_link::{SendInterval, updates},
    link::Link,
    playout::arrivals_of,
    truth::{Path, Truth, recorded},
};
use crate::prelude::*;

/// One-way latency in seconds.
const LATENCY: f64 = 0.1;
const EVERY: SendInterval = SendInterval::Hz(20);
/// Learning time of the clock in seconds.
const LEARNING: f64 = 5.0;

/// Simulated paths with their names in JSON keys.
const PATHS: [(Path, &str); 7] = [
    (Path::StopStart, "stopstart"),
    (Path::Kart, "kart"),
    (Path::Adad, "adad"),
    (Path::Jump, "jump"),
    (Path::Bhop, "bhop"),
    (Path::Recorded, "recorded"),
    (Path::RecordedKart, "recorded_kart"),
];

/// Creates the client of a path. Paths recorded with one of our models are simulated by that model in its
/// level; the others are extrapolated in a straight line.
fn stage(path: Path) -> HeadlessClient {
    HeadlessClient::new(|app: &mut App| match path {
        Path::Recorded => {
            app.add_plugins((MovementPlugin, ProxySimulationPlugin::<CapsuleModel>::default()))
                .add_systems(Startup, arena::spawn);
        }
        Path::RecordedKart => {
            app.add_plugins((MovementPlugin, KartPlugin, ProxySimulationPlugin::<KartModel>::default()));
            recorded::spawn_field(app.world_mut());
        }
        _ => {}
    })
    .with_time_exchanges(LATENCY)
}

/// Returns the drawn samples of a path.
fn seen(path: Path, truth: &Truth, seed: u64) -> Vec<DrawnSample> {
    let sent = updates(truth, EVERY, true);
    let arrivals = arrivals_of(&Link::clean(LATENCY), &sent, seed);
    let actor = Actor { updates: &sent, mode: ProxySmoothing::Simulate };
    let played = stage(path).play(&[actor], &arrivals, LEARNING, truth.seconds() - 1.0);
    played.seen.into_iter().next().unwrap_or_default()
}

/// Adds the error of every path, and the overshoot at stops.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    for (path, name) in PATHS {
        let mut runs = Runs::default();
        let mut beyond = 0.0_f64;
        for seed in &plan.seeds {
            let truth = path.truth(plan.seconds, *seed)?;
            let seen = seen(path, &truth, *seed);
            runs.0.push(measure_errors(&truth, &seen, true));
            if path == Path::StopStart {
                beyond = beyond.max(overshoot(&truth, &seen, true));
            }
        }
        figures.add(format!("simulate_rms_cm_{name}"), runs.mean(|v| v.rms))?;
        if path == Path::StopStart {
            figures.add("stop_overshoot_cm_simulate", beyond)?;
        }
    }
    Ok(())
}
