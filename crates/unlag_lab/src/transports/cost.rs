//! Processor time of a server whose 64 clients use one transport, with all of its threads.

use super::*;
use crate::load::LoadSession;

/// Players of each match.
const PLAYERS: usize = 64;

/// Adds the processor time per tick over each transport, and the ratios to UDP.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = options.extent(1, 3);
    let seconds = options.extent(4.0, 12.0);
    let mut times: HashMap<TransportName, Vec<f64>> = HashMap::new();
    // All transports in each round: what disturbs the machine disturbs all of them.
    for round in 0..rounds {
        for transport in TRANSPORTS {
            times.entry(transport).or_default().push(tick_us(transport, seconds, options.seed + round)?);
        }
    }
    let mut median = |transport| quantile(times.get_mut(&transport).map_or(&mut [], Vec::as_mut_slice), 0.5);
    let udp = median(TransportName::Udp);
    figures.add("cpu_us_per_tick_udp_64", udp)?;
    for transport in [TransportName::WebTransport, TransportName::WebSocket] {
        let (name, time) = (key_of(transport), median(transport));
        figures.add(format!("cpu_us_per_tick_{name}_64"), time)?;
        figures
            .add(format!("cpu_us_more_per_second_and_client_{name}"), (time - udp) * 64.0 / PLAYERS as f64)?;
        figures.add(format!("cpu_ratio_{name}_over_udp_64"), time / udp)?;
    }
    Ok(())
}

/// Returns the processor time per tick of a match, in microseconds.
fn tick_us(transport: TransportName, seconds: f64, seed: u64) -> Result<f64, String> {
    let mut session = LoadSession::over(transport, seed)?;
    session.fill(PLAYERS, LinkConditions::PERFECT)?;
    session.run(2.0)?;
    let (before, frames) = (session.server.state()?.cpu, session.frames.len());
    // QUIC and TCP live in real time.
    session.run_in_real_time(seconds)?;
    let state = session.server.state()?;
    if state.connected < PLAYERS {
        return Err(format!(
            "over {}, {} of {PLAYERS} players are connected",
            key_of(transport),
            state.connected
        ));
    }
    Ok((state.cpu - before).as_secs_f64() * 1e6 / (session.frames.len() - frames) as f64)
}
