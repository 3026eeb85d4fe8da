//! Prediction error of the pawn's owner, and bandwidth per client.

use bevy_unlag_testkit::SteppedApps;

use crate::prelude::*;

/// Returns the largest distance in metres between the client's and the server's position after the same move,
/// and the number of compared moves. All players run and jump over stairs, ramp and cover; nobody shoots, so
/// there are no respawns.
pub fn owner_error(rate: SimulationRate, seed: u64, seconds: f64) -> Result<(f64, usize), String> {
    let conditions = preset("Average (UE)")?.conditions();
    let server = ServerOptions { trace: true, rate, ..default() };
    let options = MatchOptions { players: 4, seconds, conditions, seed, server, ..default() };
    let mut played = Match::start(&options)?;
    for (player, client) in (0..).zip(&mut played.clients) {
        client.insert_resource(ScriptedPlayer::touring(seed.wrapping_mul(31).wrapping_add(player)));
    }
    played.run(Duration::from_secs_f64(seconds));

    let (mut largest, mut compared) = (0.0_f64, 0);
    let SteppedApps { server, clients, .. } = &mut *played;
    for client in clients {
        let (errors, _) = owner_errors(server, client)?;
        largest = errors.iter().copied().map(f64::from).fold(largest, f64::max);
        compared += errors.len();
    }
    if compared == 0 { Err("no move was compared".to_owned()) } else { Ok((largest, compared)) }
}

/// Returns bytes per second from one client, and to one client for each further player.
pub fn bytes(seed: u64, seconds: f64) -> Result<(f64, f64), String> {
    let conditions = preset("Good broadband")?.conditions();
    let flow = |players| -> Result<(f64, f64), String> {
        let options = MatchOptions { players, seconds, conditions, seed, ..default() };
        let mut played = Match::start(&options)?;
        let totals = |played: &mut Match| {
            let sims = played.clients.iter_mut().map(|client| net_sim(client).map_or((0, 0), NetSim::bytes));
            sims.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let before = totals(&mut played);
        played.fight(seconds);
        let after = totals(&mut played);
        // `fight` ends with three seconds of ceasefire, which count for both rates.
        let per = (seconds + 3.0) * players as f64;
        Ok(((after.0 - before.0) as f64 / per, (after.1 - before.1) as f64 / per))
    };
    let (few, many) = (flow(2)?, flow(6)?);
    Ok((many.0, (many.1 - few.1) / 4.0))
}
