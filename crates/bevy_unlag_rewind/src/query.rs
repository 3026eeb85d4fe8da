//! Server-side rewind queries: hit tests against the poses on the shooter's screen.

mod beam;
pub(crate) mod blast;
mod claimed_target;
mod evidence_recording;
mod melee;
mod moment;
#[cfg(feature = "moved_colliders")]
mod moved_collider_casts;
mod overlap;
mod pellets;
mod penetration;
mod posed_targets;
mod projectile;
mod ray_bundle;
mod rewound;
mod shape_casts;
mod time_out_of_sight;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{BasePoses, CurrentTick, NetId, PoseSampler, ProxySmoothing, Tick, ViewTime};

use crate::{
    history::FrameHistory,
    limits::{MatchStart, RewindLimits, RewindRefusal},
    query_result::TargetHit,
    table::RewindTable,
    team::Team,
    view::{HitLayers, QueryView, RewindFilter, RewindTime},
    world::{Occluder, WorldTrace},
};
pub use beam::BeamCache;
use bevy_unlag_smoothing::PublishedPath;
pub use blast::BlastHit;
pub use claimed_target::ClaimedTarget;
pub use melee::{MeleeArc, MeleeHit};
pub(crate) use melee::{Swing, in_order};
pub(crate) use moment::Moment;
#[cfg(feature = "moved_colliders")]
pub(crate) use moved_collider_casts::plugin as moved_colliders_plugin;
pub use pellets::{PelletCount, Pellets};
pub use penetration::WallPenetration;
pub use posed_targets::PosedTargets;
pub(crate) use projectile::{BallPath, is_continuous};
pub use projectile::{Ballistic, Flight, FlightStepHit};
pub(crate) use rewound::MissReason;
pub use rewound::Rewound;
pub(crate) use shape_casts::FirstSweepHit;

type Pawn = (
    &'static PublishedPath,
    &'static FrameHistory,
    Option<&'static ProxySmoothing>,
    Option<&'static Team>,
    Option<&'static HitLayers>,
);

type Mover = (
    Entity,
    &'static Occluder,
    Option<(&'static PublishedPath, &'static FrameHistory)>,
    Option<&'static NetId>,
    Option<&'static ProxySmoothing>,
);

/// System parameter for rewind queries. It only reads: no collider is moved, so any number of systems may
/// run queries in parallel.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::ViewTime;
/// use bevy_unlag_rewind::{RewindFilter, RewindQuery, RewindTime, QueryView};
///
/// fn shoot(query: RewindQuery, shooter: Entity, eye: Vec3, look: Vec3, from_view: ViewTime) {
///     let Ok(then) = query.at(RewindTime::View(QueryView::from(from_view))) else { return };
///     match then.with_filter(RewindFilter::exclude(shooter)).cast_ray(eye, look, 200.0) {
///         Ok(hit) => info!("{:?} of {:?}", hit.group, hit.target),
///         Err(miss) => info!("missed: {miss:?}"),
///     }
/// }
/// ```
#[doc(alias = "StartLagCompensation")]
#[derive(SystemParam)]
pub struct RewindQuery<'w, 's> {
    pawns: Query<'w, 's, Pawn>,
    movers: Query<'w, 's, Mover>,
    table: Res<'w, RewindTable>,
    bases: Res<'w, BasePoses>,
    world: WorldTrace<'w, 's>,
    sampler: Res<'w, PoseSampler>,
    limits: Res<'w, RewindLimits>,
    round: Option<Res<'w, MatchStart>>,
    tick: Res<'w, CurrentTick>,
    #[cfg(feature = "moved_colliders")]
    backend: Option<Res<'w, crate::moved_colliders::RewindBackend>>,
    #[cfg(feature = "moved_colliders")]
    moved: Option<Res<'w, crate::moved_colliders::MovedColliders>>,
}

impl<'w, 's> RewindQuery<'w, 's> {
    /// Selects a moment. The returned [`Rewound`] includes all targets; see [`Rewound::with_filter`] for filters.
    ///
    /// # Errors
    /// Returns the reason if the limits refuse the moment.
    pub fn at<'a>(&'a self, time: RewindTime<'a>) -> Result<Rewound<'a, 'w, 's>, RewindRefusal> {
        let now = self.tick.0;
        let (moment, drawn) = match time {
            RewindTime::Now => (Moment::present(now, &self.limits), None),
            RewindTime::At(time) => (Moment::at(time, now, &self.limits), Some(time)),
            RewindTime::View(view) => {
                if self.round.as_deref().is_some_and(|round| round.is_before(view.time)) {
                    return Err(RewindRefusal::TooOld);
                }
                let limits = view.limits.unwrap_or(&self.limits);
                (Moment::from_view(&view, limits, now, self.sampler.tick_seconds)?, view.bases)
            }
        };
        Ok(self.rewound(moment, drawn))
    }

    /// Returns the targets at a moment, with the movement bases of the given view time or of the present.
    fn rewound<'a>(&'a self, moment: Moment<'a>, bases: Option<ViewTime>) -> Rewound<'a, 'w, 's> {
        let bases_at = bases.unwrap_or(ViewTime::at(self.tick.0));
        let bases = self.bases.at(bases_at);
        Rewound { query: self, moment, bases, bases_at, filter: RewindFilter::default() }
    }

    /// Selects a view that was [accepted](Self::at) before, without checking its age again. For
    /// projectiles that continue from there with [`Rewound::later`].
    #[must_use]
    pub fn at_validated<'a>(&'a self, view: QueryView<'a>) -> Rewound<'a, 'w, 's> {
        let limits = view.limits.unwrap_or(&self.limits);
        let moment = Moment::at_validated(&view, limits, self.tick.0, self.sampler.tick_seconds);
        self.rewound(moment, view.bases)
    }

    /// Returns whether a pawn was alive in any snapshot sent of it in the last `ticks`.
    #[must_use]
    pub fn was_alive(&self, pawn: Entity, ticks: i32) -> bool {
        let recent = |tick: Tick| self.tick.0.since(tick) <= ticks;
        self.pawns
            .get(pawn)
            .is_ok_and(|(path, ..)| path.sent.iter().rev().take_while(|s| recent(s.tick)).any(|s| s.alive))
    }

    /// Returns the team of a target that was hit, even if it has been despawned since.
    #[must_use]
    pub fn team_of(&self, hit: &TargetHit) -> Option<Team> {
        let place = self.table.place(self.table.named(hit.target)?)?;
        match place.remains {
            Some(remains) => remains.team,
            None => self.pawns.get(place.entity).ok().and_then(|(_, _, _, team, _)| team.copied()),
        }
    }

    /// Returns the limits for views without limits of their own.
    #[must_use]
    pub fn limits(&self) -> &RewindLimits {
        &self.limits
    }

    /// Returns the static world geometry.
    #[must_use]
    pub fn world(&self) -> &WorldTrace<'w, 's> {
        &self.world
    }
}
