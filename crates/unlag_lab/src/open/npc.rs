//! Push of a pawn that the server controls, against the push of a player's pawn.

use bevy_unlag::NpcPawn;
use bevy_unlag_testkit::{SteppedApps, TracePlugin, headless_app, traces};

use super::level;
use crate::prelude::*;

const PLAYER: NetId = NetId(1);
const NPC: NetId = NetId(2);
/// Both are launched upwards and across, in metres per second.
const LAUNCH: Vec3 = Vec3::new(1.0, 6.0, 0.5);
/// Moves that are compared: the flight, of 1.2 s, and the rest after it.
const MOVES: usize = 128;

fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), TracePlugin))
        .add_systems(
            Startup,
            (level, |mut commands: Commands| {
                commands.spawn((NpcPawn::<Soldier>::default(), NPC, Transform::from_xyz(20.0, 0.1, 0.0)));
            }),
        )
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.1, 0.0);
            commands.spawn((SoldierPawn, PLAYER, place, player_pawn(joined.link, joined.peer)));
        });
    server
}

/// Displacements from the place at rest after each move, from the last move on the ground on.
fn displacements(path: &[Vec3]) -> Vec<Vec3> {
    let Some(rest) = path.first() else { return Vec::new() };
    let launched = path.iter().position(|place| place.y > rest.y + 0.02).unwrap_or(1);
    path.iter().skip(launched.saturating_sub(1)).take(MOVES).map(|place| place - rest).collect()
}

/// Displacements of the player's pawn and of the server's, by move.
fn launch(is_npc_pushed: bool) -> Result<[Vec<Vec3>; 2], String> {
    let mut game = SteppedApps::new(server());
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level);
    game.join(client, preset("Average (UE)")?).map_err(|e| e.to_string())?;
    game.run(Duration::from_secs(3));
    let before = traces(&mut game.server).get(&PLAYER).map_or(0, Vec::len);
    let world = game.server.world_mut();
    for (id, mut pushes) in world.query::<(&NetId, &mut ScheduledPushes<Soldier>)>().iter_mut(world) {
        if *id == PLAYER || is_npc_pushed {
            pushes.push(CapsulePush::Launch(LAUNCH));
        }
    }
    let mut npc = Vec::new();
    for _ in 0..200 {
        // One move of it in each tick.
        let world = game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &SoldierState)>();
        npc.extend(
            pawns.iter(world).filter(|(id, _)| **id == NPC).map(|(_, state)| Soldier::position(state)),
        );
        game.run(TICK);
    }
    // A few moves of the player may share a tick of the server.
    let player = traces(&mut game.server).remove(&PLAYER).unwrap_or_default();
    let player: Vec<_> = player.iter().skip(before.max(1) - 1).map(|(_, place)| *place).collect();
    let paths = [displacements(&player), displacements(&npc)];
    if paths.iter().any(|path| path.len() < MOVES) {
        return Err("too few moves after the push".to_owned());
    }
    Ok(paths)
}

/// Moves in the air.
fn flight(path: &[Vec3]) -> usize {
    path.iter().filter(|way| way.y > 0.02).count()
}

/// Largest distance between both displacements after the same number of moves, in metres.
fn largest_difference([player, npc]: &[Vec<Vec3>; 2]) -> f32 {
    player.iter().zip(npc).map(|(player, npc)| player.distance(*npc)).fold(0.0, f32::max)
}

pub fn measure(figures: &mut Figures) -> Result<(), String> {
    let pushed = launch(true)?;
    let [player, npc] = &pushed;
    let highest = player.iter().map(|way| way.y).fold(0.0, f32::max);
    let across = player.last().map_or(0.0, |way| way.with_y(0.0).length());
    if highest < 1.0 || across < 0.5 {
        return Err(format!("the player's pawn rose by {highest} m and flew {across} m only"));
    }
    let note = format!(
        "{highest:.2} m high, {across:.2} m across, {} and {} moves in the air",
        flight(player),
        flight(npc)
    );
    figures.add_noted("bot_push_error_cm", f64::from(largest_difference(&pushed)) * 100.0, note)?;
    let unpushed = launch(false)?;
    let error = f64::from(largest_difference(&unpushed)) * 100.0;
    figures.add_noted("control_bot_push_error_cm", error, "without the push".to_owned())
}
