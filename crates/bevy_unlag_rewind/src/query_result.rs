//! Results of rewind queries.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};
use serde::{Deserialize, Serialize};

use crate::{checked_floats::checked, hit_box::HitGroup};

/// Hit of a shot on a target.
#[doc(alias = "FHitResult")]
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
pub struct TargetHit {
    /// Target entity in this app. It may have been despawned since.
    pub entity: Entity,
    /// Network id of the target.
    pub target: NetId,
    /// Index of the hit box in the target's [`HitBoxes`](crate::HitBoxes).
    pub hit_box: u8,
    /// Hit group of that box.
    pub group: HitGroup,
    /// Damage factor of this box within its group; see [`HitBox::factor`](crate::HitBox::factor).
    #[serde(deserialize_with = "checked")]
    pub factor: f32,
    /// Distance from the origin along the path, in metres. If a head takes precedence over a box in front
    /// of it, this is the distance to the first box.
    #[serde(deserialize_with = "checked")]
    pub distance: f32,
    /// Point of impact, in the world as the shooter saw it.
    #[serde(deserialize_with = "checked")]
    pub point: Vec3,
}

/// Reason for which a shot hit no target.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Miss {
    /// The query is invalid: a value is not finite, or a direction has no length.
    InvalidQuery,
    /// No target was near.
    #[default]
    NoTarget,
    /// The shot narrowly missed the target with this id.
    NearMiss(NetId),
    /// The shot would have hit this target, but the world was in the way.
    Blocked {
        /// Hit that would have resulted without the obstacle.
        hit: TargetHit,
        /// Distance to the obstacle, in metres.
        #[serde(deserialize_with = "checked")]
        distance: f32,
        /// The [`Occluder`](crate::Occluder), such as a door, a lift or a shield; `None` for static
        /// geometry.
        by: Option<Entity>,
    },
    /// The nearby target was dead at that moment, or did not exist yet.
    NotPresent(NetId),
    /// The nearby target has never been sent to the shooter, or not in the way that the shot claims.
    NotSent(NetId),
    /// The nearby target has moved further since than
    /// [`RewindLimits::max_distance`](crate::RewindLimits::max_distance) allows.
    MovedTooFar(NetId),
    /// The shot would have hit this target, but it had been in cover for longer than
    /// [`RewindLimits::cover`](crate::RewindLimits::cover) allows.
    InCover(NetId),
}

/// Requested and actual moment of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RewoundTime {
    /// Moment that the shot claimed; `None` for the present.
    #[serde(rename = "asked")]
    pub requested: Option<ViewTime>,
    /// Moment that was used; `None` for the present.
    pub used: Option<ViewTime>,
}

impl RewoundTime {
    /// Returns whether limits changed the moment.
    #[must_use]
    pub fn clamped(&self) -> bool {
        self.requested != self.used
    }
}
