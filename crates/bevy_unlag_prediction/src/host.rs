//! Pawns that the authority controls itself, the host's and the server's: their steps are final.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    CurrentTick, LocalControl, MoveInput, MoveModel, NetRole, Passenger, ServerControl, StepContext,
    StepEvent, TransformWatch,
};

use crate::{move_queue::MoveQueue, saved_moves::SavedMoves, scheduled_pushes::ScheduledPushes};

type Controlled<M> = (
    Or<(With<LocalControl>, With<ServerControl>)>,
    Without<Passenger>,
    Without<SavedMoves<M>>,
    Without<MoveQueue<M>>,
);

/// Steps the pawns that this app controls with authority.
pub(crate) fn step_authority_pawns<M: MoveModel>(
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<
        (Entity, &NetRole, &mut M::State, &MoveInput<M>, &mut ScheduledPushes<M>),
        Controlled<M>,
    >,
    mut happened: MessageWriter<StepEvent<M>>,
) {
    let dt = fixed.timestep().as_secs_f32();
    for (entity, role, mut state, input, mut pushes) in &mut pawns {
        if *role != NetRole::Authority {
            continue;
        }
        let input = bevy_unlag_core::Wire::quantised(input.0);
        let ctx = StepContext { tick: tick.0, dt, entity, replaying: false };
        pushes.schedule(tick.0);
        let pushed = pushes.apply_due(&model, tick.0, &state);
        pushes.remove_up_to(tick.0);
        let mut events = Vec::new();
        *state = M::step(&model, &pushed, &input, &ctx, &world, &mut events);
        happened.write_batch(events.into_iter().map(|event| StepEvent {
            entity,
            tick: tick.0,
            state: *state,
            queued_ticks: 0,
            last_received_snapshot: None,
            event,
        }));
    }
}

/// Writes the pawn's [`Transform`] from its state.
pub(crate) fn sync_transforms<M: MoveModel>(
    mut pawns: Query<(&M::State, &mut Transform, Option<&mut TransformWatch>), Changed<M::State>>,
) {
    for (state, mut transform, left) in &mut pawns {
        transform.translation = M::position(state);
        if let Some(mut left) = left {
            left.remember(&transform);
        }
    }
}
