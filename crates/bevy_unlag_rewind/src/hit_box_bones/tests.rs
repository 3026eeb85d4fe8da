//! Bones that appear late, are missing, or are despawned.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{NetId, VisualOf};
use bevy_unlag_movement::{CapsuleModel, MovementPlugin};

use checked_ron::RonFile;

use super::*;
use crate::{history::FrameHistory, hit_box_asset::HitBoxAsset, plugin::RewindPlugin};

const FILE: &str = r#"(
    bounds: (radius: 1, low: 0, high: 2),
    boxes: [
        (bone: "Head", group: Head, shape: Ball(radius: 0.13)),
        (bone: "Hand", shape: Ball(radius: 0.05)),
        (bone: "Head", shape: Ball(radius: 0.2)),
    ],
)"#;

fn file() -> HitBoxFile {
    HitBoxFile::from_ron(FILE).expect("good")
}

fn server() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, AssetPlugin::default(), MovementPlugin))
        .add_plugins(RewindPlugin::<CapsuleModel>::default())
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(100)));
    app.finish();
    app.cleanup();
    app
}

fn run(app: &mut App, frames: usize) {
    for _ in 0..frames {
        app.update();
    }
}

/// Spawns a model: an armature with hips, a head above them, and optionally a hand.
fn model(app: &mut App, below: Entity, hand: bool) -> [Entity; 3] {
    let world = app.world_mut();
    let mut node = |name: &str, y: f32, parent: Entity| {
        world.spawn((Name::new(name.to_owned()), Transform::from_xyz(0.0, y, 0.0), ChildOf(parent))).id()
    };
    let hips = node("Hips", 1.0, below);
    let head = node("Head", 0.6, hips);
    // Second node with that name, further down.
    node("Head", 9.0, head);
    let hand = if hand { node("Hand", 0.1, hips) } else { hips };
    [hips, head, hand]
}

#[test]
fn bones_are_found_once_the_scene_has_appeared() {
    let mut app = server();
    let pawn = app.world_mut().spawn((NetId(1), FrameHistory::default(), HitBoxBones::new(file()))).id();
    run(&mut app, 5);
    assert!(!app.world().entity(pawn).contains::<HitBoxes>());
    let [_, head, hand] = model(&mut app, pawn, true);
    app.world_mut().entity_mut(pawn).insert(Transform::from_xyz(5.0, 0.0, 0.0));
    run(&mut app, 1);
    let entity = app.world().entity(pawn);
    let nodes = entity.get::<LimbNodes>().expect("found");
    assert_eq!(*nodes, LimbNodes::new(pawn, [head, hand]));
    let limbs: Vec<u8> = entity.get::<HitBoxes>().expect("boxes").boxes().iter().map(|b| b.limb).collect();
    assert_eq!(limbs, [0, 1, 0]);
    let recorded = entity.get::<FrameHistory>().expect("a history").bones.newest_limbs();
    assert_eq!(recorded.iter().map(|limb| limb.translation.y).collect::<Vec<_>>(), [1.6, 1.1]);
    assert_eq!(recorded[0].translation.x, 0.0);
}

#[test]
fn missing_bone_is_reported_once_and_its_boxes_stay_at_the_root() {
    let mut app = server();
    let pawn = app.world_mut().spawn(HitBoxBones::new(file())).id();
    let [_, head, _] = model(&mut app, pawn, false);
    run(&mut app, 10);
    let state = |app: &App| {
        let bones = app.world().get::<HitBoxBones>(pawn).expect("bones");
        (bones.found(), bones.warned)
    };
    assert_eq!(state(&app), (false, false), "it may still come");
    run(&mut app, 15);
    assert_eq!(state(&app), (true, true));
    let nodes = app.world().get::<LimbNodes>(pawn).expect("what there is");
    assert_eq!(nodes.nodes, [Some(head), None]);

    // If no bone appears at all, the search continues.
    let mut app = server();
    let pawn = app.world_mut().spawn(HitBoxBones::new(file())).id();
    run(&mut app, 120);
    let bones = app.world().get::<HitBoxBones>(pawn).expect("bones");
    assert!(bones.warned && !bones.found());
    model(&mut app, pawn, true);
    run(&mut app, 1);
    assert!(app.world().get::<HitBoxBones>(pawn).expect("bones").found());
}

