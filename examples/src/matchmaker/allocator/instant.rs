//! Game servers that are always ready and do not exist, for measurements of the matchmaker itself.

use core::net::{Ipv4Addr, SocketAddr};

use super::{AllocationEvent, Allocator, GameServer};

/// Allocates a server at once.
#[derive(Default)]
pub struct InstantServers {
    events: Vec<(String, AllocationEvent)>,
}

impl Allocator for InstantServers {
    fn allocate(&mut self, match_id: &str) -> Result<(), String> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let server = GameServer { server_id: format!("server-of-{match_id}"), address };
        self.events.push((match_id.to_owned(), AllocationEvent::Ready(server)));
        Ok(())
    }

    fn poll(&mut self) -> Vec<(String, AllocationEvent)> {
        core::mem::take(&mut self.events)
    }
}
