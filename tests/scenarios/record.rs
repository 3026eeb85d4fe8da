//! Recordings of matches: everything of a match is in its file, and a disk that fails does not end it.

use std::path::PathBuf;

use bevy_unlag::{
    core::{MoveModel, Tick},
    net::{MatchRecording, RecordMark, RecordPlugin},
    record::{Entry, FileEnd, PlayerNumber, Recording, RosterChange},
    smoothing::PublishedPath,
    weapons::{ShotResolved, ShotResult},
};

use super::*;
use crate::captured_log::{errors, logged};

/// File that is removed at the end of a test.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("unlag_scenario_{name}_{}.unlagrec", std::process::id())))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn start_recorded(players: u64, plugin: RecordPlugin) -> Match {
    let options = MatchOptions { players, conditions: link_150(), ..MatchOptions::default() };
    // Stepped time is faster than a disk.
    let plugin = RecordPlugin { queue: 1 << 16, ..plugin };
    Match::start_with(&options, |server| {
        server.add_plugins(plugin).init_resource::<Hits>().add_systems(FixedLast, count_hits);
    })
    .expect("the match starts")
}

/// Ticks of the shots that the server resolved as hits.
#[derive(Resource, Default)]
struct Hits(Vec<Tick>);

fn count_hits(tick: Res<CurrentTick>, mut resolved: MessageReader<ShotResolved>, mut hits: ResMut<Hits>) {
    let is_hit = |found: &&ShotResolved| matches!(found.verdict.result, ShotResult::Hit(_));
    hits.0.extend(resolved.read().filter(is_hit).map(|_| tick.0));
}

fn recording(game: &mut Match) -> Mut<'_, MatchRecording> {
    game.server.world_mut().resource_mut::<MatchRecording>()
}

/// Entries of a file, with their ticks.
fn entries(file: &TempFile) -> Vec<(u32, Entry)> {
    let mut recording = Recording::open(&file.0).expect("a recording");
    assert_eq!((recording.end(), recording.missing_segments()), (FileEnd::Closed, 0));
    let segments = recording.segments().len();
    let read = (0..segments).map(|at| recording.segment(at).expect("it is whole"));
    let read = read.flat_map(|segment| {
        segment.entries().map(|(tick, entry)| (tick.0, entry.clone())).collect::<Vec<_>>()
    });
    read.collect()
}

#[test]
fn everything_that_happens_in_a_match_is_in_its_file() {
    let file = TempFile::new("match");
    let mut game = start_recorded(4, RecordPlugin { level: "arena".to_owned(), ..default() });
    recording(&mut game).start(&file.0);
    game.fight(20.0);
    let pawn = {
        let world = game.server.world_mut();
        world.query_filtered::<Entity, With<PublishedPath>>().iter(world).next()
    };
    game.server.world_mut().write_message(RecordMark { name: "flag".into(), pawn, ..default() });
    game.run(Duration::from_millis(100));
    game.disconnect(2);
    game.run(Duration::from_secs(1));
    recording(&mut game).stop();
    game.run(Duration::from_millis(100));
    let hits = core::mem::take(&mut game.server.world_mut().resource_mut::<Hits>().0);
    drop(game);

    let mut recorded = Recording::open(&file.0).expect("a recording");
    let (first, last) = recorded.span().expect("it has segments");
    let hits = hits.iter().filter(|tick| tick.since(first) >= 0 && last.since(**tick) >= 0).count();
    assert_eq!(recorded.setup().level, "arena");
    assert!(recorded.setup().characters.iter().any(|name| name.contains("WeaponExtension")));
    assert!(recorded.setup().weapons_hash != 0 && recorded.setup().level_hash != 0);
    let mut moves = 0;
    for segment in recorded.read_span(Tick(0), Tick(1 << 20)).expect("segments") {
        for track in &segment.moves {
            let read = track.moves::<<Soldier as MoveModel>::Input>().expect("inputs of soldiers");
            moves += read.len();
        }
    }
    // 64 a second of each player, for 23 seconds and a half.
    assert!((4 * 64 * 22..4 * 64 * 25).contains(&moves), "{moves} moves");

    let entries = entries(&file);
    let count = |is: &dyn Fn(&Entry) -> bool| entries.iter().filter(|(_, entry)| is(entry)).count();
    let shots = count(&|entry| matches!(entry, Entry::Shot(shot) if shot.claimed.is_some()));
    let struck = count(&|entry| matches!(entry, Entry::Shot(shot) if !shot.outcome.hits().is_empty()));
    assert!(shots > 100, "{shots} shots");
    assert!(struck == hits && hits > 5, "{struck} of {hits} hits in {shots} shots");
    assert!(count(&|entry| matches!(entry, Entry::Mark(mark) if mark.name == "death")) > 0);
    let flags =
        count(&|entry| matches!(entry, Entry::Mark(mark) if mark.name == "flag" && mark.pawn.is_some()));
    assert_eq!(flags, 1);
    let left = count(&|entry| matches!(entry, Entry::Roster(RosterChange::PlayerLeft(_))));
    assert_eq!(left, 1);
    assert!(count(&|entry| matches!(entry, Entry::Acks(_))) > 22 * 64);
    let sent = |player| {
        let of = |entry: &Entry| match entry {
            Entry::Publication(publication) => publication.sent_to(PlayerNumber(player)).count(),
            _ => 0,
        };
        entries.iter().map(|(_, entry)| of(entry)).sum::<usize>()
    };
    // Three other pawns, 21 times a second.
    for player in 0..4 {
        assert!((3 * 21 * 20..3 * 22 * 26).contains(&sent(player)), "{} updates", sent(player));
    }
}

