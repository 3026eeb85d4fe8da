//! Push of a pawn that the server controls, against the push of a player's pawn.

use bevy_unlag::NpcPawn;
use bevy_unlag_testkit::{SteppedApps, headless_app};

use super::level;
use crate::prelude::*;

fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins::default())
        .add_systems(
            Startup,
            (level, |mut commands: Commands| {
                commands.spawn((
                    NpcPawn::<Soldier>::default(),
                    NetId(2),
                    Transform::from_xyz(20.0, 0.1, 0.0),
                ));
            }),
        )
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.1, 0.0);
            commands.spawn((SoldierPawn, NetId(1), place, player_pawn(joined.link, joined.peer)));
        });
    server
}

/// Heights of both pawns after each tick on the server, from the tick in which each leaves the ground.
fn heights(game: &mut SteppedApps) -> HashMap<NetId, Vec<f32>> {
    let mut paths: HashMap<NetId, Vec<f32>> = HashMap::new();
    for _ in 0..200 {
        game.run(TICK);
        let world = game.server.world_mut();
        for (id, state) in world.query::<(&NetId, &SoldierState)>().iter(world) {
            let (path, height) = (paths.entry(*id).or_default(), Soldier::position(state).y);
            if height > 0.02 || !path.is_empty() {
                path.push(height);
            }
        }
    }
    paths
}

pub fn measure(figures: &mut Figures) -> Result<(), String> {
    let mut game = SteppedApps::new(server());
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level);
    game.join(client, preset("Average (UE)")?).map_err(|e| e.to_string())?;
    game.run(Duration::from_secs(3));
    let world = game.server.world_mut();
    for mut pushes in world.query::<&mut ScheduledPushes<Soldier>>().iter_mut(world) {
        pushes.push(CapsulePush::Launch(Vec3::new(1.0, 6.0, 0.5)));
    }
    let paths = heights(&mut game);
    let [player, npc] = [1, 2].map(|id| paths.get(&NetId(id)).map_or(&[][..], Vec::as_slice));
    // A few moves of the player may share a tick of the server.
    let error = npc
        .iter()
        .map(|height| player.iter().map(|other| (height - other).abs()).fold(f32::INFINITY, f32::min));
    let peak = |path: &[f32]| path.iter().copied().fold(0.0, f32::max);
    if peak(npc) < 1.0 {
        return Err(format!("the character rose by {} m only", peak(npc)));
    }
    let error = error.fold((peak(npc) - peak(player)).abs(), f32::max);
    figures.add("bot_push_error_cm", f64::from(error) * 100.0)
}
