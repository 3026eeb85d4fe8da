//! Client prediction with saved moves, server acknowledgements and replay.
//!
//! The owner's client simulates and saves its moves immediately. The server simulates the same moves and
//! acknowledges or corrects them, and the client replays its unacknowledged moves after a correction.
//!
//! ```text
//!  client                                                    server
//!
//!  MoveInput ─► step ─► SavedMoves ─► OutgoingMoves  ═════►  IncomingMoves ─► MoveQueue ─► step
//!                           ▲                                                               │
//!           state, replay ──┴──── IncomingMoveAcks  ◄═════  OutgoingMoveAcks ◄── compare ◄──┤
//!                           │                                                               ▼
//!                     VisualOffset                                                   PublishedState
//! ```
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
//! * [`PredictedValue`] is for a value beside the moves that a player changes and the server confirms.
//! * [`PredictionStats`] counts corrections and their causes.
//!
//! # Example
//!
//! A model of a slider, a client that predicts it, and a server, connected by moving the bytes:
//!
//! ```
//! use std::time::Duration;
//!
//! use bevy::{prelude::*, time::TimeUpdateStrategy};
//! use bevy_unlag_core::{MoveInput, MoveModel, StepContext, Wire};
//! use bevy_unlag_prediction::{
//!     AuthorityPawn, AutonomousPawn, IncomingMoveAcks, IncomingMoves, OutgoingMoveAcks, OutgoingMoves,
//!     PredictionPlugin,
//! };
//!
//! #[derive(Resource)]
//! struct Slider;
//!
//! #[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
//! struct Wish {
//!     right: bool,
//! }
//!
//! #[derive(Component, Wire, Clone, Copy, PartialEq, Default, Debug)]
//! struct Place(f32);
//!
//! impl MoveModel for Slider {
//!     type Config = Self;
//!     type Input = Wish;
//!     type State = Place;
//!     type Event = ();
//!     type Push = ();
//!     type World = ();
//!     type Diagnostics = ();
//!
//!     fn step(_: &Self, place: &Place, wish: &Wish, ctx: &StepContext, (): &(), _: &mut Vec<()>) -> Place {
//!         Place(place.0 + if wish.right { ctx.dt } else { 0.0 })
//!     }
//!
//!     fn position(place: &Place) -> Vec3 {
//!         Vec3::X * place.0
//!     }
//!
//!     fn velocity(_: &Place) -> Vec3 {
//!         Vec3::ZERO
//!     }
//!
//!     fn kind(_: &Place) -> u32 {
//!         0
//!     }
//! }
//!
//! fn app() -> App {
//!     let mut app = App::new();
//!     app.add_plugins((MinimalPlugins, TransformPlugin, PredictionPlugin::<Slider>::default()))
//!         .insert_resource(Slider)
//!         .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(15_625)));
//!     app
//! }
//!
//! let (mut client, mut server) = (app(), app());
//! let wish = MoveInput::<Slider>(Wish { right: true });
//! let own = client.world_mut().spawn((Place::default(), wish, AutonomousPawn::<Slider>::default())).id();
//! let pawn = server.world_mut().spawn((Place::default(), AuthorityPawn::<Slider>::default())).id();
//!
//! for _ in 0..128 {
//!     client.update();
//!     let moves = std::mem::take(&mut client.world_mut().get_mut::<OutgoingMoves>(own).expect("a mailbox").0);
//!     let mut inbox = server.world_mut().get_mut::<IncomingMoves>(pawn).expect("a mailbox");
//!     moves.into_iter().for_each(|bytes| inbox.deliver(bytes));
//!     server.update();
//!     let acks = std::mem::take(&mut server.world_mut().get_mut::<OutgoingMoveAcks>(pawn).expect("a mailbox").0);
//!     let mut inbox = client.world_mut().get_mut::<IncomingMoveAcks>(own).expect("a mailbox");
//!     acks.into_iter().for_each(|bytes| inbox.deliver(bytes));
//! }
//! // Two seconds at 1 m/s, without the first moments.
//! let place = server.world().get::<Place>(pawn).expect("the state");
//! assert!(place.0 > 1.0, "{place:?}");
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `gizmos` | no | `CorrectionViewPlugin`, a debug view of corrections. |
//!
//! # In the book
//!
//! In the repository, `book/src/concepts/prediction.md` explains how it works, and `book/src/reference/prediction.md`
//! lists every setting.

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
