//! The teleport of Unreal's documentation, ten metres ahead at the press of a key, built four ways:
//! two apps and a bad link between them say what each is worth.
//!
//! * [`Variant`]: the client only, the server only, both, and in the move stream.
//! * [`Pair`]: an owner's app and a server's app, stepped by hand, with a seeded pipe between them.
//! * [`study`]: presses the key and notes down what the owner saw; [`Report`] is the result, and
//!   [`table`] prints several.

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

/// The character.
pub type Pawn = CapsuleWith<Teleport>;
/// All that is predicted of it.
pub type PawnState = <Pawn as MoveModel>::State;
