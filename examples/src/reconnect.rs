//! Reconnection of clients that have lost their connection.

use core::{net::SocketAddr, time::Duration};

use bevy::{platform::time::Instant, prelude::*};
use bevy_unlag::{guard::ConnectTokenRequest, prelude::*};
use lightyear::prelude::{Client, Disconnected};

use crate::{
    connection,
    match_end::{EndReason, MatchEnd},
};

/// Duration of the reconnection attempts: the default time for which the server keeps the pawn,
/// [`SessionConfig::grace`](bevy_unlag::net::SessionConfig::grace).
pub const GRACE: Duration = Duration::from_secs(10);
/// Notice that the player sees during reconnection.
pub const RECONNECT_NOTICE: &str = "connection lost: reconnecting";
/// Duration of a frame that does not cost a window its connection.
const LONGEST_FRAME: Duration = Duration::from_secs(15);
/// Minimum time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Reconnection state of a client: whether it may reconnect, and when it last tried.
#[derive(Clone, Debug)]
pub struct ReconnectPolicy {
    /// Client id, and the time without a packet that ends the connection; `None` if it may not reconnect.
    identity: Option<(u64, Duration)>,
    is_reconnecting: bool,
    server_shut_down: bool,
    last_attempt: Option<Instant>,
}

impl ReconnectPolicy {
    /// Enables reconnection in development mode, where a client with the same id is the same player.
    #[must_use]
    pub fn with_client_id(client_id: u64) -> Self {
        Self { identity: Some((client_id, ConnectTokenRequest::DEFAULT_TIMEOUT)), ..Self::never() }
    }

    /// Disables reconnection, because a connect token is valid for one connection only.
    #[must_use]
    pub fn never() -> Self {
        Self { identity: None, is_reconnecting: false, server_shut_down: false, last_attempt: None }
    }

    /// Stops reconnecting: the server has announced its shutdown, so the end of the connection is final.
    pub(crate) fn stop_reconnecting(&mut self) {
        self.server_shut_down = true;
    }

    /// Updates a client that had a pawn and has none now. Returns whether it is reconnecting.
    ///
    /// # Errors
    /// Returns the end of the match when it cannot reconnect.
    pub(crate) fn maintain(&mut self, world: &mut World, server: SocketAddr) -> Result<bool, MatchEnd> {
        if self.server_shut_down {
            return Ok(false);
        }
        let mut ended = world.query_filtered::<(), (With<Client>, With<Disconnected>)>();
        if ended.iter(world).next().is_none() {
            // Still connected, or an attempt is in progress.
            return Ok(self.is_reconnecting);
        }
        let Some((client_id, timeout)) = self.identity else {
            return Err(EndReason::ConnectionLost.because(format!(
                "lost the connection to the server at {server}; \
                 a token is valid for one connection only, so ask for a new one"
            )));
        };
        self.is_reconnecting = true;
        if self.last_attempt.is_none_or(|at| at.elapsed() >= RETRY_INTERVAL) {
            self.last_attempt = Some(Instant::now());
            let client = connection::development_client_with_timeout(server, client_id, timeout);
            replace_link(world, client.map_err(|line| EndReason::ConnectionLost.because(line))?);
        }
        Ok(true)
    }

    /// Returns whether the client joins with a connect token, which is good for one connection.
    pub(crate) fn has_token(&self) -> bool {
        self.identity.is_none()
    }

    /// Returns whether the server has announced its shutdown.
    pub(crate) fn is_server_shutting_down(&self) -> bool {
        self.server_shut_down
    }

    /// Returns whether the client is reconnecting.
    pub(crate) fn is_reconnecting(&self) -> bool {
        self.is_reconnecting
    }

    /// Marks the client as playing. Returns whether it had been reconnecting.
    pub(crate) fn mark_playing(&mut self) -> bool {
        core::mem::take(&mut self.is_reconnecting)
    }
}

/// Creates a development-mode client with a random, unique client id, and the state to reconnect it under
/// that id.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn development_client(server: SocketAddr) -> Result<(TokenClient, ReconnectPolicy), String> {
    let client_id = connection::random_client_id();
    Ok((connection::development_client(server, client_id)?, ReconnectPolicy::with_client_id(client_id)))
}

/// Creates a client like [`development_client`] for an app with a window: the connection survives frames of many
/// seconds, which compile shaders on machines without a graphics card.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn window_client(server: SocketAddr) -> Result<(TokenClient, ReconnectPolicy), String> {
    window_client_with_id(server, connection::random_client_id())
}

