//! Movement bases: moving platforms that carry pawns.

mod history;
mod track;

pub use history::PoseHistory;
pub use track::{BaseTrack, Shuttle, Turntable};

use bevy::prelude::*;

/// Identifier of a movement base. It is part of the predicted state, so it must be the same on all
/// machines.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    serde::Serialize,
    serde::Deserialize,
    Reflect,
)]
pub struct BaseId(pub u16);

impl BaseId {
    /// The fixed world.
    pub const NONE: Self = Self(0);
}

/// Platform that moves by itself and carries pawns that stand on it: a lift, a turntable, a train.
/// Unreal's movement base. The colliders on its entity and its descendants move with it; a descendant
/// with a `MovementBase` of its own, such as a bone or a node, has its track relative to this one. None
/// of them needs a rigid body.
///
/// Its pose is a function of time alone, so a replayed move finds it where it was.
/// [`MovementPlugin`](crate::MovementPlugin) writes the entity's `Transform` from it.
#[doc(alias = "FBasedMovementInfo")]
#[doc(alias = "func_train")]
#[doc(alias = "moving platform")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug)]
#[require(Transform)]
pub struct MovementBase {
    /// Unique identifier, the same on all machines; not [`BaseId::NONE`].
    pub id: BaseId,
    /// Pose of the base as a function of time.
    pub track: BaseTrack,
}
