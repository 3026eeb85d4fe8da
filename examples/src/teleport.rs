//! Study of Unreal's documented teleport example (ten metres ahead at the press of a key), implemented in
//! four ways and run in two apps with a bad link between them.
//!
//! * [`Variant`]: on the client only, on the server only, on both, and as part of the move stream.
//! * [`Pair`]: an owner's app and a server's app, stepped manually, with a seeded link between them.
//! * [`study`]: presses the key and records what the owner saw; [`Report`] is the result, and [`table`]
//!   formats several of them.

mod level;
mod pair;
mod pipe;
mod report;
mod seen;
mod study;
mod variant;

use bevy_unlag::{
    core::MoveModel,
    movement::{CapsuleWith, abilities::Teleport},
};

pub use level::{Block, Level, Wall};
pub use pair::{Options, Pair};
pub use pipe::Pipe;
pub use report::{Adjusted, Jump, Report, Slide, table};
pub use seen::Seen;
pub use study::study;
pub use variant::{DISTANCE, Variant, Writes};

/// Character of the study.
pub type Pawn = CapsuleWith<Teleport>;
/// Predicted state of the character.
pub type PawnState = <Pawn as MoveModel>::State;
