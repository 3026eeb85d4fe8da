//! Players who leave a match, reconnect to it, or join it late.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use bevy_unlag_testkit::Client as Frames;
use lightyear::prelude::{Client, Disconnect};

use super::{Match, MatchOptions, is_playing};
use crate::{app, connection, scripted_player::ScriptedPlayer};

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
