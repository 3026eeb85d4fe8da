//! Reconnecting with a fresh token, whatever the state of the old connection (row F15).

use super::*;
use crate::captured_log::logged;
use bevy_unlag::guard::Kick;

fn link_of(token_server: &mut TokenServer, client_id: u64) -> Option<Entity> {
    let world = token_server.app.world_mut();
    let mut links = world.query_filtered::<(Entity, &RemoteId), With<ClientOf>>();
    links.iter(world).find(|(_, id)| id.0 == PeerId::Netcode(client_id)).map(|(link, _)| link)
}

// Row F15.
#[test]
fn fresh_token_replaces_a_live_or_vanished_connection_within_1_5_s() {
    for vanishes in [true, false] {
        let mut token_server = TokenServer::start();
        let token = token_server.token(5);
        let mut old = token_server.connect(&token, LinkConditions::PERFECT);
        token_server.run(&mut [&mut old], 1.0);
        assert!(has_pawn(&mut old));
        let mut keeps_running = [old];
        let still: &mut [App] = if vanishes { &mut [] } else { &mut keeps_running };
        let token = token_server.token(5);
        let mut new = token_server.connect(&token, LinkConditions::PERFECT);
        let mut clients: Vec<&mut App> = still.iter_mut().chain([&mut new]).collect();
        // netcode alone would wait for its timeout of three seconds.
        token_server.run(&mut clients, 1.5);
        assert!(is_connected(&mut new) && has_pawn(&mut new), "vanished: {vanishes}, {:?}", refused(&new));
        assert_eq!(token_server.joined(), [PeerId::Netcode(5); 2]);
        assert_eq!(received_kicks(&new), [], "the end of the old connection must not end the new one");
        if !vanishes {
            let [mut old] = keeps_running;
            assert!(!is_connected(&mut old));
            assert_eq!(
                received_kicks(&old),
                [KickReason::Replaced],
                "the old client must receive the reason once"
            );
        }
    }
}

#[test]
fn two_clients_of_one_number_are_named_in_development_mode_and_one_that_comes_back_is_not() {
    for (is_development, is_alive) in [(true, true), (true, false), (false, true)] {
        let lines = logged(|| {
            let mut token_server = if is_development {
                TokenServer::start_with(&ServerAccess::development(PROTOCOL_ID))
            } else {
                TokenServer::start()
            };
            let token = token_server.token(5);
            let mut old = token_server.connect(&token, LinkConditions::PERFECT);
            token_server.run(&mut [&mut old], 1.0);
            assert!(has_pawn(&mut old));
            if !is_alive {
                token_server.run(&mut [], 0.7);
            }
            let token = token_server.token(5);
            let mut new = token_server.connect(&token, LinkConditions::PERFECT);
            let mut clients = vec![&mut new];
            if is_alive {
                clients.push(&mut old);
            }
            token_server.run(&mut clients, 1.5);
            assert!(is_connected(&mut new));
        });
        let is_named = |line: &&String| line.contains("give each client its own number");
        let count = lines.iter().filter(is_named).count();
        assert_eq!(count, usize::from(is_development && is_alive), "{lines:#?}");
    }
}

// Row F15.
#[test]
fn kicked_client_can_rejoin_at_once_with_a_new_token_only() {
    let mut token_server = TokenServer::start();
    let token = token_server.token(5);
    let mut client = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut client], 1.0);
    let link = link_of(&mut token_server, 5).expect("a link");
    token_server.app.world_mut().trigger(Kick { entity: link, reason: KickReason::Game(1) });
    // The client does not run: netcode would keep it until its timeout if the server did not disconnect it.
    token_server.run(&mut [], 0.7);
    assert!(link_of(&mut token_server, 5).is_none());
    token_server.run(&mut [&mut client], 0.2);
    assert!(!is_connected(&mut client), "the client must notice the disconnect");
    let mut again = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut again], 0.5);
    assert_eq!(refused(&again), [JoinRefusal::Used]);
    let fresh = token_server.token(5);
    let mut again = token_server.connect(&fresh, LinkConditions::PERFECT);
    token_server.run(&mut [&mut again], 0.5);
    assert!(is_connected(&mut again));
}
