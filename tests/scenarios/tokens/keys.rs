//! Honest clients join on any link; replaced keys; servers with a zero key accept no client.

use bevy_unlag::guard::{RotateKeys, ServerKeys, TokenStats, token_data};
use lightyear::{
    netcode::TokenUserData,
    prelude::{
        Authentication, Connect,
        client::{NetcodeClient, NetcodeConfig},
        server::{self, NetcodeServer, Start},
    },
};

use super::*;

#[test]
fn client_joins_with_the_id_and_user_data_of_its_token() {
    let mut token_server = TokenServer::start();
    let request = ConnectTokenRequest { data: b"team blue".to_vec(), ..token_server.request(42) };
    let token = request.issue(token_server.access.keys.newest()).expect("a token");
    let mut client = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut client], 2.0);
    assert!(is_connected(&mut client) && has_pawn(&mut client));
    assert_eq!(token_server.joined(), [PeerId::Netcode(42)]);
    let world = token_server.app.world_mut();
    let said = world.query::<&TokenUserData>().single(world).expect("one client");
    assert_eq!(token_data(said), b"team blue");
}

#[test]
fn resent_connection_requests_do_not_count_as_a_second_use() {
    let mut token_server = TokenServer::start();
    let bad = LinkConditions {
        latency: Duration::from_millis(120),
        jitter: Duration::from_millis(30),
        loss: 0.2,
        duplication: 0.2,
        ..LinkConditions::PERFECT
    };
    let mut clients: Vec<App> = (1..=24)
        .map(|id| {
            let token = token_server.token(id);
            token_server.connect(&token, bad)
        })
        .collect();
    token_server.run(&mut clients.iter_mut().collect::<Vec<_>>(), 6.0);
    for (number, client) in clients.iter_mut().enumerate() {
        assert!(is_connected(client), "client {number}: {:?}", refused(client));
    }
    assert_eq!(token_server.joined().len(), 24);
    let stats = token_server.stats();
    assert!(stats.passed > 24, "no request was resent: {stats:?}");
    assert!(JoinRefusal::ALL.into_iter().all(|refusal| stats.refused(refusal) == 0), "{stats:?}");
}

/// Gives a running server these keys, the newest first.
fn rotate(token_server: &mut TokenServer, keys: &[&ServerKey]) {
    let text: String = keys.iter().map(|key| key.to_hex() + "\n").collect();
    let keys: ServerKeys = text.parse().expect("keys");
    let rotation = RotateKeys { entity: token_server.listener, keys };
    token_server.app.world_mut().trigger(rotation);
}

#[test]
fn replaced_key_is_accepted_until_it_is_removed_and_players_stay() {
    let mut token_server = TokenServer::start();
    let (old, new) = (token_server.access.keys.newest().clone(), ServerKey::random().expect("random bytes"));
    let token = token_server.token(1);
    let mut player = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut player], 1.0);
    // Whether a client with a token of this key joins, while the player plays on.
    let mut join = |token_server: &mut TokenServer, client_id: u64, key: &ServerKey| {
        let token = token_server.request(client_id).issue(key).expect("a token");
        let mut client = token_server.connect(&token, LinkConditions::PERFECT);
        token_server.run(&mut [&mut player, &mut client], 1.0);
        assert_eq!(refused(&client), [], "a client with another key cannot be sent a refusal");
        is_connected(&mut client)
    };
    assert!(!join(&mut token_server, 2, &new), "the control: a key that the server does not have");
    rotate(&mut token_server, &[&new, &old]);
    assert!(join(&mut token_server, 3, &new) && join(&mut token_server, 4, &old));
    rotate(&mut token_server, &[&new]);
    assert!(!join(&mut token_server, 5, &old) && join(&mut token_server, 6, &new));
    assert!(is_connected(&mut player), "a player of the old key stays");
}

#[test]
fn development_mode_accepts_any_client_id() {
    let mut token_server = TokenServer::start_with(&ServerAccess::development(PROTOCOL_ID));
    let token = TokenClient::development(7, address(), PROTOCOL_ID);
    assert!(token.is_ok());
    let token = token_server.token(7);
    let mut client = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut client], 2.0);
    assert!(is_connected(&mut client));
    assert_eq!(token_server.joined(), [PeerId::Netcode(7)]);
}

/// A server and a client built from lightyear's own types with this key. Returns whether the client joined,
/// and whether the server reported a zero key.
fn join_with_raw_key(key: [u8; 32]) -> (bool, bool) {
    let access = ServerAccess::new(ServerKey::development(), PROTOCOL_ID);
    let mut token_server = TokenServer::start_with(&access);
    let config = server::NetcodeConfig {
        server_addr_check: false,
        ..server::NetcodeConfig::default().with_protocol_id(PROTOCOL_ID).with_key(key)
    };
    let listener = token_server.app.world_mut().spawn(NetcodeServer::new(config)).id();
    token_server.app.world_mut().trigger(Start { entity: listener });
    let mut client = app::scripted_client(1, Default::default());
    client.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
    bevy_unlag_testkit::finish(&mut client);
    let auth = Authentication::Manual {
        server_addr: address(),
        client_id: 1,
        private_key: key,
        protocol_id: PROTOCOL_ID,
    };
    let netcode = NetcodeClient::new(auth, NetcodeConfig::default()).expect("a client");
    let (here, there) = lightyear::crossbeam::CrossbeamIo::new_pair();
    token_server.app.world_mut().spawn((
        lightyear::prelude::LinkOf { server: listener },
        lightyear::link::Link::default(),
        lightyear::prelude::PeerAddr(address()),
        lightyear::link::Linked,
        there,
    ));
    let link = client.world_mut().spawn((Client, netcode, here)).id();
    client.world_mut().trigger(Connect { entity: link });
    token_server.run(&mut [&mut client], 2.0);
    (is_connected(&mut client), token_server.app.world().resource::<TokenStats>().zero_key > 0)
}

#[test]
fn server_with_a_zero_key_accepts_no_client_and_reports_it() {
    assert_eq!(join_with_raw_key([0; 32]), (false, true));
    assert_eq!(join_with_raw_key([7; 32]), (true, false));
}
