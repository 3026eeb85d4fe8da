//! Agreement, error of the owner, bandwidth and delay by tick rate and frame rate.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use unlag_examples::shot_stats::ShotStats;

use crate::agreement::{CONTROL, Cell, CellConfig, CellResult, describe, owner_error};
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
    let played = in_parallel(&matches, |one| one.play(hits, options.seed))?;
    let errors = in_parallel(&TICK_RATES, |hz| owner_error(rate(*hz), options.seed, seconds))?;
    let mut figures = Figures::default();
    for (hz, error) in TICK_RATES.into_iter().zip(errors) {
        let of_rate = matches.iter().zip(&played).filter(|(one, _)| one.hz == hz);
        let of_rate: Vec<(RateMatch, &CellResult)> = of_rate.map(|(one, result)| (*one, result)).collect();
        add_agreement(hz, &of_rate, &mut figures)?;
        add_owner_error(hz, error, &mut figures)?;
        add_traffic(hz, &of_rate, &mut figures)?;
    }
    Ok(figures)
}

/// Adds the agreement of all frame rates together, of each frame rate, and of the control.
fn add_agreement(hz: u32, played: &[(RateMatch, &CellResult)], figures: &mut Figures) -> Result<(), String> {
    let on = || played.iter().filter(|(one, _)| one.rewind == RewindMode::On);
    let mut all = ShotStats::default();
    on().for_each(|(_, result)| all.merge(&result.shot_stats));
    let agreement = |stats: &ShotStats| stats.tally().agreement().unwrap_or(f64::NAN);
    let Cell { rtt, jitter, loss } = CONTROL;
    figures.add(
        format!("agreement_{hz}hz"),
        agreement(&all),
        format!(
            "{}; {hz} ticks per second, round trip {rtt} ms, ± {jitter} ms, {loss} % loss, all frame rates",
            describe(&all.tally())
        ),
    )?;
    for (one, result) in on() {
        let key = format!("agreement_{hz}hz_fps{}", one.fps);
        let stats = &result.shot_stats;
        figures.add(key, agreement(stats), describe(&stats.tally()))?;
    }
    for (_, result) in played.iter().filter(|(one, _)| one.rewind == RewindMode::Off) {
        let confirmed = result.shot_stats.confirmed_of_drawn().unwrap_or(f64::NAN);
        let text = format!("{}; the control", describe(&result.shot_stats.tally()));
        figures.add(format!("agreement_{hz}hz_rewind_off"), confirmed, text)?;
    }
    Ok(())
}

fn add_owner_error(hz: u32, (error, moves): (f64, usize), figures: &mut Figures) -> Result<(), String> {
    figures.add(
        format!("owner_error_max_cm_{hz}hz"),
        error * 100.0,
        format!("cm between client and server after the same move, largest of {moves} moves on Average (UE)"),
    )
}

/// Adds bytes and playout delay at the usual frame rate.
fn add_traffic(hz: u32, played: &[(RateMatch, &CellResult)], figures: &mut Figures) -> Result<(), String> {
    let usual = RateMatch { hz, fps: USUAL_FPS, rewind: RewindMode::On };
    let Some((_, result)) = played.iter().find(|(one, _)| *one == usual) else { return Ok(()) };
    let (up, down) = result.bytes;
    figures.add(
        format!("bytes_per_s_up_{hz}hz"),
        up,
        "B/s of datagrams from one of 4 clients, without UDP and IP headers",
    )?;
    figures.add(format!("bytes_per_s_down_{hz}hz"), down, "B/s of datagrams to one of 4 clients")?;
    let interval = rate(hz).snapshot_interval().as_secs_f64() * 1e3;
    figures.add(
        format!("delay_ms_{hz}hz"),
        result.playout_ms,
        format!("ms of playout delay behind the fastest packet, with a snapshot every {interval:.1} ms"),
    )
}

/// Applies `job` to every item on all cores. Returns the results in the order of the items.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    job: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return done };
            done.push((place, job(item)));
        }
    };
    let mut done: Vec<(usize, Result<R, String>)> = Vec::with_capacity(items.len());
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            done.extend(thread.join().map_err(|_| "a match panicked".to_owned())?);
        }
        Ok::<(), String>(())
    })?;
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_are_in_order_and_an_error_ends_the_measurement() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = in_parallel(&items, |item| Ok(item * 2)).expect("no job fails");
        assert!(doubled.iter().zip(&items).all(|(twice, item)| *twice == item * 2));
        let failed = in_parallel(&items, |item| if *item == 70 { Err("no".to_owned()) } else { Ok(*item) });
        assert_eq!(failed, Err("no".to_owned()));
    }
}
