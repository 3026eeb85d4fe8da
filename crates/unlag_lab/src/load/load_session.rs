//! Scripted UDP clients of a server in another process, with stepped time.

use core::{net::SocketAddr, ops::Range};
use std::thread;

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_unlag::net::{Bandwidth, MessageClass};
use lightyear::prelude::{Client, Connected, Disconnected};
use unlag_examples::{
    app, connection, reconnect,
    transport::{ClientTransport, TransportName},
};

use super::server_process::{Frame, ServerProcess};
use crate::{interest::Level, prelude::*};

/// Simulated seconds within which all clients must join.
const JOINING: u32 = 20;
/// Simulated seconds between two looks at the clients that join, no faster than the wall clock: netcode times out
/// after 3 s, in which a slow machine may not have delivered any datagram yet.
const JOINING_STEP: f64 = 0.1;
/// Wall-clock limit of joining.
const JOINING_WALL: Duration = Duration::from_secs(60);

/// Server process with its clients. Time is stepped: the server's frames are measured, not paced.
pub struct LoadSession {
    /// Server process.
    pub server: ServerProcess,
    /// Client apps, all of which run one frame per server tick.
    pub clients: Vec<App>,
    tick: Duration,
    seed: u64,
    reach: (SocketAddr, ClientTransport),
    /// Durations of all server frames.
    pub frames: Vec<Frame>,
}

impl LoadSession {
    /// Starts a server without clients.
    ///
    /// # Errors
    /// Returns a message if the server does not start.
    pub fn new(hz: u32, laps: bool, seed: u64) -> Result<Self, String> {
        Self::with_server(ServerProcess::start(hz, laps)?, hz, seed, TransportName::Udp)
    }

    /// Starts a server without clients, whose clients will use a transport.
    ///
    /// # Errors
    /// Returns a message if the server does not start, or this build lacks the transport.
    pub fn over(transport: TransportName, seed: u64) -> Result<Self, String> {
        Self::with_server(ServerProcess::start_for_all_transports(64)?, 64, seed, transport)
    }

    /// Starts a server without clients that conceals pawns out of sight in a level.
    ///
    /// # Errors
    /// Returns a message if the server does not start.
    pub fn in_level(level: Level) -> Result<Self, String> {
        Self::with_server(ServerProcess::start_in_level(level)?, 64, level.seed, TransportName::Udp)
    }

    fn with_server(
        server: ServerProcess,
        hz: u32,
        seed: u64,
        transport: TransportName,
    ) -> Result<Self, String> {
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
        let tick = Duration::from_secs_f64(1.0 / f64::from(hz));
        let reach = server.reach(transport)?;
        Ok(Self { server, clients: Vec::new(), tick, seed, reach, frames: Vec::new() })
    }

    /// Returns the address that clients connect to, and their transport.
    pub fn reach(&self) -> (SocketAddr, ClientTransport) {
        self.reach.clone()
    }

    /// Adds a client, which starts to connect.
    ///
    /// # Errors
    /// Returns a message if no connect token can be created.
    pub fn join(&mut self, conditions: LinkConditions) -> Result<(), String> {
        let number = self.clients.len() as u64;
        let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(number);
        let rate = SimulationRate { tick: self.tick, ..default() };
        let mut client = app::scripted_client(seed, ServerOptions { rate, ..default() });
        // One client frame per tick: every move is sent as soon as it exists.
        client.insert_resource(TimeUpdateStrategy::ManualDuration(self.tick));
        client.world_mut().resource_mut::<ScriptedPlayer>().may_fire = false;
        let sim = NetSim::new(seed ^ 0x5eed).with(conditions);
        let (address, transport) = self.reach.clone();
        client.insert_resource(transport);
        connection::connect(&mut client, address, number + 1, sim)?;
        finish(&mut client);
        self.clients.push(client);
        Ok(())
    }

    /// Runs one tick of all clients and of the server.
    ///
    /// # Errors
    /// Returns a message if the server process has ended.
    pub fn step(&mut self) -> Result<Frame, String> {
        for client in &mut self.clients {
            client.update();
        }
        let frame = self.server.frame()?;
        self.frames.push(frame);
        Ok(frame)
    }

