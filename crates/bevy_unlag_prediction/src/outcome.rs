//! What became of something the owner did: Unreal's gap, where only a later correction tells.

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

/// The server has decided about something that may be refused, such as an ability: written on the
/// owner's client, once for each event that [`MoveModel::is_outcome`] names.
#[derive(Message, Clone, Debug)]
pub struct MoveOutcome<M: MoveModel> {
    /// The own pawn.
    pub entity: Entity,
    /// The move in which it happened, here or there.
    pub tick: Tick,
    /// What happened here. `None` when it happened on the server only.
    pub event: Option<M::Event>,
    /// Whether it happened on the server, too.
    pub succeeded: bool,
}

/// The server and the own pawn's client disagreed about a move: written on the client for each
/// correction that counts.
#[derive(Message, Clone, Debug)]
pub struct Correction<M: MoveModel> {
    /// The own pawn.
    pub entity: Entity,
    /// The move.
    pub tick: Tick,
    /// Why, as far as either side can know.
    pub cause: crate::CorrectionCause,
    /// How far apart the two were, in metres.
    pub error: f32,
    /// Where the client was after that move; `None` when it has not made it or forgotten it.
    pub client: Option<M::State>,
    /// Where the server was.
    pub server: M::State,
    /// How many moves were made again.
    pub replayed: u32,
}

/// A server found the own pawn of a client somewhere else than its client did: written on the server
/// for each move that differs by a distance that can be told. The moves that were under way differ as
/// well, so there are several for each [`Correction`] there; for a push that the owner heard of late
/// there is none.
#[derive(Message, Clone, Debug)]
pub struct ServerCorrection<M: MoveModel> {
    /// The pawn.
    pub entity: Entity,
    /// The move.
    pub tick: Tick,
    /// Why, as far as the server can know.
    pub cause: crate::CorrectionCause,
    /// How far apart the two were, in metres.
    pub error: f32,
    /// Where the server was after that move.
    pub server: M::State,
    /// Where the client was, as far as its [`StateCheck`](crate::StateCheck) tells: right up to 1 m
    /// an axis, and up to 256 m as good as a metre when the check was a coarse one.
    pub client_position: Vec3,
}
