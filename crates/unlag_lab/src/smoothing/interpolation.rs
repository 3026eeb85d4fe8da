//! Interpolation error by path and update rate.

use super::{
    Plan,
    error_metrics::{DrawnSample, Runs, measure_errors},
    ideal_link::{SendInterval, drawn_samples, updates, updates_without_knots},
    truth::{Path, Truth},
};
use crate::prelude::*;

/// Updates per second.
const RATES: [u32; 5] = [1, 10, 20, 30, 60];

/// Runs of one path at one rate.
#[derive(Default)]
struct Row {
    linear: Runs,
    hermite: Runs,
    raw: Runs,
    /// Path knots per update.
    knots: Vec<f64>,
}

impl Row {
    fn watch(&mut self, truth: &Truth, rate: u32) {
        let plain = updates_without_knots(truth, SendInterval::Hz(rate));
        let sent = updates(truth, SendInterval::Hz(rate), false);
        let see =
            |updates: &[ProxyUpdate], how| measure_errors(truth, &drawn_samples(truth, updates, how), false);
        self.linear.0.push(see(&plain, Interpolation::Linear));
        self.hermite.0.push(see(&sent, Interpolation::Hermite));
        if rate == 10 {
            self.raw.0.push(see(&plain, Interpolation::Step));
        }
        self.knots.push(mean(sent.iter().map(|update| update.knots().len() as f64)));
    }

    /// Returns the largest ratio of an error of the cubic to that of the line in the same run.
    fn worst_ratio(&self) -> f64 {
        let pairs = self.hermite.0.iter().zip(&self.linear.0);
        largest(pairs.map(|(cubic, line)| (cubic.max / line.max).max(cubic.rms / line.rms)))
    }
}

/// Adds the errors of every path.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let mut worse = Vec::new();
    let mut by_rate = [Vec::new(), Vec::new()];
    let mut kart = Row::default();
    for (path, name) in Path::ALL {
        let rows = watch(path, plan)?;
        for (row, rate) in rows.into_iter().zip(RATES) {
            add_row(figures, &format!("{name}_{rate}hz"), &row)?;
            let ratio = row.worst_ratio();
            if rate >= 10 && ratio > 1.0 {
                worse.push(format!("{name} at {rate} Hz: {ratio:.3} times"));
            }
            for (curve, runs) in by_rate.iter_mut().zip([&row.linear, &row.hermite]) {
                curve.push((rate, runs.mean(|v| v.rms)));
            }
            if (path, rate) == (Path::Kart, 10) {
                kart = row;
            }
        }
    }
    figures.add_noted("worse_than_linear", worse.len() as f64, worse.join(", "))?;
    figures.add("yaw_max_deg_kart_10hz", kart.hermite.worst(|v| v.yaw))?;
    figures.add("yaw_max_deg_kart_10hz_linear", kart.linear.worst(|v| v.yaw))?;
    figures.add("yaw_flips_reverse", kart.hermite.sum(|v| v.flips) as f64)?;
    if let Some(folder) = &plan.plot {
        draw(plan, folder, &by_rate)?;
    }
    Ok(())
}

/// Measures a path at all rates, in the order of [`RATES`].
fn watch(path: Path, plan: &Plan) -> Result<[Row; 5], String> {
    let mut rows: [Row; 5] = Default::default();
    for seed in &plan.seeds {
        let truth = path.truth(plan.seconds, *seed)?;
        for (row, rate) in rows.iter_mut().zip(RATES) {
            row.watch(&truth, rate);
        }
    }
    Ok(rows)
}

fn add_row(figures: &mut Figures, at: &str, row: &Row) -> Result<(), String> {
    let rms = |runs: &Runs| runs.mean(|v| v.rms);
    let max = |runs: &Runs| runs.worst(|v| v.max);
    figures.add(format!("rms_cm_linear_{at}"), rms(&row.linear))?;
    figures.add(format!("rms_cm_hermite_{at}"), rms(&row.hermite))?;
    figures.add(format!("max_cm_linear_{at}"), max(&row.linear))?;
    figures.add(format!("max_cm_hermite_{at}"), max(&row.hermite))?;
    if row.raw.0.is_empty() {
        return Ok(());
    }
    figures.add(format!("rms_cm_raw_{at}"), rms(&row.raw))?;
    figures.add(format!("max_cm_raw_{at}"), max(&row.raw))?;
    figures.add(format!("knots_per_packet_{at}"), mean(row.knots.iter().copied()))
}

fn draw(plan: &Plan, folder: &std::path::Path, by_rate: &[Vec<(u32, f64)>; 2]) -> Result<(), String> {
    let points = |curve: &Vec<(u32, f64)>| {
        let of = |rate: u32| curve.iter().filter(move |point| point.0 == rate).map(|point| point.1.ln());
        RATES.iter().map(|rate| (f64::from(*rate), mean(of(*rate)).exp())).collect()
    };
    Chart {
        file: "smoothing_rms.svg",
        caption: "RMS error by update rate, geometric mean of all paths",
        x: "updates per second",
        y: "cm",
        curves: &[("linear", points(&by_rate[0])), ("Hermite", points(&by_rate[1]))],
        log: true,
        ..default()
    }
    .draw(folder)?;
    let truth = Path::Recorded.truth(20.0, plan.seeds[0])?;
    let error = |updates: &[ProxyUpdate], how| {
        let error = |s: &DrawnSample| (s.now - 4.0, s.place.distance(truth.at(s.view).position) * 100.0);
        let seen = drawn_samples(&truth, updates, how);
        seen.iter().filter(|s| s.now >= 4.0 && s.now < 9.0).map(error).collect()
    };
    let sent = updates(&truth, SendInterval::Hz(10), false);
    Chart {
        file: "smoothing_error.svg",
        caption: "Error of a player in the arena at 10 updates per second, against the delayed truth",
        x: "s",
        y: "cm",
        curves: &[
            ("linear", error(&updates_without_knots(&truth, SendInterval::Hz(10)), Interpolation::Linear)),
            ("Hermite", error(&sent, Interpolation::Hermite)),
        ],
        ..default()
    }
    .draw(folder)
}
