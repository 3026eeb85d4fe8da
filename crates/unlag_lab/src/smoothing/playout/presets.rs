//! Playout measurements on the suite's link presets.

use super::Audience;
use crate::prelude::*;
use crate::smoothing::{ideal_link::SendInterval, link::Link};

/// Adds the measurements of every preset at the default interval.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, audience: &mut Audience<'_>) -> Result<(), String> {
    // Nothing arrives over presets that lose all packets.
    for preset in PRESETS.iter().filter(|preset| preset.loss_percent < 100.0) {
        let (name, slug) = (preset.name.as_str(), slug(&preset.name));
        let watched = audience.watch(&Link::Conditions(preset.down()), SendInterval::Ticks(3), name);
        let (runs, pops) = (&watched.runs, watched.runs.sum(|v| v.pops));
        figures.add(format!("max_step_excess_cm_{slug}"), runs.worst(|v| v.step_excess), format!(
            "cm by which a frame's step differs from the truth's, maximum on {name}; {pops} pops in {} runs; \
             RMS {:.3} cm",
            runs.0.len(),
            runs.mean(|v| v.rms)
        ))?;
        figures.add(
            format!("freeze_percent_{slug}"),
            runs.mean(|v| v.frozen_percent),
            format!(
                "% of frames that hardly move although they should; worst {:.3}",
                runs.worst(|v| v.frozen_percent)
            ),
        )?;
        let (worst, jumps, changes) = (watched.worst_delay(), watched.jumps, watched.changes);
        figures.add(format!("delay_ms_{slug}"), watched.delay(), format!(
            "ms behind the fastest packet; worst {worst:.1}; the clock jumped {jumps} times and changed {changes} times"
        ))?;
    }
    Ok(())
}

/// Converts a preset name into its form in JSON keys.
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}
