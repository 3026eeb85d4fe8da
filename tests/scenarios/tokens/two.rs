//! Two valid tokens at once (threat T5 in `docs/link.md`): of one account on two links, and of two accounts
//! on one link.

use bevy_unlag::guard::token_data;
use lightyear::{
    link::{Link, RecvPayload},
    netcode::TokenUserData,
    prelude::LinkOf,
};

use super::{hostile::request, *};

/// Some frames of latency each way, so that the handshake takes several frames.
const FAR: LinkConditions = LinkConditions { latency: Duration::from_millis(40), ..LinkConditions::PERFECT };

/// The connected links of an account, and all links.
fn links(door: &mut Door, client_id: u64) -> (usize, usize) {
    let world = door.app.world_mut();
    let mut of = world.query_filtered::<&RemoteId, (With<ClientOf>, With<Connected>)>();
    let of = of.iter(world).filter(|id| id.0 == PeerId::Netcode(client_id)).count();
    (of, world.query_filtered::<(), With<LinkOf>>().iter(world).count())
}

/// The pawns of an account.
fn pawns(door: &mut Door, client_id: u64) -> usize {
    let world = door.app.world_mut();
    let mut pawns = world.query::<&SessionOf>();
    pawns.iter(world).filter(|of| of.0 == PeerId::Netcode(client_id)).count()
}

#[test]
fn two_tokens_of_one_account_yield_one_connection_and_no_leftover_link() {
    for conditions in [LinkConditions::PERFECT, FAR] {
        // The second client connects this many frames after the first.
        for frames in [0, 1, 2, 4, 8] {
            let what = format!("{frames} frames apart, {:?} latency", conditions.latency);
            let mut door = Door::open();
            let tokens = [door.token(7), door.token(7)];
            let mut first = door.come(&tokens[0], conditions);
            door.run(&mut [&mut first], f64::from(frames) / 64.0);
            let mut second = door.come(&tokens[1], conditions);
            door.run(&mut [&mut first, &mut second], 4.0);
            assert_eq!(links(&mut door, 7), (1, 1), "{what}");
            assert!(is_in(&mut first) ^ is_in(&mut second), "{what}: exactly one client must be connected");
            let one = if is_in(&mut first) { &mut first } else { &mut second };
            assert!(has_pawn(one), "{what}");
            assert_eq!(pawns(&mut door, 7), 1, "{what}");
            // No client runs any more. netcode times out after three seconds.
            door.run(&mut [], 10.0);
            assert_eq!(links(&mut door, 7), (0, 0), "{what}: a link was left behind");
            // The account can join again.
            let token = door.token(7);
            let mut again = door.come(&token, conditions);
            door.run(&mut [&mut again], 1.5);
            assert!(is_in(&mut again), "{what}: {:?}", refused(&again));
            assert_eq!(pawns(&mut door, 7), 1, "{what}");
        }
    }
}

/// The token user data of an account's connections.
fn said(door: &mut Door, client_id: u64) -> Vec<Vec<u8>> {
    let world = door.app.world_mut();
    let mut clients = world.query_filtered::<(&RemoteId, &TokenUserData), With<Connected>>();
    let of = clients.iter(world).filter(|(id, _)| id.0 == PeerId::Netcode(client_id));
    of.map(|(_, data)| token_data(data).to_vec()).collect()
}

#[test]
fn second_accounts_token_on_one_link_is_ignored_and_stays_valid() {
    let mut door = Door::open();
    let issue = |door: &Door, client_id, data: &[u8]| {
        let request = ConnectTokenRequest { data: data.to_vec(), ..door.request(client_id) };
        request.issue(&door.access.key).expect("a token")
    };
    let (seven, eight) = (issue(&door, 7, b"seven"), issue(&door, 8, b"eight"));
    let mut client = door.come(&seven, FAR);
    for frame in 0.. {
        assert!(frame < 64, "the request never arrived");
        door.run(&mut [&mut client], 1.0 / 64.0);
        if door.stats().passed > 0 {
            break;
        }
    }
    assert!(!is_in(&mut client));
    let link = {
        let world = door.app.world_mut();
        world.query_filtered::<Entity, With<LinkOf>>().single(world).expect("the client's link")
    };
    let mut shown = 0;
    while door.joined().is_empty() {
        assert!(shown < 128, "the client never joins: {:?}", door.stats());
        let mut link = door.app.world_mut().get_mut::<Link>(link).expect("a link");
        link.recv.push_raw(RecvPayload::from(&request(&eight)[..]));
        shown += 1;
        door.run(&mut [&mut client], 1.0 / 64.0);
    }
    assert!(shown > 3, "presented only {shown} times before the client joined");
    door.run(&mut [&mut client], 1.0);
    assert!(is_in(&mut client) && has_pawn(&mut client));
    assert_eq!(door.joined(), [PeerId::Netcode(7)]);
    assert_eq!((said(&mut door, 7), said(&mut door, 8)), (vec![b"seven".to_vec()], vec![]));

    let mut other = door.come(&eight, FAR);
    door.run(&mut [&mut client, &mut other], 1.5);
    assert!(
        is_in(&mut other) && has_pawn(&mut other),
        "the second token must stay valid: {:?}",
        refused(&other)
    );
    assert!(is_in(&mut client), "{:?}", thrown_out(&client));
    assert_eq!(door.joined(), [PeerId::Netcode(7), PeerId::Netcode(8)]);
    assert_eq!(said(&mut door, 8), [b"eight".to_vec()]);
}
