//! A character that the server controls: it walks to the player, shoots, and is knocked back by the player's shots.
//!
//! `cargo run --release --example ai`: a server and a client in one process, on stepped time, over a link of
//! 150 ms. Prints what it promises, and exits with 1 if a promise does not hold. With `--no-push` hits push nobody:
//! the control.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{link_conditioner::LinkPreset, prelude::*, weapons::HealthPlugin};
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
            pushes.push(CapsulePush::Launch(hit.direction.with_y(0.5) * 4.0));
        }
    }
}

fn spawn_npc(mut commands: Commands) {
    let controls = (NpcControls::default(), WeaponControls::default());
    let npc = (NpcPawn::<Soldier>::default(), NetId(1_000), Health::full(1e6), controls);
    commands.spawn((npc, Transform::from_xyz(0.0, 0.1, -40.0)));
}

// The rest is the game around the character: a level, a player, and the measurement.

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(100.0, 0.5, 100.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server(hits_push: bool) -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin))
        .add_systems(Startup, (level, spawn_npc))
        .add_systems(FixedUpdate, think.before(MoveSystems::Sample))
        .add_systems(FixedLast, knock_back.run_if(move || hits_push))
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, Health::full(1e6), player_pawn(joined.link, joined.peer)));
        });
    app
}

fn client() -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level)
        .add_systems(PreUpdate, fire_back);
    app
}

/// The player: fires at the character once a second, from 12 m on.
fn fire_back(
    time: Res<Time>,
    own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls), With<LocalControl>>,
    npc: Single<&DrawnPose, Without<LocalControl>>,
) {
    let (drawn, mut input, mut trigger) = own.into_inner();
    // From the eye to the chest.
    let way = npc.pose.position - drawn.pose.position - Vec3::Y * 0.5;
    input.look_along(way);
    trigger.set_fire(way.length() < 12.0 && time.elapsed_secs() % 1.0 < 0.1);
}

/// Heights of the character: on the server, and as the player's screen shows it.
fn heights(game: &mut SteppedApps) -> [f32; 2] {
    let world = game.server.world_mut();
    let mut npc = world.query_filtered::<&SoldierState, With<NpcControls>>();
    let server = npc.iter(world).map(|state| Soldier::position(state).y).next();
    let world = game.clients[0].world_mut();
    let mut drawn = world.query_filtered::<&DrawnPose, Without<LocalControl>>();
    let drawn = drawn.iter(world).map(|drawn| drawn.pose.position.y).next();
    [server, drawn].map(|height| height.unwrap_or(0.0))
}

fn main() -> ExitCode {
    let hits_push = !std::env::args().any(|argument| argument == "--no-push");
    let mut game = SteppedApps::new(server(hits_push));
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    game.join(client(), link).expect("a client can join");
    let mut highest = [0.0_f32; 2];
    for time in 0..6_000 {
        game.run(Duration::from_millis(2));
        // Both have spawned a little above the ground.
        let now = if time > 1_000 { heights(&mut game) } else { [0.0; 2] };
        highest.iter_mut().zip(now).for_each(|(highest, now)| *highest = highest.max(now));
    }
    let [server, drawn] = highest;

    let world = game.server.world_mut();
    let mut npc = world.query_filtered::<(&SoldierState, &Health), With<NpcControls>>();
    let (walked, hurt) = npc
        .iter(world)
        .map(|(state, health)| (Soldier::position(state).z + 40.0, health.max - health.current))
        .next()
        .unwrap_or_default();
    let mut players = world.query_filtered::<(&SoldierState, &Health), Without<NpcControls>>();
    let (pushed, damage) = players
        .iter(world)
        .map(|(state, health)| (Soldier::position(state).length(), health.max - health.current))
        .next()
        .unwrap_or_default();
    let client = game.clients[0].world_mut();
    let corrections: u64 = client.query::<&PredictionStats>().iter(client).map(|own| own.corrections).sum();

    let promises = [
        ("the character walked to the player", walked, "m", walked > 20.0),
        ("it hit the player, damage", damage, "", damage > 50.0),
        ("the player was knocked back by", pushed, "m", pushed > 1.0),
        ("the player's shots hit it, damage", hurt, "", hurt > 50.0),
        ("they threw it up by", server, "m", server > 0.15),
        ("on the player's screen by", drawn, "m", (drawn - server).abs() < 0.02),
        ("corrections of the player", corrections as f32, "", corrections == 0),
    ];
    let mut kept = true;
    for (what, value, unit, holds) in promises {
        println!("{} {what}: {value:.2} {unit}", if holds { "ok  " } else { "FAIL" });
        kept &= holds;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
