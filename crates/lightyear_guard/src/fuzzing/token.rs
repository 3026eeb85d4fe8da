//! The door of a server by itself: what it lets through to netcode, without netcode.

use std::time::SystemTime;

use bevy::prelude::*;
use lightyear::{
    link::{Link, RecvPayload},
    prelude::{Connected, LinkOf, PeerId, RemoteId},
};

use crate::{
    plugin,
    tokens::{self, ServerAccess, WallClock},
};

/// A server that looks at tokens, and two addresses that show it some.
pub struct TokenProbe {
    app: App,
    server: Entity,
    links: [Entity; 2],
}

impl TokenProbe {
    /// A server that starts now, and reads this clock.
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

    /// A datagram arrives from one of the two addresses. Whether netcode gets it, and what the server answers.
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

    /// netcode connects who is at this address, as this client.
    pub fn join(&mut self, link: usize, client_id: u64) {
        let world = self.app.world_mut();
        world.entity_mut(self.links[link]).insert((RemoteId(PeerId::Netcode(client_id)), Connected));
        world.flush();
    }

    /// Who is at this address leaves, and somebody else comes.
    pub fn leave(&mut self, link: usize) {
        let (world, server) = (self.app.world_mut(), self.server);
        world.despawn(self.links[link]);
        self.links[link] = world.spawn((LinkOf { server }, Link::default())).id();
        world.flush();
    }
}
