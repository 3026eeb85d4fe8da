//! Deterministic race under stepped time: a server, a driver, and a client that drives and watches the
//! driver. Equal seeds give equal runs.

use core::{fmt::Write, time::Duration};

use bevy::prelude::*;
use bevy_unlag::{
    core::ProxySmoothing, link_conditioner::LinkConditions, movement::KartState, prelude::*,
    smoothing::PlayoutClocks,
};

use super::{
    app,
    copies::{CopyOf, MODES},
    error_meter::{self, ErrorMeter, ErrorStats},
    ground_truth::GroundTruth,
    race_settings::{OwnerMode, RaceSettings},
};
use bevy_unlag_testkit::{Client, SteppedApps, finish};

use crate::connection;

/// Quantization error of positions, in metres: half a millimetre per axis. Errors up to here are ignored.
const QUANTIZATION_ERROR: f32 = 0.001;

/// Error tolerance of a landing, in metres: the motion within the tick in which a kart lands is a guess.
const LANDING_TOLERANCE: f32 = 0.02;

/// Configuration of a race.
#[derive(Clone, Debug)]
pub struct RaceOptions {
    /// Duration of each measurement, in seconds.
    pub seconds: f64,
    /// Link conditions of the watching client; the same one-way values apply to uplink and downlink. The
    /// driver's link is perfect.
    pub conditions: LinkConditions,
    /// Seed of that link.
    pub seed: u64,
    /// Update rates to measure, in Hz.
    pub rates: Vec<f32>,
    /// Frame rate of the clients, in frames per second.
    pub fps: f64,
}

impl Default for RaceOptions {
    fn default() -> Self {
        let latency = Duration::from_millis(100);
        Self {
            seconds: 25.0,
            conditions: LinkConditions { latency, ..LinkConditions::PERFECT },
            seed: 7,
            rates: vec![1.0, 5.0, 10.0, 30.0, 60.0],
            fps: 100.0,
        }
    }
}

/// Results for the remote kart at one update rate.
#[derive(Clone, Debug)]
pub struct RateRow {
    /// Update rate, in Hz.
    pub rate: f32,
    /// Playout delay of the interpolated copies, in milliseconds.
    pub delay_ms: f64,
    /// Error statistics, in the order of [`MODES`].
    pub modes: Vec<ErrorStats>,
}

impl RateRow {
    /// Returns the error statistics of a smoothing mode.
    #[must_use]
    pub fn of(&self, mode: ProxySmoothing) -> Option<&ErrorStats> {
        MODES.iter().zip(&self.modes).find(|((known, _), _)| *known == mode).map(|(_, tally)| tally)
    }
}

/// Results for the own kart in one [`OwnerMode`].
#[derive(Clone, Copy, Debug)]
pub struct OwnerRow {
    /// Treatment of the server's state by its client.
    pub mode: OwnerMode,
    /// Error statistics.
    pub seen: ErrorStats,
    /// Number of replayed moves.
    pub replayed: u64,
}

/// Results of a race.
#[derive(Clone, Debug, Default)]
pub struct RaceReport {
    /// Results for the remote kart, by update rate.
    pub rates: Vec<RateRow>,
    /// Results for the own kart, by owner mode.
    pub owner: Vec<OwnerRow>,
}

/// A server and two clients: the driver and the watching client.
struct Race {
    apps: SteppedApps,
    switches: RaceSettings,
}

