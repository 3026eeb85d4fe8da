//! Simulation without a network.

use core::marker::PhantomData;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{CurrentTick, MoveInput, MoveModel, MoveSystems, NetRole, StepContext, StepEvent};

/// Steps every entity with `M::State` and [`MoveInput<M>`] once per tick, and writes its events as
/// [`StepEvent`]s. Meant for games without a network and for tools. Pawns with a [`NetRole`] are left to the
/// prediction plugins; a pawn that a server controls itself is a `ServerPawn` of those.
pub struct LocalMovesPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(LocalMovesPlugin<M>);

impl<M: MoveModel> Plugin for LocalMovesPlugin<M> {
    fn build(&self, app: &mut App) {
        app.add_message::<StepEvent<M>>().add_systems(FixedUpdate, step_all::<M>.in_set(MoveSystems::Step));
    }
}

fn step_all<M: MoveModel>(
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<(Entity, &mut M::State, &MoveInput<M>), Without<NetRole>>,
    mut happened: MessageWriter<StepEvent<M>>,
    mut events: Local<Vec<M::Event>>,
) {
    let dt = fixed.timestep().as_secs_f32();
    for (entity, mut state, input) in &mut pawns {
        let ctx = StepContext { tick: tick.0, dt, entity, replaying: false };
        *state = M::step(&model, &state, &input.0, &ctx, &world, &mut events);
        happened.write_batch(events.drain(..).map(|event| StepEvent {
            entity,
            tick: tick.0,
            state: *state,
            queued_ticks: 0,
            last_received_snapshot: None,
            event,
        }));
    }
}
