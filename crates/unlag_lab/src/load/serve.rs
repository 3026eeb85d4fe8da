//! The server's process: it listens on UDP and runs one frame whenever it is told to.
//!
//! What it is told comes as lines on its input, what it says goes as lines to its output: time passes when the lab
//! says so, and however slow the lab's clients are, a frame of the server has its own core for itself.

use core::time::Duration;
use std::{
    io::{BufRead, Write, stdin, stdout},
    time::Instant,
};

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
    time::TimeUpdateStrategy,
};
use bevy_unlag::{guard::IngressStats, prelude::*, weapons::SpreadSecret};
use clap::Args;
use lightyear::{link::Link, prelude::Connected};
use unlag_examples::{
    app::{self, ServerOptions},
    connection,
};

use super::{
    laps::{self, Laps},
    machine,
};

/// How to serve.
#[derive(Args, Clone, Copy, Debug)]
pub struct ServeArgs {
    /// Ticks a second.
    #[arg(long, default_value_t = 64)]
    hz: u32,
    /// Measure where the time goes.
    #[arg(long)]
    laps: bool,
    /// Give the time on the wall for the processor's, whose clock is too coarse.
    #[arg(long)]
    wall: bool,
}

/// Serves until its input ends.
///
/// # Errors
/// One line when it cannot listen, or nobody listens to it.
pub fn serve(args: ServeArgs) -> Result<(), String> {
    machine::stay_on(0);
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let tick = Duration::from_secs_f64(1.0 / f64::from(args.hz.clamp(1, 1_000)));
    let mut app = app::server(ServerOptions { tick: Some(tick), ..ServerOptions::default() });
    app.insert_resource(TimeUpdateStrategy::ManualDuration(tick)).insert_resource(SpreadSecret(1));
    if args.laps {
        app.add_plugins(laps::plugin);
    }
    connection::listen_udp(&mut app, 0);
    bevy_unlag_testkit::finish(&mut app);
    app.update();
    let port = connection::bound_port(app.world_mut()).ok_or("the server's process found no port")?;
    let mut out = stdout().lock();
    let mut say = |line: String| {
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| format!("nobody listens: {error}"))
    };
    say(format!("{port}"))?;
    for line in stdin().lock().lines() {
        match line.map_err(|error| format!("cannot hear: {error}"))?.as_str() {
            "frame" => {
                let (wall, cpu) = (Instant::now(), machine::cpu_time());
                if let Some(mut laps) = app.world_mut().get_resource_mut::<Laps>() {
                    laps.start();
                }
                app.update();
                let (cpu, wall) = (machine::cpu_time() - cpu, wall.elapsed());
                let cpu = if args.wall { wall } else { cpu };
                say(format!("{} {}", wall.as_nanos(), cpu.as_nanos()))?;
            }
            "state" => say(state(&mut app))?,
            "laps" => {
                let laps = app.world_mut().get_resource_mut::<Laps>().map(|mut laps| laps.take());
                let laps = laps.into_iter().flatten().map(|(name, nanos)| format!("{nanos} {name}"));
                say(laps.collect::<Vec<_>>().join(";"))?;
            }
            other => return Err(format!("'{other}' is nothing that a server can do")),
        }
    }
    Ok(())
}

/// Memory, and who is there.
fn state(app: &mut App) -> String {
    let world = app.world_mut();
    let links = world.query::<&Link>().iter(world).count();
    let connected = world.query_filtered::<(), (With<Link>, With<Connected>)>().iter(world).count();
    let stats = world.resource::<IngressStats>();
    let (kicked, refused) = (stats.kicked, stats.refused.total());
    let moves: u64 = world.query::<&PredictionStats>().iter(world).map(|stats| stats.moves).sum();
    let bytes = machine::resident_bytes();
    format!("{bytes} {links} {connected} {kicked} {refused} {moves}")
}
