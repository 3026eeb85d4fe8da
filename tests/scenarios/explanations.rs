//! Explanations of verdicts: from a recording, and live for the victim of a shot.

use bevy_unlag::{
    core::{BasePoses, LimbRig},
    link_conditioner::LinkPreset,
    net::{ExplanationScene, MatchRecording, RecordPlugin, ShotExplainer},
    record::{Playback, ShotOutcome},
    rewind::{HitBoxes, humanoid_hit_boxes, humanoid_rig},
    weapons::{ExplanationViewer, ShotResult},
};
use unlag_examples::{
    arena::ArenaMap,
    death_report::{LastDeath, TICK_SECONDS},
};

use super::*;

fn body(_: NetId) -> (HitBoxes, LimbRig) {
    (humanoid_hit_boxes(), humanoid_rig())
}

fn name(pawn: NetId) -> String {
    format!("player {}", pawn.0)
}

/// Fails if the poses of an explanation are not those that the server tested: then its gap to a hit is not zero.
#[test]
fn recorded_shots_are_explained_by_the_poses_that_the_server_tested() {
    let file = std::env::temp_dir().join(format!("unlag_explanations_{}.unlagrec", std::process::id()));
    let options = MatchOptions { players: 4, conditions: link_150(), ..MatchOptions::default() };
    let plugin = RecordPlugin { level: "arena".to_owned(), queue: 1 << 16, ..default() };
    let mut game = Match::start_with(&options, |server| {
        server.add_plugins(plugin);
    })
    .expect("the match starts");
    game.server.world_mut().resource_mut::<MatchRecording>().start(&file);
    game.fight(25.0);
    game.server.world_mut().resource_mut::<MatchRecording>().stop();
    game.run(Duration::from_millis(100));
    drop(game);
    let bytes = std::fs::read(&file).expect("it was recorded");
    let _ = std::fs::remove_file(&file);

    let recorded = bevy_unlag::record::Recording::read(std::io::Cursor::new(&bytes)).expect("a recording");
    let own = recorded.setup().clone();
    let mut playback = Playback::read(std::io::Cursor::new(bytes), &own).expect("of this build");
    while !playback.is_indexed() {
        playback.index_next();
    }
    let (arsenal, bases) = (options.server.weapon_set.arsenal(), BasePoses::default());
    let boxes = ArenaMap::Arena.boxes();
    let wall = |from: Vec3, way: Vec3, most: f32| {
        boxes.iter().filter_map(|part| part.cast(from, way, most)).min_by(f32::total_cmp)
    };
    let scene = ExplanationScene { arsenal: &arsenal, bases: &bases, body: &body, wall: &wall };
    let shots = playback.index().shots().to_vec();
    let mut explainer = ShotExplainer::default();
    let (mut hits, mut beside, mut behind, mut misses, mut unclear) = (0, 0, 0, 0, 0);
    for shot in &shots {
        if playback.seconds_at(shot.tick) < 5.0 {
            continue;
        }
        let found = explainer.explain(&mut playback, shot, &scene).expect("it is recorded");
        let facts = found.explanation;
        let sentence = facts.sentence(ExplanationViewer::Nobody, TICK_SECONDS, name);
        match shot.outcome {
            ShotOutcome::Hit { .. } => {
                let target = facts.target.expect("a hit has a target");
                hits += 1;
                beside += u32::from(target.tested_gap > 1e-3);
                // The control: where the target is by then, most shots would miss.
                let gap = found.on_server.and_then(|pose| {
                    let (boxes, rig) = body(target.id);
                    boxes.distance_to_ray(&rig, &pose, (found.eye, found.directions[0], found.range))
                });
                behind += u32::from(gap.is_some_and(|gap| gap > 0.05));
                assert!(sentence.starts_with("Hit: player "), "{sentence}");
                let age = facts.age_ms(TICK_SECONDS).expect("players have screens");
                assert!((100.0..700.0).contains(&age), "{sentence}");
                assert!(facts.playout_ms(TICK_SECONDS).is_some_and(|playout| playout < age));
                assert!(found.targets_screen.is_some(), "the victim has a screen as well");
            }
            ShotOutcome::Miss => {
                misses += 1;
                unclear += u32::from(sentence.contains("grazed"));
                assert!(sentence.starts_with("Missed: "), "{sentence}");
            }
            ShotOutcome::Refused(_) => assert!(sentence.starts_with("Refused: "), "{sentence}"),
            ShotOutcome::Launched => {}
        }
    }
    assert!(hits > 5 && misses > 20, "{hits} hits, {misses} misses");
    // A shot names only some of the targets that were drawn otherwise, and the server grants claims a tolerance.
    assert!(beside * 20 <= hits, "{beside} of {hits} hits pass their target");
    assert!(behind * 3 > hits, "the control: {behind} of {hits} hits are elsewhere by then");
    assert!(unclear * 10 <= misses, "{unclear} of {misses} misses have no reason");
}

#[test]
fn victims_on_a_bad_link_read_why_they_died_before_they_respawn() {
    let conditions = LinkPreset::named("Bad (UE)").expect("a built-in preset").conditions();
    let options = MatchOptions { players: 4, conditions, ..MatchOptions::default() };
    let mut game = Match::start(&options).expect("the match starts");
    game.set_firing(true);
    let (mut deaths, mut explained) = (0, 0);
    // Whether each player is dead, and whether it has been told why.
    let mut dead = [None; 4];
    for _ in 0..1_800 {
        game.run(Duration::from_millis(50));
        for (client, dead) in game.clients.iter_mut().zip(&mut dead) {
            let world = client.world_mut();
            let mut own = world.query_filtered::<&DrawnPose, With<LocalControl>>();
            let Some(alive) = own.iter(world).next().map(|drawn| drawn.pose.alive) else { continue };
            let report = world.resource::<LastDeath>().0;
            match (*dead, alive) {
                (None, false) => *dead = Some(false),
                (Some(told), true) => {
                    deaths += 1;
                    explained += u32::from(told);
                    *dead = None;
                }
                _ => {}
            }
            if let (Some(told), Some(report)) = (dead, report) {
                *told = true;
                assert!(matches!(report.result, ShotResult::Hit(_)), "{report:?}");
                let sentence = report.sentence(ExplanationViewer::Target, TICK_SECONDS, name);
                assert!(sentence.starts_with("Hit by player "), "{sentence}");
                let target = report.target.expect("the victim");
                assert!(target.tested_gap < 0.5 || report.is_projectile, "{report:?}");
            }
        }
        if deaths >= 12 {
            break;
        }
    }
    assert!(deaths >= 4, "{deaths} deaths");
    assert!(explained * 10 >= deaths * 9, "{explained} of {deaths} deaths");
}
