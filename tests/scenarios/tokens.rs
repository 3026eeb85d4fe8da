//! Connect tokens, over netcode in stepped time.

mod fresh_token;
mod invalid_tokens;
mod keys;
mod places;
mod simultaneous_tokens;

use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddr};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    guard::{
        ConnectTokenRequest, JoinRefusal, JoinRefused, KickReason, KickedByServer, ServerKey, TokenStats,
    },
    link_conditioner::LinkConditions,
    prelude::*,
};
use lightyear::prelude::{Client, Connected, PeerId, RemoteId, server::ClientOf};
use unlag_examples::{
    app,
    connection::{self, PROTOCOL_ID},
};

/// A server that validates connect tokens, and the clients that joined it.
struct TokenServer {
    app: App,
    listener: Entity,
    access: ServerAccess,
    /// The host of the next client.
    host: Ipv4Addr,
    /// The port of the next client.
    port: u16,
}

/// All clients that have ever been connected, as the game sees them.
#[derive(Resource, Default)]
struct Joined(Vec<PeerId>);

impl TokenServer {
    fn start() -> Self {
        Self::start_with(&ServerAccess {
            addresses: vec![address()],
            ..ServerAccess::new(ServerKey::random().expect("random bytes"), PROTOCOL_ID)
        })
    }

    fn start_with(access: &ServerAccess) -> Self {
        let mut app = app::server(app::ServerOptions::default());
        app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK)).init_resource::<Joined>();
        app.add_observer(
            |connected: On<Add, Connected>,
             clients: Query<&RemoteId, With<ClientOf>>,
             mut joined: ResMut<Joined>| {
                joined.0.extend(clients.get(connected.entity).ok().map(|id| id.0));
            },
        );
        let listener = bevy_unlag_testkit::listen_with_access(&mut app, access);
        bevy_unlag_testkit::finish(&mut app);
        Self { app, listener, access: access.clone(), host: Ipv4Addr::LOCALHOST, port: 1 }
    }

    fn request(&self, client_id: u64) -> ConnectTokenRequest {
        // Long enough for machines that step the time slowly.
        let lifetime = Duration::from_secs(600);
        ConnectTokenRequest { lifetime, ..ConnectTokenRequest::new(client_id, address(), PROTOCOL_ID) }
    }

    fn token(&self, client_id: u64) -> Vec<u8> {
        self.request(client_id).issue(self.access.keys.newest()).expect("a token")
    }

    /// Creates a client that connects with `token`, from its own address.
    fn connect(&mut self, token: &[u8], conditions: LinkConditions) -> App {
        let mut client = app::scripted_client(self.port.into(), Default::default());
        client.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
        client.init_resource::<ReceivedRefusals>().init_resource::<ReceivedKicks>();
        client.add_systems(
            Update,
            |mut heard: MessageReader<JoinRefused>, mut refused: ResMut<ReceivedRefusals>| {
                refused.0.extend(heard.read().map(|refused| refused.reason));
            },
        );
        client.add_systems(
            Update,
            |mut heard: MessageReader<KickedByServer>, mut out: ResMut<ReceivedKicks>| {
                out.0.extend(heard.read().map(|kicked| kicked.0));
            },
        );
        bevy_unlag_testkit::finish(&mut client);
        self.dial(&mut client, token, conditions);
        client
    }

    fn dial(&mut self, client: &mut App, token: &[u8], conditions: LinkConditions) {
        let sim = NetSim::new(u64::from(self.port) * 7 + 3).with(conditions);
        let from = SocketAddr::from((self.host, self.port));
        self.port += 1;
        let token = TokenClient::new(token).expect("a token");
        bevy_unlag_testkit::join_with_token(&mut self.app, self.listener, client, token, from, sim);
    }

    fn run(&mut self, clients: &mut [&mut App], seconds: f64) {
        for _ in 0..(seconds * 64.0) as u32 {
            self.app.update();
            for client in &mut *clients {
                client.update();
            }
        }
    }

    fn joined(&self) -> &[PeerId] {
        &self.app.world().resource::<Joined>().0
    }

    fn stats(&self) -> TokenStats {
        *self.app.world().resource::<TokenStats>()
    }
}

/// Join refusals that a client received.
#[derive(Resource, Default)]
struct ReceivedRefusals(Vec<JoinRefusal>);

fn refused(client: &App) -> &[JoinRefusal] {
    &client.world().resource::<ReceivedRefusals>().0
}

/// Kick reasons that a client received.
#[derive(Resource, Default)]
struct ReceivedKicks(Vec<KickReason>);

fn received_kicks(client: &App) -> &[KickReason] {
    &client.world().resource::<ReceivedKicks>().0
}

fn address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, connection::DEFAULT_PORT))
}

fn is_connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
}

fn has_pawn(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>().iter(world).count() == 1
}
