//! A server and its clients in one thread, on stepped time.

use core::time::Duration;

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
    time::TimeUpdateStrategy,
};
use bevy_unlag_core::SimulationRate;
use bevy_unlag_lightyear::NetSim;
use lightyear_guard::TokenError;
use link_conditioner::{LinkConditions, LinkPreset};

use crate::{
    apps::finish,
    in_process::{join, listen},
};

/// Netcode's protocol id of the games that [`SteppedApps`] starts.
const GAME: u64 = 0x0074_6573_746b_6974;

/// Frame schedule of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Client {
    /// Time of the next frame. [`Duration::MAX`]: the app is not stepped any more.
    pub due: Duration,
    /// Frame time.
    pub frame: Duration,
    /// Delta time of the next frame, by the client's own clock.
    pub next_delta: Duration,
    /// Speed of the client's clock; 1 is real time.
    pub clock: f64,
}

impl Client {
    /// Returns a client with this frame time whose first frame is due at `due`.
    #[must_use]
    pub fn new(frame: Duration, due: Duration) -> Self {
        Self { due, frame, next_delta: frame, clock: 1.0 }
    }
}

/// A server and its clients. Each app has its own frame time, and frames run in the order in which they are
/// due: the server's first, then the clients' by index.
///
/// ```
/// use std::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_unlag::{link_conditioner::LinkPreset, prelude::*};
/// use bevy_unlag_testkit::{SteppedApps, headless_app};
///
/// let mut server = headless_app();
/// server.add_plugins(UnlagServerPlugins::default());
/// server.add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
///     commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
/// });
/// let mut client = headless_app();
/// client.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
///
/// let mut game = SteppedApps::new(server);
/// game.join(client, LinkPreset::find("Average (UE)")?)?;
/// let has_pawn = |game: &mut SteppedApps| {
///     let world = game.clients[0].world_mut();
///     world.query_filtered::<(), With<LocalControl>>().iter(world).count() == 1
/// };
/// assert!(game.run_until(Duration::from_secs(5), has_pawn), "no pawn of its own");
/// // The client's machine pauses for a third of a second.
/// game.stall_client(0, Duration::from_millis(300));
/// game.run(Duration::from_secs(1));
/// assert!(has_pawn(&mut game));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SteppedApps {
    /// The server app. Its frame time is a tick.
    pub server: App,
    /// The client apps.
    pub clients: Vec<App>,
    /// Frames of the clients, by index.
    pub frames: Vec<Client>,
    /// Server entity that clients join.
    pub listener: Entity,
    now: Duration,
    tick: Duration,
    server_due: Duration,
    server_delta: Duration,
}

impl SteppedApps {
    /// Frame time of a client that joins with [`join`](Self::join).
    pub const CLIENT_FRAME: Duration = Duration::from_millis(10);

    /// Starts a development-mode server in this app, which must have its plugins, and finishes it.
    #[must_use]
    pub fn new(mut server: App) -> Self {
        let listener = listen(&mut server, GAME);
        Self::with_listener(server, listener)
    }

    /// Takes a server app that listens already: `listener` is its server entity. Finishes the app.
    #[must_use]
    pub fn with_listener(mut server: App, listener: Entity) -> Self {
        // The first caller decides for the whole process. With one thread, systems that could run in parallel
        // do not wake another thread in every frame.
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
        let tick = server.world_mut().get_resource_or_init::<SimulationRate>().tick;
        server.insert_resource(TimeUpdateStrategy::ManualDuration(tick));
        finish(&mut server);
        Self {
            server,
            clients: Vec::new(),
            frames: Vec::new(),
            listener,
            now: Duration::ZERO,
            tick,
            server_due: Duration::ZERO,
            server_delta: tick,
        }
    }

    /// Joins a client app, which must have its plugins, over a link of this preset; the client's index is the
    /// seed. Returns the index.
    ///
    /// # Errors
    /// The connect token cannot be created.
    pub fn join(&mut self, client: App, preset: &LinkPreset) -> Result<usize, TokenError> {
        let index = self.clients.len();
        let mut sim = NetSim::new(index as u64);
        sim.apply(preset);
        self.join_over(client, sim)
    }