#[test]
fn recording_starts_and_stops_at_any_time_and_the_ring_has_what_was_before() {
    let (first, second, ring) = (TempFile::new("first"), TempFile::new("second"), TempFile::new("ring"));
    let mut game = start_recorded(2, RecordPlugin { ring: Duration::from_secs(4), ..default() });
    game.run(Duration::from_secs(8));
    let mut spans = Vec::new();
    for file in [&first, &second] {
        recording(&mut game).start(&file.0);
        game.run(Duration::from_secs(3));
        recording(&mut game).stop();
        game.run(Duration::from_secs(3));
    }
    recording(&mut game).save_ring(&ring.0);
    game.run(Duration::from_millis(100));
    let now = game.server.world().resource::<CurrentTick>().0;
    drop(game);
    for file in [&first, &second, &ring] {
        let recording = Recording::open(&file.0).expect("a recording");
        assert_eq!((recording.end(), recording.missing_segments()), (FileEnd::Closed, 0));
        spans.push(recording.span().expect("it has segments"));
    }
    let length = |(first, last): (Tick, Tick)| last.since(first) + 1;
    assert!((3 * 64..=5 * 64 + 8).contains(&length(spans[0])), "{spans:?}");
    assert!(spans[1].0.since(spans[0].1) > 64, "{spans:?}");
    assert!((4 * 64..=6 * 64).contains(&length(spans[2])), "{spans:?}");
    assert!(now.since(spans[2].1) < 16, "{spans:?} at {now:?}");
}

#[test]
fn disk_that_fails_is_reported_once_and_the_match_goes_on() {
    let lines = errors(|| {
        let mut game = start_recorded(2, RecordPlugin::default());
        recording(&mut game).start("/no/such/folder/match.unlagrec");
        game.run(Duration::from_secs(6));
        assert!((0..2).all(|client| game.is_playing(client)));
        let stats = recording(&mut game).stats().expect("it still records");
        assert!(stats.error.is_some() && !stats.is_file_open, "{stats:?}");
    });
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("/no/such/folder"), "{lines:?}");
    let lines = logged(|| {
        let mut game = start_recorded(1, RecordPlugin::default());
        recording(&mut game).save_ring("ring.unlagrec");
        game.run(Duration::from_millis(100));
        recording(&mut game).stop();
        game.run(Duration::from_millis(100));
        assert!(!recording(&mut game).is_recording());
    });
    assert!(lines.iter().any(|line| line.contains("there is no ring to save")), "{lines:?}");
}

/// The control: a server that does not record keeps no logs for it.
#[test]
fn without_a_recording_nothing_is_logged_for_it() {
    let file = TempFile::new("none");
    let mut game = start_recorded(2, RecordPlugin::default());
    let logs = |game: &mut Match| {
        let world = game.server.world_mut();
        let moves = world.query::<&bevy_unlag::prediction::MoveLog<Soldier>>().iter(world).count();
        (moves, world.contains_resource::<bevy_unlag::weapons::ShotJournal>())
    };
    game.run(Duration::from_millis(200));
    assert_eq!(logs(&mut game), (0, false));
    recording(&mut game).start(&file.0);
    game.run(Duration::from_millis(200));
    assert_eq!(logs(&mut game), (2, true));
    recording(&mut game).stop();
    game.run(Duration::from_millis(200));
    assert_eq!(logs(&mut game), (0, false));
}
