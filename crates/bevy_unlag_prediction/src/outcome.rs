//! Messages about outcomes of the owner's actions and about corrections. Unreal has no message for a
//! refused action: only a later correction shows it.

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

/// Outcome of an event that the server may refuse, such as an ability. Sent on the owner's client, once for
/// each event for which [`MoveModel::is_outcome`] is true.
#[derive(Message, Clone, Debug, Reflect)]
#[reflect(type_path = false, from_reflect = false)]
pub struct MoveOutcome<M: MoveModel> {
    /// The own pawn.
    pub entity: Entity,
    /// Tick of the move in which the event occurred on the client or on the server.
    pub tick: Tick,
    /// The event on the client, or `None` if it occurred on the server only.
    // Events of a model need not be reflected.
    #[reflect(ignore)]
    pub event: Option<M::Event>,
    /// Whether the event occurred on the server, too.
    pub succeeded: bool,
}

/// Correction of the own pawn: client and server disagreed about a move. Sent on the client, once for each
/// correction that counts, and for each change by the server that moved the pawn
/// ([`CorrectionCause::ServerChange`](crate::CorrectionCause::ServerChange)).
#[doc(alias = "rollback")]
#[doc(alias = "OnClientCorrectionReceived")]
#[derive(Message, Clone, Debug, Reflect)]
#[reflect(type_path = false, from_reflect = false)]
pub struct Correction<M: MoveModel> {
    /// The own pawn.
    pub entity: Entity,
    /// Tick of the move.
    pub tick: Tick,
    /// Cause, as far as client and server can determine it.
    pub cause: crate::cause::CorrectionCause,
    /// Distance in metres between the two results.
    pub error: f32,
    /// The client's state after the move, or `None` if the client has not simulated the move or has dropped
    /// it.
    // States of a model need not be reflected.
    #[reflect(ignore)]
    pub client: Option<M::State>,
    /// The server's state after the move.
    #[reflect(ignore)]
    pub server: M::State,
    /// Number of moves that were replayed.
    pub replayed: u32,
}

/// Misprediction that the server detected. Sent on the server for each move whose result differs by a known
/// distance. The moves in flight differ as well, so there are several for each [`Correction`] on the
/// client. There is none for a push that the owner received late.
#[doc(alias = "rollback")]
#[derive(Message, Clone, Debug, Reflect)]
#[reflect(type_path = false, from_reflect = false)]
pub struct ServerCorrection<M: MoveModel> {
    /// The pawn.
    pub entity: Entity,
    /// Tick of the move.
    pub tick: Tick,
    /// Cause, as far as the server can determine it.
    pub cause: crate::cause::CorrectionCause,
    /// Distance in metres between the two results.
    pub error: f32,
    /// The server's state after the move.
    // States of a model need not be reflected.
    #[reflect(ignore)]
    pub server: M::State,
    /// The client's position, reconstructed from its [`StateCheck`](crate::StateCheck): right up to 1 m per
    /// axis, or up to 256 m with a resolution of 1 m if the check was a coarse one.
    pub client_position: Vec3,
}