    /// Joins a client app over this link. Returns its index.
    ///
    /// # Errors
    /// The connect token cannot be created.
    pub fn join_over(&mut self, mut client: App, sim: NetSim) -> Result<usize, TokenError> {
        let index = self.clients.len();
        let id = index as u64 + 1;
        join(&mut self.server, self.listener, &mut client, (id, GAME), sim)?;
        finish(&mut client);
        // Staggered, so that no two clients' frames coincide.
        let due = self.now + Self::CLIENT_FRAME.mul_f64(0.37 + 0.61 * index as f64 % 1.0);
        Ok(self.add(client, Client::new(Self::CLIENT_FRAME, due)))
    }

    /// Adds a client app that has been connected and finished already. Returns its index.
    pub fn add(&mut self, client: App, frames: Client) -> usize {
        self.clients.push(client);
        self.frames.push(frames);
        self.clients.len() - 1
    }

    /// All apps, the server first.
    pub fn apps_mut(&mut self) -> impl Iterator<Item = &mut App> {
        core::iter::once(&mut self.server).chain(&mut self.clients)
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Advances time by `time`, running each app's frame when it is due.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let clients_due = self.frames.iter().map(|frames| frames.due).min();
            let next = clients_due.unwrap_or(Duration::MAX).min(self.server_due);
            if next > end {
                break;
            }
            if self.server_due == next {
                self.server.insert_resource(TimeUpdateStrategy::ManualDuration(self.server_delta));
                self.server.update();
                self.server_delta = self.tick;
                self.server_due += self.tick;
            }
            for (client, frames) in self.clients.iter_mut().zip(&mut self.frames) {
                if frames.due == next {
                    let delta = frames.next_delta.mul_f64(frames.clock);
                    client.insert_resource(TimeUpdateStrategy::ManualDuration(delta));
                    client.update();
                    frames.next_delta = frames.frame;
                    frames.due += frames.frame;
                }
            }
        }
        self.now = end;
    }

    /// Runs until `done`, looking every 100 ms. Returns whether that was within `limit`.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        let end = self.now + limit;
        while !done(self) {
            if self.now >= end {
                return false;
            }
            self.run(Duration::from_millis(100));
        }
        true
    }

    /// Stalls the server: its next frame comes `time` later, and its delta time is `time` longer.
    pub fn stall_server(&mut self, time: Duration) {
        self.server_due += time;
        self.server_delta += time;
    }

    /// Stalls a client: its next frame comes `time` later, and its delta time is `time` longer.
    pub fn stall_client(&mut self, client: usize, time: Duration) {
        if let Some(frames) = self.frames.get_mut(client) {
            frames.due += time;
            frames.next_delta += time;
        }
    }

    /// Stops a client's app without a disconnect, as if its machine were switched off.
    pub fn power_off(&mut self, client: usize) {
        if let Some(frames) = self.frames.get_mut(client) {
            frames.due = Duration::MAX;
        }
    }

    /// Sets the speed of a client's clock. 1 is real time; clamped to 0.1–10.
    pub fn set_clock(&mut self, client: usize, speed: f64) {
        if let Some(frames) = self.frames.get_mut(client) {
            frames.clock = speed.clamp(0.1, 10.0);
        }
    }

    /// Sets the link conditions of every client, the same ones up and down.
    pub fn set_conditions(&mut self, conditions: LinkConditions) {
        for client in &mut self.clients {
            let world = client.world_mut();
            for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
                sim.set(conditions);
            }
        }
    }

    /// Returns the time since the server's last frame.
    #[must_use]
    pub fn server_age(&self) -> Duration {
        (self.now + self.tick).saturating_sub(self.server_due)
    }

    /// Returns the time since a client's last frame.
    #[must_use]
    pub fn client_age(&self, client: usize) -> Duration {
        let age = |frames: &Client| (self.now + frames.frame).saturating_sub(frames.due);
        self.frames.get(client).map_or(Duration::ZERO, age)
    }
}
