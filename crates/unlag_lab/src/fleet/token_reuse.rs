//! Connect tokens that are offered where they are not good: at another server of the fleet, and in another match.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bevy_unlag::guard::{ConnectTokenRequest, ServerKey, ServerKeys};
use bevy_unlag_testkit::{join_with_token, listen_with_access};
use lightyear::prelude::{Client, Connected};
use unlag_examples::{app, connection::PROTOCOL_ID};

use crate::prelude::*;

/// Address that the tokens name: all servers of a machine may share one behind address translation.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 5_000);
/// Steps of 1/64 s that a client has to join.
const PATIENCE: u32 = 64;

/// A server of the fleet and the match that it plays.
struct Place {
    server: App,
    listener: Entity,
    name: (&'static str, &'static str),
}

impl Place {
    fn new(keys: ServerKeys, name: (&'static str, &'static str)) -> Self {
        let mut server = app::server(ServerOptions::default());
        server.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        let access = ServerAccess {
            server_id: Some(name.0.to_owned()),
            match_id: Some(name.1.to_owned()),
            ..ServerAccess::new(keys, PROTOCOL_ID)
        };
        let listener = listen_with_access(&mut server, &access);
        finish(&mut server);
        Self { server, listener, name }
    }

    /// Returns whether a client joins with a token, coming from this port.
    fn lets_in(&mut self, token: &[u8], port: u16) -> Result<bool, String> {
        let mut client = app::scripted_client(u64::from(port), ServerOptions::default());
        client.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        finish(&mut client);
        let token = TokenClient::new(token).map_err(|error| error.to_string())?;
        let from = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        join_with_token(
            &mut self.server,
            self.listener,
            &mut client,
            token,
            from,
            NetSim::new(u64::from(port)),
        );
        for _ in 0..PATIENCE {
            self.server.update();
            client.update();
            let world = client.world_mut();
            if world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Offers each token at every place but its own, and then at its own.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let tokens_each: u64 = options.extent(2, 16);
    let fleet = ServerKey::random().map_err(|error| error.to_string())?;
    // Servers with keys of their own, servers that share a key, and matches of one server.
    let own = |name: &str| ServerKeys::from(fleet.for_server(name));
    let shared = || ServerKeys::from(fleet.clone());
    let places = [
        (own("eu-1"), ("eu-1", "m1")),
        (own("eu-2"), ("eu-2", "m2")),
        (shared(), ("us-1", "m3")),
        (shared(), ("us-2", "m4")),
        (own("eu-1"), ("eu-1", "m5")),
    ];
    let (mut elsewhere, mut offered, mut at_home, mut issued, mut port) = (0_u64, 0_u64, 0_u64, 0_u64, 1);
    let mut servers: Vec<_> = places.iter().map(|(keys, name)| Place::new(keys.clone(), *name)).collect();
    for (keys, name) in &places {
        for _ in 0..tokens_each {
            issued += 1;
            let request = ConnectTokenRequest {
                server_id: Some(name.0.to_owned()),
                match_id: Some(name.1.to_owned()),
                lifetime: Duration::from_secs(3_600),
                ..ConnectTokenRequest::new(issued, ADDRESS, PROTOCOL_ID)
            };
            let token = request.issue(keys.newest()).map_err(|error| error.to_string())?;
            for place in servers.iter_mut().filter(|place| place.name != *name) {
                elsewhere += u64::from(place.lets_in(&token, port)?);
                (offered, port) = (offered + 1, port + 1);
            }
            for place in servers.iter_mut().filter(|place| place.name == *name) {
                at_home += u64::from(place.lets_in(&token, port)?);
                port += 1;
            }
        }
    }
    let note = format!("offers of {issued} tokens");
    figures.add_counted("token_reused_elsewhere", elsewhere as f64, offered, note)?;
    let joined = at_home as f64 * 100.0 / issued as f64;
    figures.add_counted("control_token_joins_percent", joined, issued, "tokens, each at its own server")
}
