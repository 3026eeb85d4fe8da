//! What others see of a pawn whose owner is somewhere else.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{CurrentTick, MoveModel, Shown, StepContext, Tick};

use crate::{MoveQueue, PredictionConfig, config::ticks};

/// The copy of a pawn whose moves are late, carried on for the eyes of others. What it does is
/// forgotten when the moves arrive: the server never guesses about the pawn itself.
#[derive(Component, Clone, Copy, Debug)]
pub struct Speculation<M: MoveModel> {
    /// The state it began from, and the moves that were made with it.
    from: Option<(M::State, i32)>,
    state: Option<M::State>,
}

impl<M: MoveModel> Default for Speculation<M> {
    fn default() -> Self {
        Self { from: None, state: None }
    }
}

impl<M: MoveModel> Speculation<M> {
    /// Whether others see the copy.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.from.is_some()
    }
}

/// The most steps that the copy is ahead, so that nobody's silence costs more.
const MAX_AHEAD: i32 = 64;

/// Brings [`Shown`] up to date: the pawn, at the moment of the owner's time line that it belongs
/// to, or the copy while moves are missing.
pub(crate) fn show<M: MoveModel>(
    config: Res<PredictionConfig>,
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<(Entity, &M::State, &MoveQueue<M>, &mut Shown<M>, &mut Speculation<M>)>,
    mut muted: Local<Vec<M::Event>>,
) {
    let dt = fixed.timestep().as_secs_f32();
    let carry_axes = ticks(config.carry_axes, dt);
    for (entity, state, queue, mut shown, mut speculation) in &mut pawns {
        // The next move should have been run this many ticks ago, and this one.
        let missing = queue.behind(tick.0).map_or(0, |behind| behind + 1).clamp(0, MAX_AHEAD);
        if missing <= config.show_late.min(64).cast_signed() {
            *speculation = Speculation::default();
            *shown = Shown { tick: newest(shown.tick, tick.0.offset(-missing)), state: *state };
            continue;
        }
        let Some(last_run) = queue.last_run() else { continue };
        let (mut copy, made) = match (speculation.from, speculation.state) {
            (Some((from, made)), Some(copy)) if from == *state && made <= missing => (copy, made),
            _ => (*state, 0),
        };
        for ahead in made..missing {
            let input = M::unattended(&queue.last_input, ahead < carry_axes);
            let ctx = StepContext { tick: last_run.offset(ahead + 1), dt, entity, replaying: true };
            muted.clear();
            copy = M::step(&model, &copy, &input, &ctx, &world, &mut muted);
        }
        *speculation = Speculation { from: Some((*state, missing)), state: Some(copy) };
        *shown = Shown { tick: tick.0, state: copy };
    }
}

/// Ticks of what is shown never go back.
fn newest(a: Tick, b: Tick) -> Tick {
    if a.is_newer_than(b) { a } else { b }
}
