//! Allocation of game servers: the interface, and where they come from.

pub mod agones;
pub mod instant;
pub mod local;

use core::net::SocketAddr;

/// A game server for one match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameServer {
    /// Its name in the fleet, from which its key is derived.
    pub server_id: String,
    /// Address for clients.
    pub address: SocketAddr,
}

/// Outcome of an allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AllocationEvent {
    /// The server waits for the players of its match.
    Ready(GameServer),
    /// There will be no server; contains why, in one line.
    Failed(String),
    /// The server of the match has stopped.
    Ended,
}

/// Source of game servers. It does not wait for them.
pub trait Allocator {
    /// Begins to allocate a server for a match.
    ///
    /// # Errors
    /// Returns one line when none can be had now.
    fn allocate(&mut self, match_id: &str) -> Result<(), String>;

    /// Returns what has happened since the last call, by match.
    fn poll(&mut self) -> Vec<(String, AllocationEvent)>;

    /// Drains the servers that this process has started, and returns how many still run. Called again and again until
    /// there is none. Servers of others go on.
    fn drain(&mut self) -> usize {
        0
    }
}
