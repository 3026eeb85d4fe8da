//! Published state of remote players' pawns, and its extrapolation while moves are late.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{CaughtUpStates, CurrentTick, MoveModel, PublishedState, StepContext, Tick};

use crate::{
    config::{PredictionConfig, ticks},
    move_queue::MoveQueue,
};

/// Extrapolated copy of a pawn whose moves are late, for the screens of other clients. It is discarded when
/// the moves arrive and never affects the authoritative state.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Default, type_path = false)]
pub struct PublishedExtrapolation<M: MoveModel> {
    /// Whether any state was published yet.
    has_published: bool,
    // States of a model need not be reflected.
    #[reflect(ignore)]
    copy: Option<ExtrapolatedState<M>>,
}

#[derive(Clone, Debug)]
struct ExtrapolatedState<M: MoveModel> {
    state: M::State,
    /// The pawn's authoritative state from which the copy was made.
    from: M::State,
    /// Newest move that was simulated with the copy.
    tick: Tick,
}

impl<M: MoveModel> Default for PublishedExtrapolation<M> {
    fn default() -> Self {
        Self { has_published: false, copy: None }
    }
}

impl<M: MoveModel> PublishedExtrapolation<M> {
    /// Returns whether other clients are shown the copy.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.copy.is_some()
    }
}

/// Maximum number of steps by which the copy is ahead, which bounds the cost of late moves.
const MAX_AHEAD: i32 = 20;

/// Updates [`PublishedState`]: the pawn's state at the moment of the owner's tick count to which it belongs,
/// or the copy while moves are missing.
pub(crate) fn publish_state<M: MoveModel>(
    config: Res<PredictionConfig>,
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<(
        Entity,
        &M::State,
        &MoveQueue<M>,
        &mut PublishedState<M>,
        &mut PublishedExtrapolation<M>,
        &mut CaughtUpStates<M>,
    )>,
    mut muted: Local<Vec<M::Event>>,
) {
    let dt = fixed.timestep().as_secs_f32();
    let input_hold = ticks(config.input_hold, dt);
    let max_lateness = ticks(config.max_published_lateness, dt).min(64);
    for (entity, state, queue, mut shown, mut speculation, mut caught_up) in &mut pawns {
        caught_up.bypass_change_detection().0.clear();
        // Number of moves that should have run by now, including the one due in this tick.
        let missing =
            queue.ticks_overdue(tick.0).map_or(0, |ticks_overdue| ticks_overdue + 1).clamp(0, MAX_AHEAD);
        if missing <= max_lateness {
            let late = tick.0.offset(-missing);
            let at = if speculation.has_published { newer_tick(shown.tick, late) } else { late };
            let moved = queue.last_run().unwrap_or(tick.0);
            if speculation.has_published && at == late {
                // Published states are final.
                let earlier = queue.caught_up.iter().map(|(move_tick, state)| PublishedState {
                    tick: late.offset(-moved.since(*move_tick)),
                    move_tick: *move_tick,
                    state: *state,
                });
                let new = |one: &PublishedState<M>| {
                    one.tick.is_newer_than(shown.tick) && late.is_newer_than(one.tick)
                };
                caught_up.bypass_change_detection().0.extend(earlier.filter(new));
            }
            *shown = PublishedState { tick: at, move_tick: moved, state: *state };
            *speculation = PublishedExtrapolation { has_published: true, copy: None };
            continue;
        }
        let Some(last_run) = queue.last_run() else { continue };
        let until = last_run.offset(missing);
        // While the authoritative state is unchanged the copy continues; otherwise it starts from that
        // state.
        let known = speculation.copy.take().filter(|copy| copy.from == *state);
        let mut copy = known.unwrap_or(ExtrapolatedState { state: *state, from: *state, tick: last_run });
        // Once the server extrapolates the pawn, its input is neutral, and so is the copy's.
        let axes_until = if queue.extrapolated_moves == 0 { last_run.offset(input_hold) } else { last_run };
        for _ in 0..until.since(copy.tick).clamp(0, MAX_AHEAD) {
            copy.tick = copy.tick.offset(1);
            let input = M::missing_input(&queue.last_input, !copy.tick.is_newer_than(axes_until));
            let ctx = StepContext { tick: copy.tick, dt, entity, replaying: true };
            muted.clear();
            copy.state = M::step(&model, &copy.state, &input, &ctx, &world, &mut muted);
        }
        *shown = PublishedState { tick: tick.0, move_tick: copy.tick, state: copy.state };
        *speculation = PublishedExtrapolation { has_published: true, copy: Some(copy) };
    }
}

/// Returns the newer tick: published ticks never decrease.
fn newer_tick(a: Tick, b: Tick) -> Tick {
    if a.is_newer_than(b) { a } else { b }
}
