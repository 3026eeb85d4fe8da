//! Server load: scripted clients over UDP against one server process that is pinned to one core.

mod hostile_traffic;
mod load_session;
mod server;
mod server_process;
mod system_info;

use bevy_unlag::net::MessageClass;
use clap::Args;
use server_process::Frame;

use crate::prelude::*;

pub use load_session::LoadSession;
pub use server::{ServeArgs, serve};
pub use server_process::ServerProcess;
pub use system_info::{cpu_time, pin_to_core, resident_bytes, thread_cpu_time};

/// Selection of the load measurements.
#[derive(Args, Clone, Debug)]
pub struct LoadArgs {
    /// Measure only matches of these player counts at 64 Hz, without floods: `--players 16,64`.
    #[arg(long, value_delimiter = ',', value_name = "N")]
    players: Vec<usize>,
    /// Measure only the flood and the junk traffic.
    #[arg(long)]
    hostile: bool,
    /// Seconds of each match. Default 30; with `--quick` 4, with the matches of 16 and 64 players and of 10 at
    /// 128 Hz only.
    #[arg(long)]
    seconds: Option<f64>,
}

/// Preset of every client's link.
const LINK_PRESET: &str = "Average (UE)";

pub fn measure(options: &Options, args: &LoadArgs) -> Result<Figures, String> {
    let mut figures = Figures::default();
    let link = preset(LINK_PRESET)?.conditions();
    let seconds = args.seconds.unwrap_or(options.extent(4.0, 30.0));
    let granularity = system_info::cpu_granularity().as_secs_f64() * 1e6;
    figures.add("cpu_clock_granularity_us", granularity)?;
    if !args.players.is_empty() {
        for players in &args.players {
            fight((*players).max(1), 64, seconds, link, options, &mut figures)?;
        }
        return Ok(figures);
    }
    if !args.hostile {
        for &players in options.extent(&[16, 64][..], &[8, 16, 32, 64, 128]) {
            fight(players, 64, seconds, link, options, &mut figures)?;
        }
        fight(10, 128, seconds, link, options, &mut figures)?;
        if !options.quick {
            fight(64, 128, seconds, link, options, &mut figures)?;
            fight(256, 30, seconds, link, options, &mut figures)?;
        }
    }
    hostile_traffic::flood(link, options, &mut figures)?;
    hostile_traffic::junk(link, options, &mut figures)?;
    Ok(figures)
}

/// Adds the figures of matches of these player counts at 64 Hz.
///
/// # Errors
/// Returns a message if a server does not start or a client cannot join.
pub fn add_matches(players: &[usize], options: &Options, figures: &mut Figures) -> Result<(), String> {
    let link = preset(LINK_PRESET)?.conditions();
    players
        .iter()
        .try_for_each(|players| fight(*players, 64, options.extent(4.0, 15.0), link, options, figures))
}

/// Measures one match, starting after all players have joined and opened fire.
fn fight(
    players: usize,
    hz: u32,
    seconds: f64,
    link: LinkConditions,
    options: &Options,
    figures: &mut Figures,
) -> Result<(), String> {
    let suffix = if hz == 64 { format!("{players}") } else { format!("{players}_at_{hz}hz") };
    let mut crowd = LoadSession::new(hz, true, options.seed)?;
    let empty = crowd.server.state()?.bytes;
    crowd.fill(players, link)?;
    crowd.run(3.0)?;
    let (bytes, classes, before) = (crowd.bytes(), crowd.received(), crowd.server.state()?);
    crowd.server.laps()?;
    crowd.server.replication()?;
    crowd.frames.clear();
    crowd.run(seconds)?;
    let laps = crowd.server.laps()?;
    let replication = crowd.server.replication()?;
    let count = crowd.frames.len() as f64;
    let state = crowd.server.state()?;
    // Kicks before the measurement come from clients that had to reconnect while joining.
    let kicked = state.kicked - before.kicked;
    if state.connected < players || kicked > 0 {
        return Err(format!("of {players} players {} are connected, {kicked} were kicked", state.connected));
    }
    let key = |name: &str| format!("tick_{name}_ms_{suffix}");
    for (name, q) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
        figures.add(key(name), Frame::quantile_ms(&crowd.frames, |frame| frame.cpu, q))?;
    }
    figures.add(key("wall_p99"), Frame::quantile_ms(&crowd.frames, |frame| frame.wall, 0.99))?;
    // Of the ticks that send replication, as every third does at 64 Hz.
    let mut sends: Vec<_> = replication.iter().map(|nanos| *nanos as f64 / 1e3).collect();
    figures.add(format!("replication_us_{suffix}"), quantile(&mut sends, 0.5))?;
    figures.add(format!("rss_mb_{suffix}"), state.bytes as f64 / 1e6)?;
    let per_player = state.bytes.saturating_sub(empty) as f64 / 1e6 / players as f64;
    figures.add(format!("rss_mb_per_player_{suffix}"), per_player)?;
    let (mut up, mut down) = (0, 0);
    for (now, before) in crowd.bytes().into_iter().zip(bytes) {
        up += now.0 - before.0;
        down += now.1 - before.1;
    }
    let rate = |bytes: u64| bytes as f64 / players as f64 / seconds;
    figures.add(format!("bytes_per_s_down_{suffix}"), rate(down))?;
    figures.add(format!("bytes_per_s_up_{suffix}"), rate(up))?;
    for (class, (now, before)) in MessageClass::ALL.iter().zip(crowd.received().into_iter().zip(classes)) {
        if now > before {
            let name = key_part(class.name());
            figures.add(format!("bytes_per_s_down_{suffix}_{name}"), rate(now - before))?;
        }
    }
    for (name, nanos) in laps {
        figures.add(format!("us_{suffix}_{}", key_part(&name)), nanos as f64 / 1e3 / count)?;
    }
    Ok(())
}

/// Returns a name as part of a key.
fn key_part(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}
