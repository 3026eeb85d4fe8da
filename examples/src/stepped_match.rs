//! Deterministic match under stepped time: one thread and a manual clock; equal seeds give equal runs.

mod membership;

use core::time::Duration;

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
    time::TimeUpdateStrategy,
};
use bevy_unlag::{prelude::*, weapons::SpreadSecret};
use lightyear::prelude::{Client, Connected};

use membership::new_client;

use crate::{
    app::{self, ServerOptions, TICK},
    connection,
    match_report::{MatchReport, PlayerReport},
    scripted_player::ScriptedPlayer,
    shot_stats::ShotStats,
};

/// Link that the hit counts are measured on: 25 % loss, duplication and reordering in each direction.
pub const HARD_LINK: LinkConditions = LinkConditions {
    latency: Duration::from_millis(50),
    jitter: Duration::from_millis(10),
    loss: 0.25,
    duplication: 0.25,
    reorder: 0.25,
    reorder_delay: Duration::from_millis(30),
    ..LinkConditions::PERFECT
};

/// Configuration of a match.
#[derive(Clone, Copy, Debug)]
pub struct MatchOptions {
    /// Number of players.
    pub players: u64,
    /// Duration of the fight, in seconds.
    pub seconds: f64,
    /// Link conditions of every player; the same one-way values apply to the uplink and the downlink.
    pub conditions: LinkConditions,
    /// Seed of the links and the scripted players.
    pub seed: u64,
    /// Configuration of the server.
    pub server: ServerOptions,
    /// Frame rate of every client, in frames per second. Default: 100.
    pub fps: f64,
    /// Whether the server has a player of its own, as a listen server does.
    pub host: bool,
}

impl Default for MatchOptions {
    fn default() -> Self {
        Self {
            players: 4,
            seconds: 20.0,
            conditions: LinkConditions::PERFECT,
            seed: 7,
            server: ServerOptions::default(),
            fps: 100.0,
            host: false,
        }
    }
}

impl MatchOptions {
    /// Returns the frame time of a client.
    fn frame(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.fps.clamp(1.0, 1_000.0))
    }
}

/// A server and its clients, each with its own frame time, stepped in the order in which their frames are
/// due.
pub struct Match {
    /// The server app.
    pub server: App,
    /// The client apps.
    pub clients: Vec<App>,
    frame: Duration,
    now: Duration,
    server_due: Duration,
    /// Delta time of the server's next frame.
    server_frame: Duration,
    clients_due: Vec<Duration>,
    /// Delta time of each client's next frame, by its own clock.
    client_frames: Vec<Duration>,
    /// Clock speed of each client.
    clocks: Vec<f64>,
    started: Duration,
    /// Server entity that late joiners connect to.
    listener: Entity,
    options: MatchOptions,
    app_generation: u64,
    /// Apps of players who have rejoined with a new app. They are no longer stepped.
    retired_clients: Vec<App>,
}

impl Match {
    /// Sets up a match and waits until every player has a pawn.
    ///
    /// # Errors
    /// Returns one line when a player could not join within 20 seconds.
    pub fn start(options: &MatchOptions) -> Result<Self, String> {
        Self::start_with(options, |_| ())
    }

    /// Sets up a match like [`start`](Self::start), and calls `prepare` on the server before any client
    /// joins.
    ///
    /// # Errors
    /// Returns one line when a player could not join within 20 seconds.
    pub fn start_with(options: &MatchOptions, prepare: impl FnOnce(&mut App)) -> Result<Self, String> {
        // The first caller decides for the whole process. With one thread, systems that could run in
        // parallel do not wake another thread in every frame.
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
        let frame = options.frame();
        let mut server = app::server(options.server);
        server.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        // A random secret would give every run a different spread.
        server.insert_resource(SpreadSecret(options.seed));
        if options.host {
            app::add_scripted_host(&mut server, options.seed ^ 0x4057);
        }
        prepare(&mut server);
        let listener = connection::listen_in_process(&mut server);
        app::finish(&mut server);
        let mut clients = Vec::new();
        let mut clients_due = Vec::new();
        for i in 0..options.players {
            clients.push(new_client((&mut server, listener), options, i, 0)?);
            // Staggered, so that no two clients' frames coincide.
            clients_due.push(frame.mul_f64(0.37 + 0.61 * i as f64 % 1.0));
        }
        let mut this = Self {
            server,
            clients,
            frame,
            now: Duration::ZERO,
            server_due: Duration::ZERO,
            server_frame: TICK,
            client_frames: vec![frame; clients_due.len()],
            clocks: vec![1.0; clients_due.len()],
            clients_due,
            started: Duration::ZERO,
            listener,
            options: *options,
            app_generation: 0,
            retired_clients: Vec::new(),
        };
        while !this.everyone_has_a_pawn() {
            if this.now > Duration::from_secs(20) {
                return Err("not every player could join within 20 s; try a better --preset".to_owned());
            }
            this.run(Duration::from_millis(100));
        }
        this.started = this.now;
        Ok(this)
    }

