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
    lab_process::{LabProcess, ProcessSignal, say},
    load::{cpu_time, pin_to_core, resident_bytes, thread_cpu_time},
    prelude::*,
};

/// Time in which all servers run one tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Slot {
    /// Beginning, as [`shared_time`].
    pub began: Duration,
    /// Time at which the servers go on, later than the beginning where they are behind.
    pub resumes: Duration,
    /// What is left of a tick's time for the frames of all servers: their other threads need the rest.
    pub length: Duration,
}

impl Slot {
    /// Returns the time of the game that passes in a second.
    pub fn pace(&self) -> f64 {
        TICK.as_secs_f64() / self.length.as_secs_f64().max(1e-6)
    }

    /// Returns when a tick at this phase is due.
    fn due(&self, phase: Duration) -> Duration {
        self.began + phase.div_f64(self.pace())
    }
}

/// Work of a server in the time of one tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Lap {
    /// Time from when the tick was due until its frame was over.
    pub tick: Duration,
    /// Time at which the frame was over, since the beginning of the slot.
    pub end: Duration,
    /// Processor time of the frame, in all threads.
    pub cpu: Duration,
    /// Processor time of other threads since the last frame: datagrams that were received meanwhile.
    pub idle_cpu: Duration,
}

/// Processor times of the process and of its main thread.
#[derive(Clone, Copy)]
struct CpuTimes {
    process: Duration,
    main: Duration,
}

impl CpuTimes {
    fn now() -> Self {
        Self { process: cpu_time(), main: thread_cpu_time() }
    }
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

/// Serves until standard input ends. The tick is due at `phase` after the beginning of its slot, in time of the game,
/// and is shifted later where the process waits for the core, unless it `is_fixed`. Whole ticks in `phase` are run
/// before, so that servers send their snapshots in different ticks.
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
    while let Some(rest) = phase.checked_sub(TICK) {
        app.update();
        phase = rest;
    }
    let port =
        connection::bound_port(app.world_mut()).ok_or("the server process could not bind a UDP port")?;
    let is_pinned = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    say(&(port, is_pinned))?;
    let (mut waits, mut last_cpu) = (TickPhase::of_this_thread(), CpuTimes::now());
    let config = if is_fixed { TickPhaseConfig { max_slowdown: 0.0 } } else { TickPhaseConfig::default() };
    for line in stdin().lines() {
        let line = line.map_err(|error| format!("cannot read commands: {error}"))?;
        if line == "state" {
            say(&state(&mut app))?;
            continue;
        }
        let slot: Slot = serde_json::from_str(&line)
            .map_err(|error| format!("unknown command '{line}'; use state or a slot: {error}"))?;
        // Reading commands is no part of a server.
        waits.skip_waits();
        // A server of the slot before had the core.
        waits.add_wait(slot.resumes.saturating_sub(slot.due(phase)));
        let (lap, cpu) = run_tick((&mut app, &mut waits), slot, phase, last_cpu);
        // In time of the game, which passes faster than that of the core.
        phase += waits.end_update(TICK, &config).mul_f64(slot.pace());
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

/// Runs a tick when it is due. Returns the processor times afterwards, too.
fn run_tick(
    (app, waits): (&mut App, &mut TickPhase),
    slot: Slot,
    phase: Duration,
    last_cpu: CpuTimes,
) -> (Lap, CpuTimes) {
    let before = CpuTimes::now();
    let due = slot.due(phase);
    thread::sleep(due.max(slot.resumes).saturating_sub(shared_time()));
    waits.begin_update();
    app.update();
    let (over, after) = (shared_time(), CpuTimes::now());
    let cpu = after.process.saturating_sub(before.process);
    // Without what the main thread needs for commands and replies.
    let idle_cpu = (before.process + last_cpu.main).saturating_sub(last_cpu.process + before.main);
    (Lap { tick: over.saturating_sub(due), end: over.saturating_sub(slot.began), cpu, idle_cpu }, after)
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
    /// Starts the process, whose ticks are due at so many nanoseconds within the time of a snapshot interval at first,
    /// or always.
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

    /// Stops the process with all its threads, or lets it go on: its time stands still meanwhile. Without effect where
    /// the system has no signals.
    pub fn stand_still(&self, stands: bool) {
        let signal = if stands { ProcessSignal::Stop } else { ProcessSignal::Continue };
        // It fails if the process has ended, which the next command reports.
        let _ = self.process.signal(signal);
    }

    /// Lets the process run its next tick in this slot.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn begin_tick(&mut self, slot: Slot) -> Result<(), String> {
        let command = serde_json::to_string(&slot).map_err(|error| format!("no command: {error}"))?;
        self.process.command(&command)
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
