//! Log lines of a server about its players, as a console shows them.

use bevy_unlag::{
    guard::{Kick, KickReason, KickText, LogConfig},
    net::Shutdown,
};
use lightyear::prelude::{PeerId, RemoteId, server::ClientOf};

use super::*;
use crate::captured_log::logged;

/// The number of lines that begin like this.
fn count(lines: &[String], beginning: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(beginning)).count()
}

fn kick(game: &mut Match, client: u64) {
    let world = game.server.world_mut();
    let mut links = world.query_filtered::<(Entity, &RemoteId), With<ClientOf>>();
    let link = links.iter(world).find(|(_, peer)| peer.0 == PeerId::Netcode(client));
    let entity = link.expect("the client is connected").0;
    world.trigger(Kick { entity, reason: KickReason::Game(7) });
}

#[test]
fn players_joins_and_leaves_are_logged_with_reason_and_address() {
    let lines = logged(|| {
        let mut game = start(MatchOptions { players: 3, ..MatchOptions::default() });
        game.disconnect(0);
        game.power_off(1);
        game.run(seconds(1.0));
        kick(&mut game, 3);
        game.run(seconds(4.0));
        let reason = KickText::new("the match is over");
        game.server.world_mut().trigger(Shutdown { after: seconds(1.0), reason });
        game.run(seconds(3.0));
    });
    let players = "INFO bevy_unlag::players:";
    for (beginning, times) in [
        ("INFO bevy_unlag::server: started tick_hz=64.0 snapshot_hz=21.33 protocol=".to_owned(), 1),
        (format!("{players} joined client="), 3),
        (format!("{players} joined client=2 address=127.0.0.1:2 players="), 1),
        (format!("{players} left client="), 3),
        (format!("{players} left client=1 address=127.0.0.1:1 reason=\"left\" seconds="), 1),
        (format!("{players} left client=2 address=127.0.0.1:2 reason=\"timed out\" seconds="), 1),
        (format!("{players} left client=3 address=127.0.0.1:3 reason=\"kicked\" kick=Game(7) seconds="), 1),
        ("WARN lightyear_guard::kicks: kicked client=3 address=127.0.0.1:3 reason=Game(7)".to_owned(), 1),
        ("INFO bevy_unlag::server: stopping seconds=1 reason=\"the match is over\"".to_owned(), 1),
        ("INFO bevy_unlag::server: stopped".to_owned(), 1),
    ] {
        assert_eq!(count(&lines, &beginning), times, "{beginning}: {lines:#?}");
    }
}

#[test]
fn lines_have_no_address_when_the_operator_declines() {
    let hide = |server: &mut App| server.world_mut().resource_mut::<LogConfig>().addresses = false;
    let lines = logged(|| {
        let options = MatchOptions { players: 1, ..MatchOptions::default() };
        let mut game = Match::start_with(&options, hide).expect("the match starts");
        kick(&mut game, 1);
        game.run(seconds(1.0));
    });
    assert_eq!(count(&lines, "INFO bevy_unlag::players: joined client=1 players=1"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "WARN lightyear_guard::kicks: kicked client=1 reason=Game(7)"), 1, "{lines:#?}");
    // The client's own lines name its server.
    let with_address =
        lines.iter().find(|line| line.contains("127.0.0.1") && !line.contains("_netcode::client:"));
    assert_eq!(with_address, None, "{lines:#?}");
}
