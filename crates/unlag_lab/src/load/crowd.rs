//! Scripted clients over UDP against a server in another process, in stepped time.

use core::time::Duration;

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
    time::TimeUpdateStrategy,
};
use bevy_unlag::prelude::*;
use lightyear::prelude::{Client, Connected};
use unlag_examples::{
    app, arena,
    ledger::{LedgerPlugin, ShotLedger},
    link,
    rules::RulesProtocolPlugin,
    script::{Script, ScriptPlugin},
};

use super::process::{Frame, ServerProcess};

/// A server's process and its clients. Time passes as one wishes: the server's frames are measured, not hurried.
pub struct Crowd {
    /// The server.
    pub server: ServerProcess,
    /// The clients, each with the fraction of a frame that it is behind the server.
    pub clients: Vec<App>,
    tick: Duration,
    seed: u64,
    /// What every frame of the server took.
    pub frames: Vec<Frame>,
}

impl Crowd {
    /// A server without anybody.
    ///
    /// # Errors
    /// One line when it does not start.
    pub fn new(hz: u32, laps: bool, seed: u64) -> Result<Self, String> {
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
        let tick = Duration::from_secs_f64(1.0 / f64::from(hz));
        Ok(Self {
            server: ServerProcess::start(hz, laps)?,
            clients: Vec::new(),
            tick,
            seed,
            frames: Vec::new(),
        })
    }

    /// One more client begins to join.
    ///
    /// # Errors
    /// One line when no connect token can be made.
    pub fn join(&mut self, conditions: LinkConditions) -> Result<(), String> {
        let number = self.clients.len() as u64;
        let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(number);
        let mut client = app::headless();
        client.insert_resource(Arsenal::default());
        client.add_plugins(UnlagClientPlugins { tick: self.tick, ..default() });
        client.add_plugins((RulesProtocolPlugin, LedgerPlugin)).add_systems(Startup, arena::spawn);
        client.add_plugins((PlayerControlsPlugin::default(), ScriptPlugin));
        // A screen of as many frames as there are ticks: every move goes as it is made.
        client.insert_resource(TimeUpdateStrategy::ManualDuration(self.tick));
        let mut script = Script::new(seed);
        script.armed = false;
        client.insert_resource(script);
        let sim = NetSim::new(seed ^ 0x5eed).with(conditions);
        link::dial_udp(&mut client, self.server.address, number + 1, sim)?;
        app::finish(&mut client);
        self.clients.push(client);
        Ok(())
    }

    /// One tick of everybody. `more` runs before the server's frame.
    ///
    /// # Errors
    /// One line when the server has gone.
    pub fn step(&mut self) -> Result<Frame, String> {
        for client in &mut self.clients {
            client.update();
        }
        let frame = self.server.frame()?;
        self.frames.push(frame);
        Ok(frame)
    }

    /// So many seconds of everybody.
    ///
    /// # Errors
    /// One line when the server has gone.
    pub fn run(&mut self, seconds: f64) -> Result<(), String> {
        for _ in 0..(seconds / self.tick.as_secs_f64()).round() as u64 {
            self.step()?;
        }
        Ok(())
    }

    /// Joins so many, a few at a time as people do, and waits until everybody has a pawn; then they fight.
    ///
    /// # Errors
    /// One line when not everybody could join.
    pub fn fill(&mut self, players: usize, conditions: LinkConditions) -> Result<(), String> {
        while self.clients.len() < players {
            self.join(conditions)?;
            if self.clients.len().is_multiple_of(4) {
                self.run(0.1)?;
            }
        }
        for _ in 0..200 {
            self.run(0.1)?;
            if (0..players).all(|client| self.plays(client)) {
                self.arm();
                return Ok(());
            }
        }
        let playing = (0..players).filter(|client| self.plays(*client)).count();
        Err(format!("{playing} of {players} clients could join within 20 s"))
    }

    /// Everybody fires.
    fn arm(&mut self) {
        for client in &mut self.clients {
            client.world_mut().resource_mut::<Script>().armed = true;
        }
    }

    /// Whether a client is connected and has a pawn.
    pub fn plays(&mut self, client: usize) -> bool {
        let world = self.clients[client].world_mut();
        let connected =
            world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1;
        let pawns =
            world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>().iter(world).count();
        connected && pawns == 1
    }

    /// Bytes that each client has sent and was sent so far, headers of UDP and IP included.
    pub fn bytes(&mut self) -> Vec<(u64, u64)> {
        /// What UDP and IP put before each datagram.
        const HEADERS: u64 = 28;
        let read = |client: &mut App| {
            let world = client.world_mut();
            let mut sims = world.query::<&NetSim>();
            let sim = sims.iter(world).next();
            sim.map_or((0, 0), |sim| {
                let (up, down) = sim.bytes();
                (up + HEADERS * sim.up_counters().sent, down + HEADERS * sim.down_counters().sent)
            })
        };
        self.clients.iter_mut().map(read).collect()
    }

    /// Rounds fired by everybody so far.
    pub fn rounds(&self) -> u64 {
        self.clients.iter().map(|client| client.world().resource::<ShotLedger>().shots).sum()
    }

    /// Corrections of every client so far.
    pub fn corrections(&mut self) -> Vec<u64> {
        let read = |client: &mut App| {
            let world = client.world_mut();
            let mut own = world.query_filtered::<&PredictionStats, With<LocalControl>>();
            own.iter(world).map(|stats| stats.corrections).sum()
        };
        self.clients.iter_mut().map(read).collect()
    }
}
