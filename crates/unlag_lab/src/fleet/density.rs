//! Number of matches of eight players that one core carries as server processes, their memory and start, and the drain
//! of a full match.
//!
//! Clients of so many matches need more than one core, so time stands still for the servers while the clients compute.
//! In the time that counts, all server processes share one core by the system's own scheduler.

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
    /// Run one tick per command, at this offset within it, in nanoseconds. Otherwise serve in real time.
    #[arg(long)]
    phase: Option<u64>,
}

/// Players of a match.
const PLAYERS: usize = 8;
/// Preset of every client's link.
const LINK: &str = "Good broadband";
/// Half a tick: the most that the p99 of the ticks may be after they were due, in milliseconds.
const LIMIT_MS: f64 = 7.8;
/// Time after which a core with more matches is measured, in seconds.
const SETTLING: f64 = 1.0;

/// Serves until it is killed, or drained by a signal.
///
/// # Errors
/// Returns a message if the port cannot be bound or standard input or output fails.
pub fn serve_fleet(args: FleetServerArgs) -> Result<(), String> {
    args.phase.map_or_else(full_drain::serve, |phase| paced_server::serve(Duration::from_nanos(phase)))
}

/// Adds the matches that fit a core, and what one of them needs. Returns what a day is simulated with.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<MatchNeeds, String> {
    let counts = options.extent(&[4, 8, 12][..], &[4, 8, 12, 16, 20]);
    let mut rng = SmallRng::seed_from_u64(options.seed);
    // From this thread, because processes inherit the core of the thread that starts them.
    let most = counts.iter().copied().max().unwrap_or(0);
    let start = |_| PacedServer::start(rng.random_range(0..TICK.as_nanos() as u64));
    let servers = (0..most).map(start).collect::<Result<Vec<_>, _>>()?;
    let mut starts = servers.len() as u64;
    let mut slowest = largest(servers.iter().map(|server| server.ready.as_secs_f64()));
    let pinned = servers.iter().filter(|server| server.is_pinned).count();
    let held = thread::scope(|scope| {
        let clients = scope.spawn(|| {
            pin_to_core(1);
            fill_core(servers, counts, options, figures)
        });
        clients.join()
    });
    let Filled { held, ticks, bytes_per_s } =
        held.map_err(|_| "the clients of the fleet panicked".to_owned())??;
    let note = format!("ticks with {counts:?} matches; {pinned} of {most} processes are pinned to one core");
    figures.add_counted("matches_per_core", held as f64, ticks, note)?;
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
struct Filled {
    /// Largest number of matches before the ticks of one were too late.
    held: usize,
    /// Ticks of all servers that were recorded for that.
    ticks: u64,
    /// Bytes per second that a player received.
    bytes_per_s: f64,
}

/// Adds matches to a core until the ticks of one are too late.
fn fill_core(
    servers: Vec<PacedServer>,
    counts: &[usize],
    options: &Options,
    figures: &mut Figures,
) -> Result<Filled, String> {
    let mut core = SharedCore::new(servers, preset(LINK)?.conditions(), options.seed);
    let mut filled = Filled { held: 0, ticks: 0, bytes_per_s: 0.0 };
    let (mut late_percent, mut bytes, mut recorded, mut players) = (0.0, Vec::new(), 0, 0);
    for &count in counts {
        core.fill(count)?;
        core.run(SETTLING)?;
        core.start_recording();
        core.run(options.extent(3.0, 15.0))?;
        bytes = core.check_players()?;
        let p99 = core.worst_p99_ms();
        recorded = u64::from(core.recorded());
        players = (count * PLAYERS) as u64;
        filled.ticks += recorded * count as u64;
        let note = format!("ticks of the slowest of {count} matches");
        figures.add_counted(format!("fleet_tick_p99_ms_{count}"), p99, recorded, note)?;
        let (key, busy) = (format!("fleet_core_busy_percent_{count}"), core.busy_percent());
        figures.add_counted(key, busy, recorded, "ticks of each match")?;
        (late_percent, filled.bytes_per_s) = (core.late_percent(), core.bytes_per_s_down());
        if p99 > LIMIT_MS {
            break;
        }
        filled.held = count;
    }
    let matches = bytes.len() as u64;
    figures.add_counted("rss_mb_per_match", median(&mut bytes) / 1e6, matches, "matches")?;
    let note = "ticks of each match; the servers' time stood still because their clients needed longer";
    figures.add_counted("fleet_client_late_percent", late_percent, recorded, note)?;
    let note = format!("players, {recorded} ticks each");
    figures.add_counted("fleet_bytes_per_s_down", filled.bytes_per_s, players, note)?;
    Ok(filled)
}
