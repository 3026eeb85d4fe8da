//! Movement model of a pawn on the wire.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// Movement model of a replicated pawn on the wire: its place in the order of
/// [`NetModelPlugin`](crate::NetModelPlugin)s. Pawns without it are of the first model.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ModelIndex(pub u8);
