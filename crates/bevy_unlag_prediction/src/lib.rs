//! Client prediction with saved moves, server acknowledgements and replay.
//!
//! The owner's client simulates and saves its moves immediately. The server simulates the same moves and
//! acknowledges or corrects them, and the client replays its unacknowledged moves after a correction.
//!
//! Everything is generic over a [`MoveModel`](bevy_unlag_core::MoveModel). The crate contains no networking: mailbox
//! components ([`OutgoingMoves`], [`IncomingMoves`], [`OutgoingMoveAcks`], [`IncomingMoveAcks`]) hold encoded messages,
//! to be carried by a transport, a lossy link of a test or a fuzzer.
//!
//! * On the owner's client, an [`AutonomousPawn`] reads [`MoveInput`](bevy_unlag_core::MoveInput) once per tick,
//!   steps, stores a [`SavedMoves`] entry and sends it, together with older moves whose packets may be
//!   lost.
//! * On the server, an [`AuthorityPawn`] runs each move once, in order and within a time
//!   budget, compares the result and sends an acknowledgement, with the whole state if the client differs.
//! * On the client, an acknowledgement removes saved moves. A correction sets the state, replays the moves
//!   after it and hides the difference with a [`VisualOffset`](bevy_unlag_core::VisualOffset).

mod ack;
mod cause;
mod client;
mod clock_steering;
mod config;
mod config_hash;
mod control_offer;
mod control_switch;
mod control_transfer;
#[cfg(feature = "gizmos")]
mod correction_gizmos;
#[cfg(any(feature = "gizmos", test))]
mod correction_outlines;
mod debug;
mod diagnostics;
mod drawing;
mod host;
mod lateness;
mod mailbox;
mod move_log;
mod move_queue;
mod outcome;
mod packet;
mod packet_loss;
mod pawn;
mod plugin;
mod predicted_value;
mod published_state;
mod reconciliation;
mod redundancy;
mod reflection;
mod reset;
mod run_record;
mod saved_moves;
mod scheduled_pushes;
mod send_rate;
mod server;
mod setup_diagnostics;
mod state_check;
mod stats;
#[cfg(test)]
mod testing;
mod time_discrepancy;

pub use ack::{AckedMove, ClientAdjustment, MAX_PUSHES, MoveAck};
pub use cause::CorrectionCause;
pub use clock_steering::ClockSteering;
pub use config::PredictionConfig;
pub use config_hash::CachedConfigHash;
pub use control_offer::{ControlOffer, OfferedMoves};
pub use control_switch::ControlEnd;
pub use control_transfer::{
    ControlTransfer, ControlTransferred, cancel_transfer, control_as_host, return_to_server, transfer_control,
};
#[cfg(feature = "gizmos")]
pub use correction_gizmos::{CorrectionGizmos, CorrectionViewPlugin};
#[cfg(feature = "gizmos")]
pub use correction_outlines::CorrectionView;
pub use debug::PredictionDebug;
pub use diagnostics::MovePredictionDiagnosticsPlugin;
pub use mailbox::{
    IncomingControlOffers, IncomingMoveAcks, IncomingMoves, MAX_MAILBOX_MESSAGES, OutgoingControlOffers,
    OutgoingMoveAcks, OutgoingMoves,
};
pub use move_log::{LoggedMove, MoveLog};
pub use move_queue::MoveQueue;
pub use outcome::{Correction, MoveOutcome, ServerCorrection};
pub use packet::{MAX_MOVES, MovePacket, MoveRun, packet_epoch};
pub use packet_loss::LossLevel;
pub use pawn::{AuthorityPawn, AutonomousPawn, HostPawn, ServerPawn};
pub use plugin::PredictionPlugin;
pub use predicted_value::{PredictedCount, PredictedValue};
pub use published_state::PublishedExtrapolation;
pub use run_record::RanMoves;
pub use saved_moves::{SavedMove, SavedMoves};
pub use scheduled_pushes::ScheduledPushes;
pub use send_rate::{SendRate, SendThrottle};
pub use state_check::StateCheck;
pub use stats::{MoveTrace, PredictionStats};
pub use time_discrepancy::{TimeDiscrepancy, TimeDiscrepancyConfig, TimeDiscrepancyDetected};
