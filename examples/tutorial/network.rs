//! Chapter 1: connections over UDP.

use bevy::prelude::*;
use bevy_unlag::{
    lightyear::prelude::{Client, Connect, Connected, LocalAddr, UdpIo, server::Start},
    prelude::*,
};
use std::net::SocketAddr;

/// Number of the game: a server refuses clients of another game.
pub const GAME: u64 = 1;

/// Starts a server. `access` says who may join.
pub fn listen(app: &mut App, address: SocketAddr, access: &ServerAccess) {
    let server = (access.server(), LocalAddr(address), ServerUdp::default());
    app.world_mut().spawn(server).trigger(|entity| Start { entity });
}

/// Connects to the server that the token names.
pub fn connect(app: &mut App, token: TokenClient) {
    app.add_observer(|_: On<Add, Connected>| info!("connected"));
    let local = LocalAddr(token.local_address());
    // The link simulator changes nothing until chapter 5.
    let link = (Client, token, UdpIo::default(), local, NetSim::new(1));
    app.world_mut().spawn(link).trigger(|entity| Connect { entity });
}
