//! Agreement, error of the owner, bandwidth and delay by tick rate and frame rate.

use unlag_examples::shot_stats::ShotStats;

use crate::agreement::{CONTROL, CellConfig, CellResult, add_agreement, add_control, owner_error};
use crate::prelude::*;

/// Ticks per second of the server and all clients.
const TICK_RATES: [u32; 5] = [20, 30, 60, 64, 128];
/// Frames per second of the clients. The server runs one frame per tick.
const FRAME_RATES: [u32; 4] = [30, 60, 144, 240];
/// Frame rate of the control and of the figures that do not name one.
const USUAL_FPS: u32 = 60;

/// Match of the agreement measurements over the link of [`CONTROL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RateMatch {
    hz: u32,
    fps: u32,
    rewind: RewindMode,
}

impl RateMatch {
    fn play(&self, hits: u64, seed: u64) -> Result<CellResult, String> {
        let (rate, fps) = (rate(self.hz), f64::from(self.fps));
        let config = CellConfig { rate, fps, rewind: self.rewind, ..CellConfig::new(hits, seed) };
        let named = |line| format!("{} ticks and {} frames per second: {line}", self.hz, self.fps);
        CONTROL.play(&config).map_err(named)
    }
}

fn rate(hz: u32) -> SimulationRate {
    SimulationRate::from_hz(f64::from(hz))
}

pub fn measure(options: &Options) -> Result<Figures, String> {
    let (hits, seconds) = options.extent((100, 5.0), (600, 40.0));
    // The most expensive matches first, so that all cores finish at about the same time.
    let on = FRAME_RATES.into_iter().rev().flat_map(|fps| {
        TICK_RATES.into_iter().rev().map(move |hz| RateMatch { hz, fps, rewind: RewindMode::On })
    });
    let off = TICK_RATES.map(|hz| RateMatch { hz, fps: USUAL_FPS, rewind: RewindMode::Off });
    let matches: Vec<RateMatch> = on.chain(off).collect();
    let played = in_parallel(&matches, |one| one.play(hits, options.seed), |_| Ok(()))?;
    let errors = in_parallel(&TICK_RATES, |hz| owner_error(rate(*hz), options.seed, seconds), |_| Ok(()))?;
    let mut figures = Figures::default();
    for (hz, (error, _)) in TICK_RATES.into_iter().zip(errors) {
        let of_rate = matches.iter().zip(&played).filter(|(one, _)| one.hz == hz);
        let of_rate: Vec<(RateMatch, &CellResult)> = of_rate.map(|(one, result)| (*one, result)).collect();
        add_agreements(hz, &of_rate, &mut figures)?;
        figures.add(format!("owner_error_max_cm_{hz}hz"), error * 100.0)?;
        add_traffic(hz, &of_rate, &mut figures)?;
    }
    Ok(figures)
}

/// Adds the agreement of all frame rates together, of each frame rate, and of the control.
fn add_agreements(hz: u32, played: &[(RateMatch, &CellResult)], figures: &mut Figures) -> Result<(), String> {
    let on = || played.iter().filter(|(one, _)| one.rewind == RewindMode::On);
    let mut all = ShotStats::default();
    on().for_each(|(_, result)| all.merge(&result.shot_stats));
    add_agreement(figures, format!("agreement_{hz}hz"), &all)?;
    for (one, result) in on() {
        add_agreement(figures, format!("agreement_{hz}hz_fps{}", one.fps), &result.shot_stats)?;
    }
    for (_, result) in played.iter().filter(|(one, _)| one.rewind == RewindMode::Off) {
        add_control(figures, format!("agreement_{hz}hz_rewind_off"), &result.shot_stats)?;
    }
    Ok(())
}

/// Adds bytes and playout delay at the usual frame rate.
fn add_traffic(hz: u32, played: &[(RateMatch, &CellResult)], figures: &mut Figures) -> Result<(), String> {
    let usual = RateMatch { hz, fps: USUAL_FPS, rewind: RewindMode::On };
    let Some((_, result)) = played.iter().find(|(one, _)| *one == usual) else { return Ok(()) };
    let (up, down) = result.bytes;
    figures.add(format!("bytes_per_s_up_{hz}hz"), up)?;
    figures.add(format!("bytes_per_s_down_{hz}hz"), down)?;
    figures.add(format!("delay_ms_{hz}hz"), result.playout_ms)
}
