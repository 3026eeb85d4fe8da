//! Two classes of soldiers in one match: a heavy one that is slow, tall and hard to lift, and a scout.
//!
//! `cargo run --release --example classes`: a server and two clients in one process, on stepped time, over a link
//! of 150 ms with 5 % loss. The second player changes class at its respawn. Prints what it promises, and exits
//! with 1 if a promise does not hold. With `--mismatch` the clients lack the heavy class: the control.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{core::PawnClass, link_conditioner::LinkConditions, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use std::{process::ExitCode, time::Duration};

const SCOUT: PawnClass = PawnClass(0);
const HEAVY: PawnClass = PawnClass(1);

/// Width of the gates, in metres.
const GATE: f32 = 0.9;

/// The same on both sides. Class 0 is the configuration itself.
fn classes(app: &mut App) {
    only_scouts(app);
    let heavy = CapsuleConfig {
        max_walk_speed: 4.0,
        jump_speed: 3.0,
        gravity: 14.0,
        radius: 0.5,
        half_height: 1.2,
        eye_height: 2.2,
        ..default()
    };
    app.world_mut().resource_mut::<CapsuleConfig>().add_class(heavy).expect("there are two classes");
}

/// The game without its second class.
fn only_scouts(app: &mut App) {
    let scout = CapsuleConfig { max_walk_speed: 8.0, jump_speed: 6.0, ..default() };
    app.insert_resource(scout).add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
        // A gate in the way of each player: too narrow for the heavy soldier.
        for (lane, distance) in [(10.0, 60.0), (20.0, 30.0)] {
            for side in [-1.0, 1.0] {
                let place = Transform::from_xyz(lane + side * (GATE / 2.0 + 2.0), 5.0, -distance);
                commands.spawn((Collider::cuboid(2.0, 5.0, 0.5), place));
            }
        }
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
fn client(game: fn(&mut App)) -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), game));
    app.add_systems(PreUpdate, |time: Res<Time>, mut own: Query<&mut InputAccumulator>| {
        for mut input in &mut own {
            input.axes(Vec2::Y);
            input.jump(time.elapsed_secs() % 3.0 < 0.2);
        }
    });
    app
}

/// Positions of the players on the server, by number.
fn positions(game: &mut SteppedApps) -> Vec<Vec3> {
    let world = game.server.world_mut();
    let mut pawns: Vec<_> = world.query::<(&NetId, &SoldierState)>().iter(world).collect();
    pawns.sort_by_key(|(id, _)| **id);
    pawns.into_iter().map(|(_, state)| Soldier::position(state)).collect()
}

/// Speed in metres per second and height of the jumps in metres of each player over some time.
fn speeds_and_jumps(game: &mut SteppedApps) -> Vec<[f32; 2]> {
    let (before, seconds) = (positions(game), 6.0);
    let mut highest = vec![0.0f32; before.len()];
    for _ in 0..(seconds * 64.0) as u32 {
        game.run(Duration::from_nanos(15_625_000));
        highest.iter_mut().zip(positions(game)).for_each(|(highest, at)| *highest = highest.max(at.y));
    }
    let after = positions(game);
    (0..before.len())
        .map(|i| [before[i].with_y(0.0).distance(after[i].with_y(0.0)) / seconds, highest[i]])
        .collect()
}

/// Height of a jump of this configuration, in metres.
fn jump_height(class: &CapsuleConfig) -> f32 {
    class.jump_speed.powi(2) / (2.0 * class.gravity)
}

/// Class of the pawn of this number on every machine, and the height of its hit boxes in metres.
fn class_everywhere(game: &mut SteppedApps, id: u16) -> Vec<(PawnClass, f32)> {
    let class = |app: &mut App| {
        let world = app.world_mut();
        let mut pawns = world.query::<(&NetId, &PawnClass, &HitBoxes)>();
        let found = pawns.iter(world).find(|(known, ..)| known.0 == id);
        found.map_or((PawnClass(99), 0.0), |(_, class, boxes)| (*class, boxes.bounds().high))
    };
    game.apps_mut().map(class).collect()
}

fn main() -> ExitCode {
    let mismatch = std::env::args().any(|argument| argument == "--mismatch");
    let game_of_clients = if mismatch { only_scouts } else { classes };
    let mut game = SteppedApps::new(server());
    for seed in 0..2 {
        let mut sim = NetSim::new(seed);
        sim.set(LinkConditions { latency: Duration::from_millis(75), loss: 0.05, ..default() });
        game.join_over(client(game_of_clients), sim).expect("a client can join");
    }
    game.run(Duration::from_secs(3));
    let ids: Vec<u16> = {
        let world = game.server.world_mut();
        let mut ids: Vec<_> = world.query::<&NetId>().iter(world).map(|id| id.0).collect();
        ids.sort_unstable();
        ids
    };
    if ids.len() < 2 {
        println!("FAIL players in the match: {}", ids.len());
        return ExitCode::FAILURE;
    }
    let first = speeds_and_jumps(&mut game);
    let known = class_everywhere(&mut game, ids[0]);
    let scout = class_everywhere(&mut game, ids[1])[0].1;
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
    let later = speeds_and_jumps(&mut game);
    game.run(Duration::from_secs(3));
    let stopped_at = -positions(&mut game)[0].z;
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

    let config = game.server.world().resource::<CapsuleConfig>();
    let [light, heavy] = [SCOUT, HEAVY].map(|class| jump_height(config.class(class)));
    // Feet hover 2 cm above the floor.
    let near = |value: f32, expected: f32| (value - expected).abs() < 0.05;
    let heavy_boxes = known[0].1;
    let is_heavy = |known: &[(PawnClass, f32)]| known.iter().all(|known| *known == (HEAVY, heavy_boxes));
    let promises = [
        ("the heavy soldier runs at 4 m/s", first[0][0], near(first[0][0], 4.0)),
        ("the scout runs at 8 m/s, through its gate", first[1][0], near(first[1][0], 8.0)),
        ("jump of the heavy soldier in its stronger gravity, m", first[0][1], near(first[0][1], heavy)),
        ("jump of the scout, m", first[1][1], near(first[1][1], light) && light > 2.0 * heavy),
        (
            "hit boxes of the heavy soldier over the scout's, m",
            heavy_boxes - scout,
            heavy_boxes > scout + 0.3,
        ),
        ("after its respawn the scout is heavy, m/s", later[1][0], near(later[1][0], 4.0)),
        ("and jumps no higher, m", later[1][1], near(later[1][1], heavy)),
        (
            "the gate at 60 m is too narrow for the heavy soldier, m",
            stopped_at,
            (58.0..60.0).contains(&stopped_at),
        ),
        ("machines that know the first class", known.len() as f32, is_heavy(&known)),
        ("machines that know the new one", changed.len() as f32, is_heavy(&changed)),
        ("corrections", corrections as f32, corrections == 0),
    ];
    let mut kept = true;
    for (what, value, holds) in promises {
        println!("{} {what}: {value:.2}", if holds { "ok  " } else { "FAIL" });
        kept &= holds;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
