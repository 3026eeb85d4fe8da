//! Markers of predicted pawns, one for each end of a connection.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{
    CaughtUpStates, DrawnEye, DrawnPose, LocalControl, MoveInput, MoveModel, NetRole, PawnModel,
    PublishedState, ServerControl, SnapshotAcks, Tick, TransformWatch, VisualOffset,
};

use crate::{
    mailbox::{IncomingMoveAcks, IncomingMoves, OutgoingControlOffers, OutgoingMoveAcks, OutgoingMoves},
    move_queue::MoveQueue,
    published_state::PublishedExtrapolation,
    saved_moves::SavedMoves,
    scheduled_pushes::ScheduledPushes,
    stats::PredictionStats,
    time_discrepancy::TimeDiscrepancy,
};

/// The pawn that this client's player controls. Its initial state arrives with the server's first
/// acknowledgement; until then it does not move. Unreal's `ROLE_AutonomousProxy`.
#[doc(alias = "ROLE_AutonomousProxy")]
#[derive(Component, Reflect)]
#[reflect(Component, Default, type_path = false)]
#[require(
    NetRole = NetRole::AutonomousProxy,
    PawnModel = PawnModel::of::<M>(),
    LocalControl,
    MoveInput<M> = MoveInput(M::Input::default()),
    SavedMoves<M>,
    ScheduledPushes<M>,
    OutgoingMoves,
    IncomingMoveAcks,
    TransformWatch,
    PredictionStats,
    VisualOffset,
    DrawnPose,
    DrawnEye,
)]
pub struct AutonomousPawn<M: MoveModel>(#[reflect(ignore)] PhantomData<fn() -> M>);

/// A pawn for which this app is the authority and whose owner is remote. Spawn it with its initial
/// [`MoveModel::State`]. Unreal's `ROLE_Authority`.
#[doc(alias = "ROLE_Authority")]
#[derive(Component, Reflect)]
#[reflect(Component, Default, type_path = false)]
#[require(
    NetRole = NetRole::Authority,
    PawnModel = PawnModel::of::<M>(),
    MoveQueue<M>,
    ScheduledPushes<M>,
    TimeDiscrepancy,
    SnapshotAcks,
    PublishedExtrapolation<M>,
    CaughtUpStates<M>,
    IncomingMoves,
    OutgoingMoveAcks,
    OutgoingControlOffers,
    PredictionStats,
    TransformWatch,
)]
pub struct AuthorityPawn<M: MoveModel>(#[reflect(ignore)] PhantomData<fn() -> M>);

/// The pawn that the host of a listen server controls. Spawn it with its initial [`MoveModel::State`].
#[derive(Component, Reflect)]
#[reflect(Component, Default, type_path = false)]
#[require(
    NetRole = NetRole::Authority,
    PawnModel = PawnModel::of::<M>(),
    LocalControl,
    ScheduledPushes<M>,
    MoveInput<M> = MoveInput(M::Input::default()),
    TransformWatch,
    DrawnPose,
    DrawnEye,
    VisualOffset,
)]
pub struct HostPawn<M: MoveModel>(#[reflect(ignore)] PhantomData<fn() -> M>);

/// A pawn that this server controls itself: an AI character, a target, an empty vehicle. Spawn it with its
/// initial [`MoveModel::State`] and write its [`MoveInput`] in
/// [`MoveSystems::Sample`](bevy_unlag_core::MoveSystems::Sample). It is stepped once per tick, takes
/// [`ScheduledPushes`] at once, and is published, rewound and hit like the pawn of a player. Without an input it
/// stands, falls and rides movement bases.
#[doc(alias = "AIController")]
#[doc(alias = "Bot")]
#[derive(Component, Reflect)]
#[reflect(Component, Default, type_path = false)]
#[require(
    NetRole = NetRole::Authority,
    PawnModel = PawnModel::of::<M>(),
    ServerControl,
    ScheduledPushes<M>,
    MoveInput<M> = MoveInput(M::Input::default()),
    TransformWatch,
)]
pub struct ServerPawn<M: MoveModel>(#[reflect(ignore)] PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(
    AutonomousPawn<M: MoveModel>,
    AuthorityPawn<M: MoveModel>,
    HostPawn<M: MoveModel>,
    ServerPawn<M: MoveModel>,
);

/// Publishes the initial state of a pawn with a remote owner.
pub(crate) fn publish_initial_state<M: MoveModel>(
    added: On<Add, (M::State, AuthorityPawn<M>)>,
    pawns: Query<&M::State, (With<AuthorityPawn<M>>, Without<PublishedState<M>>)>,
    mut commands: Commands,
) {
    if let Ok(&state) = pawns.get(added.entity) {
        let tick = Tick::default();
        commands.entity(added.entity).insert(PublishedState::<M> { tick, move_tick: tick, state });
    }
}

/// Places a pawn of this app where its initial state is.
pub(crate) fn place<M: MoveModel>(
    added: On<Add, M::State>,
    mut pawns: Query<
        (&M::State, &mut Transform),
        Or<(With<AuthorityPawn<M>>, With<HostPawn<M>>, With<ServerPawn<M>>)>,
    >,
) {
    if let Ok((state, mut transform)) = pawns.get_mut(added.entity) {
        transform.translation = M::position(state);
    }
}
