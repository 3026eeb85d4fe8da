//! Two valid tokens at once (threat T5 in `book/src/operations/link_protection.md`): of one account on two
//! links, and of two accounts on one link.

use bevy_unlag::{guard::token_data, net::SessionOf};
use lightyear::{
    link::{Link, RecvPayload},
    netcode::TokenUserData,
    prelude::LinkOf,
};

use super::{invalid_tokens::request, *};

/// Some frames of latency each way, so that the handshake takes several frames.
const FAR: LinkConditions = LinkConditions { latency: Duration::from_millis(40), ..LinkConditions::PERFECT };

/// The connected links of an account, and all links.
fn links(token_server: &mut TokenServer, client_id: u64) -> (usize, usize) {
    let world = token_server.app.world_mut();
    let mut of = world.query_filtered::<&RemoteId, (With<ClientOf>, With<Connected>)>();
    let of = of.iter(world).filter(|id| id.0 == PeerId::Netcode(client_id)).count();
    (of, world.query_filtered::<(), With<LinkOf>>().iter(world).count())
}

/// The pawns of an account.
fn pawns(token_server: &mut TokenServer, client_id: u64) -> usize {
    let world = token_server.app.world_mut();
    let mut pawns = world.query::<&SessionOf>();
    pawns.iter(world).filter(|of| of.0 == PeerId::Netcode(client_id)).count()
}

#[test]
fn two_tokens_of_one_account_yield_one_connection_and_no_leftover_link() {
    for conditions in [LinkConditions::PERFECT, FAR] {
        // The second client connects this many frames after the first.
        for frames in [0, 1, 2, 4, 8] {
            let what = format!("{frames} frames apart, {:?} latency", conditions.latency);
            let mut token_server = TokenServer::start();
            let tokens = [token_server.token(7), token_server.token(7)];
            let mut first = token_server.connect(&tokens[0], conditions);
            token_server.run(&mut [&mut first], f64::from(frames) / 64.0);
            let mut second = token_server.connect(&tokens[1], conditions);
            token_server.run(&mut [&mut first, &mut second], 4.0);
            assert_eq!(links(&mut token_server, 7), (1, 1), "{what}");
            assert!(
                is_connected(&mut first) ^ is_connected(&mut second),
                "{what}: exactly one client must be connected"
            );
            let one = if is_connected(&mut first) { &mut first } else { &mut second };
            assert!(has_pawn(one), "{what}");
            assert_eq!(pawns(&mut token_server, 7), 1, "{what}");
            // No client runs any more. netcode times out after three seconds.
            token_server.run(&mut [], 10.0);
            assert_eq!(links(&mut token_server, 7), (0, 0), "{what}: a link was left behind");
            // The account can join again.
            let token = token_server.token(7);
            let mut again = token_server.connect(&token, conditions);
            token_server.run(&mut [&mut again], 1.5);
            assert!(is_connected(&mut again), "{what}: {:?}", refused(&again));
            assert_eq!(pawns(&mut token_server, 7), 1, "{what}");
        }
    }
}

/// The token user data of an account's connections.
fn user_data_of(token_server: &mut TokenServer, client_id: u64) -> Vec<Vec<u8>> {
    let world = token_server.app.world_mut();
    let mut clients = world.query_filtered::<(&RemoteId, &TokenUserData), With<Connected>>();
    let of = clients.iter(world).filter(|(id, _)| id.0 == PeerId::Netcode(client_id));
    of.map(|(_, data)| token_data(data).to_vec()).collect()
}

#[test]
fn second_accounts_token_on_one_link_is_ignored_and_stays_valid() {
    let mut token_server = TokenServer::start();
    let issue = |token_server: &TokenServer, client_id, data: &[u8]| {
        let request = ConnectTokenRequest { data: data.to_vec(), ..token_server.request(client_id) };
        request.issue(token_server.access.keys.newest()).expect("a token")
    };
    let (seven, eight) = (issue(&token_server, 7, b"seven"), issue(&token_server, 8, b"eight"));
    let mut client = token_server.connect(&seven, FAR);
    for frame in 0.. {
        assert!(frame < 64, "the request never arrived");
        token_server.run(&mut [&mut client], 1.0 / 64.0);
        if token_server.stats().passed > 0 {
            break;
        }
    }
    assert!(!is_connected(&mut client));
    let link = {
        let world = token_server.app.world_mut();
        world.query_filtered::<Entity, With<LinkOf>>().single(world).expect("the client's link")
    };
    let mut shown = 0;
    while token_server.joined().is_empty() {
        assert!(shown < 128, "the client never joins: {:?}", token_server.stats());
        let mut link = token_server.app.world_mut().get_mut::<Link>(link).expect("a link");
        link.recv.push_raw(RecvPayload::from(&request(&eight)[..]));
        shown += 1;
        token_server.run(&mut [&mut client], 1.0 / 64.0);
    }
    assert!(shown > 3, "presented only {shown} times before the client joined");
    token_server.run(&mut [&mut client], 1.0);
    assert!(is_connected(&mut client) && has_pawn(&mut client));
    assert_eq!(token_server.joined(), [PeerId::Netcode(7)]);
    assert_eq!(
        (user_data_of(&mut token_server, 7), user_data_of(&mut token_server, 8)),
        (vec![b"seven".to_vec()], vec![])
    );

    let mut other = token_server.connect(&eight, FAR);
    token_server.run(&mut [&mut client, &mut other], 1.5);
    assert!(
        is_connected(&mut other) && has_pawn(&mut other),
        "the second token must stay valid: {:?}",
        refused(&other)
    );
    assert!(is_connected(&mut client), "{:?}", received_kicks(&client));
    assert_eq!(token_server.joined(), [PeerId::Netcode(7), PeerId::Netcode(8)]);
    assert_eq!(user_data_of(&mut token_server, 8), [b"eight".to_vec()]);
}