#[test]
fn bones_of_a_swapped_model_are_found_with_the_same_boxes() {
    let mut app = server();
    let pawn = app.world_mut().spawn((NetId(1), FrameHistory::default(), HitBoxBones::new(file()))).id();
    let visual = app.world_mut().spawn(VisualOf(pawn)).id();
    let [hips, ..] = model(&mut app, visual, true);
    run(&mut app, 3);
    let set = app.world().get::<HitBoxes>(pawn).expect("boxes").clone();
    assert_eq!(app.world().get::<LimbNodes>(pawn).map(|nodes| nodes.root), Some(visual));
    app.world_mut().entity_mut(hips).despawn();
    run(&mut app, 3);
    let [_, head, hand] = model(&mut app, visual, true);
    run(&mut app, 2);
    assert_eq!(*app.world().get::<LimbNodes>(pawn).expect("nodes"), LimbNodes::new(visual, [head, hand]));
    assert!(app.world().get::<HitBoxes>(pawn).expect("boxes").is_same_set(&set), "no other set");
}

#[test]
fn limb_numbers_need_no_nodes_and_an_invalid_file_inserts_nothing() {
    let mut app = server();
    let numbered = FILE.replace("\"Head\"", "0").replace("\"Hand\"", "1");
    let numbered = HitBoxFile::from_ron(&numbered).expect("good");
    let pawn = app.world_mut().spawn(HitBoxBones::new(numbered)).id();
    let mut wrong = file();
    wrong.boxes.clear();
    let other = app.world_mut().spawn(HitBoxBones::new(wrong)).id();
    run(&mut app, 2);
    assert!(
        app.world().entity(pawn).contains::<HitBoxes>() && !app.world().entity(pawn).contains::<LimbNodes>()
    );
    assert!(!app.world().entity(other).contains::<HitBoxes>());
}

#[test]
fn hit_boxes_of_an_asset_are_inserted_again_when_it_changes() {
    let mut app = server();
    let pawn = app.world_mut().spawn_empty().id();
    model(&mut app, pawn, true);
    let handle = app.world_mut().resource_mut::<Assets<HitBoxFile>>().add(file());
    let root = app.world_mut().spawn(HitBoxAsset(handle.clone())).add_child(pawn).id();
    run(&mut app, 4);
    let boxes = |app: &App| app.world().get::<HitBoxes>(root).map(|set| set.boxes().len());
    assert_eq!(boxes(&app), Some(3));
    app.world_mut().resource_mut::<Assets<HitBoxFile>>().get_mut(&handle).expect("there").boxes.pop();
    run(&mut app, 4);
    assert_eq!(boxes(&app), Some(2));
}

#[test]
fn hit_box_file_is_loaded_from_disk() {
    let folder = std::env::temp_dir().join(format!("hit_boxes_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("guard.hitboxes.ron"), FILE).expect("a file");
    let mut app = App::new();
    let assets = AssetPlugin { file_path: folder.display().to_string(), ..default() };
    app.add_plugins((MinimalPlugins, TransformPlugin, assets, crate::limb_plugin::LimbNodesPlugin));
    app.finish();
    app.cleanup();
    let handle = app.world().resource::<AssetServer>().load::<HitBoxFile>("guard.hitboxes.ron");
    let pawn = app.world_mut().spawn(HitBoxAsset(handle)).id();
    model(&mut app, pawn, true);
    for _ in 0..2_000 {
        app.update();
        if app.world().entity(pawn).contains::<HitBoxes>() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_dir_all(&folder).expect("it goes");
    assert!(app.world().entity(pawn).contains::<HitBoxes>());
}
