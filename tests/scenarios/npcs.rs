//! Pawns that the server controls: they take the same way as those of players.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{HostSoldierPawn, link_conditioner::LinkPreset, movement::LocalMovesPlugin, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

/// A listen server whose host walks forwards, with a character beside it.
fn listen_server() -> App {
    let mut server = headless_app();
    server
        .add_plugins((
            UnlagServerPlugins::default(),
            PlayerControlsPlugin::default(),
            // A game that also has pawns without a network.
            LocalMovesPlugin::<Soldier>::default(),
        ))
        .add_systems(Startup, (level, spawn))
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        });
    server
}

fn spawn(mut commands: Commands) {
    commands.spawn((HostSoldierPawn, Transform::from_xyz(0.0, 0.1, 0.0)));
    let npc = (NpcPawn::<Soldier>::default(), NpcControls::default(), Transform::from_xyz(5.0, 0.1, 0.0));
    commands.spawn(npc);
}

fn position<F: bevy::ecs::query::QueryFilter>(game: &mut SteppedApps) -> Vec3 {
    let world = game.server.world_mut();
    let mut pawns = world.query_filtered::<&SoldierState, F>();
    Soldier::position(pawns.single(world).expect("one such pawn"))
}

#[test]
fn host_beside_a_character_keeps_its_speed() {
    let mut game = SteppedApps::new(listen_server());
    game.run(Duration::from_secs(1));
    let from = position::<With<LocalControl>>(&mut game);
    game.run(Duration::from_secs(2));
    let way = position::<With<LocalControl>>(&mut game).distance(from);
    assert!((way - 12.0).abs() < 0.2, "{way} m in 2 s at 6 m/s");
}

#[test]
fn push_lifts_a_character_as_high_as_gravity_allows() {
    let mut game = SteppedApps::new(listen_server());
    game.run(Duration::from_secs(1));
    let world = game.server.world_mut();
    let mut npcs = world.query_filtered::<&mut ScheduledPushes<Soldier>, With<NpcControls>>();
    npcs.single_mut(world).expect("the character is there").push(CapsulePush::Launch(Vec3::Y * 6.0));
    let mut highest = 0.0_f32;
    for _ in 0..128 {
        game.run(Duration::from_millis(16));
        highest = highest.max(position::<With<NpcControls>>(&mut game).y);
    }
    let expected = 6.0 * 6.0 / (2.0 * 9.8);
    assert!((highest - expected).abs() < 0.06, "{highest} m instead of {expected} m");
}

#[test]
fn controls_move_a_character_along_its_view() {
    let mut game = SteppedApps::new(listen_server());
    game.run(Duration::from_secs(1));
    let world = game.server.world_mut();
    let mut npcs = world.query::<&mut NpcControls>();
    let mut controls = npcs.single_mut(world).expect("the character is there");
    controls.0.look_along(Vec3::X);
    controls.0.set_axes(Vec2::Y);
    let from = position::<With<NpcControls>>(&mut game);
    game.run(Duration::from_secs(2));
    let way = position::<With<NpcControls>>(&mut game) - from;
    assert!((way.x - 12.0).abs() < 1.0 && way.z.abs() < 0.1, "{way}");
}

#[test]
fn client_sees_a_character_where_the_server_had_it() {
    let mut game = SteppedApps::new(listen_server());
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level);
    game.join(client, LinkPreset::find("LAN").expect("a built-in preset")).expect("the client joins");
    game.run(Duration::from_secs(2));
    let world = game.server.world_mut();
    let mut npcs = world.query::<&mut NpcControls>();
    npcs.single_mut(world).expect("the character is there").0.set_axes(Vec2::Y);
    game.run(Duration::from_secs(2));
    let world = game.server.world_mut();
    let mut named = world.query_filtered::<&NetId, With<NpcControls>>();
    let id = *named.single(world).expect("the character has an id");
    let there = position::<With<NpcControls>>(&mut game);
    let drawn = |game: &mut SteppedApps| {
        let world = game.clients[0].world_mut();
        let mut pawns = world.query::<(&NetId, &DrawnPose)>();
        let found = pawns.iter(world).find(|(other, _)| **other == id);
        found.expect("the client draws the character").1.pose.position
    };
    // At 6 m/s, as late as the screen is.
    let behind = drawn(&mut game).distance(there);
    assert!((0.1..1.0).contains(&behind), "{behind} m behind the server");
    let mut nearest = f32::INFINITY;
    for _ in 0..60 {
        game.run(Duration::from_millis(4));
        nearest = nearest.min(drawn(&mut game).distance(there));
    }
    assert!(nearest < 0.05, "it passes {nearest} m from where the server had the character");
}
