//! Things to stand on that move.

mod history;
mod track;

pub use history::PoseHistory;
pub use track::{Shuttle, Track, Turntable};

use bevy::prelude::*;

/// Tells movement bases apart, the same on every machine: it is part of the predicted state.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct BaseId(pub u16);

impl BaseId {
    /// The fixed world.
    pub const NONE: Self = Self(0);
}

/// Something that moves by itself and carries who stands on it: a lift, a turntable, a train.
/// Unreal's movement base. The colliders on its entity and on its descendants move with it; a
/// descendant with a `MovementBase` of its own, such as a bone or a node, has its track relative
/// to this one. None of them needs a rigid body.
///
/// Its pose is a function of time alone, so a replayed move finds it where it was.
/// [`MovementPlugin`](crate::MovementPlugin) writes the entity's `Transform` from it.
#[derive(Component, Clone, Debug)]
#[require(Transform)]
pub struct MovementBase {
    /// Which one, the same on every machine; not [`BaseId::NONE`], and no two alike.
    pub id: BaseId,
    /// Where it is when.
    pub track: Track,
}
