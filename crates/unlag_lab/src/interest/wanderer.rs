//! Scripted players that wander through a level, mostly along the longest free ways.

use bevy_unlag::ControlSystems;

use crate::prelude::*;

/// Directions among which a player chooses.
const CHOICES: usize = 3;
/// Distance in metres that a player looks ahead.
const AHEAD: f32 = 15.0;

/// Seeded wandering player.
#[derive(Resource)]
pub struct Wanderer {
    rng: SmallRng,
    yaw: f32,
    next_turn: f32,
    jump: bool,
}

impl Wanderer {
    /// Hands control of a client's pawn to a wandering player. Equal seeds walk alike.
    pub fn take_over(seed: u64, client: &mut App) {
        let rng = SmallRng::seed_from_u64(seed);
        client
            .insert_resource(Self { rng, yaw: 0.0, next_turn: 0.0, jump: false })
            .insert_resource(ScriptedPlayer::idle())
            .add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate));
    }
}

fn play(
    time: Res<Time>,
    mut player: ResMut<Wanderer>,
    mut own: Query<(&DrawnPose, &mut InputAccumulator), With<LocalControl>>,
    world: WorldTrace,
) {
    let now = time.elapsed_secs();
    let Ok((drawn, mut gather)) = own.single_mut() else { return };
    let player = &mut *player;
    let chest = drawn.pose.position + Vec3::Y * 1.1;
    let free = |yaw: f32| world.cast(chest, direction(yaw), AHEAD).unwrap_or(AHEAD);
    if now >= player.next_turn || free(player.yaw) < 0.9 {
        player.next_turn = now + player.rng.random_range(0.4..2.0);
        let choices: [f32; CHOICES] =
            core::array::from_fn(|_| player.rng.random_range(-core::f32::consts::PI..core::f32::consts::PI));
        let best = choices.into_iter().max_by(|a, b| free(*a).total_cmp(&free(*b)));
        player.yaw = best.unwrap_or(0.0);
        player.jump = player.rng.random_bool(0.1);
    }
    gather.set_view(f64::from(player.yaw), 0.0);
    gather.axes(Vec2::Y);
    gather.jump(player.jump);
}

/// Returns the direction in which a player with this yaw walks.
fn direction(yaw: f32) -> Vec3 {
    Vec3::new(-yaw.sin(), 0.0, -yaw.cos())
}