impl Race {
    fn start(options: &RaceOptions) -> Result<Self, String> {
        let (switches, truth) = (RaceSettings::default(), GroundTruth::default());
        let frame = Duration::from_secs_f64(1.0 / options.fps.clamp(10.0, 1_000.0));
        let mut server = app::server(switches.clone(), truth.clone());
        let listener = connection::listen_in_process(&mut server);
        let driver = app::driving_client(RaceSettings::default());
        let mut watcher = app::driving_client(switches.clone());
        watcher.insert_resource(truth).add_plugins(error_meter::plugin);
        let mut apps = SteppedApps::with_listener(server, listener);
        let bad = NetSim::new(options.seed).with(options.conditions);
        // Staggered, so that no two apps' frames coincide.
        for (mut app, id, sim, part) in
            [(driver, 1, NetSim::new(options.seed + 1), 0.31), (watcher, 2, bad, 0.77)]
        {
            connection::join(&mut apps.server, listener, &mut app, id, sim)?;
            finish(&mut app);
            apps.add(app, Client::new(frame, frame.mul_f64(part)));
        }
        if !apps.run_until(Duration::from_secs(20), everyone_drives) {
            return Err("not every client could join within 20 s; try a better --preset".to_owned());
        }
        Ok(Self { apps, switches })
    }

    fn world(&mut self) -> &mut World {
        self.apps.clients[1].world_mut()
    }

    /// Resets the meters, then measures for `seconds`.
    fn measure(&mut self, seconds: f64) {
        let world = self.world();
        world.query::<&mut ErrorMeter>().iter_mut(world).for_each(|mut meter| meter.reset());
        self.apps.run(Duration::from_secs_f64(seconds));
    }

    fn rate(&mut self, rate: f32, seconds: f64) -> RateRow {
        self.switches.set_rate(rate);
        // The playout clock adapts to the new rate slowly, so that the change is not visible.
        self.apps.run(Duration::from_secs(20));
        self.measure(seconds);
        let rate = self.switches.rate();
        let interval = self.switches.interval() as u16;
        let world = self.world();
        let mut copies = world.query_filtered::<(&ProxySmoothing, &ErrorMeter), With<CopyOf>>();
        let modes = MODES.map(|(mode, _)| {
            let found = copies.iter(world).find(|(known, _)| **known == mode);
            found.map_or_else(ErrorStats::default, |(_, meter)| *meter.total())
        });
        let playout = world.resource::<PlayoutClocks>();
        let clock = playout.clock(interval).or(playout.primary());
        let delay_ms = clock.map_or(0.0, |clock| clock.delay_seconds() * 1e3);
        RateRow { rate, delay_ms, modes: modes.to_vec() }
    }

    fn owner(&mut self, mode: OwnerMode, seconds: f64) -> OwnerRow {
        self.switches.set_rate(10.0);
        self.switches.set_owner(mode);
        self.apps.run(Duration::from_secs(3));
        let before = self.replayed();
        self.measure(seconds);
        let replayed = self.replayed() - before;
        let world = self.world();
        let mut karts = world.query_filtered::<&ErrorMeter, With<LocalControl>>();
        let seen = karts.iter(world).next().map_or_else(ErrorStats::default, |meter| *meter.total());
        OwnerRow { mode, seen, replayed }
    }

    /// Returns the number of moves that the watching client has replayed.
    fn replayed(&mut self) -> u64 {
        let world = self.world();
        let mut karts = world.query_filtered::<&PredictionStats, With<LocalControl>>();
        karts.iter(world).next().map_or(0, |stats| stats.replayed)
    }
}

fn everyone_drives(apps: &mut SteppedApps) -> bool {
    apps.clients.iter_mut().all(|app| {
        let world = app.world_mut();
        let mut own = world.query_filtered::<(), (With<LocalControl>, With<KartState>)>();
        let mut copies = world.query::<(&CopyOf, &DrawnPose)>();
        let alive = copies.iter(world).filter(|(_, drawn)| drawn.pose.alive).count();
        own.iter(world).count() == 1 && alive == MODES.len()
    })
}

/// Runs a race and returns its report.
///
/// # Errors
/// Returns one line when a client could not join.
pub fn run(options: &RaceOptions) -> Result<RaceReport, String> {
    let mut race = Race::start(options)?;
    let owner = [OwnerMode::Replay, OwnerMode::Overwrite].map(|mode| race.owner(mode, options.seconds));
    race.switches.set_owner(OwnerMode::Replay);
    let rates = options.rates.iter().map(|rate| race.rate(*rate, options.seconds)).collect();
    Ok(RaceReport { rates, owner: owner.to_vec() })
}

