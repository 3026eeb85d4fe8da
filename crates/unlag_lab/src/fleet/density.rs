//! Number of matches of eight players that one core carries as server processes, their memory and start, and the drain
//! of a full match.
//!
//! Clients of so many matches need more than one core, so time stands still for the servers while the clients compute.
//! In the time that counts, all server processes share one core by the system's own scheduler. They begin with ticks
//! and snapshots at random offsets and shift them as [`TickPhase`](bevy_unlag_server::TickPhase) does; the control does
//! not.

mod full_drain;
mod paced_server;
mod shared_core;

use std::thread;

use clap::Args;

use super::day::MatchNeeds;
use crate::{load::pin_to_core, prelude::*};
use full_drain::Ending;
use paced_server::PacedServer;
use shared_core::SharedCore;

/// Options of a server process.
#[derive(Args, Clone, Copy, Debug)]
pub struct FleetServerArgs {
    /// Run one tick per command, at this offset within a snapshot interval, in nanoseconds. Otherwise serve in real
    /// time.
    #[arg(long)]
    phase: Option<u64>,
    /// Leave the ticks at that offset, although the process has to wait for the core.
    #[arg(long)]
    fixed: bool,
}

/// Players of a match.
const PLAYERS: usize = 8;
/// Preset of every client's link.
const LINK: &str = "Good broadband";
/// Half a tick: the most that the p99 of the ticks may be after they were due, in milliseconds.
const LIMIT_MS: f64 = 7.8;
/// Share of a core's time, in percent, beyond which no more matches are added to it.
const FULL_PERCENT: f64 = 90.0;
/// Time after which a core with more matches is measured, in seconds: their ticks have found their places.
const SETTLING: f64 = 10.0;

/// Serves until it is killed, or drained by a signal.
///
/// # Errors
/// Returns a message if the port cannot be bound or standard input or output fails.
pub fn serve_fleet(args: FleetServerArgs) -> Result<(), String> {
    args.phase
        .map_or_else(full_drain::serve, |phase| paced_server::serve(Duration::from_nanos(phase), args.fixed))
}

/// Adds the matches that fit a core, and what one of them needs. Returns what a day is simulated with.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<MatchNeeds, String> {
    let shifting = fill_core(options, figures, false)?;
    let Filled { held, ticks, bytes_per_s, starts, .. } = shifting;
    figures.add_counted("matches_per_core", held as f64, ticks, shifting.note())?;
    let fixed = fill_core(options, figures, true)?;
    figures.add_counted("control_matches_per_core_fixed", fixed.held as f64, fixed.ticks, fixed.note())?;
    let mut slowest = shifting.slowest_start.max(fixed.slowest_start);
    let mut starts = starts + fixed.starts;
    // Only Unix has the signals that end a server.
    if cfg!(unix) {
        let ended = full_drain::measure(options, Ending::Drain)?;
        slowest = slowest.max(ended.ready.as_secs_f64());
        starts += 1;
        figures.add_counted("drain_lost_players", ended.lost as f64, ended.players, "players, SIGTERM")?;
        let ended = full_drain::measure(options, Ending::Kill)?;
        figures.add_counted(
            "control_drain_lost_players",
            ended.lost as f64,
            ended.players,
            "players, SIGKILL",
        )?;
    }
    figures.add_counted("ready_s", slowest, starts, "starts")?;
    Ok(MatchNeeds { per_core: held, ready_s: slowest, bytes_per_s })
}

/// Results of a core that matches are added to.
#[derive(Default)]
struct Filled {
    /// Largest number of matches before the ticks of one were too late.
    held: usize,
    /// Ticks of all servers that were recorded for that.
    ticks: u64,
    /// Bytes per second that a player received.
    bytes_per_s: f64,
    /// Processes, and the longest time from the start of one until it listened, in seconds.
    starts: u64,
    slowest_start: f64,
    /// Processes that can use one core only.
    pinned: usize,
}

