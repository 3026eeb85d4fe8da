//! Two classes of soldiers in one match: a heavy one that is slow, tall and hard to lift, and a scout.
//!
//! `cargo run --release --example classes`: a server and two clients in one process, on stepped time, over a link
//! of 150 ms with 5 % loss. The second player changes class at its respawn. Prints what it promises, and exits
//! with 1 if a promise does not hold.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{core::PawnClass, link_conditioner::LinkConditions, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use std::{process::ExitCode, time::Duration};

const SCOUT: PawnClass = PawnClass(0);
const HEAVY: PawnClass = PawnClass(1);

/// The same on both sides. Class 0 is the configuration itself.
fn classes(app: &mut App) {
    let mut scout = CapsuleConfig { max_walk_speed: 8.0, jump_speed: 6.0, ..default() };
    let heavy = CapsuleConfig {
        max_walk_speed: 4.0,
        jump_speed: 3.0,
        gravity: 14.0,
        radius: 0.5,
        half_height: 1.2,
        eye_height: 2.2,
        ..default()
    };
    scout.add_class(heavy).expect("there are two classes");
    app.insert_resource(scout).add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

fn server() -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagServerPlugins::default(), classes));
    app.add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
        *players += 1;
        let class = if *players == 1 { HEAVY } else { SCOUT };
        let place = Transform::from_xyz(f32::from(*players) * 10.0, 0.1, 0.0);
        commands.spawn((SoldierPawn, class, place, player_pawn(joined.link, joined.peer)));
    });
    app
}

/// A client that runs and jumps.
fn client() -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), classes));
    app.add_systems(PreUpdate, |time: Res<Time>, mut own: Query<&mut InputAccumulator>| {
        for mut input in &mut own {
            input.axes(Vec2::Y);
            input.jump(time.elapsed_secs() % 3.0 < 0.2);
        }
    });
    app
}

/// Speed of each player in metres per second over some time, on the server.
fn speeds(game: &mut SteppedApps) -> Vec<f32> {
    let at = |game: &mut SteppedApps| {
        let world = game.server.world_mut();
        let mut pawns: Vec<_> = world.query::<(&NetId, &SoldierState)>().iter(world).collect();
        pawns.sort_by_key(|(id, _)| **id);
        pawns.into_iter().map(|(_, state)| Soldier::position(state).with_y(0.0)).collect::<Vec<_>>()
    };
    let (before, seconds) = (at(game), 6.0);
    game.run(Duration::from_secs_f32(seconds));
    before.iter().zip(at(game)).map(|(a, b)| a.distance(b) / seconds).collect()
}

/// Class of the pawn of this number on every machine.
fn class_everywhere(game: &mut SteppedApps, id: u16) -> Vec<PawnClass> {
    let class = |app: &mut App| {
        let world = app.world_mut();
        let mut pawns = world.query::<(&NetId, &PawnClass)>();
        pawns.iter(world).find(|(known, _)| known.0 == id).map_or(PawnClass(99), |(_, class)| *class)
    };
    game.apps_mut().map(class).collect()
}

fn main() -> ExitCode {
    let mut game = SteppedApps::new(server());
    for seed in 0..2 {
        let mut sim = NetSim::new(seed);
        sim.set(LinkConditions { latency: Duration::from_millis(75), loss: 0.05, ..default() });
        game.join_over(client(), sim).expect("a client can join");
    }
    game.run(Duration::from_secs(3));
    let ids: Vec<u16> = {
        let world = game.server.world_mut();
        let mut ids: Vec<_> = world.query::<&NetId>().iter(world).map(|id| id.0).collect();
        ids.sort_unstable();
        ids
    };
    let first = speeds(&mut game);
    let known = class_everywhere(&mut game, ids[0]);
    // A respawn: another place and another class.
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId, &mut SoldierState)>();
    let second = pawns.iter_mut(world).find(|(_, id, _)| id.0 == ids[1]).map(|(pawn, _, mut state)| {
        state.body.teleport_to(Vec3::new(40.0, 0.1, 0.0));
        pawn
    });
    if let Some(second) = second {
        world.entity_mut(second).insert(HEAVY);
    }
    game.run(Duration::from_secs(1));
    let later = speeds(&mut game);
    let changed = class_everywhere(&mut game, ids[1]);
    let corrections: u64 = game
        .clients
        .iter_mut()
        .map(|app| {
            let world = app.world_mut();
            let own = world.query::<&PredictionStats>().iter(world).map(|own| own.corrections).max();
            own.unwrap_or(99)
        })
        .sum();

    let promises = [
        ("the heavy soldier runs at 4 m/s", first[0], (first[0] - 4.0).abs() < 0.1),
        ("the scout runs at 8 m/s", first[1], (first[1] - 8.0).abs() < 0.1),
        ("after its respawn the scout is heavy, m/s", later[1], (later[1] - 4.0).abs() < 0.1),
        ("machines that know the first class", known.len() as f32, known.iter().all(|class| *class == HEAVY)),
        ("machines that know the new one", changed.len() as f32, changed.iter().all(|class| *class == HEAVY)),
        ("corrections", corrections as f32, corrections == 0),
    ];
    let mut kept = true;
    for (what, value, holds) in promises {
        println!("{} {what}: {value:.2}", if holds { "ok  " } else { "FAIL" });
        kept &= holds;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
