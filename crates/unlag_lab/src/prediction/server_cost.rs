//! What the server pays for a move before anybody moves.

use core::time::Duration;
use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::Conditioner,
    prediction::{IncomingMoveAcks, IncomingMoves, OutgoingMoveAcks, OutgoingMoves, PredictionStats},
};
use unlag_examples::app::TICK;

use super::{late::on, toy};
use crate::movement::race::{micros, quantile};

/// Pawns on the server: so many that the rest of a frame costs nothing beside them.
const PAWNS: usize = 1_024;
/// Ticks until the client knows its link.
const WARM_UP: usize = 512;

/// What was measured.
pub struct ServerCost {
    /// Microseconds a move, the median of all ticks.
    pub median: f64,
    /// The same on average, whatever else the machine did meanwhile.
    pub mean: f64,
    /// One tick in a hundred costs more a move.
    pub p99: f64,
    /// Moves that were run while the clock ran.
    pub moves: u64,
    /// Bytes of a packet.
    pub bytes: f64,
}

/// One client's packets, as they come over a good link, to a thousand pawns of a server. The time is
/// that of the server's whole update: decoding, running, answering, and what others are shown.
///
/// # Errors
/// When nothing was run.
pub fn measure(ticks: usize, seed: u64) -> Result<ServerCost, String> {
    let link = on("Good broadband")?;
    let mut server = toy::server(false);
    let pawns: Vec<Entity> = (0..PAWNS).map(|_| toy::pawn(&mut server)).collect();
    let (mut client, own) = toy::client();
    let (mut up, mut down) = (Conditioner::<Vec<u8>>::new(seed), Conditioner::<Vec<u8>>::new(!seed));
    let mut now = Duration::ZERO;
    let (mut times, mut moves, mut spent) = (Vec::new(), 0, 0.0);
    for tick in 0..WARM_UP + ticks {
        now += TICK;
        while let Some(bytes) = down.pop(now) {
            client.world_mut().get_mut::<IncomingMoveAcks>(own).ok_or("no pawn")?.deliver(bytes);
        }
        client.update();
        let mut outgoing = client.world_mut().get_mut::<OutgoingMoves>(own).ok_or("no pawn")?;
        for bytes in outgoing.0.drain(..) {
            up.push(now, &link.up, bytes);
        }
        while let Some(bytes) = up.pop(now) {
            for pawn in &pawns {
                let mut mailbox = server.world_mut().get_mut::<IncomingMoves>(*pawn).ok_or("no pawn")?;
                mailbox.deliver(bytes.clone());
            }
        }
        let ran = |server: &App| server.world().get::<PredictionStats>(pawns[0]).map_or(0, |s| s.moves);
        let before = ran(&server);
        let start = Instant::now();
        server.update();
        spent += micros(start);
        let run = ran(&server) - before;
        // A tick that only receives belongs to the next one that runs.
        if run > 0 {
            if tick >= WARM_UP {
                times.push(spent / (run as usize * PAWNS) as f64);
                moves += run * PAWNS as u64;
            }
            spent = 0.0;
        }
        // Everybody runs the same moves, so the first one's answers are as good as any.
        for (i, pawn) in pawns.iter().enumerate() {
            let mut outgoing = server.world_mut().get_mut::<OutgoingMoveAcks>(*pawn).ok_or("no pawn")?;
            for bytes in outgoing.0.drain(..).filter(|_| i == 0) {
                down.push(now, &link.down, bytes);
            }
        }
    }
    let stats = client.world().get::<PredictionStats>(own).copied().unwrap_or_default();
    if times.is_empty() {
        return Err("the server ran nothing".to_owned());
    }
    Ok(ServerCost {
        median: quantile(&mut times, 0.5),
        mean: times.iter().sum::<f64>() / times.len() as f64,
        p99: quantile(&mut times, 0.99),
        moves,
        bytes: stats.move_bytes as f64 / stats.packets.max(1) as f64,
    })
}
