//! Server process whose time advances by one tick per command, in real time while it does.

use std::{
    io::stdin,
    net::{Ipv4Addr, SocketAddr},
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_unlag_server::{TickPhase, TickPhaseConfig};
use lightyear::{link::Link, prelude::Connected};
use serde::{Deserialize, Serialize};
use unlag_examples::{app, connection};

use crate::{
    lab_process::{LabProcess, say},
    load::{cpu_time, pin_to_core, resident_bytes},
    prelude::*,
};

/// Work of a server in the time of one tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Lap {
    /// Time from when the tick was due until its frame was over.
    pub tick: Duration,
    /// Time at which the frame was over, since the beginning of the time of the tick.
    pub end: Duration,
    /// Processor time of the frame, in all threads.
    pub cpu: Duration,
    /// Processor time before the command, since the last frame: datagrams that a thread has received.
    pub idle_cpu: Duration,
}

/// State of the process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PacedState {
    /// Resident memory in bytes.
    pub bytes: u64,
    /// Connected clients.
    pub connected: usize,
}

/// Returns the time since a moment that all processes share.
pub fn shared_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Serves until standard input ends. The tick is due at `phase` after the beginning of its time, and is shifted later
/// where the process waits for the core, unless it `is_fixed`.
///
/// # Errors
/// Returns a message if the port cannot be bound or standard input or output fails.
pub fn serve(mut phase: Duration, is_fixed: bool) -> Result<(), String> {
    pin_to_core(0);
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let mut app = paced_app();
    connection::listen_udp(&mut app, 0);
    finish(&mut app);
    app.update();
    let port =
        connection::bound_port(app.world_mut()).ok_or("the server process could not bind a UDP port")?;
    let is_pinned = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    say(&(port, is_pinned))?;
    let (mut waits, mut last_cpu) = (TickPhase::of_this_thread(), cpu_time());
    let config = if is_fixed { TickPhaseConfig { max_slowdown: 0.0 } } else { TickPhaseConfig::default() };
    for line in stdin().lines() {
        let line = line.map_err(|error| format!("cannot read commands: {error}"))?;
        if line == "state" {
            say(&state(&mut app))?;
            continue;
        }
        let began: u64 =
            line.parse().map_err(|_| format!("unknown command '{line}'; use state or nanoseconds"))?;
        // Reading commands is no part of a server.
        waits.skip_waits();
        let (lap, cpu) = run_tick(&mut app, Duration::from_nanos(began), phase, last_cpu);
        phase += waits.end_update(TICK, &config);
        // Beyond the end of this tick it is the beginning of the next one.
        phase = phase.checked_sub(TICK).unwrap_or(phase);
        last_cpu = cpu;
        say(&lap)?;
    }
    Ok(())
}

fn paced_app() -> App {
    let mut app = app::server(ServerOptions::default());
    // Each update is one tick, as in a server in real time.
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    app
}

/// Runs the tick whose time begins at `began`, when it is due. Returns the processor time afterwards, too.
fn run_tick(app: &mut App, began: Duration, phase: Duration, last_cpu: Duration) -> (Lap, Duration) {
    let before = cpu_time();
    let due = began + phase;
    thread::sleep(due.saturating_sub(shared_time()));
    app.update();
    let (over, after) = (shared_time(), cpu_time());
    let (cpu, idle_cpu) = (after.saturating_sub(before), before.saturating_sub(last_cpu));
    (Lap { tick: over.saturating_sub(due), end: over.saturating_sub(began), cpu, idle_cpu }, after)
}

fn state(app: &mut App) -> PacedState {
    let world = app.world_mut();
    let connected = world.query_filtered::<(), (With<Link>, With<Connected>)>().iter(world).count();
    PacedState { bytes: resident_bytes(), connected }
}

/// Handle of the process.
pub struct PacedServer {
    process: LabProcess,
    /// Address to connect to.
    pub address: SocketAddr,
    /// Whether the process can use one core only.
    pub is_pinned: bool,
    /// Time from the start of the process until it listened.
    pub ready: Duration,
}

impl PacedServer {
    /// Starts the process, whose ticks are due at so many nanoseconds within their time at first, or always.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(phase: u64, is_fixed: bool) -> Result<Self, String> {
        let began = Instant::now();
        let mut process = LabProcess::start("the server process", |command| {
            command.args(["fleet-server", "--phase", &phase.to_string()]).env("RUST_LOG", "error");
            if is_fixed {
                command.arg("--fixed");
            }
        })?;
        let (port, is_pinned): (u16, bool) = process.reply()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Self { process, address, is_pinned, ready: began.elapsed() })
    }

    /// Lets the process run its next tick, whose time begins at this [`shared_time`].
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn begin_tick(&mut self, began: Duration) -> Result<(), String> {
        self.process.command(&(began.as_nanos() as u64).to_string())
    }

    /// Waits until the tick is over.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn end_tick(&mut self) -> Result<Lap, String> {
        self.process.reply()
    }

    /// Returns the state of the process.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn state(&mut self) -> Result<PacedState, String> {
        self.process.request("state")
    }
}
