//! Announced server shutdown.

use super::*;
use bevy_unlag::{guard::KickText, net::Shutdown};

#[test]
fn shutdown_is_announced_then_clients_are_kicked_and_no_client_can_join() {
    let mut game =
        start_recorded(MatchOptions { players: 2, conditions: average(), ..MatchOptions::default() });
    let reason = KickText::new("maintenance until six");
    game.server.world_mut().trigger(Shutdown { after: seconds(3.0), reason });
    game.run(seconds(0.5));
    for client in 0..2 {
        let [shutdown] = session_log(&game.clients[client]).shutdown[..] else { panic!("client {client}") };
        assert_eq!(shutdown.left, seconds(3.0));
        assert_eq!(shutdown.to_string(), "the server will stop in 3 s: maintenance until six");
    }
    let late = game.join().expect("a token");
    record_session_events(&mut game.clients[late]);
    game.run(seconds(1.5));
    let [shutdown] = session_log(&game.clients[late]).shutdown[..] else {
        panic!("a late joiner must receive the announcement")
    };
    assert!(shutdown.left > seconds(1.5) && shutdown.left < seconds(2.6), "{shutdown:?}");
    assert_eq!(shutdown.reason, reason);
    assert!(
        (0..3).all(|client| is_connected(&mut game.clients[client])),
        "clients must stay connected until the announced time"
    );

    let stopped = expect_time_until(&mut game, 5.0, |game| session_log(&game.server).stopped == 1);
    println!("stopped {stopped:.2} s later");
    assert!(stopped < 1.0 + 1.0, "{stopped} s");
    game.run(seconds(1.0));
    for client in 0..3 {
        assert_eq!(session_log(&game.clients[client]).kicked, [KickReason::Shutdown]);
        assert!(!is_connected(&mut game.clients[client]));
    }
    assert_eq!(pawns(&mut game.server).len(), 0);
    game.rejoin(0).expect("a token");
    game.run(seconds(4.0));
    assert!(!is_connected(&mut game.clients[0]), "a stopped server must not accept connections");
    assert_eq!(session_log(&game.server).stopped, 1, "the server must stop once");
}

#[test]
fn shutdown_time_can_be_changed_and_an_empty_server_stops_too() {
    let mut game = start_recorded(MatchOptions { players: 1, ..MatchOptions::default() });
    game.server.world_mut().trigger(Shutdown { after: seconds(60.0), ..Shutdown::default() });
    game.run(seconds(0.2));
    game.server.world_mut().trigger(Shutdown { after: seconds(1.0), ..Shutdown::default() });
    game.run(seconds(0.2));
    let left: Vec<_> = session_log(&game.clients[0]).shutdown.iter().map(|one| one.left).collect();
    assert_eq!(left, [seconds(60.0), seconds(1.0)]);
    game.disconnect(0);
    expect_time_until(&mut game, 3.0, |game| session_log(&game.server).stopped == 1);
}
