//! Settings of the connection to Agones.

use core::{net::SocketAddr, time::Duration};
use std::env;

use bevy::prelude::*;

/// Environment variable with the port of the sidecar's REST interface, which Agones sets in each container.
pub(crate) const PORT_VARIABLE: &str = "AGONES_SDK_HTTP_PORT";

/// Settings of [`AgonesPlugin`](crate::AgonesPlugin). Read once, in the app's first update.
#[derive(Resource, Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct AgonesConfig {
    /// Address of the sidecar's REST interface. Default: the port in the environment variable `AGONES_SDK_HTTP_PORT` on
    /// 127.0.0.1; `None` without that variable, and the plugin does nothing.
    pub address: Option<SocketAddr>,
    /// Interval of the health pings. Default 2 s, at least 10 ms. At most half of `health.periodSeconds` of the game
    /// server, or Agones takes a single late ping for a failure.
    pub health_interval: Duration,
    /// Longest pause before a request that had no answer is repeated. The first one is 0.1 s, and each is twice as
    /// long as the one before. Default 5 s. Raising it saves requests while the sidecar is away, and the server is
    /// noticed later when it is back.
    pub retry_limit: Duration,
    /// Longest time for which the end of the process waits until the sidecar has taken the shutdown. Default 1.5 s,
    /// below the limit of the watchdog.
    pub shutdown_wait: Duration,
    /// Name of the counter with the number of players; it has to be in the game server's manifest. Default `players`.
    /// `None` keeps no counter.
    pub player_counter: Option<String>,
    /// Name of the list with the players' ids; it has to be in the game server's manifest. Default `players`. `None`
    /// keeps no list.
    pub player_list: Option<String>,
}

impl Default for AgonesConfig {
    fn default() -> Self {
        Self {
            address: address_from_environment().unwrap_or_default(),
            health_interval: Duration::from_secs(2),
            retry_limit: Duration::from_secs(5),
            shutdown_wait: Duration::from_millis(1_500),
            player_counter: Some("players".to_owned()),
            player_list: Some("players".to_owned()),
        }
    }
}

/// Returns the address of the sidecar, if there is one.
///
/// # Errors
/// Returns one line when the variable has no port.
pub(crate) fn address_from_environment() -> Result<Option<SocketAddr>, String> {
    env::var_os(PORT_VARIABLE).map_or(Ok(None), |text| parse_port(&text.to_string_lossy()).map(Some))
}

fn parse_port(text: &str) -> Result<SocketAddr, String> {
    match text.trim().parse() {
        Ok(port) if port != 0 => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        _ => Err(format!("{PORT_VARIABLE} has no port between 1 and 65535; Agones sets it to 9358")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_a_number_from_1_to_65535() {
        assert_eq!(parse_port("9358").map(|address| address.to_string()), Ok("127.0.0.1:9358".to_owned()));
        assert_eq!(parse_port(" 9358\n").map(|address| address.port()), Ok(9_358));
        for text in ["", "0", "65536", "-1", "localhost:9358", "\u{1b}[2J"] {
            assert!(parse_port(text).is_err_and(|line| line.contains("9358")), "{text:?}");
        }
    }
}
