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
/// Paths on which theory promises a large gain of cubics over lines.
const SMOOTH: [Path; 5] = [Path::Adad, Path::StopStart, Path::Kart, Path::Platform, Path::Circle];

/// Runs of one path at one rate.
#[derive(Default)]
struct Row {
    linear: Runs,
    hermite: Runs,
    /// Linear interpolation through all snapshots that the cubic uses.
    linear_with_knots: Runs,
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
            self.linear_with_knots.0.push(see(&sent, Interpolation::Linear));
            self.raw.0.push(see(&plain, Interpolation::Step));
        }
        self.knots.push(mean(sent.iter().map(|update| update.knots().len() as f64)));
    }

    /// Returns the number of runs in which the cubic is worse than the line, and the largest ratio.
    fn worse(&self) -> Option<String> {
        let pairs = self.hermite.0.iter().zip(&self.linear.0);
        let ratios = pairs.map(|(cubic, line)| (cubic.max / line.max).max(cubic.rms / line.rms));
        let ratios: Vec<f64> = ratios.filter(|ratio| *ratio > 1.0).collect();
        let most = largest(ratios.iter().copied());
        (!ratios.is_empty()).then(|| format!("{} runs, {most:.3} times", ratios.len()))
    }
}

/// Returns the mean of the runs' RMS errors and the largest maximum.
fn rms_and_max(runs: &Runs) -> (f64, f64) {
    (runs.mean(|v| v.rms), runs.worst(|v| v.max))
}

/// Adds the errors of every path.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let mut worse = Vec::new();
    let mut by_rate = [Vec::new(), Vec::new()];
    let mut kart = Row::default();
    for path in Path::ALL {
        let rows = watch(path, plan)?;
        for (row, rate) in rows.into_iter().zip(RATES) {
            add_row(figures, plan, path, rate, &row)?;
            if let Some(line) = row.worse().filter(|_| rate >= 10) {
                worse.push(format!("{} at {rate} Hz: {line}", path.name()));
            }
            for (curve, runs) in by_rate.iter_mut().zip([&row.linear, &row.hermite]) {
                curve.push((rate, rms_and_max(runs).0));
            }
            if (path, rate) == (Path::Kart, 10) {
                kart = row;
            }
        }
    }
    figures.add("worse_than_linear", worse.len() as f64, format!(
        "combinations of path and rate, 10 Hz and more, in which a Hermite run has a larger RMS or maximum \
         than linear; goal 0; {}",
        if worse.is_empty() { "none".to_owned() } else { worse.join(", ") }
    ))?;
    add_yaw(figures, &kart)?;
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

fn add_row(figures: &mut Figures, plan: &Plan, path: Path, rate: u32, row: &Row) -> Result<(), String> {
    let name = path.name();
    let runs = plan.seeds.len();
    let ((line_rms, line_max), (rms, max)) = (rms_and_max(&row.linear), rms_and_max(&row.hermite));
    let at = format!("{name}_{rate}hz");
    figures.add(
        format!("rms_cm_linear_{at}"),
        line_rms,
        format!(
            "cm from the delayed truth, RMS, mean of {runs} runs; worst {:.3}",
            row.linear.worst(|v| v.rms)
        ),
    )?;
    let smooth = rate == 10 && SMOOTH.contains(&path);
    let goal = if smooth {
        format!("{:.3}, a tenth of linear", line_rms / 10.0)
    } else if rate >= 10 {
        format!("{line_rms:.3}, as linear")
    } else {
        "none".to_owned()
    };
    figures.add(
        format!("rms_cm_hermite_{at}"),
        rms,
        format!("the same; goal {goal}; worst {:.3}{}", row.hermite.worst(|v| v.rms), felt(row)),
    )?;
    figures.add(format!("max_cm_linear_{at}"), line_max, format!("cm, maximum of all {runs} runs"))?;
    let goal = match (path, rate) {
        (Path::Kart, 1) => "90".to_owned(),
        (Path::Bhop, 10) => "0.5".to_owned(),
        _ if smooth => format!("{:.3}, 0.27 of linear", line_max * 0.27),
        (_, 10..) => format!("{line_max:.3}, as linear"),
        _ => "none".to_owned(),
    };
    let p99 = row.hermite.worst(|v| v.p99);
    figures.add(format!("max_cm_hermite_{at}"), max, format!("the same; goal {goal}; p99 {p99:.3}"))?;
    if rate != 10 {
        return Ok(());
    }
    let (raw_rms, raw_max) = rms_and_max(&row.raw);
    figures.add(format!("rms_cm_raw_{at}"), raw_rms, "cm, newest update without interpolation")?;
    figures.add(format!("max_cm_raw_{at}"), raw_max, "the same, maximum")?;
    let (same_rms, same_max) = rms_and_max(&row.linear_with_knots);
    figures.add(
        format!("knots_per_packet_{at}"),
        mean(row.knots.iter().copied()),
        format!(
            "path knots per update; goal 0.2; linear through the same snapshots: RMS {same_rms:.3}, max \
         {same_max:.3} cm"
        ),
    )
}

/// Describes velocity steps and jerk at 128 frames per second.
fn felt(row: &Row) -> String {
    let of = |runs: &Runs| (runs.worst(|v| v.velocity_step), runs.mean(|v| v.jerk.0 / v.jerk.1.max(1e-9)));
    let ((line_step, line_jerk), (step, jerk)) = (of(&row.linear), of(&row.hermite));
    format!(
        "; the velocity steps by {step:.2} m/s more than the truth's per frame (linear {line_step:.2}), jerk \
         is {jerk:.2} times the truth's (linear {line_jerk:.1})"
    )
}

fn add_yaw(figures: &mut Figures, kart: &Row) -> Result<(), String> {
    let Row { hermite, linear, .. } = kart;
    figures.add(
        "yaw_max_deg_kart_10hz",
        hermite.worst(|v| v.yaw.1),
        format!("° from the kart's heading; goal 0.2; RMS {:.3}", hermite.mean(|v| v.yaw.0)),
    )?;
    figures.add(
        "yaw_max_deg_kart_10hz_linear",
        linear.worst(|v| v.yaw.1),
        format!("the same with slerp; RMS {:.3}", linear.mean(|v| v.yaw.0)),
    )?;
    let (frames, away) = (hermite.sum(|v| v.frames), hermite.sum(|v| v.facing_away));
    figures.add("yaw_flips_reverse", hermite.sum(|v| v.flips) as f64, format!(
        "samples of {frames} in which the heading of the kart, which reverses at times, is off by more than \
         90°; goal 0; a heading along the velocity would be in {away}"
    ))
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
        ..Chart::default()
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
        ..Chart::default()
    }
    .draw(folder)
}
