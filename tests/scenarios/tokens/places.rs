//! Places of a server: a limit in all, and one for each host.

use bevy_unlag::guard::IngressLimits;

use super::*;

/// Connects a client under an account, and returns it with whether it is connected.
fn join(token_server: &mut TokenServer, others: &mut [&mut App], account: u64) -> (App, bool) {
    let token = token_server.token(account);
    let mut client = token_server.connect(&token, LinkConditions::PERFECT);
    for _ in 0..48 {
        token_server.run(others, 1.0 / 64.0);
        client.update();
    }
    let is_connected = is_connected(&mut client);
    (client, is_connected)
}

#[test]
fn full_server_refuses_a_client_until_a_place_is_free_and_lets_a_player_return() {
    let key = ServerKey::random().expect("random bytes");
    let mut token_server =
        TokenServer::start_with(&ServerAccess { max_clients: 2, ..ServerAccess::new(key, PROTOCOL_ID) });
    let (mut first, joined) = join(&mut token_server, &mut [], 1);
    assert!(joined);
    let (mut second, joined) = join(&mut token_server, &mut [&mut first], 2);
    assert!(joined);
    let (third, joined) = join(&mut token_server, &mut [&mut first, &mut second], 3);
    assert!(!joined);
    assert_eq!(refused(&third), [JoinRefusal::Full]);
    assert!(token_server.stats().refused(JoinRefusal::Full) > 0);
    // A player whose program has crashed gets its own place.
    let (mut again, _) = join(&mut token_server, &mut [&mut first], 2);
    token_server.run(&mut [&mut first, &mut again], 1.5);
    assert!(is_connected(&mut again), "{:?}", refused(&again));
    // Somebody leaves: netcode times out after three seconds.
    token_server.run(&mut [&mut again], 5.0);
    let (fourth, joined) = join(&mut token_server, &mut [&mut again], 4);
    assert!(joined, "{:?}", refused(&fourth));
}

#[test]
fn host_gets_its_share_of_places_and_the_servers_own_machine_has_no_limit() {
    for enabled in [true, false] {
        let mut token_server = TokenServer::start_with(&ServerAccess::development(PROTOCOL_ID));
        let mut limits = token_server.app.world_mut().resource_mut::<IngressLimits>();
        (limits.enabled, limits.max_clients_per_host) = (enabled, 2);
        let mut clients: Vec<App> = Vec::new();
        let crowd = Ipv4Addr::new(203, 0, 113, 7);
        let hosts = [crowd, crowd, crowd, Ipv4Addr::new(203, 0, 113, 8), Ipv4Addr::LOCALHOST];
        let expected = [true, true, !enabled, true, true, true, true];
        for (number, expected) in expected.into_iter().enumerate() {
            token_server.host = hosts[number.min(4)];
            let (client, joined) =
                join(&mut token_server, &mut clients.iter_mut().collect::<Vec<_>>(), number as u64 + 1);
            assert_eq!(joined, expected, "client {number}, limits {enabled}: {:?}", refused(&client));
            if joined {
                clients.push(client);
            } else {
                assert_eq!(refused(&client), [JoinRefusal::HostLimit]);
            }
        }
    }
}