    fn everyone_has_a_pawn(&mut self) -> bool {
        let expected =
            self.clients.len() + usize::from(self.server.world().contains_resource::<ScriptedPlayer>());
        self.clients.iter_mut().all(|client| {
            let world = client.world_mut();
            let connected =
                world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1;
            connected
                && world.query_filtered::<(), With<DrawnPose>>().iter(world).count() == expected
                && world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>().iter(world).count()
                    == 1
        })
    }

    /// Advances time by `time`, running each app's frame when it is due.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let next = self.clients_due.iter().copied().min().unwrap_or(Duration::MAX).min(self.server_due);
            if next > end {
                break;
            }
            if self.server_due == next {
                self.server.insert_resource(TimeUpdateStrategy::ManualDuration(self.server_frame));
                self.server.update();
                self.server_frame = TICK;
                self.server_due += TICK;
            }
            let clients = self.clients.iter_mut().zip(&mut self.clients_due);
            for ((client, due), (frame, clock)) in
                clients.zip(self.client_frames.iter_mut().zip(&self.clocks))
            {
                if *due == next {
                    client.insert_resource(TimeUpdateStrategy::ManualDuration(frame.mul_f64(*clock)));
                    client.update();
                    *frame = self.frame;
                    *due += self.frame;
                }
            }
        }
        self.now = end;
    }

    /// Stalls the server: its next frame comes `time` later, and its delta time is `time` longer.
    pub fn stall_server(&mut self, time: Duration) {
        self.server_due += time;
        self.server_frame += time;
    }

    /// Stalls a client: its next frame comes `time` later, and its delta time is `time` longer.
    pub fn stall_client(&mut self, client: usize, time: Duration) {
        if let Some((due, frame)) = self.clients_due.get_mut(client).zip(self.client_frames.get_mut(client)) {
            *due += time;
            *frame += time;
        }
    }

    /// Sets the speed of a client's clock. 1 is real time; clamped to 0.1–10.
    pub fn set_clock(&mut self, client: usize, speed: f64) {
        if let Some(clock) = self.clocks.get_mut(client) {
            *clock = speed.clamp(0.1, 10.0);
        }
    }

    /// Returns the time since the server's last frame.
    #[must_use]
    pub fn server_age(&self) -> Duration {
        (self.now + TICK).saturating_sub(self.server_due)
    }

    /// Returns the time since a client's last frame.
    #[must_use]
    pub fn client_age(&self, client: usize) -> Duration {
        self.clients_due
            .get(client)
            .map_or(Duration::ZERO, |due| (self.now + self.frame).saturating_sub(*due))
    }

    /// Sets the link conditions of every player; the same one-way values apply to the uplink and the
    /// downlink.
    pub fn set_conditions(&mut self, conditions: LinkConditions) {
        for client in &mut self.clients {
            let world = client.world_mut();
            for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
                sim.set(conditions);
            }
        }
    }

    /// Lets all players fight for `seconds`, then stops their fire for 3 s, so that every verdict can
    /// arrive.
    pub fn fight(&mut self, seconds: f64) {
        self.set_firing(true);
        self.run(Duration::from_secs_f64(seconds));
        self.set_firing(false);
        self.run(Duration::from_secs(3));
    }

    /// Sets whether the scripted players fire.
    pub fn set_firing(&mut self, may_fire: bool) {
        for app in self.clients.iter_mut().chain([&mut self.server]) {
            if let Some(mut script) = app.world_mut().get_resource_mut::<ScriptedPlayer>() {
                script.may_fire = may_fire;
            }
        }
    }

    /// Returns the shot statistics of the listen server host, if there is one.
    #[must_use]
    pub fn host_shot_stats(&self) -> Option<ShotStats> {
        self.server.world().get_resource::<ShotStats>().cloned()
    }

    /// Returns the report of the match so far.
    pub fn report(&mut self) -> MatchReport {
        let seconds = self.now.as_secs_f64();
        let players = self.clients.iter_mut().map(|client| {
            let mut report = PlayerReport::read(client.world_mut(), seconds);
            report.shot_stats.close();
            report
        });
        MatchReport { players: players.collect() }
    }
}

/// Plays a match and returns its report.
///
/// # Errors
/// Returns one line when a player could not join.
pub fn play(options: &MatchOptions) -> Result<MatchReport, String> {
    let mut played = Match::start(options)?;
    played.fight(options.seconds);
    Ok(played.report())
}
