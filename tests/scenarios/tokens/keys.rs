//! Honest clients join on any link; servers with a zero key accept no client.

use bevy_unlag::{
    core::{SetupDiagnostics, SetupIssue},
    guard::token_data,
};
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
    let mut door = Door::open();
    let request = ConnectTokenRequest { data: b"team blue".to_vec(), ..door.request(42) };
    let token = request.issue(&door.access.key).expect("a token");
    let mut client = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut client], 2.0);
    assert!(is_in(&mut client) && has_pawn(&mut client));
    assert_eq!(door.joined(), [PeerId::Netcode(42)]);
    let world = door.app.world_mut();
    let said = world.query::<&TokenUserData>().single(world).expect("one client");
    assert_eq!(token_data(said), b"team blue");
}

#[test]
fn resent_connection_requests_do_not_count_as_a_second_use() {
    let mut door = Door::open();
    let bad = LinkConditions {
        latency: Duration::from_millis(120),
        jitter: Duration::from_millis(30),
        loss: 0.2,
        duplication: 0.2,
        ..LinkConditions::PERFECT
    };
    let mut clients: Vec<App> = (1..=24)
        .map(|id| {
            let token = door.token(id);
            door.come(&token, bad)
        })
        .collect();
    door.run(&mut clients.iter_mut().collect::<Vec<_>>(), 6.0);
    for (number, client) in clients.iter_mut().enumerate() {
        assert!(is_in(client), "client {number}: {:?}", refused(client));
    }
    assert_eq!(door.joined().len(), 24);
    let stats = door.stats();
    assert!(stats.passed > 24, "no request was resent: {stats:?}");
    assert!(JoinRefusal::ALL.into_iter().all(|refusal| stats.refused(refusal) == 0), "{stats:?}");
}

#[test]
fn development_mode_accepts_any_client_id() {
    let mut door = Door::open_as(&ServerAccess::development(PROTOCOL_ID));
    let token = TokenClient::development(7, address(), PROTOCOL_ID);
    assert!(token.is_ok());
    let token = door.token(7);
    let mut client = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut client], 2.0);
    assert!(is_in(&mut client));
    assert_eq!(door.joined(), [PeerId::Netcode(7)]);
}

/// A server and a client built from lightyear's own types with this key. Returns whether the client joined,
/// and whether the server reported a zero key.
fn by_hand(key: [u8; 32]) -> (bool, bool) {
    let access = ServerAccess::new(ServerKey::development(), PROTOCOL_ID);
    let mut door = Door::open_as(&access);
    let config = server::NetcodeConfig {
        server_addr_check: false,
        ..server::NetcodeConfig::default().with_protocol_id(PROTOCOL_ID).with_key(key)
    };
    let listener = door.app.world_mut().spawn(NetcodeServer::new(config)).id();
    door.app.world_mut().trigger(Start { entity: listener });
    let mut client = app::scripted_client(1, Default::default(), Default::default(), false);
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
    door.app.world_mut().spawn((
        lightyear::prelude::LinkOf { server: listener },
        lightyear::link::Link::default(),
        lightyear::prelude::PeerAddr(address()),
        lightyear::link::Linked,
        there,
    ));
    let link = client.world_mut().spawn((Client, netcode, here)).id();
    client.world_mut().trigger(Connect { entity: link });
    door.run(&mut [&mut client], 2.0);
    (is_in(&mut client), door.app.world().resource::<SetupDiagnostics>().has(SetupIssue::ZeroKey))
}

#[test]
fn server_with_a_zero_key_accepts_no_client_and_reports_it() {
    assert_eq!(by_hand([0; 32]), (false, true));
    assert_eq!(by_hand([7; 32]), (true, false));
}
