//! Time from the bytes of a firing move to its damage, on a server with 64 players. The players' packets are
//! recorded beforehand, so that the server has the processor for itself.

mod clients;
mod recorded_server;

use recorded_server::{PLAYERS, Parts, TestServer};

use crate::prelude::*;

/// Number of players that fire in a tick.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    NoShots,
    One,
    /// 15 rounds per second for every player.
    All,
}

/// Timings of ticks with one load in microseconds, by phase within the snapshot interval.
#[derive(Default)]
struct Times([Vec<Parts>; 8]);

impl Times {
    /// Returns the median of `of` per phase, averaged over the phases: a tick that sends snapshots costs more
    /// than the next one.
    fn median(&self, of: impl Fn(&Parts) -> f64) -> f64 {
        let known = self.0.iter().filter(|times| !times.is_empty());
        let medians: Vec<_> =
            known.map(|times| median(&mut times.iter().map(&of).collect::<Vec<_>>())).collect();
        medians.iter().sum::<f64>() / medians.len() as f64
    }
}

/// Consecutive ticks with one load.
const BLOCK: usize = 64;

/// Returns the load and the number of shots of each tick: 15 rounds per second of all players for a while,
/// then none.
fn loads(hz: u32, rounds: usize) -> Vec<(Load, usize)> {
    let (per_tick, mut due) = (f64::from(PLAYERS) * 15.0 / f64::from(hz), 0.0);
    let loads = (0..rounds).map(|round| match round / BLOCK % 4 {
        1 => (Load::One, 1),
        3 => {
            due += per_tick;
            let shots = due as usize;
            due -= shots as f64;
            (Load::All, shots)
        }
        _ => (Load::NoShots, 0),
    });
    loads.collect()
}

/// Measurements at one tick rate.
#[derive(Default)]
struct Rate {
    /// Timings of the ticks of each [`Load`].
    times: [Times; 3],
    /// Average shots per tick of [`Load::All`].
    shots: f64,
    fired: u64,
    hits: u64,
}

impl Rate {
    fn measure(hz: u32, rounds: usize, seed: u64) -> Result<Self, String> {
        let warm = hz as usize * 8;
        let loads = loads(hz, rounds);
        let shots: Vec<_> =
            core::iter::repeat_n(0, warm).chain(loads.iter().map(|(_, shots)| *shots)).collect();
        let packets = clients::record(hz, seed, &shots);
        let mut stage = TestServer::new(hz, seed);
        let mut rate = Self::default();
        for (index, packets) in packets.iter().enumerate() {
            let (phase, parts) = stage.tick(packets);
            stage.answers();
            let Some((load, shots)) = index.checked_sub(warm).map(|index| loads[index]) else { continue };
            rate.times[load as usize].0[phase % 8].push(parts);
            rate.fired += shots as u64;
        }
        let all = loads.iter().filter(|(load, _)| *load == Load::All);
        let (count, sum) = all.fold((0, 0), |(count, sum), (_, shots)| (count + 1, sum + shots));
        (rate.shots, rate.hits) = (sum as f64 / f64::from(count), stage.hits);
        rate.check(&mut stage)
    }

    /// Checks that most shots took the intended code path: not refused, no view time error, a hit.
    fn check(self, stage: &mut TestServer) -> Result<Self, String> {
        let world = stage.app.world_mut();
        let refused: u64 = world.query::<&RefusedShots>().iter(world).map(RefusedShots::total).sum();
        let counts: Vec<_> =
            world.query::<&ViewTimeValidator>().iter(world).map(ViewTimeValidator::counts).collect();
        let claims: u64 = counts.iter().map(|counts| counts.claims).sum();
        let faults: u64 = counts.iter().map(ViewTimeStats::errors).sum();
        let fired = self.fired;
        if claims * 100 < fired * 99 || (refused + faults) * 100 > fired || self.hits * 4 < fired {
            let hits = self.hits;
            return Err(format!(
                "of {fired} shots {claims} had a view claim, {refused} were refused, {faults} had view \
                 errors, {hits} hit"
            ));
        }
        Ok(self)
    }

    fn median(&self, load: Load, of: impl Fn(&Parts) -> f64) -> f64 {
        self.times[load as usize].median(of)
    }

    /// Returns the time that the shots of a tick add to it.
    fn firing(&self, load: Load) -> f64 {
        self.median(load, Parts::all) - self.median(Load::NoShots, Parts::all)
    }
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = options.extent(2_560, 12_800);
    let usual = Rate::measure(64, rounds, options.seed)?;
    let quick = Rate::measure(128, rounds, options.seed)?;
    let (verdict, alone) = (usual.firing(Load::All) / usual.shots, usual.firing(Load::One));
    let moving = usual.median(Load::NoShots, |parts| parts.moves) / f64::from(PLAYERS);
    figures.add_noted("verdict_us", verdict, format!("{alone:.1} with one shot per tick"))?;
    figures.add("verdict_with_move_us", verdict + moving)?;
    for (key, rate) in [("fire_frame_us_64", &quick), ("fire_frame_us_64_at_64hz", &usual)] {
        let (recording, firing) = (rate.median(Load::NoShots, Parts::records), rate.firing(Load::All));
        let note = format!("{recording:.1} recording, {firing:.1} firing {:.1} shots", rate.shots);
        figures.add_noted(key, recording + firing, note)?;
    }
    Ok(())
}
