//! A client that has lost its connection dials again.

use core::{net::SocketAddr, time::Duration};
use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::prelude::{Client, Disconnected};

use crate::link;

/// For how long a client tries: as long as its pawn waits by default, [`SessionConfig::grace`].
pub const GRACE: Duration = Duration::from_secs(10);
/// What the player reads meanwhile.
pub const NOTICE: &str = "connection lost: joining again";
/// The least time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether a client that loses its connection can dial again, and when it last did.
#[derive(Clone, Debug)]
pub struct Redial {
    client_id: Option<u64>,
    is_needed: bool,
    server_stops: bool,
    dialled_at: Option<Instant>,
}

impl Redial {
    /// In development mode, where who says the same name again is the same player.
    #[must_use]
    pub fn under(client_id: u64) -> Self {
        Self { client_id: Some(client_id), ..Self::never() }
    }

    /// With a token: it is good for one connection.
    #[must_use]
    pub fn never() -> Self {
        Self { client_id: None, is_needed: false, server_stops: false, dialled_at: None }
    }

    /// The server has said that it will stop: a connection that ends from now on has ended for good.
    pub(crate) fn forget_server(&mut self) {
        self.server_stops = true;
    }

    /// Looks after a client that has played and does not now. Returns whether it is trying to come back.
    ///
    /// # Errors
    /// One line when it cannot try.
    pub(crate) fn look_after(&mut self, world: &mut World, server: SocketAddr) -> Result<bool, String> {
        if self.server_stops {
            return Ok(false);
        }
        let mut ended = world.query_filtered::<(), (With<Client>, With<Disconnected>)>();
        if ended.iter(world).next().is_none() {
            // Well, or an attempt is under way.
            return Ok(self.is_needed);
        }
        let Some(client_id) = self.client_id else {
            return Err(format!(
                "the connection to the server at {server} is lost, and a token is good for one; ask for a new one"
            ));
        };
        self.is_needed = true;
        if self.dialled_at.is_none_or(|at| at.elapsed() >= PAUSE) {
            self.dialled_at = Some(Instant::now());
            dial_again(world, server, client_id)?;
        }
        Ok(true)
    }

    /// Whether the client is trying to come back.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_needed
    }

    /// It plays. Returns whether it has just come back.
    pub(crate) fn settle(&mut self) -> bool {
        core::mem::take(&mut self.is_needed)
    }
}

/// A name that nobody else has, and what joins a server in development mode under it, now and again.
///
/// # Errors
/// One line when the connect token cannot be made.
pub fn anybody(server: SocketAddr) -> Result<(TokenClient, Redial), String> {
    let client_id = link::random_client_id();
    Ok((link::anybody(server, client_id)?, Redial::under(client_id)))
}

/// Dials a server in development mode once more, with a fresh token and through a link that is as good or bad as the
/// last one. Nothing is left of that.
///
/// # Errors
/// One line when the connect token cannot be made.
pub fn dial_again(world: &mut World, server: SocketAddr, client_id: u64) -> Result<(), String> {
    let client = link::anybody(server, client_id)?;
    let mut links = world.query_filtered::<(Entity, &NetSim), With<Client>>();
    let old: Vec<_> = links.iter(world).map(|(link, sim)| (link, sim.seed(), sim.up, sim.down)).collect();
    let mut sim = NetSim::new(client_id);
    for (link, seed, up, down) in old {
        // Not the same luck once more; and what the old one still holds is of no use to anybody.
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

    /// Nobody is there.
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

    /// Whether the one link is being established.
    fn is_connecting(world: &mut World) -> bool {
        let mut links = world.query_filtered::<(&NetSim, Has<Connecting>), With<Client>>();
        let links: Vec<_> = links.iter(world).map(|(sim, is)| (sim.up, sim.down, is)).collect();
        let [(up, down, is_connecting)] = links[..] else { panic!("{links:?}") };
        assert_eq!((up, down), (BAD, BAD), "it is as bad as the last one");
        is_connecting
    }

    #[test]
    fn who_has_no_token_to_lose_dials_again_but_not_in_a_hurry() {
        let mut client = client();
        let world = client.world_mut();
        let mut redial = Redial::under(7);
        assert!(is_connecting(world));
        assert_eq!(redial.look_after(world, server()), Ok(false), "nothing is lost yet");
        hang_up(world);
        assert!(!is_connecting(world));
        assert_eq!(redial.look_after(world, server()), Ok(true));
        assert!(is_connecting(world));
        assert_eq!(redial.look_after(world, server()), Ok(true), "it is at it");
        hang_up(world);
        assert_eq!(redial.look_after(world, server()), Ok(true));
        assert!(!is_connecting(world), "that was less than a second ago");
        assert!(redial.settle() && !redial.settle(), "once");
    }

    #[test]
    fn with_a_token_or_after_a_goodbye_it_does_not() {
        let mut client = client();
        let world = client.world_mut();
        hang_up(world);
        let line =
            Redial::never().look_after(world, server()).expect_err("a token is good for one connection");
        assert!(line.contains("ask for a new one"), "{line}");
        let mut redial = Redial::under(7);
        redial.forget_server();
        assert_eq!(redial.look_after(world, server()), Ok(false));
        assert!(!is_connecting(world));
    }
}
