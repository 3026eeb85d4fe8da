//! Spectators that are too slow, or too many.

use bevy_unlag::guard::{KickReason, KickedByServer};

use super::*;

#[test]
fn slow_spectator_skips_and_recovers() {
    // A hundredth of what the stream takes.
    let config = SpectatorConfig { bytes_per_second: 700, max_lag: Duration::from_secs(4), ..live() };
    let mut game = watched(4, config);
    game.set_firing(true);
    pass(&mut game, 4.0);
    let watcher = game.add_spectator(link_150()).expect("a token");
    pass(&mut game, 30.0);
    let slow = server_stats(&game);
    assert!(slow.skipped_segments > 2, "{slow:?}");
    let seen = playback(&game, watcher).expect("it sees something all the same");
    let newest = seen.span().1;
    assert!(tick(&game).since(newest) < 64 * 30, "{} ticks behind", tick(&game).since(newest));
    assert!((0..4).all(|client| game.is_playing(client)), "nobody else is held up");

    game.server.world_mut().resource_mut::<SpectatorConfig>().bytes_per_second = 64_000;
    pass(&mut game, 12.0);
    let recovered = server_stats(&game);
    pass(&mut game, 12.0);
    let now = server_stats(&game);
    assert_eq!(now.skipped_segments, recovered.skipped_segments, "it keeps up again");
    let seen = playback(&game, watcher).expect("it goes on");
    assert!(seen.is_live());
    let behind = tick(&game).since(seen.time().tick);
    assert!((0..64 * 8).contains(&behind), "{behind} ticks behind");
}

#[test]
fn spectators_beyond_the_limit_are_kicked_with_the_reason() {
    let mut game = watched(2, SpectatorConfig { max_spectators: 1, ..live() });
    let first = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    pass(&mut game, 1.0);
    let second = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    let mut reasons = Vec::new();
    for _ in 0..60 {
        pass(&mut game, 0.05);
        let mut kicks = game.clients[second].world_mut().resource_mut::<Messages<KickedByServer>>();
        reasons.extend(kicks.drain().map(|kicked| kicked.0));
    }
    assert_eq!(reasons, [KickReason::Spectators]);
    pass(&mut game, 3.0);
    assert!(playback(&game, first).is_some() && playback(&game, second).is_none());
    assert!((0..2).all(|client| game.is_playing(client)));
    assert_eq!(server_stats(&game).spectators, 1);
}