impl Filled {
    fn note(&self) -> String {
        format!("ticks of all matches; {} of {} processes are pinned to one core", self.pinned, self.starts)
    }
}

/// Starts server processes and adds their matches to a core until it is full.
fn fill_core(options: &Options, figures: &mut Figures, is_fixed: bool) -> Result<Filled, String> {
    let counts = options.extent(&[1, 4, 8, 12][..], &[1, 4, 8, 12, 16, 20]);
    let mut rng = SmallRng::seed_from_u64(options.seed);
    // From this thread, because processes inherit the core of the thread that starts them.
    let most = counts.iter().copied().max().unwrap_or(0);
    let interval = SimulationRate::default().snapshot_interval().as_nanos() as u64;
    let start = |_| PacedServer::start(rng.random_range(0..interval), is_fixed);
    let servers = (0..most).map(start).collect::<Result<Vec<_>, _>>()?;
    let filled = Filled {
        starts: servers.len() as u64,
        slowest_start: largest(servers.iter().map(|server| server.ready.as_secs_f64())),
        pinned: servers.iter().filter(|server| server.is_pinned).count(),
        ..Filled::default()
    };
    let filled = thread::scope(|scope| {
        let clients = scope.spawn(|| {
            pin_to_core(1);
            add_matches((servers, counts, filled), (options, is_fixed), figures)
        });
        clients.join()
    });
    filled.map_err(|_| "the clients of the fleet panicked".to_owned())?
}

/// Adds matches to a core until it is full. Those fit it whose ticks were in time, and those of all fewer matches.
fn add_matches(
    (servers, counts, mut filled): (Vec<PacedServer>, &[usize], Filled),
    (options, is_fixed): (&Options, bool),
    figures: &mut Figures,
) -> Result<Filled, String> {
    let (control, fixed) = if is_fixed { ("control_", "_fixed") } else { ("", "") };
    let mut core = SharedCore::new(servers, preset(LINK)?.conditions(), options.seed);
    let (mut late_percent, mut bytes, mut recorded, mut players) = (0.0, Vec::new(), 0, 0);
    let mut fits = true;
    for &count in counts {
        core.fill(count)?;
        core.run(SETTLING)?;
        core.start_recording();
        core.run(options.extent(6.0, 15.0))?;
        bytes = core.check_players()?;
        let p99 = core.worst_quantile_ms(0.99);
        recorded = u64::from(core.recorded());
        players = (count * PLAYERS) as u64;
        filled.ticks += recorded * count as u64;
        let note = format!("ticks of the slowest of {count} matches");
        figures.add_counted(format!("{control}fleet_tick_p99_ms_{count}{fixed}"), p99, recorded, note)?;
        let (key, p90) = (format!("{control}fleet_tick_p90_ms_{count}{fixed}"), core.worst_quantile_ms(0.9));
        figures.add_counted(key, p90, recorded, format!("ticks of the slowest of {count} matches"))?;
        let (key, busy) = (format!("{control}fleet_core_busy_percent_{count}{fixed}"), core.busy_percent());
        figures.add_counted(key, busy, recorded, "ticks of each match")?;
        (late_percent, filled.bytes_per_s) = (core.late_percent(), core.bytes_per_s_down());
        fits &= p99 <= LIMIT_MS;
        if fits {
            filled.held = count;
        }
        if busy > FULL_PERCENT {
            break;
        }
    }
    if is_fixed {
        return Ok(filled);
    }
    let matches = bytes.len() as u64;
    figures.add_counted("rss_mb_per_match", median(&mut bytes) / 1e6, matches, "matches")?;
    let note = "ticks of each match; the servers' time stood still because their clients needed longer";
    figures.add_counted("fleet_client_late_percent", late_percent, recorded, note)?;
    let note = format!("players, {recorded} ticks each");
    figures.add_counted("fleet_bytes_per_s_down", filled.bytes_per_s, players, note)?;
    Ok(filled)
}
