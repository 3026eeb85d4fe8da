//! WebTransport and WebSocket beside UDP: one match over all three, over real sockets and in real time.

mod adversaries;
mod joining;

use core::time::Duration;
use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    thread,
    time::Instant,
};

use bevy::prelude::*;
use bevy_unlag::{
    guard::{
        CertificateDigest, IngressStats, ServerCertificate, SessionListeners, SessionTransport,
        WebSocketClient, WebTransportClient,
    },
    net::SessionOf,
    prelude::*,
};
use lightyear::prelude::{
    Client, Connected, LinkOf, LocalAddr, PeerId,
    server::{ClientOf, Start},
};
use unlag_examples::{
    app,
    connection::{self, PROTOCOL_ID},
    transport::ClientTransport,
};

/// A server that listens for all transports, and its clients.
struct Venue {
    server: App,
    clients: Vec<App>,
    digest: CertificateDigest,
}

/// Transports of the suite.
const SESSIONS: [SessionTransport; 2] = [SessionTransport::WebTransport, SessionTransport::WebSocket];

impl Venue {
    fn start(access: &ServerAccess) -> Self {
        let certificate = ServerCertificate::self_signed(["localhost"]).expect("a certificate");
        let digest = certificate.digest();
        let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        let listeners = SessionListeners::default()
            .web_transport(any, certificate.clone())
            .web_socket(any, Some(certificate));
        let mut server = app::server(Default::default());
        let entity =
            server.world_mut().spawn((access.server(), LocalAddr(any), ServerUdp::default(), listeners)).id();
        server.world_mut().trigger(Start { entity });
        server.world_mut().flush();
        bevy_unlag_testkit::finish(&mut server);
        server.update();
        Self { server, clients: Vec::new(), digest }
    }

    fn development() -> Self {
        Self::start(&ServerAccess::development(PROTOCOL_ID))
    }

    /// Address of a listener; of the UDP socket without a transport.
    fn address(&mut self, transport: Option<SessionTransport>) -> SocketAddr {
        let world = self.server.world_mut();
        let (udp, listeners) =
            world.query::<(&LocalAddr, &SessionListeners)>().single(world).expect("a server");
        let port = match transport {
            None => udp.0.port(),
            Some(wanted) => {
                let found = listeners.addresses().find(|(transport, _)| *transport == wanted);
                found.expect("it listens").1.port()
            }
        };
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }

    fn transport(&self, transport: Option<SessionTransport>) -> ClientTransport {
        let digest = Some(self.digest);
        match transport {
            None => ClientTransport::Udp,
            Some(SessionTransport::WebTransport) => {
                ClientTransport::WebTransport(WebTransportClient { url: None, digest })
            }
            Some(SessionTransport::WebSocket) => {
                ClientTransport::WebSocket(WebSocketClient { url: None, digest })
            }
        }
    }

    /// Adds a scripted player in development mode. Returns its index.
    fn join(&mut self, client_id: u64, transport: Option<SessionTransport>) -> usize {
        let address = self.address(transport);
        let token = TokenClient::development(client_id, address, PROTOCOL_ID).expect("a token");
        let transport = self.transport(transport);
        self.join_with(token, transport)
    }

    fn join_with(&mut self, token: TokenClient, transport: ClientTransport) -> usize {
        let seed = self.clients.len() as u64 + 1;
        let mut client = app::scripted_client(seed, Default::default());
        client.insert_resource(transport);
        connection::connect_with_token(&mut client, token, NetSim::new(seed));
        bevy_unlag_testkit::finish(&mut client);
        self.clients.push(client);
        self.clients.len() - 1
    }

    /// Runs all apps until it is so, or the time is over. Returns whether it is so.
    fn run_until(&mut self, limit: f32, mut is_so: impl FnMut(&mut Self) -> bool) -> bool {
        let began = Instant::now();
        while began.elapsed().as_secs_f32() < limit {
            self.server.update();
            self.clients.iter_mut().for_each(App::update);
            if is_so(self) {
                return true;
            }
            thread::sleep(Duration::from_millis(4));
        }
        false
    }

    fn run(&mut self, seconds: f32) {
        self.run_until(seconds, |_| false);
    }

    fn stats(&self) -> &IngressStats {
        self.server.world().resource()
    }

    /// Number of links of clients, and of those that are connected.
    fn links(&mut self) -> (usize, usize) {
        let world = self.server.world_mut();
        let links = world.query_filtered::<(), With<LinkOf>>().iter(world).count();
        (links, world.query_filtered::<(), (With<ClientOf>, With<Connected>)>().iter(world).count())
    }

    fn is_connected(&mut self, client: usize) -> bool {
        let world = self.clients[client].world_mut();
        world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).next().is_some()
    }

    /// Number of acknowledgements that a client has received for its moves.
    fn acks(&mut self, client: usize) -> u64 {
        let world = self.clients[client].world_mut();
        let mut own = world.query_filtered::<&PredictionStats, With<LocalControl>>();
        own.iter(world).next().map_or(0, |stats| stats.acks)
    }

    /// Pawn that a client owns on the server.
    fn pawn_of(&mut self, client_id: u64) -> Option<Entity> {
        let world = self.server.world_mut();
        let mut pawns = world.query::<(Entity, &SessionOf)>();
        pawns.iter(world).find(|(_, of)| of.0 == PeerId::Netcode(client_id)).map(|(pawn, _)| pawn)
    }

    /// Number of pawns that a client knows.
    fn pawns(&mut self, client: usize) -> usize {
        let world = self.clients[client].world_mut();
        world.query::<&NetId>().iter(world).count()
    }
}