    /// Runs a number of simulated seconds.
    ///
    /// # Errors
    /// Returns a message if the server process has ended.
    pub fn run(&mut self, seconds: f64) -> Result<(), String> {
        for _ in 0..(seconds / self.tick.as_secs_f64()).round() as u64 {
            self.step()?;
        }
        Ok(())
    }

    /// Returns the bytes of all messages of the suite that the clients have received so far, by class.
    pub fn received(&self) -> Vec<u64> {
        let sum = |class: MessageClass| {
            self.clients.iter().map(|client| client.world().resource::<Bandwidth>().of(class).bytes).sum()
        };
        MessageClass::ALL.into_iter().map(|class| if class.is_uplink() { 0 } else { sum(class) }).collect()
    }

    /// Adds clients four at a time until there are `players`, waits until all of them have a pawn, and lets
    /// them open fire.
    ///
    /// # Errors
    /// Returns a message if a client cannot join.
    pub fn fill(&mut self, players: usize, conditions: LinkConditions) -> Result<(), String> {
        while self.clients.len() < players {
            self.join(conditions)?;
            if self.clients.len().is_multiple_of(4) {
                self.run_in_real_time(JOINING_STEP)?;
            }
        }
        self.wait_for(0..players)?;
        for client in &mut self.clients {
            client.world_mut().resource_mut::<ScriptedPlayer>().may_fire = true;
        }
        Ok(())
    }

    /// Waits until each of these clients has a pawn. Clients whose connection attempt failed reconnect.
    ///
    /// # Errors
    /// Returns a message with the state of the connections if a client cannot join in time.
    pub fn wait_for(&mut self, clients: Range<usize>) -> Result<(), String> {
        let began = Instant::now();
        for _ in 0..JOINING * 10 {
            self.run_in_real_time(JOINING_STEP)?;
            if clients.clone().all(|client| self.is_playing(client)) {
                return Ok(());
            }
            if began.elapsed() > JOINING_WALL {
                break;
            }
            for client in clients.clone() {
                self.redial(client)?;
            }
        }
        let playing = clients.clone().filter(|client| self.is_playing(*client)).count();
        let state = self.server.state()?;
        Err(format!(
            "{playing} of {} clients joined within {JOINING} s, {:.1} s of wall-clock time; the server has {} \
             links, {} connected, and kicked {} clients",
            clients.len(),
            began.elapsed().as_secs_f64(),
            state.links,
            state.connected,
            state.kicked
        ))
    }

    /// Runs a number of simulated seconds, no faster than the wall clock.
    ///
    /// # Errors
    /// Returns a message if the server process has ended.
    pub fn run_in_real_time(&mut self, seconds: f64) -> Result<(), String> {
        for _ in 0..(seconds / self.tick.as_secs_f64()).round() as u64 {
            let began = Instant::now();
            self.step()?;
            thread::sleep(self.tick.saturating_sub(began.elapsed()));
        }
        Ok(())
    }

    /// Reconnects a client if its connection has ended.
    fn redial(&mut self, client: usize) -> Result<(), String> {
        let world = self.clients[client].world_mut();
        let mut ended = world.query_filtered::<(), (With<Client>, With<Disconnected>)>();
        if ended.iter(world).next().is_none() {
            return Ok(());
        }
        reconnect::reconnect(world, self.reach.0, client as u64 + 1)
    }

    /// Returns whether a client is connected and has a pawn.
    pub fn is_playing(&mut self, client: usize) -> bool {
        let world = self.clients[client].world_mut();
        let connected =
            world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1;
        let pawns =
            world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>().iter(world).count();
        connected && pawns == 1
    }

    /// Returns the bytes that each client has sent and received so far, with UDP and IP headers.
    pub fn bytes(&mut self) -> Vec<(u64, u64)> {
        self.clients.iter_mut().map(wire_bytes).collect()
    }

    /// Returns the number of corrections of every client so far.
    pub fn corrections(&mut self) -> Vec<u64> {
        let read = |client: &mut App| {
            let world = client.world_mut();
            let mut own = world.query_filtered::<&PredictionStats, With<LocalControl>>();
            own.iter(world).map(|stats| stats.corrections).sum()
        };
        self.clients.iter_mut().map(read).collect()
    }
}