impl RaceReport {
    /// Formats the report as a text table.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text =
            String::from("the other kart   rate  delay ms      rms cm   max cm  max deg    jumps\n");
        for row in &self.rates {
            for ((_, name), tally) in MODES.iter().zip(&row.modes) {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "  {name:<12} {:>5.1} Hz  {:>8.0}  {:>10.2} {:>8.2}  {:>7.2}  {:>7}",
                    row.rate,
                    row.delay_ms,
                    tally.rms() * 100.0,
                    tally.worst * 100.0,
                    tally.worst_turn.to_degrees(),
                    tally.jumps,
                );
            }
        }
        text.push_str("the own kart    jumps  furthest cm  moves replayed\n");
        for row in &self.owner {
            let OwnerRow { mode, seen, replayed } = row;
            let name = match mode {
                OwnerMode::Replay => "replay",
                OwnerMode::Overwrite => "overwrite",
            };
            let _ = writeln!(
                text,
                "  {name:<10} {:>8}  {:>11.2}  {replayed:>14}",
                seen.jumps,
                seen.worst_jump * 100.0
            );
        }
        text
    }

    /// Returns the failed expectations. There are none when Hermite interpolation is better than linear at
    /// every rate, and replay prevents the jumps that overwriting causes.
    #[must_use]
    pub fn failed_expectations(&self) -> Vec<String> {
        let mut all = Vec::new();
        for row in &self.rates {
            let (Some(cubic), Some(line)) = (row.of(ProxySmoothing::Hermite), row.of(ProxySmoothing::Linear))
            else {
                continue;
            };
            if cubic.frames == 0 || line.frames == 0 {
                all.push(format!("at {:.1} Hz no frame was measured", row.rate));
            }
            // At these rates nearly every tick is sent, and both modes are exact up to quantization.
            let (beyond_rounding, better) = (line.rms() > QUANTIZATION_ERROR, cubic.rms() < line.rms());
            if beyond_rounding && !(better && cubic.worst <= line.worst.max(LANDING_TOLERANCE)) {
                all.push(format!("at {:.1} Hz Hermite is not better than linear", row.rate));
            }
        }
        for row in &self.owner {
            match row.mode {
                OwnerMode::Replay if row.seen.jumps > 0 => {
                    all.push(format!("the own kart jumped {} times with replay", row.seen.jumps));
                }
                OwnerMode::Replay if row.replayed == 0 => all.push("nothing was replayed".to_owned()),
                OwnerMode::Overwrite if row.seen.jumps == 0 => {
                    all.push("the own kart did not jump when it was overwritten".to_owned());
                }
                _ => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag::link_conditioner::LinkPreset;

    use super::*;

    #[test]
    fn short_race_meets_all_expectations_and_is_reproducible() {
        let conditions =
            LinkPreset::named("Good broadband").map_or(LinkConditions::PERFECT, LinkPreset::conditions);
        let options = RaceOptions { seconds: 8.0, conditions, rates: vec![10.0], ..RaceOptions::default() };
        let race = || run(&options).expect("both clients can join");
        let report = race();
        let none: [String; 0] = [];
        assert_eq!(report.failed_expectations(), none, "{}", report.table());
        assert_eq!(report.table(), race().table());
    }

    #[test]
    fn failed_expectations_of_a_race_are_reported() {
        let seen = ErrorStats::jumped(3);
        let owner = |mode, seen| OwnerRow { mode, seen, replayed: 0 };
        let report = RaceReport {
            rates: vec![RateRow {
                rate: 10.0,
                delay_ms: 0.0,
                modes: vec![ErrorStats::default(); MODES.len()],
            }],
            owner: vec![owner(OwnerMode::Replay, seen), owner(OwnerMode::Overwrite, ErrorStats::default())],
        };
        let failed_expectations = report.failed_expectations();
        assert_eq!(failed_expectations.len(), 3, "{failed_expectations:?}");
    }
}
