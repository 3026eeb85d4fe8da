//! Playback of a file: time, views, pawns, and what happens in the match.

use core::time::Duration;
use std::io::Cursor;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{BasePoses, BaseView, DrawnPose, NetId, PoseSampler, Tick, ViewTime};
use bevy_unlag_record::*;

use crate::example_match::{ExampleMatch, Expected, TempFile, recorded, setup};

const FIRST: Tick = Tick(u32::MAX - 300);

fn opened(ticks: u32) -> (Playback, Expected) {
    let (bytes, expected) = recorded(4, FIRST, ticks, RecorderConfig::default());
    (Playback::read(Cursor::new(bytes), &setup()).expect("a recording"), expected)
}

fn app(playback: Playback) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PlaybackPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(10)))
        .insert_resource(playback);
    // The first frame has no duration.
    app.update();
    app
}

fn playback(app: &mut App) -> Mut<'_, Playback> {
    app.world_mut().resource_mut::<Playback>()
}

fn poses(app: &mut App) -> Vec<(NetId, DrawnPose, Transform)> {
    let world = app.world_mut();
    let mut pawns = world.query_filtered::<(&NetId, &DrawnPose, &Transform), With<PlaybackPawn>>();
    let mut found: Vec<_> = pawns.iter(world).map(|(id, drawn, place)| (*id, *drawn, *place)).collect();
    found.sort_by_key(|(id, ..)| *id);
    found
}

fn at(tick: i32) -> ViewTime {
    ViewTime::at(FIRST.offset(tick))
}

#[test]
fn file_of_another_build_is_refused_by_the_name_of_what_differs() {
    let (bytes, _) = recorded(2, FIRST, 200, RecorderConfig::default());
    let refused = |own: RecordSetup| {
        Playback::read(Cursor::new(bytes.clone()), &own).err().map(|error| error.to_string())
    };
    assert_eq!(refused(setup()), None, "the control");
    let other = RecordSetup { weapons: vec!["bow".to_owned()], ..setup() };
    assert!(refused(other).is_some_and(|line| line.contains("rifle")));
    let other = RecordSetup { level: "hall".to_owned(), ..setup() };
    assert!(refused(other).is_some_and(|line| line.contains("yard") && line.contains("hall")));
}

#[test]
fn time_passes_at_its_speed_between_the_ends_of_the_recording() {
    let (playback_of, _) = opened(640);
    let mut app = app(playback_of);
    let seconds = |app: &App| app.world().resource::<Playback>().seconds();
    assert!((app.world().resource::<Playback>().duration() - 639.0 / 64.0).abs() < 1e-9);
    app.update();
    assert_eq!(seconds(&app), 0.0, "it begins paused");
    for (speed, used) in [(1.0, 1.0), (0.05, 0.05), (0.001, 0.05), (8.0, 8.0), (90.0, 8.0), (f32::NAN, 8.0)] {
        playback(&mut app).seek_seconds(1.0);
        playback(&mut app).set_speed(speed);
        playback(&mut app).play();
        (0..20).for_each(|_| app.update());
        let passed = seconds(&app) - 1.0;
        assert!((passed - 0.2 * used).abs() < 1e-4, "{passed} s at {speed}");
    }
    (0..200).for_each(|_| app.update());
    assert!(!playback(&mut app).is_playing(), "it stops at the end");
    assert_eq!(playback(&mut app).time(), at(639));
    playback(&mut app).play();
    assert_eq!(playback(&mut app).time(), at(0), "and starts again");
    playback(&mut app).seek(at(9_000));
    assert_eq!(playback(&mut app).time(), at(639));
    playback(&mut app).seek(at(-9_000));
    assert_eq!(playback(&mut app).time(), at(0));
}

#[test]
fn steps_go_to_whole_ticks_and_pause() {
    let (mut playback, _) = opened(300);
    playback.seek(at(100).later(77));
    playback.play();
    playback.step(1);
    assert_eq!((playback.time(), playback.is_playing()), (at(101), false));
    playback.seek(at(100).later(77));
    playback.step(-1);
    assert_eq!(playback.time(), at(100));
    playback.step(-1);
    assert_eq!(playback.time(), at(99));
    playback.step(-500);
    assert_eq!(playback.time(), at(0));
}

