//! Study of Unreal's documented teleport example (ten metres ahead at the press of a key), implemented in
//! four ways and run in two apps with a bad link between them.
//!
//! * [`Variant`]: on the client only, on the server only, on both, and as part of the move stream.
//! * [`ClientServerPair`]: an owner's app and a server's app, stepped manually, with a seeded link between
//!   them.
//! * [`study`]: presses the key and records what the owner saw; [`TeleportReport`] is the result, and
//!   [`table`] formats several of them.

mod client_server_pair;
mod level;
mod observations;
mod simulated_link;
mod study;
mod teleport_report;
mod variant;

use bevy_unlag::{
    core::MoveModel,
    movement::{CapsuleWith, abilities::Teleport},
};

pub use client_server_pair::{ClientServerPair, TeleportOptions};
pub use level::{Block, Level, Wall};
pub use observations::Observations;
pub use simulated_link::SimulatedLink;
pub use study::study;
pub use teleport_report::{CorrectionEntry, Jump, Slide, TeleportReport, table};
pub use variant::{DISTANCE, Variant, WriteMethod};

/// Character of the study.
pub type Pawn = CapsuleWith<Teleport>;
/// Predicted state of the character.
pub type PawnState = <Pawn as MoveModel>::State;
