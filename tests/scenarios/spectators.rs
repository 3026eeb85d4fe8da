//! Spectators: what they see, how late, and that they change nothing.

mod limits;
mod uplink;

use std::path::PathBuf;

use bevy_unlag::{
    core::{BasePoses, Tick, ViewTime},
    net::{Bandwidth, MatchRecording, MessageClass, Spectator, SpectatorConfig, SpectatorStats},
    record::{Playback, PlaybackPawn, PlaybackView},
};
use lightyear::prelude::RemoteId;
use unlag_examples::{recording, spectating};

use super::*;

/// Starts a match of soldiers whose server admits spectators.
fn watched(players: u64, config: SpectatorConfig) -> Match {
    let options = MatchOptions { players, conditions: link_150(), ..MatchOptions::default() };
    Match::start_with(&options, |server| {
        server.add_plugins(recording::plugin(recording::STEPPED_TIME));
        spectating::admit(server, config);
    })
    .expect("the match starts")
}

/// Settings without a delay.
fn live() -> SpectatorConfig {
    SpectatorConfig { delay: Duration::ZERO, ..default() }
}

/// Lets time pass, slowly enough for the thread of the recorder.
fn pass(game: &mut Match, time: f64) {
    for _ in 0..(time * 20.0).ceil() as u32 {
        game.run(Duration::from_millis(50));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn tick(game: &Match) -> Tick {
    game.server.world().resource::<CurrentTick>().0
}

fn playback(game: &Match, client: usize) -> Option<&Playback> {
    game.clients[client].world().get_resource::<Playback>()
}

fn server_stats(game: &Match) -> SpectatorStats {
    *game.server.world().resource::<SpectatorStats>()
}

/// File that is removed at the end of a test.
struct TempFile(PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns the poses of all pawns at a moment, from the server's view and on each player's screen.
fn poses(playback: &mut Playback, time: ViewTime) -> Vec<(NetId, PlaybackView, [f32; 8])> {
    playback.seek(time);
    let pawns: Vec<NetId> = playback.roster().pawns().map(|pawn| pawn.id).collect();
    let views = pawns.iter().map(|pawn| PlaybackView::FirstPerson(*pawn)).chain([PlaybackView::Free]);
    let mut found = Vec::new();
    for view in views.collect::<Vec<_>>() {
        playback.set_view(view);
        for pawn in &pawns {
            let (pose, _) = playback.pose(*pawn, &BasePoses::default());
            let (place, turn) = (pose.position.to_array(), pose.rotation.to_array());
            let [x, y, z] = place;
            let [a, b, c, d] = turn;
            found.push((*pawn, view, [x, y, z, a, b, c, d, f32::from(u8::from(pose.alive))]));
        }
    }
    found
}

#[test]
fn late_spectator_sees_all_pawns_as_the_recording_has_them() {
    let name = format!("unlag_spectators_{}.unlagrec", std::process::id());
    let file = TempFile(std::env::temp_dir().join(name));
    let mut game = watched(4, live());
    game.server.world_mut().resource_mut::<MatchRecording>().start(&file.0);
    game.set_firing(true);
    pass(&mut game, 8.0);
    let joined = tick(&game);
    let watcher = game.add_spectator(link_150()).expect("a token");
    pass(&mut game, 2.5);
    let begun = playback(&game, watcher).expect("it sees the match soon after it has joined");
    assert!(begun.is_live() && begun.roster().pawns().len() == 4);
    pass(&mut game, 17.5);

    let world = game.clients[watcher].world_mut();
    let bodies = world.query::<&PlaybackPawn>().iter(world).count();
    assert_eq!(bodies, 4);
    let seen = playback(&game, watcher).expect("it goes on");
    // Segments of two seconds, which are sent when they are complete, and one of reserve.
    let behind = tick(&game).since(seen.time().tick);
    assert!((64..64 * 7).contains(&behind), "{behind} ticks behind");
    assert!(seen.is_live() && joined.since(seen.span().0) < 64 * 5);

    // Nothing but the stream.
    let received = game.clients[watcher].world().resource::<Bandwidth>();
    for class in [
        MessageClass::Snapshots,
        MessageClass::Replication,
        MessageClass::PawnStates,
        MessageClass::Tracers,
        MessageClass::MoveAcks,
        MessageClass::GameDownlink,
    ] {
        assert_eq!(received.of(class).bytes, 0, "{class:?}");
    }
    assert!(received.of(MessageClass::Spectators).bytes > 10_000);
    assert_eq!(server_stats(&game).skipped_segments, 0);

    let mut seen = game.clients[watcher].world_mut().remove_resource::<Playback>().expect("it is there");
    game.server.world_mut().resource_mut::<MatchRecording>().stop();
    pass(&mut game, 0.2);
    drop(game);
    let own = seen.setup().clone();
    let mut recorded = Playback::open(&file.0, &own).expect("of this build");
    let (first, last) = seen.span();
    // Both know the same seconds around these moments.
    let moments = (300..last.since(first) - 140).step_by(5).map(|ticks| first.offset(ticks));
    let (mut equal, mut moved, mut all) = (0, 0, 0);
    for moment in moments {
        let time = |tick: Tick, fraction: u8| ViewTime { tick, fraction };
        let streamed = poses(&mut seen, time(moment, 77));
        let of_file = poses(&mut recorded, time(moment, 77));
        let earlier = poses(&mut recorded, time(moment.offset(-4), 77));
        assert_eq!(streamed.len(), 4 * 5);
        all += streamed.len();
        equal += streamed.iter().zip(&of_file).filter(|(one, other)| one == other).count();
        moved += streamed.iter().zip(&earlier).filter(|(one, other)| one != other).count();
    }
    assert!(all > 2_000, "{all} poses");
    assert_eq!(equal, all, "poses differ from those of the recording");
    // The control: four ticks earlier the poses are others.
    assert!(moved * 2 > all, "{moved} of {all}");
}

#[test]
fn nothing_is_sent_before_the_delay_is_over() {
    let delay = 5 * 64;
    let config = SpectatorConfig { delay: Duration::from_secs(5), ..default() };
    let mut game = watched(2, config);
    let watcher = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    let coach = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    pass(&mut game, 0.5);
    // The game gives the second one a view without a delay.
    let world = game.server.world_mut();
    let mut links: Vec<_> = world.query::<(&RemoteId, &mut Spectator)>().iter_mut(world).collect();
    // Client ids count up.
    links.sort_unstable_by_key(|(peer, _)| peer.0.to_bits());
    assert_eq!(links.len(), 2);
    links[1].1.delay = Some(Duration::ZERO);
    let (mut first_seen, mut coach_is_early) = (None, false);
    for _ in 0..24 * 20 {
        pass(&mut game, 0.05);
        let (now, newest) = (tick(&game), |client| playback(&game, client).map(|seen| seen.span().1));
        // A link without latency delivers what is sent in the same step.
        if let Some(newest) = newest(watcher) {
            assert!(now.since(newest) >= delay, "{} ticks old", now.since(newest));
            first_seen = first_seen.or(Some(now.since(newest)));
        }
        coach_is_early |= newest(coach).is_some_and(|newest| now.since(newest) < delay);
    }
    // It is not later than a segment, either.
    assert!(first_seen.is_some_and(|age| age < delay + 3 * 128), "{first_seen:?}");
    // The control: without a delay the same check fails.
    assert!(coach_is_early, "the coach was to see it at once");
}

#[test]
fn nothing_of_the_match_is_on_the_wire_before_the_delay_is_over() {
    let mut game = watched(2, SpectatorConfig { delay: Duration::from_secs(20), ..default() });
    let _ = game.add_spectator(LinkConditions::PERFECT).expect("a token");
    let sent = |game: &Match| game.server.world().resource::<Bandwidth>().of(MessageClass::Spectators).bytes;
    pass(&mut game, 2.0);
    let setup = sent(&game);
    assert!((100..6_000).contains(&setup), "{setup} bytes of the setup");
    while tick(&game).since(Tick(0)) < 64 * 19 {
        pass(&mut game, 0.5);
        assert_eq!((sent(&game), server_stats(&game).sent_segments), (setup, 0));
    }
    pass(&mut game, 8.0);
    assert!(sent(&game) > setup + 1_000 && server_stats(&game).sent_segments > 0);
}
