//! Our step in a level, and the recording of the walk that both movers repeat.

use bevy::ecs::system::SystemState;

use super::{
    levels::{DT, Level},
    walk_script::WalkScript,
};
use crate::prelude::*;

/// Our mover in a level.
pub struct UnlagMover<'a, 'w, 's> {
    /// Tuning of the capsule.
    pub config: &'a CapsuleConfig,
    world: &'a MoverWorld<'w, 's>,
    entity: Entity,
}

/// Calls `f` with the mover of an app.
///
/// # Errors
/// Returns the error of `f`, or a message if the app has no level.
pub fn with_mover<R>(
    app: &mut App,
    f: impl FnOnce(&UnlagMover<'_, '_, '_>) -> Result<R, String>,
) -> Result<R, String> {
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, CapsuleConfig>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).map_err(|e| format!("no level to move in: {e}"))?;
    f(&UnlagMover { config: &config, world: &world, entity })
}

impl UnlagMover<'_, '_, '_> {
    fn context(&self, tick: Tick) -> StepContext {
        StepContext { tick, dt: DT, entity: self.entity, replaying: false }
    }

    /// Runs the full step and replaces `events` with the step's events.
    pub fn step(
        &self,
        state: &CapsuleState,
        input: &CapsuleInput,
        tick: Tick,
        events: &mut Vec<MoveEvent>,
    ) -> CapsuleState {
        events.clear();
        CapsuleModel::step(self.config, state, input, &self.context(tick), self.world, events)
    }

    /// Runs the cheap step of simulated proxies.
    pub fn simplified_step(&self, state: &CapsuleState, tick: Tick) -> CapsuleState {
        CapsuleModel::simplified_step(self.config, state, &self.context(tick), self.world)
    }

    /// Drops a pawn at `at` and returns its state one second later with the tick.
    pub fn dropped(&self, at: Vec3) -> (CapsuleState, Tick) {
        let mut events = Vec::new();
        let mut state = CapsuleState::at(at);
        for tick in 0..64 {
            state = self.step(&state, &CapsuleInput::default(), Tick(tick), &mut events);
        }
        (state, Tick(64))
    }
}

/// Recorded move.
#[derive(Clone, Copy)]
pub struct Move {
    /// State before the move.
    pub state: CapsuleState,
    /// Input of the player.
    pub input: CapsuleInput,
    /// Tick of the move, which determines the platform's pose.
    pub tick: Tick,
    /// Position of the feet in the level at rest.
    pub place: Vec3,
}

/// Records consecutive moves of a walk through a level by a seeded script, without those in the air over a platform.
///
/// # Errors
/// Returns a message if the pawn falls out of the level or off the platform.
pub fn record(
    ours: &UnlagMover<'_, '_, '_>,
    level: &Level,
    moves: usize,
    seed: u64,
) -> Result<Vec<Move>, String> {
    let mut script = WalkScript::new(seed, level.reach, level.jumps);
    let mut walk = Vec::with_capacity(moves);
    let mut events = Vec::new();
    let (mut state, Tick(first)) = ours.dropped(level.start);
    let mut place = level.place(&state).unwrap_or_default();
    for tick in first.. {
        let here = level.place(&state);
        place = here.unwrap_or(place);
        let input = script.next(place);
        if here.is_some() {
            walk.push(Move { state, input, tick: Tick(tick), place });
        }
        state = ours.step(&state, &input, Tick(tick), &mut events);
        if walk.len() == moves {
            break;
        }
        // A few moves in the air are tolerated.
        if state.position.y < -20.0 || (tick - first) as usize > walk.len() + moves / 20 {
            return Err(format!("{}: the pawn was lost after {} moves", level.name, walk.len()));
        }
    }
    Ok(walk)
}
