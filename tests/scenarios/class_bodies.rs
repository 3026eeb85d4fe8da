//! Hit boxes of pawns whose class changes at a respawn: those of their class, and those of the game's own.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    ClassBodies,
    core::PawnClass,
    link_conditioner::LinkPreset,
    prelude::*,
    rewind::{BodyBounds, humanoid_hit_boxes, humanoid_rig, scaled_humanoid_hit_boxes},
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::seconds;

const SCOUT: PawnClass = PawnClass(0);
const HEAVY: PawnClass = PawnClass(1);
/// Size of a heavy soldier's hit boxes; its capsule is that of a scout.
const HEAVY_SIZE: f32 = 1.5;

/// The same on both sides.
fn classes(app: &mut App) {
    let mut config = CapsuleConfig::default();
    config.add_class(CapsuleConfig::default()).expect("there are two classes");
    let (boxes, rig) = (scaled_humanoid_hit_boxes(HEAVY_SIZE), humanoid_rig().scaled(HEAVY_SIZE));
    app.insert_resource(config)
        .insert_resource(ClassBodies::<Soldier>::default().with(HEAVY, boxes, rig))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
        });
}

/// Starts a match of two scouts, who stand still.
fn start() -> SteppedApps {
    let mut server = headless_app();
    server.add_plugins((UnlagServerPlugins::default(), classes)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let place = Transform::from_xyz(6.0 * f32::from(*players), 0.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), SCOUT, place, owner));
        },
    );
    let mut game = SteppedApps::new(server);
    for _ in 0..2 {
        let mut client = headless_app();
        client.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), classes));
        let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
        game.join(client, link).expect("the client joins");
        // The first player has the first id.
        game.run(seconds(1.0));
    }
    game.run(seconds(1.0));
    game
}

fn pawn(app: &mut App, id: NetId) -> Entity {
    let world = app.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let found = pawns.iter(world).find(|(_, other)| **other == id).map(|(pawn, _)| pawn);
    found.unwrap_or_else(|| panic!("there is no {id:?}"))
}

/// Puts a pawn elsewhere as a soldier of another class, and waits until everybody knows.
fn respawn(game: &mut SteppedApps, id: NetId, class: PawnClass) {
    let pawn = pawn(&mut game.server, id);
    let world = game.server.world_mut();
    let mut state = world.get_mut::<SoldierState>(pawn).expect("the server simulates the pawn");
    state.body.teleport_to(Vec3::new(6.0 * f32::from(id.0), 0.1, -10.0));
    world.entity_mut(pawn).insert(class);
    game.run(seconds(1.5));
}

/// Class and hit boxes of a pawn on the server and on each client.
fn bodies(game: &mut SteppedApps, id: NetId) -> Vec<(PawnClass, HitBoxes)> {
    let body = |app: &mut App| {
        let pawn = pawn(app, id);
        let pawn = app.world().entity(pawn);
        let boxes = pawn.get::<HitBoxes>().expect("a soldier has hit boxes").clone();
        (pawn.get::<PawnClass>().copied().expect("the class is known"), boxes)
    };
    game.apps_mut().map(body).collect()
}

/// The same with the bounds of the hit boxes.
fn bounds(game: &mut SteppedApps, id: NetId) -> Vec<(PawnClass, BodyBounds)> {
    bodies(game, id).into_iter().map(|(class, boxes)| (class, boxes.bounds())).collect()
}

/// Against a mutation: without `pawn.insert(listed)` in `give` of `crates/bevy_unlag/src/character/body.rs`.
#[test]
fn hit_boxes_of_a_class_follow_a_respawn_in_another_class_on_every_machine() {
    let mut game = start();
    let scout = (SCOUT, humanoid_hit_boxes().bounds());
    let heavy = (HEAVY, scaled_humanoid_hit_boxes(HEAVY_SIZE).bounds());
    assert_ne!(scout.1, heavy.1);
    assert_eq!(bounds(&mut game, NetId(1)), [scout; 3], "the server, the owner and another player");
    for expected in [heavy, scout] {
        respawn(&mut game, NetId(1), expected.0);
        assert_eq!(bounds(&mut game, NetId(1)), [expected; 3]);
        assert_eq!(bounds(&mut game, NetId(2)), [scout; 3], "the pawn that keeps its class");
    }
}

/// Against a mutation: `let has_own = false;` in `give` of `crates/bevy_unlag/src/character/body.rs`.
#[test]
fn hit_boxes_that_a_game_has_inserted_survive_a_respawn_in_another_class() {
    let mut game = start();
    let own = scaled_humanoid_hit_boxes(0.8);
    for app in game.apps_mut() {
        let pawn = pawn(app, NetId(1));
        app.world_mut().entity_mut(pawn).insert((own.clone(), humanoid_rig().scaled(0.8)));
    }
    // The control: without hit boxes of its own the other pawn gets those of the class.
    let heavy = scaled_humanoid_hit_boxes(HEAVY_SIZE).bounds();
    for class in [HEAVY, SCOUT, HEAVY] {
        respawn(&mut game, NetId(1), class);
        for (number, (known, boxes)) in bodies(&mut game, NetId(1)).into_iter().enumerate() {
            assert_eq!(known, class, "app {number}");
            assert!(boxes.is_same_set(&own), "app {number}: {:?}", boxes.bounds());
        }
    }
    respawn(&mut game, NetId(2), HEAVY);
    assert_eq!(bounds(&mut game, NetId(2)), [(HEAVY, heavy); 3]);
}
