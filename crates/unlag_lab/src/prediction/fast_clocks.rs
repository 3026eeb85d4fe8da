//! Detection of fast client clocks, and false positives of honest clocks on bad links.

use super::{
    late_inputs::on,
    session::{PlayerOptions, Session},
};
use crate::prelude::*;
use bevy_unlag::net::GameSpeed;

/// Effect of a client clock that runs too fast.
#[derive(Default)]
pub struct FastClock {
    /// Largest lead of the simulated moves over real time, in seconds.
    pub gained: f64,
    /// Seconds until the first detection.
    pub flagged: Option<f64>,
}

/// Runs a client at `speed` times real time without clock steering.
///
/// # Errors
/// Returns a message if the client cannot join.
pub fn fast_clock(speed: f32, seconds: f64, seed: u64) -> Result<FastClock, String> {
    let conditions = LinkConditions { latency: Duration::from_millis(30), ..LinkConditions::PERFECT };
    let options = MatchOptions { players: 1, conditions, seed, ..default() };
    let mut played = Match::start(&options)?;
    played.clients[0].insert_resource(ScriptedPlayer::touring(seed));
    played.run(Duration::from_secs(5));

    let client = played.clients[0].world_mut();
    client.resource_mut::<PredictionConfig>().steer_clock = false;
    client.insert_resource(ClockSteering::default());
    client.resource_mut::<GameSpeed>().0 = speed;
    let (_, id) = own_pawn(&mut played.clients[0])?;
    let pawn = named_pawn(&mut played.server, id)?;
    let (before, earlier) = account(&played.server, pawn)?;
    let mut passed = 0.0;
    let mut fast = FastClock::default();
    while passed < seconds {
        played.run(TICK * 4);
        passed += (TICK * 4).as_secs_f64();
        let (moved, now) = account(&played.server, pawn)?;
        fast.gained = fast.gained.max(moved - before - passed);
        if now.detected > earlier.detected {
            fast.flagged = fast.flagged.or(Some(passed));
        }
    }
    Ok(fast)
}

/// Returns the seconds of moves that the server has simulated for a pawn, and its time discrepancy.
fn account(server: &App, pawn: Entity) -> Result<(f64, TimeDiscrepancy), String> {
    let parts = server.world().entity(pawn).get_components::<(&PredictionStats, &TimeDiscrepancy)>();
    let (stats, account) = parts.map_err(|e| format!("the pawn has no moves: {e}"))?;
    Ok(((stats.moves + stats.extrapolated_moves) as f64 * TICK.as_secs_f64(), *account))
}

/// Links of the honest players.
const LINKS: [&str; 5] = ["Bad (UE)", "Bursty", "Starlink", "Lag switch", "GNS terrible"];
/// Clock speeds of the honest players: the error of a quartz and that of a bad virtual machine.
const CLOCKS: [f64; 4] = [1.0 - 200e-6, 1.0 + 200e-6, 0.995, 1.005];

/// Results of the honest players.
#[derive(Default)]
pub struct Honest {
    /// Number of detections, all of them false.
    pub flags: u64,
    /// Moves withheld because the time budget was exhausted.
    pub withheld: u64,
    /// Simulated moves.
    pub moves: u64,
}

/// Runs honest players for `hours` in total, every link with every clock.
///
/// # Errors
/// Returns a message if a preset does not exist.
pub fn measure_honest_clocks(hours: f64, seed: u64) -> Result<Honest, String> {
    let seconds = hours * 3_600.0 / (LINKS.len() * CLOCKS.len()) as f64;
    // Two servers, one per core.
    let halves = [&CLOCKS[..2], &CLOCKS[2..]];
    let halves = in_parallel(&halves, |clocks| play(clocks, seconds, seed), |_| Ok(()))?;
    Ok(halves.iter().fold(Honest::default(), |all, half| Honest {
        flags: all.flags + half.flags,
        withheld: all.withheld + half.withheld,
        moves: all.moves + half.moves,
    }))
}

fn play(clocks: &[f64], seconds: f64, seed: u64) -> Result<Honest, String> {
    let mut options = Vec::new();
    for link in LINKS {
        let link = on(link)?;
        options.extend(clocks.iter().map(|clock| PlayerOptions { clock: *clock, ..link }));
    }
    let mut session = Session::new(&options, false, seed);
    session.run(seconds);
    let mut all = Honest::default();
    for player in &session.players {
        let pawn = session.server.world().entity(player.pawn);
        if let Ok((account, stats)) = pawn.get_components::<(&TimeDiscrepancy, &PredictionStats)>() {
            all.flags += u64::from(account.detected);
            all.withheld += stats.withheld;
            all.moves += stats.moves;
        }
    }
    Ok(all)
}
