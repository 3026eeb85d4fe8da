//! Link conditions of a well-known article on snapshot interpolation.

use super::{TimeRates, WatchedPlayers, watch};
use crate::{
    figures::Figures,
    smoothing::{
        Plan,
        chart::{Chart, Curve},
        ideal_link::SendInterval,
        link::{Jitter, Link, LinkDirection},
    },
};

/// 50 ms latency, 0 to 66 ms jitter, 5 % loss.
const ARTICLE: LinkDirection =
    LinkDirection { jitter: Jitter::Uniform(0.066), loss: 0.05, ..LinkDirection::clean(0.05) };

/// Adds delay, freezes and pops at four update rates.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(
    figures: &mut Figures,
    plan: &Plan,
    casts: &[WatchedPlayers],
    speeds: &mut TimeRates,
) -> Result<(), String> {
    let mut curves = Vec::new();
    for (hz, goal, name) in
        [(10, 265.0, "10 Hz"), (20, 160.0, "20 Hz"), (30, 120.0, "30 Hz"), (60, 75.0, "60 Hz")]
    {
        let watched = watch(casts, &Link::LinkDirection(ARTICLE), SendInterval::Hz(hz), plan);
        speeds.add_runs(&watched, &format!("the article's at {name}"));
        let (delay, frozen_percent, rms) =
            (watched.delay(), watched.of(|v| v.frozen_percent), watched.of(|v| v.rms));
        figures.add(
            format!("delay_ms_article_{hz}hz"),
            delay.mean,
            format!(
                "ms behind the fastest packet, 50 ms + 0 to 66 ms, 5 % loss, mean of {} runs; goal {goal}; \
                 worst {:.1}; RMS {:.3} cm; {} changes of the clock",
                watched.delays.len(),
                delay.worst,
                rms.mean,
                watched.changes
            ),
        )?;
        let goal = if hz < 20 { "0.45" } else { "0.05" };
        figures.add(
            format!("freeze_percent_article_{hz}hz"),
            frozen_percent.mean,
            format!(
                "% of frames that hardly move although they should; goal {goal}; worst {:.3}",
                frozen_percent.worst
            ),
        )?;
        figures.add(
            format!("pops_article_{hz}hz"),
            watched.pops() as f64,
            format!(
                "frames that move more than 1.25 times the top speed and 2 cm, all runs together; goal 0; \
                 the largest step differs by {:.2} cm from the truth's",
                watched.of(|v| v.step_excess).worst
            ),
        )?;
        curves.push(Curve { name, points: watched.curve });
    }
    let Some(folder) = &plan.plot else { return Ok(()) };
    Chart {
        file: "smoothing_delay.svg",
        caption: "Delay beyond the fastest packet, 50 ms + 0 to 66 ms, 5 % loss",
        x: "s",
        y: "ms",
        curves: &curves,
    }
    .draw(folder, false)
}
