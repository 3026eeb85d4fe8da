//! Deterministic match under stepped time: one thread and a manual clock; equal seeds give equal runs.

mod membership;

use core::{
    ops::{Deref, DerefMut},
    time::Duration,
};
use std::path::PathBuf;

use bevy::prelude::*;
use bevy_unlag::{SoldierBody, link_conditioner::LinkConditions, prelude::*, weapons::SpreadSecret};
use bevy_unlag_testkit::{Client, SteppedApps};
use lightyear::prelude::{Client as ClientLink, Connected};

use membership::new_client;

use crate::{
    app::{self, ServerOptions},
    connection,
    hero::AnyPlayer,
    match_report::{MatchReport, PlayerReport},
    recording,
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
    /// Time without a packet after which a connection ends. Default: 3 s.
    pub timeout: Duration,
    /// Whether the server has a player of its own, as a listen server does.
    pub host: bool,
    /// Speed of the first player's clock, from before it joins; 1 is real time, clamped to 0.1–10. Default: 1.
    pub first_clock: f64,
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
            timeout: Duration::from_secs(3),
            host: false,
            first_clock: 1.0,
        }
    }
}

impl MatchOptions {
    /// Returns the frame time of a client.
    fn frame(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.fps.clamp(1.0, 1_000.0))
    }
}

/// A match of the shooter on [`SteppedApps`], which it dereferences to.
pub struct Match {
    apps: SteppedApps,
    options: MatchOptions,
    app_generation: u64,
    /// Apps of players who have rejoined with a new app. They are no longer stepped.
    retired_clients: Vec<App>,
}

impl Deref for Match {
    type Target = SteppedApps;

    fn deref(&self) -> &SteppedApps {
        &self.apps
    }
}

impl DerefMut for Match {
    fn deref_mut(&mut self) -> &mut SteppedApps {
        &mut self.apps
    }
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
        let mut server = app::server(options.server);
        // A random secret would give every run a different spread.
        server.insert_resource(SpreadSecret(options.seed));
        if options.host {
            app::add_scripted_host(&mut server, options.seed ^ 0x4057);
        }
        prepare(&mut server);
        let listener = connection::listen_in_process(&mut server);
        let mut this = Self {
            apps: SteppedApps::with_listener(server, listener),
            options: *options,
            app_generation: 0,
            retired_clients: Vec::new(),
        };
        let frame = options.frame();
        for i in 0..options.players {
            let client = new_client((&mut this.apps.server, listener), options, i, 0)?;
            // Staggered, so that no two clients' frames coincide.
            let place =
                this.apps.add(client, Client::new(frame, frame.mul_f64(0.37 + 0.61 * i as f64 % 1.0)));
            if i == 0 {
                this.apps.set_clock(place, options.first_clock);
            }
        }
        if !this.apps.run_until(Duration::from_secs(20), everyone_has_a_pawn) {
            return Err("not every player could join within 20 s; try a better --preset".to_owned());
        }
        Ok(this)
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
        let SteppedApps { clients, server, .. } = &mut self.apps;
        for app in clients.iter_mut().chain([server]) {
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
        let seconds = self.now().as_secs_f64();
        let players = self.clients.iter_mut().map(|client| {
            let mut report = PlayerReport::read(client.world_mut(), seconds);
            report.shot_stats.close();
            report
        });
        MatchReport { players: players.collect() }
    }
}

fn everyone_has_a_pawn(apps: &mut SteppedApps) -> bool {
    let expected =
        apps.clients.len() + usize::from(apps.server.world().contains_resource::<ScriptedPlayer>());
    apps.clients.iter_mut().all(|client| {
        let world = client.world_mut();
        let mut soldiers = world.query_filtered::<(), (With<DrawnPose>, With<SoldierBody>)>();
        is_playing(world) && soldiers.iter(world).count() == expected
    })
}

/// Returns whether a client app is connected and controls a pawn.
fn is_playing(world: &mut World) -> bool {
    world.query_filtered::<(), (With<ClientLink>, With<Connected>)>().iter(world).count() == 1
        && world.query_filtered::<(), (With<LocalControl>, AnyPlayer)>().iter(world).count() == 1
}

/// Plays a match and returns its report.
///
/// # Errors
/// Returns one line when a player could not join.
pub fn play(options: &MatchOptions) -> Result<MatchReport, String> {
    play_recorded(options, None)
}

/// Plays a match like [`play`], whose server records it into a file, if there is one.
///
/// # Errors
/// Returns one line when a player could not join.
pub fn play_recorded(options: &MatchOptions, record: Option<PathBuf>) -> Result<MatchReport, String> {
    let mut played = Match::start_with(options, |server| {
        if let Some(file) = record {
            recording::record(server, file, recording::STEPPED_TIME);
        }
    })?;
    played.fight(options.seconds);
    Ok(played.report())
}
