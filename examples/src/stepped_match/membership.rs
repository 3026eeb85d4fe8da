//! Players who leave a match, reconnect to it, or join it late.

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use bevy::prelude::*;
use bevy_unlag::{link_conditioner::LinkConditions, prelude::*};
use bevy_unlag_testkit::Client as Frames;
use lightyear::prelude::{Client, Disconnect};

use super::{Match, MatchOptions, is_playing};
use crate::{app, connection, scripted_player::ScriptedPlayer, spectating};

/// First client id of spectators.
const SPECTATORS: u64 = 20_000;
/// Maximum number of retired client apps that are kept alive.
const MAX_RETIRED_CLIENTS: usize = 16;

/// Creates a client app for a player and joins it to the server. `life` distinguishes successive apps of one
/// player.
pub(super) fn new_client(
    (server, listener): (&mut App, Entity),
    options: &MatchOptions,
    player: u64,
    life: u64,
) -> Result<App, String> {
    let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(player) ^ life << 40;
    let mut client = app::scripted_client(seed, options.server);
    client.world_mut().resource_mut::<ScriptedPlayer>().may_fire = false;
    let sim = NetSim::new(seed ^ 0x5eed).with(options.conditions);
    connection::join_with_timeout(server, listener, &mut client, (player + 1, options.timeout), sim)?;
    bevy_unlag_testkit::finish(&mut client);
    Ok(client)
}

impl Match {
    /// Joins a spectator over a link with these conditions. The server must admit spectators. Returns the index of its
    /// app among the clients.
    ///
    /// # Errors
    /// Returns one line when the connect token cannot be created.
    pub fn add_spectator(&mut self, conditions: LinkConditions) -> Result<usize, String> {
        let number = self.clients.len() as u64;
        let id = SPECTATORS + number;
        let mut app = spectating::client(self.options.server);
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let token = spectating::development_token(address(connection::DEFAULT_PORT), id)?;
        let sim = NetSim::new(self.options.seed ^ id << 20).with(conditions);
        let (listener, from) = (self.listener, address(id as u16));
        bevy_unlag_testkit::join_with_token(&mut self.server, listener, &mut app, token, from, sim);
        bevy_unlag_testkit::finish(&mut app);
        let (frame, now) = (self.options.frame(), self.now());
        let due = now + frame.mul_f64(0.37 + 0.61 * number as f64 % 1.0);
        Ok(self.add(app, Frames::new(frame, due)))
    }

    /// Disconnects a player gracefully: the client sends a disconnect and its app continues without a
    /// connection.
    pub fn disconnect(&mut self, client: usize) {
        let Some(app) = self.clients.get_mut(client) else { return };
        let world = app.world_mut();
        let links: Vec<Entity> = world.query_filtered::<Entity, With<Client>>().iter(world).collect();
        for entity in links {
            world.trigger(Disconnect { entity });
        }
        world.flush();
    }

    /// Replaces a player's app with a new one under the same client id, as after a restart of the game.
    ///
    /// # Errors
    /// Returns one line when the connect token cannot be created.
    pub fn rejoin(&mut self, client: usize) -> Result<(), String> {
        self.app_generation += 1;
        let listener = self.listener;
        let server = (&mut self.apps.server, listener);
        let app = new_client(server, &self.options, client as u64, self.app_generation)?;
        let now = self.now();
        if let Some(place) = self.apps.clients.get_mut(client) {
            // Dropping the app would close its channel, which a machine that is switched off does not do.
            self.retired_clients.push(core::mem::replace(place, app));
            // By then the server has timed out the oldest connection.
            if self.retired_clients.len() > MAX_RETIRED_CLIENTS {
                drop(self.retired_clients.remove(0));
            }
            let clock = self.apps.frames[client].clock;
            let frame = self.options.frame();
            self.apps.frames[client] = Frames { clock, ..Frames::new(frame, now + frame) };
        }
        Ok(())
    }

    /// Adds a late joiner. Returns its index.
    ///
    /// # Errors
    /// Returns one line when the connect token cannot be created.
    pub fn join(&mut self) -> Result<usize, String> {
        let place = self.clients.len();
        let listener = self.listener;
        let server = (&mut self.apps.server, listener);
        let client = new_client(server, &self.options, place as u64, 0)?;
        let (frame, now) = (self.options.frame(), self.now());
        Ok(self.add(client, Frames::new(frame, now + frame)))
    }

    /// Returns whether a client is connected and controls a pawn.
    #[must_use]
    pub fn is_playing(&mut self, client: usize) -> bool {
        if self.frames.get(client).is_none_or(|frames| frames.due == Duration::MAX) {
            return false;
        }
        self.clients.get_mut(client).is_some_and(|app| is_playing(app.world_mut()))
    }
}
