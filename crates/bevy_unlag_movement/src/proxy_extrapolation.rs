//! Extrapolation of a remote pawn from its last snapshot.

use bevy::prelude::*;
use bevy_unlag_core::{PawnClass, PoseSample, StepContext};

use crate::{
    capsule_model::CapsuleModel, config::CapsuleConfig, mode::MovementMode, state::CapsuleState,
    world::MoverWorld,
};

/// Change of velocity by a wall in metres per second above which it counts as a hit.
const DEFLECTED: f32 = 0.05;

/// Extrapolates a pose with the simplified step. The pose keeps its acceleration until it is at rest or
/// hits something.
pub(crate) fn extrapolate(
    config: &CapsuleConfig,
    class: PawnClass,
    pose: &PoseSample,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
) -> PoseSample {
    if !pose.alive {
        return *pose;
    }
    // In the air the step itself applies gravity.
    let acceleration = if pose.falling { Vec3::ZERO } else { pose.acceleration };
    let free = PoseSample { acceleration, ..*pose }.extrapolated(ctx.dt);
    let mean = (free.position - pose.position) / ctx.dt.max(1e-6);
    let mode = match (pose.grounded, pose.falling) {
        (true, _) => MovementMode::Walking,
        (_, true) => MovementMode::Falling,
        _ => MovementMode::Flying,
    };
    let state = CapsuleState {
        velocity: mean,
        up: pose.rotation * Vec3::Y,
        mode,
        crouched: pose.crouch > 0.5,
        class,
        ..CapsuleState::at(pose.position)
    };
    let moved = CapsuleModel::simplified_step(config, &state, ctx, world);
    let change = moved.velocity - mean;
    // A change along up comes from gravity, not from a wall.
    let hit = (change - state.up * change.dot(state.up)).length() > DEFLECTED;
    PoseSample {
        position: moved.position,
        velocity: free.velocity + change,
        acceleration: if hit { Vec3::ZERO } else { free.acceleration },
        ..free
    }
}
