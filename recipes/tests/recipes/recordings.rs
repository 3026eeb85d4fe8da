//! Recordings: a server records its match, and another app plays it back and explains its shots.

use core::time::Duration;

use bevy::time::TimeUpdateStrategy;
use unlag_recipes::{component, fire_at_other, floor, play, soldiers, walk_to_and_fro};

// ANCHOR: record
use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy_unlag::{
    net::{MatchRecording, RecordPlugin},
    prelude::*,
    weapons::HealthPlugin,
};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, RecordPlugin::default(), floor, soldiers))
        .add_observer(start);
}

/// With the first player: by then the level is there.
fn start(_: On<PlayerJoined>, mut recording: ResMut<MatchRecording>) {
    if !recording.is_recording() {
        recording.start(file());
    }
}

/// In a game a name with the level and the date.
fn file() -> PathBuf {
    std::env::temp_dir().join(format!("match_{}.unlagrec", std::process::id()))
}
// ANCHOR_END: record

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}

// ANCHOR: play_back
use bevy_unlag::{
    core::Tick,
    record::{
        Playback, PlaybackCamera, PlaybackMarkKind, PlaybackPawn, PlaybackPlugin, PlaybackView, RecordError,
        RecordSetup,
    },
};

/// `own` is the setup of this build: another one's file is an error.
fn play_back(app: &mut App, file: &Path, own: &RecordSetup) -> Result<(), RecordError> {
    let mut playback = Playback::open(file, own)?;
    playback.set_speed(0.25);
    playback.play();
    app.add_plugins(PlaybackPlugin)
        .insert_resource(playback)
        .add_systems(Update, (dress, follow_the_next_victim));
    app.world_mut().spawn(PlaybackCamera::default());
    Ok(())
}

/// In a game with a mesh.
fn dress(pawns: Query<(Entity, &PlaybackPawn), Added<PlaybackPawn>>, mut commands: Commands) {
    for (pawn, recorded) in &pawns {
        commands.entity(pawn).insert(Name::new(recorded.name.clone()));
    }
}

fn follow_the_next_victim(mut playback: ResMut<Playback>) {
    let now = playback.time().tick;
    let is_next = |tick: Tick| tick.is_newer_than(now);
    let deaths = playback.index().marks().iter().filter(|mark| mark.kind == PlaybackMarkKind::Death);
    let victim = deaths.filter(|mark| is_next(mark.tick)).find_map(|mark| mark.pawn);
    if let Some(victim) = victim.filter(|pawn| playback.view().followed() != Some(*pawn)) {
        playback.set_view(PlaybackView::FirstPerson(victim));
    }
}
// ANCHOR_END: play_back

// ANCHOR: explain
use bevy_unlag::{
    core::BasePoses,
    net::{ExplanationScene, ShotExplainer},
    record::IndexedShot,
    rewind::{humanoid_hit_boxes, humanoid_rig},
    weapons::ExplanationViewer,
};

fn why(playback: &mut Playback, shot: &IndexedShot, arsenal: &Arsenal) -> Result<String, RecordError> {
    let body = |_: NetId| (humanoid_hit_boxes(), humanoid_rig());
    // Distance to the level, as your level knows it.
    let wall = |_from: Vec3, _direction: Vec3, _most: f32| None;
    let scene = ExplanationScene { arsenal, bases: &BasePoses::default(), body: &body, wall: &wall };
    let found = ShotExplainer::default().explain(playback, shot, &scene)?;
    let tick = playback.sampler().tick_seconds;
    let name = |pawn| playback.index().name_of(pawn);
    Ok(found.explanation.sentence(ExplanationViewer::Nobody, tick, name))
}
// ANCHOR_END: explain

fn shooter(app: &mut App) {
    app.add_plugins((client, fire_at_other));
}

fn walker(app: &mut App) {
    app.add_plugins((client, walk_to_and_fro));
}

#[test]
fn match_is_shown_as_the_victim_saw_it_and_its_hits_are_explained() {
    play(server, &[shooter, walker], |game| {
        game.run(3.0);
        let own = bevy_unlag::net::current_record_setup(game.server.world_mut(), "", "");
        let arsenal = game.server.world().resource::<Arsenal>().clone();
        // Dropping it waits for the file.
        drop(game.server.world_mut().remove_resource::<MatchRecording>());

        let mut viewer = App::new();
        viewer
            .add_plugins((MinimalPlugins, TransformPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(100)));
        play_back(&mut viewer, &file(), &own).expect("a recording of this build");
        // Three seconds of the match.
        (0..120).for_each(|_| viewer.update());
        for id in [NetId(1), NetId(2)] {
            let name = component::<Name>(&mut viewer, id).expect("it is dressed");
            assert_eq!(name.as_str(), format!("player {}", id.0));
        }
        // Through the eyes of the walker, on whose screen the shooter stands at the origin.
        let mut playback = viewer.world_mut().remove_resource::<Playback>().expect("it plays");
        assert_eq!(playback.view(), PlaybackView::FirstPerson(NetId(2)));
        let shooter = component::<DrawnPose>(&mut viewer, NetId(1)).expect("it is drawn").pose;
        assert!(shooter.alive && shooter.position.length() < 0.3, "{shooter:?}");

        while !playback.is_indexed() {
            playback.index_next();
        }
        let shots = playback.index().shots().to_vec();
        let (mut hits, mut moved) = (0, 0);
        for shot in shots.iter().filter(|shot| !shot.outcome.hits().is_empty()) {
            // "Hit: player 1's screen showed player 2 at tick 118.4, 187 ms old; its body was there, though by then it
            // had moved 0.9 m."
            let sentence = why(&mut playback, shot, &arsenal).expect("it is recorded");
            assert!(sentence.starts_with("Hit: player 1's screen showed player 2 at tick "), "{sentence}");
            hits += 1;
            moved += i32::from(sentence.contains("though by then it had moved"));
        }
        assert!(hits > 10 && moved * 2 > hits, "in {moved} of {hits} hits the target had moved");
        drop(playback);
        std::fs::remove_file(file()).expect("it was recorded");
    });
}
