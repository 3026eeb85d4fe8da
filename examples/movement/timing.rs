//! Cost of a move step.

use std::collections::VecDeque;

use bevy::{ecs::system::StaticSystemParam, platform::time::Instant, prelude::*};
use bevy_unlag::core::{CurrentTick, MoveInput, MoveModel, MoveSystems, StepContext};
use bevy_unlag_movement::CapsuleConfig;

use crate::pawn::{Pawn, PawnState, Player};

/// Number of measurements kept: one second of ticks.
const KEPT: usize = 64;

/// Durations of the player's most recent steps, in microseconds.
#[derive(Resource, Default)]
pub struct StepTimes(VecDeque<f32>);

impl StepTimes {
    /// Returns the median over the last second.
    pub fn median(&self) -> Option<f32> {
        let mut sorted: Vec<f32> = self.0.iter().copied().collect();
        sorted.sort_unstable_by(f32::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }
}

/// Measures the player's steps.
pub fn plugin(app: &mut App) {
    app.init_resource::<StepTimes>().add_systems(FixedUpdate, measure.in_set(MoveSystems::React));
}

/// Runs an additional step to measure its duration. Steps are pure, so this has no effect.
fn measure(
    config: Res<CapsuleConfig>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<<Pawn as MoveModel>::World>,
    players: Query<(Entity, &PawnState, &MoveInput<Pawn>), With<Player>>,
    mut times: ResMut<StepTimes>,
) {
    let dt = fixed.timestep().as_secs_f32();
    let mut muted = Vec::new();
    for (entity, state, input) in &players {
        let ctx = StepContext { tick: tick.0.offset(1), dt, entity, replaying: false };
        let started = Instant::now();
        let end = Pawn::step(&config, state, &input.0, &ctx, &world, &mut muted);
        let micros = started.elapsed().as_secs_f32() * 1e6;
        core::hint::black_box(end);
        times.0.push_back(micros);
    }
    while times.0.len() > KEPT {
        times.0.pop_front();
    }
}
