//! Ids of pawns that a game chooses and the server has assigned to others.

use std::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{NpcPawn, link_conditioner::LinkPreset, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::captured_log::errors;

fn server() -> App {
    let mut server = headless_app();
    server.add_plugins(UnlagServerPlugins::default()).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        },
    );
    server
}

/// Returns the ids of all pawns that an app knows, in order.
fn ids(app: &mut App) -> Vec<u16> {
    let world = app.world_mut();
    let mut ids: Vec<u16> = world.query::<&NetId>().iter(world).map(|id| id.0).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn pawn_with_the_id_of_a_living_pawn_gets_a_free_one_and_the_older_stays_reachable() {
    let mut game = SteppedApps::new(server());
    let mut client = headless_app();
    client.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    game.join(client, link).expect("the client joins");
    game.run(Duration::from_secs(2));
    assert_eq!(ids(&mut game.server), [1], "the server has assigned an id");
    let place = Transform::from_xyz(30.0, 0.1, 0.0);
    let lines = errors(|| {
        let world = game.server.world_mut();
        world.spawn((NpcPawn::<Soldier>::default(), NetId(1), place));
        world.spawn((NpcPawn::<Soldier>::default(), NetId(1), place));
        world.flush();
    });
    let told = lines.iter().filter(|line| line.contains("was given NetId(1), which the living pawn")).count();
    assert_eq!(told, 2, "{lines:?}");
    game.run(Duration::from_secs(2));
    assert_eq!(ids(&mut game.server), [1, 2, 3]);
    assert_eq!(ids(&mut game.clients[0]), [1, 2, 3]);
    // Snapshots of the three go to three pawns.
    let world = game.clients[0].world_mut();
    let mut drawn = world.query::<(&NetId, &DrawnPose)>();
    for (id, drawn) in drawn.iter(world) {
        let far = drawn.pose.position.x > 20.0;
        assert_eq!(far, id.0 > 1, "{id:?} is drawn at {}", drawn.pose.position);
    }
    // The newer one leaves no hole behind: the older one is still found.
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let newer: Vec<Entity> = pawns.iter(world).filter(|(_, id)| id.0 > 1).map(|(pawn, _)| pawn).collect();
    for pawn in newer {
        world.despawn(pawn);
    }
    game.run(Duration::from_secs(1));
    assert_eq!(ids(&mut game.clients[0]), [1]);
}
