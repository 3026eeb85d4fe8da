//! Matches whose server processes share one core: their clients, and the time in which the servers run.

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use lightyear::prelude::{Client, Connected, Disconnected};
use unlag_examples::{app, connection, reconnect};

use super::{
    PLAYERS,
    paced_server::{PacedServer, Slot, shared_time},
};
use crate::prelude::*;

/// Ticks within which all clients must join.
const JOINING: u32 = 64 * 30;
/// Ticks between two clients of a match that start to connect, and between two attempts of one.
const PAUSE: u32 = 8;
/// Time in which the processes learn that their tick begins.
const NOTICE: Duration = Duration::from_millis(2);
/// Delay after which servers do not try to catch up, as in the examples.
const STALL: Duration = Duration::from_millis(250);

/// Match with its server process.
struct FleetMatch {
    server: PacedServer,
    clients: Vec<App>,
    /// Times from when a tick was due until it was over, in milliseconds.
    ticks: Vec<f64>,
}

/// Matches on one core.
pub struct SharedCore {
    unused: Vec<PacedServer>,
    matches: Vec<FleetMatch>,
    conditions: LinkConditions,
    seed: u64,
    /// Time by which the servers are behind at the beginning of the next tick.
    behind: Duration,
    /// Processor time that the servers' other threads needed while time stood still.
    idle_cpu: Duration,
    /// Recorded ticks, those for which the clients needed longer than a tick, and the processor time of all servers.
    recorded: u32,
    late: u32,
    cpu: Duration,
    /// Bytes that all clients had received when recording began.
    received: u64,
}

impl SharedCore {
    /// Creates a core without matches, for these servers.
    pub fn new(servers: Vec<PacedServer>, conditions: LinkConditions, seed: u64) -> Self {
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
        let (recorded, late, cpu) = (0, 0, Duration::ZERO);
        let (matches, behind, idle_cpu) = (Vec::new(), Duration::ZERO, Duration::ZERO);
        let unused = servers;
        Self { unused, matches, conditions, seed, behind, idle_cpu, recorded, late, cpu, received: 0 }
    }

    /// Adds matches until there are `count`, and waits until all their players have a pawn and fight.
    ///
    /// # Errors
    /// Returns a message if a player cannot join.
    pub fn fill(&mut self, count: usize) -> Result<(), String> {
        while self.matches.len() < count {
            let server = self.unused.pop().ok_or("there are too few server processes")?;
            self.matches.push(FleetMatch { server, clients: Vec::new(), ticks: Vec::new() });
        }
        for tick in 0..JOINING {
            if tick.is_multiple_of(PAUSE) {
                let mut are_playing = true;
                for (index, game) in (0..).zip(&mut self.matches) {
                    let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(index * 100);
                    are_playing &= game.join(self.conditions, seed)?;
                }
                if are_playing {
                    return Ok(());
                }
            }
            self.step()?;
        }
        Err(format!("not all players of {count} matches could join within 30 s"))
    }

    /// Runs so many seconds of the matches.
    ///
    /// # Errors
    /// Returns a message if a server process has ended.
    pub fn run(&mut self, seconds: f64) -> Result<(), String> {
        for _ in 0..(seconds / TICK.as_secs_f64()).round() as u64 {
            self.step()?;
        }
        Ok(())
    }

    /// Runs one tick: first of all clients, while the servers' time stands still, then of all servers.
    fn step(&mut self) -> Result<(), String> {
        let began = Instant::now();
        self.matches.iter().for_each(|game| game.server.stand_still(true));
        self.matches.iter_mut().flat_map(|game| &mut game.clients).for_each(App::update);
        self.matches.iter().for_each(|game| game.server.stand_still(false));
        self.late += u32::from(began.elapsed() > TICK);
        let resumes = shared_time() + NOTICE;
        let began = resumes.saturating_sub(self.behind);
        // In real time the other threads would have the core now and then in all of the tick.
        let length = TICK.saturating_sub(self.idle_cpu).max(TICK / 2);
        let slot = Slot { began, resumes, length };
        for game in &mut self.matches {
            game.server.begin_tick(slot)?;
        }
        let mut spent = length;
        self.idle_cpu = Duration::ZERO;
        for game in &mut self.matches {
            let lap = game.server.end_tick()?;
            game.ticks.push(lap.tick.as_secs_f64() * slot.pace() * 1e3);
            spent = spent.max(lap.end);
            self.idle_cpu += lap.idle_cpu;
            self.cpu += lap.cpu + lap.idle_cpu;
        }
        self.behind = spent.saturating_sub(length);
        if self.behind > STALL {
            self.behind = Duration::ZERO;
        }
        self.recorded += 1;
        Ok(())
    }