#[test]
fn pawns_have_the_poses_of_the_server_in_the_free_view() {
    // The example's paths are smooth only at ticks that are exact as floats.
    let first = Tick(3_000);
    let (bytes, _) = recorded(4, first, 640, RecorderConfig::default());
    let mut app = app(Playback::read(Cursor::new(bytes), &setup()).expect("a recording"));
    let mut compared = 0;
    for tick in [0, 30, 129, 400, 131, 580] {
        playback(&mut app).seek(ViewTime::at(first.offset(tick)));
        app.update();
        let drawn = poses(&mut app);
        assert_eq!(drawn.iter().map(|(id, ..)| id.0).collect::<Vec<_>>(), [0, 3, 6, 9]);
        for (id, drawn, place) in drawn {
            let truth = ExampleMatch::snapshot(id, first.offset(tick)).pose(&BaseView::default());
            assert_eq!(place.translation, drawn.pose.position);
            let is_steady = truth.alive && drawn.pose.alive && tick > 3;
            // Between updates that are three ticks apart the path is a circle.
            let error = truth.position.distance(drawn.pose.position);
            assert!(!is_steady || error < 0.05, "{id:?} at {tick}: {error} m");
            compared += u32::from(is_steady);
        }
    }
    assert_eq!(compared, 5 * 4);
}

