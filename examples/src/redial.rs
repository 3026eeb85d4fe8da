//! Reconnection of clients that have lost their connection.

use core::{net::SocketAddr, time::Duration};
use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::prelude::{Client, Disconnected};

use crate::link;

/// Duration of the reconnection attempts: the default time for which the server keeps the pawn,
/// [`SessionConfig::grace`].
pub const GRACE: Duration = Duration::from_secs(10);
/// Notice that the player sees during reconnection.
pub const NOTICE: &str = "connection lost: reconnecting";
/// Minimum time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Reconnection state of a client: whether it may reconnect, and when it last tried.
#[derive(Clone, Debug)]
pub struct Redial {
    client_id: Option<u64>,
    is_needed: bool,
    server_stops: bool,
    dialled_at: Option<Instant>,
}

impl Redial {
    /// Enables reconnection in development mode, where a client with the same id is the same player.
    #[must_use]
    pub fn under(client_id: u64) -> Self {
        Self { client_id: Some(client_id), ..Self::never() }
    }

    /// Disables reconnection, because a connect token is valid for one connection only.
    #[must_use]
    pub fn never() -> Self {
        Self { client_id: None, is_needed: false, server_stops: false, dialled_at: None }
    }

    /// Stops reconnecting: the server has announced its shutdown, so the end of the connection is final.
    pub(crate) fn forget_server(&mut self) {
        self.server_stops = true;
    }

    /// Updates a client that had a pawn and has none now. Returns whether it is reconnecting.
    ///
    /// # Errors
    /// Returns one line when it cannot reconnect.
    pub(crate) fn look_after(&mut self, world: &mut World, server: SocketAddr) -> Result<bool, String> {
        if self.server_stops {
            return Ok(false);
        }
        let mut ended = world.query_filtered::<(), (With<Client>, With<Disconnected>)>();
        if ended.iter(world).next().is_none() {
            // Still connected, or an attempt is in progress.
            return Ok(self.is_needed);
        }
        let Some(client_id) = self.client_id else {
            return Err(format!(
                "lost the connection to the server at {server};  \
                 a token is valid for one connection only, so ask for a new one"
            ));
        };
        self.is_needed = true;
        if self.dialled_at.is_none_or(|at| at.elapsed() >= PAUSE) {
            self.dialled_at = Some(Instant::now());
            dial_again(world, server, client_id)?;
        }
        Ok(true)
    }

    /// Returns whether the client is reconnecting.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_needed
    }

    /// Marks the client as playing. Returns whether it had been reconnecting.
    pub(crate) fn settle(&mut self) -> bool {
        core::mem::take(&mut self.is_needed)
    }
}

/// Creates a development-mode client with a random, unique client id, and the state to reconnect it under
/// that id.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn anybody(server: SocketAddr) -> Result<(TokenClient, Redial), String> {
    let client_id = link::random_client_id();
    Ok((link::anybody(server, client_id)?, Redial::under(client_id)))
}

/// Reconnects to a server in development mode with a fresh token. The old link is despawned; the new one has
/// the same conditions.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn dial_again(world: &mut World, server: SocketAddr, client_id: u64) -> Result<(), String> {
    let client = link::anybody(server, client_id)?;
    let mut links = world.query_filtered::<(Entity, &NetSim), With<Client>>();
    let old: Vec<_> = links.iter(world).map(|(link, sim)| (link, sim.seed(), sim.up, sim.down)).collect();
    let mut sim = NetSim::new(client_id);
    for (link, seed, up, down) in old {
        // A new seed, so that the same packets are not lost again. Packets in the old link are obsolete.
        sim = NetSim::new(seed.wrapping_add(1));
        (sim.up, sim.down) = (up, down);
        world.despawn(link);
    }
    link::dial_udp_in(world, client, sim);
    Ok(())
}

#[cfg(test)]
mod tests {
    use lightyear::prelude::{Connecting, Disconnect};

    use super::*;
    use crate::app;

    const BAD: LinkConditions = LinkConditions { loss: 0.5, ..LinkConditions::PERFECT };

    /// Address without a server.
    fn server() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 9))
    }

    fn client() -> App {
        let mut client = app::scripted_client(1, default(), default(), false);
        link::dial_udp(&mut client, server(), 7, NetSim::new(3).with(BAD)).expect("a token");
        app::finish(&mut client);
        client
    }

    fn hang_up(world: &mut World) {
        let links: Vec<_> = world.query_filtered::<Entity, With<Client>>().iter(world).collect();
        for entity in links {
            world.trigger(Disconnect { entity });
        }
        world.flush();
    }

    /// Returns whether the only link is connecting.
    fn is_connecting(world: &mut World) -> bool {
        let mut links = world.query_filtered::<(&NetSim, Has<Connecting>), With<Client>>();
        let links: Vec<_> = links.iter(world).map(|(sim, is)| (sim.up, sim.down, is)).collect();
        let [(up, down, is_connecting)] = links[..] else { panic!("{links:?}") };
        assert_eq!((up, down), (BAD, BAD), "the new link keeps the conditions");
        is_connecting
    }

    #[test]
    fn development_client_reconnects_at_most_once_per_second() {
        let mut client = client();
        let world = client.world_mut();
        let mut redial = Redial::under(7);
        assert!(is_connecting(world));
        assert_eq!(redial.look_after(world, server()), Ok(false), "still connecting for the first time");
        hang_up(world);
        assert!(!is_connecting(world));
        assert_eq!(redial.look_after(world, server()), Ok(true));
        assert!(is_connecting(world));
        assert_eq!(redial.look_after(world, server()), Ok(true), "an attempt is in progress");
        hang_up(world);
        assert_eq!(redial.look_after(world, server()), Ok(true));
        assert!(!is_connecting(world), "less than a second after the last attempt");
        assert!(redial.settle() && !redial.settle(), "only the first call reports a reconnection");
    }

    #[test]
    fn client_with_a_token_or_after_a_server_shutdown_does_not_reconnect() {
        let mut client = client();
        let world = client.world_mut();
        hang_up(world);
        let line =
            Redial::never().look_after(world, server()).expect_err("a token is valid for one connection");
        assert!(line.contains("ask for a new one"), "{line}");
        let mut redial = Redial::under(7);
        redial.forget_server();
        assert_eq!(redial.look_after(world, server()), Ok(false));
        assert!(!is_connecting(world));
    }
}
