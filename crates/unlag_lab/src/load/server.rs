//! Server process: listens on UDP and runs one frame per command.
//!
//! Commands arrive as lines on standard input, replies leave as lines of JSON on standard output. Time advances only
//! on command and the process has a core of its own, so slow clients do not distort the server's frame times.

use std::io::{BufRead, stdin};

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_unlag::guard::IngressStats;
use clap::Args;
use lightyear::{link::Link, prelude::Connected};
use unlag_examples::{
    app, connection,
    transport::{ListenerArgs, TransportName, open_listeners},
};

use super::{
    server_process::{Frame, Listening, ServerCounters},
    system_info,
};
use crate::{
    frame_profile::{self, FrameProfile, ReplicationTimes},
    interest::{Costs, Level},
    lab_process::say,
    prelude::*,
};

/// Options of the server process.
#[derive(Args, Clone, Copy, Debug)]
pub struct ServeArgs {
    /// Ticks per second.
    #[arg(long, default_value_t = 64)]
    hz: u32,
    /// Measure the sections of the frame.
    #[arg(long)]
    laps: bool,
    /// Report wall-clock time as processor time, because the processor clock is too coarse.
    #[arg(long)]
    wall: bool,
    /// Listen for WebTransport and WebSocket, too.
    #[arg(long)]
    web: bool,
    /// Conceal pawns out of sight, in this level of the measurement `interest`.
    #[arg(long)]
    level: Option<u64>,
    /// Seed of the levels.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Serves until standard input ends.
///
/// # Errors
/// Returns a message if the port cannot be bound or standard input or output fails.
pub fn serve(args: ServeArgs) -> Result<(), String> {
    system_info::pin_to_core(0);
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let tick = Duration::from_secs_f64(1.0 / f64::from(args.hz.clamp(1, 1_000)));
    let rate = SimulationRate { tick, ..default() };
    let mut app = app::server(ServerOptions { rate, ..default() });
    app.insert_resource(TimeUpdateStrategy::ManualDuration(tick)).insert_resource(SpreadSecret(1));
    if args.laps {
        app.add_plugins(frame_profile::plugin);
    }
    let level = args.level.map(|number| Level { number, seed: args.seed });
    if level.is_some() {
        Costs::add_plugin(&mut app);
    }
    let listeners = if args.web { ListenerArgs::on_free_ports().listeners()? } else { None };
    let digest = listeners.as_ref().map(|listeners| listeners.digest.clone());
    if let Some(listeners) = listeners {
        app.insert_resource(listeners);
    }
    connection::listen_udp(&mut app, 0);
    finish(&mut app);
    app.update();
    // After the startup systems, which spawn the arena.
    if let Some(level) = level {
        level.set_up(&mut app);
    }
    let open = open_listeners(app.world_mut())?;
    let port_of = |transport| open.iter().find(|open| open.transport == transport).map(|open| open.port);
    let udp =
        connection::bound_port(app.world_mut()).ok_or("the server process could not bind a UDP port")?;
    say(&Listening {
        udp,
        web_transport: port_of(TransportName::WebTransport),
        web_socket: port_of(TransportName::WebSocket),
        digest,
    })?;
    for line in stdin().lock().lines() {
        match line.map_err(|error| format!("cannot read commands: {error}"))?.as_str() {
            "frame" => {
                let (wall, cpu) = (Instant::now(), system_info::cpu_time());
                if let Some(mut laps) = app.world_mut().get_resource_mut::<FrameProfile>() {
                    laps.start();
                }
                app.update();
                let (cpu, wall) = (system_info::cpu_time() - cpu, wall.elapsed());
                let cpu = if args.wall { wall } else { cpu };
                say(&Frame { wall, cpu })?;
            }
            "state" => say(&state(&mut app))?,
            "laps" => {
                let laps = app.world_mut().get_resource_mut::<FrameProfile>();
                say(&laps.map(|mut laps| laps.take()).unwrap_or_default())?;
            }
            "replication" => {
                let times = app.world_mut().get_resource_mut::<ReplicationTimes>();
                say(&times.map(|mut times| times.take()).unwrap_or_default())?;
            }
            "scatter" => {
                let level = level.ok_or("the server has no level")?;
                say(&level.scatter_pawns(&mut app)?)?;
            }
            "interest" => say(&level.map(|_| Costs::take(&mut app)).unwrap_or_default())?,
            other => {
                return Err(format!(
                    "unknown command '{other}'; use frame, state, laps, replication, scatter or interest"
                ));
            }
        }
    }
    Ok(())
}

fn state(app: &mut App) -> ServerCounters {
    let world = app.world_mut();
    let stats = world.resource::<IngressStats>();
    let (kicked, refused) = (stats.kicked, stats.refused.total());
    ServerCounters {
        bytes: system_info::resident_bytes(),
        links: world.query::<&Link>().iter(world).count(),
        connected: world.query_filtered::<(), (With<Link>, With<Connected>)>().iter(world).count(),
        kicked,
        refused,
        cpu: system_info::cpu_time(),
    }
}
