//! The token filter without netcode: what a server passes on and what it replies.

use bevy::prelude::*;
use lightyear::{
    link::{Link, RecvPayload},
    prelude::{Connected, LinkOf, PeerId, RemoteId},
};

use crate::{
    clock::SystemTime,
    plugin,
    tokens::{self, ServerAccess, WallClock},
};

/// A server that validates tokens, and two addresses that send datagrams to it.
pub struct TokenProbe {
    app: App,
    server: Entity,
    links: [Entity; 2],
}

impl TokenProbe {
    /// Creates a server that starts now, with this wall clock.
    #[must_use]
    pub fn new(access: &ServerAccess, clock: fn() -> SystemTime) -> Self {
        let mut app = App::new();
        plugin::order(&mut app);
        tokens::plugin(&mut app);
        app.insert_resource(WallClock(clock));
        let world = app.world_mut();
        let server = world.spawn(access.server()).id();
        let links = [0; 2].map(|_| world.spawn((LinkOf { server }, Link::default())).id());
        world.flush();
        Self { app, server, links }
    }

    /// Receives a datagram from one of the two addresses. Returns whether netcode gets it, and the server's
    /// replies.
    pub fn show(&mut self, link: usize, datagram: &[u8]) -> (bool, Vec<Vec<u8>>) {
        let (world, link) = (self.app.world_mut(), self.links[link]);
        if let Some(mut link) = world.get_mut::<Link>(link) {
            link.recv.push_raw(RecvPayload::from(datagram));
        }
        world.run_schedule(PreUpdate);
        world.run_schedule(PostUpdate);
        let Some(mut link) = world.get_mut::<Link>(link) else { return (false, Vec::new()) };
        let passed: Vec<_> = link.recv.drain().collect();
        assert!(passed.iter().all(|passed| passed[..] == *datagram), "it was changed");
        (!passed.is_empty(), link.send.drain().map(|answer| answer.to_vec()).collect())
    }

    /// Connects an address as this client, as netcode would.
    pub fn join(&mut self, link: usize, client_id: u64) {
        let world = self.app.world_mut();
        world.entity_mut(self.links[link]).insert((RemoteId(PeerId::Netcode(client_id)), Connected));
        world.flush();
    }

    /// Replaces the link of an address by a new one.
    pub fn leave(&mut self, link: usize) {
        let (world, server) = (self.app.world_mut(), self.server);
        world.despawn(self.links[link]);
        self.links[link] = world.spawn((LinkOf { server }, Link::default())).id();
        world.flush();
    }
}
