//! Log lines of a server about its clients: their targets, their fields and what they leave out.
//!
//! A line is logged where its fact is known.

use core::{net::SocketAddr, time::Duration};

use bevy::{
    log::tracing::field::{DisplayValue, display},
    prelude::*,
};
use lightyear::prelude::{PeerAddr, PeerId};

/// Target of lines about the socket and the key of a server.
pub(crate) const SERVER: &str = "lightyear_guard::server";
/// Target of lines about refused joins, datagrams and packets.
pub(crate) const REFUSALS: &str = "lightyear_guard::refusals";
/// Target of lines about clients with strikes.
pub(crate) const STRIKES: &str = "lightyear_guard::strikes";
/// Target of lines about kicked clients.
pub(crate) const KICKS: &str = "lightyear_guard::kicks";

/// Settings of a server's log lines about its clients. May be changed at any time.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct LogConfig {
    /// Whether lines contain the addresses of clients, which are personal data. Default `true`. `false` leaves
    /// the field `address` out; attackers can then not be told apart by the log.
    pub addresses: bool,
    /// Least time between two lines that sum up refused datagrams and packets. Default 10 s. Lowering it makes a
    /// flood write as many more lines.
    pub summary_interval: Duration,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { addresses: true, summary_interval: Duration::from_secs(10) }
    }
}

impl LogConfig {
    /// Returns the field `address` of a log line, if addresses are logged.
    #[must_use]
    pub fn address(&self, peer: Option<&PeerAddr>) -> Option<DisplayValue<SocketAddr>> {
        peer.filter(|_| self.addresses).map(|peer| display(peer.0))
    }
}

/// Returns the field `client` of a log line: the number of a netcode client, lightyear's name of any other peer.
#[must_use]
pub fn client_name(peer: PeerId) -> String {
    match peer {
        PeerId::Netcode(id) => id.to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_logged_unless_the_operator_declines_and_a_netcode_client_is_its_number() {
        let peer = PeerAddr(SocketAddr::from(([203, 0, 113, 7], 5_000)));
        let line = |config: LogConfig| config.address(Some(&peer)).map(|address| address.to_string());
        assert_eq!(line(LogConfig::default()).as_deref(), Some("203.0.113.7:5000"));
        assert_eq!(line(LogConfig { addresses: false, ..LogConfig::default() }), None);
        assert_eq!(LogConfig::default().address(None).map(|address| address.to_string()), None);
        assert_eq!(client_name(PeerId::Netcode(u64::MAX)), u64::MAX.to_string());
        assert_eq!(client_name(PeerId::Local(3)), "Local(3)");
    }
}
