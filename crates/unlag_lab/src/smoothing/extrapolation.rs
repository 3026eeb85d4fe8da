//! Error of proxies that are extrapolated to the server's present.

use super::{
    Plan,
    error_metrics::{DrawnSample, Runs, measure_errors, overshoot},
    headless_client::{Actor, HeadlessClient},
    ideal_link::{SendInterval, updates},
    link::{Link, LinkDirection},
    playout::arrivals_of,
    truth::{Path, Truth, recorded},
};
use crate::prelude::*;

/// One-way latency in seconds.
const LATENCY: f64 = 0.1;
const EVERY: SendInterval = SendInterval::Hz(20);
/// Learning time of the clock in seconds.
const LEARNING: f64 = 5.0;

/// Simulated paths with their goals in centimetres.
const PATHS: [(Path, Option<f64>); 7] = [
    (Path::StopStart, Some(6.0)),
    (Path::Kart, Some(4.5)),
    (Path::Adad, None),
    (Path::Jump, None),
    (Path::Bhop, None),
    (Path::Recorded, None),
    (Path::RecordedKart, None),
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

/// Returns the drawn samples of a path in a smoothing mode.
fn seen(path: Path, truth: &Truth, mode: ProxySmoothing, accelerates: bool, seed: u64) -> Vec<DrawnSample> {
    let sent = updates(truth, EVERY, accelerates);
    let arrivals = arrivals_of(&Link::LinkDirection(LinkDirection::clean(LATENCY)), &sent, seed);
    let played =
        stage(path).play(&[Actor { updates: &sent, mode }], &arrivals, LEARNING, truth.seconds() - 1.0);
    played.seen.into_iter().next().unwrap_or_default()
}

/// Adds the error of every path, and the overshoot at stops.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    for (path, goal) in PATHS {
        let [mut all, mut without, mut raw] = [const { Runs(Vec::new()) }; 3];
        let (mut beyond, mut stops) = (0.0_f64, 0);
        for seed in &plan.seeds {
            let truth = path.truth(plan.seconds, *seed)?;
            let carried = seen(path, &truth, ProxySmoothing::Simulate, true, *seed);
            all.0.push(measure_errors(&truth, &carried, true));
            let blind = seen(path, &truth, ProxySmoothing::Simulate, false, *seed);
            without.0.push(measure_errors(&truth, &blind, true));
            raw.0.push(measure_errors(&truth, &seen(path, &truth, ProxySmoothing::Raw, false, *seed), true));
            if path == Path::StopStart {
                let (most, count) = overshoot(&truth, &carried, true);
                (beyond, stops) = (beyond.max(most), stops + count);
            }
        }
        let goal = goal.map_or("none".to_owned(), |goal| goal.to_string());
        let [rms, blind, raw] = [&all, &without, &raw].map(|runs| runs.mean(|v| v.rms));
        figures.add(format!("simulate_rms_cm_{}", path.name()), rms, format!(
            "cm from the present truth, 100 ms one way, 20 Hz, mean of {} runs; goal {goal}; worst {:.2}, \
             max {:.1}, {} pops, drawn time {:.2} ms late; {blind:.2} without acceleration; newest update as \
             it is {raw:.1}",
            all.0.len(),
            all.worst(|v| v.rms),
            all.worst(|v| v.max),
            all.sum(|v| v.pops),
            all.mean(|v| v.delay.0 * 1_000.0)
        ))?;
        if path == Path::StopStart {
            figures.add(
                "stop_overshoot_cm_simulate",
                beyond,
                format!("cm beyond the stop, maximum of {stops} stops, 100 ms, 20 Hz; goal 2"),
            )?;
        }
    }
    Ok(())
}