/// Creates a client like [`window_client`], for a player that may have been there before.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn window_client_with_id(
    server: SocketAddr,
    client_id: u64,
) -> Result<(TokenClient, ReconnectPolicy), String> {
    let client = connection::development_client_with_timeout(server, client_id, LONGEST_FRAME)?;
    let identity = Some((client_id, LONGEST_FRAME));
    Ok((client, ReconnectPolicy { identity, ..ReconnectPolicy::never() }))
}

/// Reconnects to a server in development mode with a fresh token.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn reconnect(world: &mut World, server: SocketAddr, client_id: u64) -> Result<(), String> {
    replace_link(world, connection::development_client(server, client_id)?);
    Ok(())
}

/// Connects a client by a new link. The old one is despawned; the new one has the same conditions.
fn replace_link(world: &mut World, client: TokenClient) {
    let mut links = world.query_filtered::<(Entity, &NetSim), With<Client>>();
    let old: Vec<_> = links.iter(world).map(|(link, sim)| (link, sim.seed(), sim.up, sim.down)).collect();
    let mut sim = NetSim::new(1);
    for (link, seed, up, down) in old {
        // A new seed, so that the same packets are not lost again. Packets in the old link are obsolete.
        sim = NetSim::new(seed.wrapping_add(1));
        (sim.up, sim.down) = (up, down);
        world.despawn(link);
    }
    connection::connect_in_world(world, client, sim);
}

#[cfg(test)]
mod tests {
    use bevy_unlag::link_conditioner::LinkConditions;
    use lightyear::prelude::{Connecting, Disconnect};

    use super::*;
    use crate::app;

    const BAD: LinkConditions = LinkConditions { loss: 0.5, ..LinkConditions::PERFECT };

    /// Address without a server.
    fn server() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 9))
    }

    fn client() -> App {
        let mut client = app::scripted_client(1, default());
        connection::connect(&mut client, server(), 7, NetSim::new(3).with(BAD)).expect("a token");
        bevy_unlag_testkit::finish(&mut client);
        client
    }

    fn disconnect(world: &mut World) {
        let links: Vec<_> = world.query_filtered::<Entity, With<Client>>().iter(world).collect();
        for entity in links {
            world.trigger(Disconnect { entity });
        }
        world.flush();
    }

    /// Returns whether the only link is connecting.
    fn expect_one_link_and_is_connecting(world: &mut World) -> bool {
        let mut links = world.query_filtered::<(&NetSim, Has<Connecting>), With<Client>>();
        let links: Vec<_> = links.iter(world).map(|(sim, is)| (sim.up, sim.down, is)).collect();
        let [(up, down, expect_one_link_and_is_connecting)] = links[..] else { panic!("{links:?}") };
        assert_eq!((up, down), (BAD, BAD), "the new link keeps the conditions");
        expect_one_link_and_is_connecting
    }

    #[test]
    fn development_client_reconnects_at_most_once_per_second() {
        let mut client = client();
        let world = client.world_mut();
        let mut redial = ReconnectPolicy::with_client_id(7);
        assert!(expect_one_link_and_is_connecting(world));
        assert_eq!(redial.maintain(world, server()), Ok(false), "still connecting for the first time");
        disconnect(world);
        assert!(!expect_one_link_and_is_connecting(world));
        assert_eq!(redial.maintain(world, server()), Ok(true));
        assert!(expect_one_link_and_is_connecting(world));
        assert_eq!(redial.maintain(world, server()), Ok(true), "an attempt is in progress");
        disconnect(world);
        assert_eq!(redial.maintain(world, server()), Ok(true));
        assert!(!expect_one_link_and_is_connecting(world), "less than a second after the last attempt");
        assert!(
            redial.mark_playing() && !redial.mark_playing(),
            "only the first call reports a reconnection"
        );
    }

    #[test]
    fn client_with_a_token_or_after_a_server_shutdown_does_not_reconnect() {
        let mut client = client();
        let world = client.world_mut();
        disconnect(world);
        let line = ReconnectPolicy::never()
            .maintain(world, server())
            .expect_err("a token is valid for one connection")
            .to_string();
        assert!(line.contains("ask for a new one") && !line.contains("  "), "{line}");
        let mut redial = ReconnectPolicy::with_client_id(7);
        redial.stop_reconnecting();
        assert_eq!(redial.maintain(world, server()), Ok(false));
        assert!(!expect_one_link_and_is_connecting(world));
    }
}
