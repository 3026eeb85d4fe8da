//! Targets as the table stores them.

use bevy::prelude::*;
use bevy_unlag_core::{LimbRig, NetId, ProxySmoothing};
use bevy_unlag_smoothing::PublishedPath;

use crate::{history::FrameHistory, hit_boxes::HitBoxes, team::Team, view::HitLayers};

/// Saved state of a despawned target.
#[derive(Debug)]
pub(crate) struct DespawnedTarget {
    pub path: PublishedPath,
    pub history: FrameHistory,
    pub mode: Option<ProxySmoothing>,
    pub team: Option<Team>,
    pub layers: Option<HitLayers>,
}

/// Target as seen by a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetEntry<'a> {
    pub entity: Entity,
    pub id: NetId,
    pub boxes: &'a HitBoxes,
    pub rig: Option<&'a LimbRig>,
    pub remains: Option<&'a DespawnedTarget>,
}
