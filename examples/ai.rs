//! A character that the server controls: it walks to the player, shoots, and is knocked back.
//!
//! `cargo run --release --example ai`: a server and a client in one process, on stepped time, over a link of
//! 150 ms. Prints what it promises, and exits with 1 if a promise does not hold.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{NpcControls, NpcPawn, link_conditioner::LinkPreset, prelude::*, weapons::HealthPlugin};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use std::{process::ExitCode, time::Duration};

/// The character: walks towards the nearest player until it is 8 m away, and fires while it sees the player.
fn think(
    tick: Res<CurrentTick>,
    mut npcs: Query<(&SoldierState, &mut NpcControls, &mut WeaponControls)>,
    players: Query<&SoldierState, Without<NpcControls>>,
) {
    for (own, mut controls, mut trigger) in &mut npcs {
        let from = Soldier::position(own);
        let distance = |other: &&SoldierState| Soldier::position(other).distance_squared(from);
        let Some(player) = players.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
            continue;
        };
        let way = Soldier::position(player) - from;
        controls.0.look_along(way);
        controls.0.set_axes(if way.length() > 8.0 { Vec2::Y } else { Vec2::ZERO });
        // One pull in half a second.
        trigger.set_fire(way.length() < 20.0 && tick.0.0.is_multiple_of(32));
    }
}

/// Knocks every pawn back that is hit.
fn knock_back(mut hits: MessageReader<Damage>, mut pawns: Query<&mut ScheduledPushes<Soldier>>) {
    for hit in hits.read() {
        if let Ok(mut pushes) = pawns.get_mut(hit.target) {
            pushes.push(CapsulePush::Launch(hit.direction.with_y(0.0) * 2.0));
        }
    }
}

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(100.0, 0.5, 100.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server() -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin))
        .add_systems(Startup, (level, spawn_npc))
        .add_systems(FixedUpdate, think.before(MoveSystems::Sample))
        .add_systems(FixedLast, knock_back)
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, Health::full(1e6), player_pawn(joined.link, joined.peer)));
        });
    app
}

fn spawn_npc(mut commands: Commands) {
    let controls = (NpcControls::default(), WeaponControls::default());
    let npc = (NpcPawn::<Soldier>::default(), NetId(1_000), Health::full(1e6), controls);
    commands.spawn((npc, Transform::from_xyz(0.0, 0.1, -40.0)));
}

fn client() -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level);
    app
}

/// Height to which the character rises when it is launched at `speed`, as the server and as the client's screen
/// has it.
fn rise(game: &mut SteppedApps, speed: f32) -> [f32; 2] {
    let world = game.server.world_mut();
    let mut pushes = world.query_filtered::<&mut ScheduledPushes<Soldier>, With<NpcControls>>();
    pushes.iter_mut(world).for_each(|mut pushes| pushes.push(CapsulePush::Launch(Vec3::Y * speed)));
    let mut highest = [0.0_f32; 2];
    for _ in 0..200 {
        game.run(Duration::from_millis(10));
        let world = game.server.world_mut();
        let mut npc = world.query_filtered::<&SoldierState, With<NpcControls>>();
        let server = npc.iter(world).map(|state| Soldier::position(state).y).next();
        let world = game.clients[0].world_mut();
        let mut drawn = world.query_filtered::<(&NetId, &DrawnPose), Without<LocalControl>>();
        let drawn = drawn.iter(world).map(|(_, drawn)| drawn.pose.position.y).next();
        for (most, now) in highest.iter_mut().zip([server, drawn]) {
            *most = most.max(now.unwrap_or(0.0));
        }
    }
    highest
}

fn main() -> ExitCode {
    let mut game = SteppedApps::new(server());
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    game.join(client(), link).expect("a client can join");
    game.run(Duration::from_secs(12));

    let world = game.server.world_mut();
    let mut npc = world.query_filtered::<&SoldierState, With<NpcControls>>();
    let walked = npc.iter(world).map(|state| Soldier::position(state).z + 40.0).next().unwrap_or(0.0);
    let mut players = world.query_filtered::<(&SoldierState, &Health), Without<NpcControls>>();
    let (pushed, damage) = players
        .iter(world)
        .map(|(state, health)| (Soldier::position(state).length(), health.max - health.current))
        .next()
        .unwrap_or_default();
    // Without air resistance: the speed squared by twice the gravity, and half a tick's fall.
    let gravity = world.resource::<CapsuleConfig>().gravity.abs();
    let expected = 36.0 / (2.0 * gravity);
    let [server, drawn] = rise(&mut game, 6.0);
    let client = game.clients[0].world_mut();
    let corrections: u64 = client.query::<&PredictionStats>().iter(client).map(|own| own.corrections).sum();

    let promises = [
        ("the character walked to the player", walked, "m", walked > 20.0),
        ("it hit the player, damage", damage, "", damage > 50.0),
        ("the player was knocked back by", pushed, "m", pushed > 1.0),
        ("corrections of the player", corrections as f32, "", corrections == 0),
        ("launched at 6 m/s it rose by", server, "m", (server - expected).abs() < 0.1),
        ("on the player's screen by", drawn, "m", (drawn - server).abs() < 0.01),
    ];
    let mut kept = true;
    for (what, value, unit, holds) in promises {
        println!("{} {what}: {value:.2} {unit}", if holds { "ok  " } else { "FAIL" });
        kept &= holds;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
