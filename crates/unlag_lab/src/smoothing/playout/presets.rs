//! Playout measurements on the suite's link presets.

use bevy_unlag::link_conditioner::PRESETS;

use super::{TimeRates, WatchedPlayers, watch};
use crate::{
    figures::Figures,
    smoothing::{Plan, ideal_link::SendInterval, link::Link},
};

/// Default interval of updates.
const DEFAULT: SendInterval = SendInterval::Ticks(3);
/// Adds the measurements of every preset at the default interval.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(
    figures: &mut Figures,
    plan: &Plan,
    casts: &[WatchedPlayers],
    speeds: &mut TimeRates,
) -> Result<(), String> {
    // Nothing arrives over presets that lose all packets.
    for preset in PRESETS.iter().filter(|preset| preset.loss_percent < 100.0) {
        let watched = watch(casts, &Link::Conditions(preset.down()), DEFAULT, plan);
        speeds.add_runs(&watched, &preset.name);
        let (name, slug) = (preset.name.as_str(), slug(&preset.name));
        let (excess, frozen_percent, delay) =
            (watched.of(|v| v.step_excess), watched.of(|v| v.frozen_percent), watched.delay());
        figures.add(
            format!("max_step_excess_cm_{slug}"),
            excess.worst,
            format!(
                "cm by which a frame's step differs from the truth's, maximum on {name}; {} pops in {} \
                 runs; RMS {:.3} cm",
                watched.pops(),
                watched.verdicts.len(),
                watched.of(|v| v.rms).mean
            ),
        )?;
        figures.add(
            format!("freeze_percent_{slug}"),
            frozen_percent.mean,
            format!("% of frames that hardly move although they should; worst {:.3}", frozen_percent.worst),
        )?;
        figures.add(
            format!("delay_ms_{slug}"),
            delay.mean,
            format!(
                "ms behind the fastest packet; worst {:.1}; the clock jumped {} times and changed {} times",
                delay.worst, watched.jumps, watched.changes
            ),
        )?;
    }
    Ok(())
}

/// Converts a preset name into its form in JSON keys.
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}
