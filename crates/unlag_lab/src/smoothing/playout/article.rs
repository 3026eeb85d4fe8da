//! Link conditions of a well-known article on snapshot interpolation.

use super::Audience;
use crate::prelude::*;
use crate::smoothing::{
    ideal_link::SendInterval,
    link::{Jitter, Link, LinkDirection},
};

/// 50 ms latency, 0 to 66 ms jitter, 5 % loss.
const ARTICLE: LinkDirection =
    LinkDirection { jitter: Jitter::Uniform(0.066), loss: 0.05, ..LinkDirection::clean(0.05) };

/// Adds delay, freezes and pops at four update rates.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, audience: &mut Audience<'_>) -> Result<(), String> {
    let mut curves = Vec::new();
    for (hz, goal, name) in
        [(10, 265.0, "10 Hz"), (20, 160.0, "20 Hz"), (30, 120.0, "30 Hz"), (60, 75.0, "60 Hz")]
    {
        let link = format!("the article's at {name}");
        let watched = audience.watch(&Link::LinkDirection(ARTICLE), SendInterval::Hz(hz), &link);
        let runs = &watched.runs;
        figures.add(format!("delay_ms_article_{hz}hz"), watched.delay(), format!(
            "ms behind the fastest packet, 50 ms + 0 to 66 ms, 5 % loss, mean of {} runs; goal {goal}; worst \
             {:.1}; RMS {:.3} cm; {} changes of the clock",
            runs.0.len(),
            watched.worst_delay(),
            runs.mean(|v| v.rms),
            watched.changes
        ))?;
        let goal = if hz < 20 { "0.45" } else { "0.05" };
        figures.add(
            format!("freeze_percent_article_{hz}hz"),
            runs.mean(|v| v.frozen_percent),
            format!(
                "% of frames that hardly move although they should; goal {goal}; worst {:.3}",
                runs.worst(|v| v.frozen_percent)
            ),
        )?;
        figures.add(format!("pops_article_{hz}hz"), runs.sum(|v| v.pops) as f64, format!(
            "frames that move more than 1.25 times the top speed and 2 cm, all runs together; goal 0; the \
             largest step differs by {:.2} cm from the truth's",
            runs.worst(|v| v.step_excess)
        ))?;
        curves.push((name, watched.curve));
    }
    let Some(folder) = &audience.plan.plot else { return Ok(()) };
    Chart {
        file: "smoothing_delay.svg",
        caption: "Delay beyond the fastest packet, 50 ms + 0 to 66 ms, 5 % loss",
        x: "s",
        y: "ms",
        curves: &curves,
        ..Chart::default()
    }
    .draw(folder)
}
