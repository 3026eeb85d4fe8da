//! Movement modes and cues of capsule pawns, on all machines.

use bevy::prelude::*;
use bevy_unlag_core::{
    DrawnPose, Interpolate, InterpolationSpan, LocalControl, MoveModel, PawnSystems, TickSystems,
    VisualSystems, Wire,
};
use bevy_unlag_lightyear::{AddPawnState, OwnPawnState, PawnEvent, SharePawnEvents};
use bevy_unlag_movement::{HasCapsule, HasMoveEvent, MoveCue, MovementMode};

/// Movement mode on the wire. Walking and falling are one: the pose tells them apart, and a jump costs nothing.
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct SentMode(MovementMode);

impl SentMode {
    fn of(mode: MovementMode) -> Self {
        Self(if mode == MovementMode::Falling { MovementMode::Walking } else { mode })
    }
}

impl Interpolate for SentMode {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// Adds what all capsule models share, once.
struct MovementModePlugin;

impl Plugin for MovementModePlugin {
    fn build(&self, app: &mut App) {
        app.add_pawn_state::<SentMode>(OwnPawnState::Ignore)
            .register_type::<PawnEvent<MoveCue>>()
            .add_systems(PostUpdate, show_modes.after(VisualSystems::Draw));
    }
}

/// Adds the modes and cues of a capsule model.
pub(super) fn add<M: MoveModel<State: HasCapsule, Event: HasMoveEvent>>(app: &mut App) {
    bevy_unlag_core::require_plugin(app, MovementModePlugin);
    app.share_pawn_events::<M, MoveCue>(|event| event.move_event().and_then(MoveCue::of))
        .add_systems(FixedLast, read_modes::<M>.in_set(TickSystems).in_set(PawnSystems::of::<M>()));
}

/// Reads the modes of pawns that this app simulates.
fn read_modes<M: MoveModel<State: HasCapsule>>(
    mut pawns: Query<
        (Entity, &M::State, Option<&mut MovementMode>, Option<&mut SentMode>),
        Changed<M::State>,
    >,
    mut commands: Commands,
) {
    for (pawn, state, mode, sent) in &mut pawns {
        let now = state.capsule().mode;
        match (mode, sent) {
            (Some(mut mode), Some(mut sent)) => {
                mode.set_if_neq(now);
                sent.set_if_neq(SentMode::of(now));
            }
            _ => drop(commands.entity(pawn).insert((now, SentMode::of(now)))),
        }
    }
}

/// Writes the modes of remote pawns as they are drawn.
fn show_modes(
    mut pawns: Query<(Entity, &SentMode, &DrawnPose, Option<&mut MovementMode>), Without<LocalControl>>,
    mut commands: Commands,
) {
    for (pawn, sent, drawn, mode) in &mut pawns {
        let falls = sent.0 == MovementMode::Walking && !drawn.pose.grounded;
        let now = if falls { MovementMode::Falling } else { sent.0 };
        match mode {
            Some(mut mode) => drop(mode.set_if_neq(now)),
            None => drop(commands.entity(pawn).insert(now)),
        }
    }
}