#[test]
fn first_person_shows_the_bits_of_the_screen_in_the_frame_of_a_shot() {
    let (bytes, expected) = recorded(4, FIRST, 640, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(bytes.clone())).expect("a recording");
    let mut app = app(Playback::read(Cursor::new(bytes), &setup()).expect("a recording"));
    let player = PlayerNumber(0);
    let own = NetId(0);
    playback(&mut app).set_view(PlaybackView::FirstPerson(own));
    let mut compared = 0;
    for (tick, entry) in &expected.entries {
        let Entry::Shot(shot) = entry else { continue };
        let Some(view) = shot.claimed.as_ref().filter(|view| view.player == player) else { continue };
        if tick.since(FIRST) < 200 {
            continue;
        }
        playback(&mut app).seek(ViewTime::at(*tick));
        app.update();
        let frame = playback(&mut app).frame().expect("the player fired");
        assert_eq!((&frame.view, frame.source), (view, ScreenSource::Recorded));
        let screen = recording.screen_at(player, view.time).expect("recorded");
        let server_own = playback(&mut app).server_pose(own, ViewTime::at(*tick), &BasePoses::default());
        for (id, drawn, _) in poses(&mut app) {
            if id == own {
                assert_eq!(Some(drawn.pose), server_own, "the own pawn is predicted");
                continue;
            }
            let stamp = screen.stamp_in(view, id);
            let pose =
                stamp.and_then(|stamp| screen.pose(id, stamp, &PoseSampler::default(), &BaseView::default()));
            match pose {
                Some(pose) => assert_eq!(drawn.pose, pose),
                None => assert!(!drawn.pose.alive),
            }
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared} poses");
}

#[test]
fn view_time_between_shots_lies_between_theirs_and_without_shots_follows_what_was_received() {
    let (mut playback, expected) = opened(640);
    playback.set_view(PlaybackView::FirstPerson(NetId(0)));
    // The example's screens are 12 ticks behind, less 77/256. A frame that was recorded stands for eight ticks.
    for tick in [221, 240, 300, 399] {
        playback.seek(at(tick).later(30));
        let frame = playback.frame().expect("the player has fired before and after");
        assert_eq!(frame.source, ScreenSource::Between);
        let offset = frame.view.time.since(playback.time());
        assert!((offset - (77 - 12 * 256)).abs() <= 1, "{offset} at {tick}");
    }
    // Nobody but the first player fires.
    assert!(expected.entries.iter().all(|(_, entry)| match entry {
        Entry::Shot(shot) => shot.claimed.as_ref().is_none_or(|view| view.player == PlayerNumber(0)),
        _ => true,
    }));
    playback.set_view(PlaybackView::FirstPerson(NetId(3)));
    playback.seek(at(300));
    let frame = playback.frame().expect("it sends acknowledgements");
    assert_eq!(frame.source, ScreenSource::Estimated);
    let behind = -frame.view.time.since(playback.time()) as f64 / 256.0;
    // The newest snapshot is 9 to 11 ticks old, and screens draw one and a half intervals behind it.
    assert!((13.0..17.0).contains(&behind), "{behind} ticks");
}

/// The player's own recording has a frame that nothing else tells: of another time, with a lost snapshot.
#[test]
fn recording_of_the_screen_gives_each_frame_as_it_was() {
    let (mut playback, _) = opened(640);
    let file = TempFile::new();
    let mut recorder = MatchRecorder::new(setup(), RecorderConfig::default());
    recorder.open_file(&file.0);
    for tick in 200..400 {
        let own = FIRST.offset(tick - 5);
        let time = ViewTime { tick: FIRST.offset(tick - 20), fraction: 7 };
        recorder.begin_tick(time.tick);
        recorder.view(&RecordedView { own, time, is_complete: true, ..RecordedView::default() });
    }
    drop(recorder);
    let bytes = std::fs::read(&file.0).expect("it was written");
    let of = PlayerNumber(1);
    let mut other = setup();
    other.weapons.push("bow".to_owned());
    let foreign = TempFile::new();
    MatchRecorder::new(other, RecorderConfig::default()).open_file(&foreign.0);
    let foreign = std::fs::read(&foreign.0).expect("it was written");
    assert!(playback.add_screen(of, Cursor::new(foreign)).is_err(), "of another build");
    playback.add_screen(of, Cursor::new(bytes)).expect("a recording of the same build");
    playback.set_view(PlaybackView::FirstPerson(NetId(3)));
    playback.seek(at(300));
    let frame = playback.frame().expect("it is recorded");
    assert_eq!(frame.source, ScreenSource::Recorded);
    assert!(frame.view.is_complete && frame.view.player == of);
    let behind = -frame.view.time.since(at(300)) as f64 / 256.0;
    // Its packets arrive 2 to 4 ticks after their move, whose frame before was drawn 15 ticks behind.
    assert!((17.5..20.5).contains(&behind), "{behind} ticks");
    playback.set_view(PlaybackView::FirstPerson(NetId(6)));
    assert_eq!(playback.frame().map(|frame| frame.source), Some(ScreenSource::Estimated), "the control");
}

#[test]
fn every_event_is_written_once_at_any_speed_and_none_after_a_jump() {
    let (playback_of, expected) = opened(640);
    let mut app = app(playback_of);
    app.init_resource::<Seen>().add_systems(Last, see);
    for speed in [1.0, 8.0, 0.7] {
        playback(&mut app).seek(at(0));
        app.update();
        app.world_mut().resource_mut::<Seen>().0.clear();
        playback(&mut app).set_speed(speed);
        playback(&mut app).play();
        while playback(&mut app).is_playing() {
            app.update();
        }
        let is_event = |entry: &Entry| {
            matches!(
                entry,
                Entry::Shot(_) | Entry::Verdict(_) | Entry::Correction(_) | Entry::Mark(_) | Entry::Extra(_)
            )
        };
        let all = expected.entries.iter().filter(|(tick, entry)| *tick != FIRST && is_event(entry));
        let all: Vec<_> = all.cloned().collect();
        assert!(all.len() > 30, "{} events", all.len());
        assert!(app.world().resource::<Seen>().0 == all, "at {speed}");
    }
    app.world_mut().resource_mut::<Seen>().0.clear();
    playback(&mut app).seek(at(10));
    playback(&mut app).seek(at(500));
    app.update();
    assert!(app.world().resource::<Seen>().0.is_empty());
}

#[derive(Resource, Default)]
struct Seen(Vec<(Tick, Entry)>);

fn see(mut events: MessageReader<PlaybackEvent>, mut seen: ResMut<Seen>) {
    seen.0.extend(events.read().map(|event| (event.tick, event.entry.clone())));
}

#[test]
fn index_has_every_shot_and_mark_of_the_match() {
    let (playback_of, expected) = opened(640);
    let mut app = app(playback_of);
    for _ in 0..1_000 {
        if playback(&mut app).is_indexed() {
            break;
        }
        app.update();
    }
    let (bytes, _) = recorded(4, FIRST, 640, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(bytes)).expect("a recording");
    let index = MatchIndex::of(&mut recording).expect("it can be read");
    assert_eq!(&index, playback(&mut app).index());
    let count = |is: &dyn Fn(&Entry) -> bool| expected.entries.iter().filter(|(_, entry)| is(entry)).count();
    let shots = count(&|entry| matches!(entry, Entry::Shot(_)));
    let verdicts = index.shots().iter().filter(|shot| shot.weapon.is_none()).count();
    assert_eq!(index.shots().len() - verdicts, shots);
    // The example's verdicts belong to shots that were never recorded, or to a projectile in flight.
    let ended = index.shots().iter().filter(|shot| shot.ended.is_some()).count();
    assert_eq!(verdicts + ended, count(&|entry| matches!(entry, Entry::Verdict(_))));
    let marks =
        |is: &dyn Fn(&PlaybackMarkKind) -> bool| index.marks().iter().filter(|mark| is(&mark.kind)).count();
    let of_game = count(&|entry| matches!(entry, Entry::Mark(_)));
    assert_eq!(marks(&|kind| *kind == PlaybackMarkKind::Game("kill".to_owned())), of_game);
    let corrections = count(&|entry| matches!(entry, Entry::Correction(_)));
    assert_eq!(marks(&|kind| matches!(kind, PlaybackMarkKind::Correction { cause: 5, .. })), corrections);
    let refused =
        count(&|entry| matches!(entry, Entry::Shot(shot) if matches!(shot.outcome, ShotOutcome::Refused(4))));
    assert_eq!(marks(&|kind| *kind == PlaybackMarkKind::Refusal { reason: 4 }), refused);
    assert!(of_game > 3 && refused > 2);
    let players: Vec<_> = index.players().map(|one| (one.player.name.clone(), one.player.pawn)).collect();
    assert_eq!(players[2], ("player 2".to_owned(), Some(NetId(6))));
    assert_eq!(index.players().map(|one| one.last).next(), Some(FIRST.offset(639)));
    assert!(index.marks().is_sorted_by(|a, b| b.tick.since(a.tick) >= 0));
}

#[test]
fn pawns_come_and_go_with_the_roster_and_all_go_with_the_playback() {
    let file = TempFile::new();
    let mut example = ExampleMatch::new(3, FIRST, RecorderConfig { queue: 1 << 16, ..default() });
    example.recorder.open_file(&file.0);
    example.run(300);
    example.recorder.begin_tick(example.tick);
    example.recorder.change_roster(RosterChange::PawnGone(NetId(3)));
    let gone = example.tick;
    example.tick = example.tick.offset(1);
    drop(example);
    let mut app = app(Playback::open(&file.0, &setup()).expect("a recording"));
    let count = |app: &mut App| poses(app).len();
    playback(&mut app).seek(ViewTime::at(gone.offset(-1)));
    app.update();
    assert_eq!(count(&mut app), 3);
    playback(&mut app).seek(ViewTime::at(gone));
    app.update();
    assert_eq!(count(&mut app), 2);
    playback(&mut app).step(-1);
    app.update();
    assert_eq!(count(&mut app), 3);
    app.world_mut().remove_resource::<Playback>();
    app.update();
    assert_eq!(count(&mut app), 0);
}

#[test]
fn camera_is_at_the_eye_in_first_person_and_behind_it_in_third() {
    let (playback_of, _) = opened(300);
    let mut app = app(playback_of);
    let settings = PlaybackCamera { eye_height: 1.5, distance: 4.0, ..PlaybackCamera::default() };
    let camera = app.world_mut().spawn((settings, Transform::from_xyz(7.0, 8.0, 9.0))).id();
    let place = |app: &App| *app.world().get::<Transform>(camera).expect("the camera");
    playback(&mut app).seek(at(100));
    app.update();
    assert_eq!(place(&app).translation, Vec3::new(7.0, 8.0, 9.0), "the game moves it");
    playback(&mut app).set_view(PlaybackView::FirstPerson(NetId(3)));
    app.update();
    let pawn = poses(&mut app)[1].1.pose;
    let eye = pawn.position + Vec3::Y * 1.5;
    assert!(place(&app).translation.distance(eye) < 1e-5);
    let forward = pawn.rotation * Quat::from_rotation_x(pawn.pitch) * Vec3::NEG_Z;
    assert!(place(&app).forward().dot(forward) > 0.999_9);
    playback(&mut app).set_view(PlaybackView::ThirdPerson(NetId(3)));
    app.update();
    let third = place(&app);
    assert!((third.translation.distance(eye) - 4.0).abs() < 1e-4);
    assert!(((eye - third.translation).normalize().dot(*third.forward()) - 1.0).abs() < 1e-4);
}