    /// Forgets what has been recorded so far.
    pub fn start_recording(&mut self) {
        (self.recorded, self.late, self.cpu) = (0, 0, Duration::ZERO);
        self.received = self.received_bytes();
        for game in &mut self.matches {
            game.ticks.clear();
        }
    }

    /// Returns the resident bytes of each server.
    ///
    /// # Errors
    /// Returns a message if a match is not full.
    pub fn check_players(&mut self) -> Result<Vec<f64>, String> {
        let mut bytes = Vec::new();
        for game in &mut self.matches {
            let state = game.server.state()?;
            if state.connected != PLAYERS {
                return Err(format!("of {PLAYERS} players of a match {} are connected", state.connected));
            }
            bytes.push(state.bytes as f64);
        }
        Ok(bytes)
    }

    /// Returns the bytes per second that a player has received since recording began, with the headers of UDP and IP.
    pub fn bytes_per_s_down(&mut self) -> f64 {
        let players = self.matches.iter().map(|game| game.clients.len()).sum::<usize>();
        let seconds = TICK.as_secs_f64() * f64::from(self.recorded);
        self.received_bytes().saturating_sub(self.received) as f64 / seconds / players as f64
    }

    fn received_bytes(&mut self) -> u64 {
        let clients = self.matches.iter_mut().flat_map(|game| &mut game.clients);
        clients.map(|client| wire_bytes(client).1).sum()
    }

    /// Returns the number of recorded ticks of each match.
    pub fn recorded(&self) -> u32 {
        self.recorded
    }

    /// Returns the largest quantile of all servers: time from when a tick was due until it was over, in milliseconds.
    pub fn worst_quantile_ms(&mut self, share: f64) -> f64 {
        largest(self.matches.iter_mut().map(|game| quantile(&mut game.ticks, share)))
    }

    /// Returns the share of the core's time that the servers used, in percent.
    pub fn busy_percent(&self) -> f64 {
        self.cpu.as_secs_f64() * 100.0 / (TICK.as_secs_f64() * f64::from(self.recorded))
    }

    /// Returns the share of the ticks for which the clients needed longer than a tick, in percent.
    pub fn late_percent(&self) -> f64 {
        f64::from(self.late) * 100.0 / f64::from(self.recorded)
    }
}

impl FleetMatch {
    /// Adds a client if the match is not full, and reconnects those whose attempt has failed. Returns whether the match
    /// is full and all its players have a pawn.
    fn join(&mut self, conditions: LinkConditions, seed: u64) -> Result<bool, String> {
        let mut are_playing = self.clients.len() == PLAYERS;
        for (number, client) in (1..).zip(&mut self.clients) {
            let world = client.world_mut();
            let mut ended = world.query_filtered::<(), (With<Client>, With<Disconnected>)>();
            if ended.iter(world).next().is_some() {
                reconnect::reconnect(world, self.server.address, number)?;
            }
            let mut connected = world.query_filtered::<(), (With<Client>, With<Connected>)>();
            let mut own = world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>();
            are_playing &= connected.iter(world).count() == 1 && own.iter(world).count() == 1;
        }
        if self.clients.len() < PLAYERS {
            let number = self.clients.len() as u64 + 1;
            let seed = seed.wrapping_add(number);
            let mut client = app::scripted_client(seed, ServerOptions::default());
            // One frame per tick: every move is sent as soon as it exists.
            client.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
            let sim = NetSim::new(seed ^ 0x5eed).with(conditions);
            connection::connect(&mut client, self.server.address, number, sim)?;
            finish(&mut client);
            self.clients.push(client);
        }
        Ok(are_playing)
    }
}
