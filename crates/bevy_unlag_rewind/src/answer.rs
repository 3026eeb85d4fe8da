//! What a query answers.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};

use crate::HitGroup;

/// Where a shot met a target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TargetHit {
    /// The target, in this app. It may have been despawned since.
    pub entity: Entity,
    /// The target, on the wire.
    pub target: NetId,
    /// Which of its [`HitBoxes`](crate::HitBoxes).
    pub hit_box: u8,
    /// The part of its body.
    pub group: HitGroup,
    /// What a hit here does of a weapon's damage to this group; see [`HitBox::factor`](crate::HitBox::factor).
    pub factor: f32,
    /// Metres from the origin along the way. Where a head counts before what lies in front of it: to where
    /// the target as a whole was met.
    pub distance: f32,
    /// Where, in the world as the shooter saw it.
    pub point: Vec3,
}

/// Why a shot hit nobody.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Miss {
    /// The question made no sense: something in it is not finite, or a direction has no length.
    Nonsense,
    /// Nobody was near.
    Nobody,
    /// It went past somebody, whose name this is.
    Beside(NetId),
    /// It would have met this target, but the world stood in between.
    Blocked {
        /// What it would have hit.
        hit: TargetHit,
        /// Metres to what stood in between.
        distance: f32,
        /// The door, lift or shield that it was; `None` for what never moves.
        by: Option<Entity>,
    },
    /// Who was near was dead then, or not there yet.
    Gone(NetId),
    /// Who was near has never been shown to the shooter, or not in the way the shot claims.
    NotShown(NetId),
    /// Who was near has gone further since than [`RewindLimits::max_distance`](crate::RewindLimits::max_distance)
    /// allows.
    TooFar(NetId),
    /// It would have met this target, which had been in cover for longer than
    /// [`RewindLimits::cover`](crate::RewindLimits::cover) allows.
    InCover(NetId),
}

/// Which moment was asked for and which was judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JudgedTime {
    /// What the shot said; `None` for the present.
    pub asked: Option<ViewTime>,
    /// What was judged; `None` for the present.
    pub used: Option<ViewTime>,
}

impl JudgedTime {
    /// Whether limits changed the moment.
    #[must_use]
    pub fn clamped(&self) -> bool {
        self.asked != self.used
    }
}
