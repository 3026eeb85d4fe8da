//! Server cost per move with an empty move model.

use core::iter::from_fn;

use super::{empty_model, late_inputs::on};
use crate::prelude::*;

/// Number of pawns, large enough that the rest of the frame does not count.
const PAWNS: usize = 1_024;
/// Ticks until the client has adapted to its link.
const WARM_UP: usize = 512;

/// Delivers one client's packets, as they arrive over a good link, to 1,024 pawns of a server. The measured
/// time is the server's whole update: decoding, simulation, acknowledgement, and the state published for
/// proxies. Returns the median of all ticks in microseconds per move.
///
/// # Errors
/// Returns a message if the server ran no move.
pub fn measure(ticks: usize, seed: u64) -> Result<f64, String> {
    let link = on("Good broadband")?;
    let mut server = empty_model::server(false);
    let pawns: Vec<Entity> = (0..PAWNS).map(|_| empty_model::pawn(&mut server)).collect();
    let (mut client, own) = empty_model::client();
    let (mut up, mut down) = (Conditioner::<Vec<u8>>::new(seed), Conditioner::<Vec<u8>>::new(!seed));
    let mut now = Duration::ZERO;
    let (mut times, mut spent) = (Vec::new(), 0.0);
    for tick in 0..WARM_UP + ticks {
        now += TICK;
        deliver_acks(&mut client, own, from_fn(|| down.pop(now)));
        client.update();
        for bytes in take_moves(&mut client, own) {
            up.push(now, &link.up, bytes);
        }
        while let Some(bytes) = up.pop(now) {
            for pawn in &pawns {
                deliver_moves(&mut server, *pawn, [bytes.clone()]);
            }
        }
        let ran = |server: &App| server.world().get::<PredictionStats>(pawns[0]).map_or(0, |s| s.moves);
        let before = ran(&server);
        let start = Instant::now();
        server.update();
        spent += micros(start);
        let run = ran(&server) - before;
        // The time of a tick that only receives counts towards the next one that runs moves.
        if run > 0 {
            if tick >= WARM_UP {
                times.push(spent / (run as usize * PAWNS) as f64);
            }
            spent = 0.0;
        }
        // All pawns run the same moves, so the acknowledgements of the first one suffice.
        for (i, pawn) in pawns.iter().enumerate() {
            for bytes in take_acks(&mut server, *pawn).into_iter().filter(|_| i == 0) {
                down.push(now, &link.down, bytes);
            }
        }
    }
    if times.is_empty() { Err("the server ran no move".to_owned()) } else { Ok(median(&mut times)) }
}
