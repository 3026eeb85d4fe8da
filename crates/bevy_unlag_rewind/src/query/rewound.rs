//! View of all targets at one moment, with ray casts and candidate search.

use core::cmp::Reverse;

use bevy::prelude::*;
use bevy_unlag_core::{
    BaseView, LimbPoses, MAX_LIMBS, NetId, PoseSample, ProxySmoothing, ViewStamp, ViewTime,
};

use super::{Moment, RewindQuery};
use crate::{
    history::FrameHistory,
    query_result::{Miss, RewoundTime, TargetHit},
    swept_bounds::SweptBounds,
    table::{Probe, RowKey},
    target::{Body, FirstHit, HeadPriorityHit, Target},
    target_entry::{DespawnedTarget, TargetEntry},
    unit_ray::UnitRay,
    validity,
    view::RewindFilter,
    world::{NearestObstacle, Occluder, WorldHit},
};
use bevy_unlag_smoothing::PublishedPath;

type MoverItem<'i> = (
    Entity,
    &'i Occluder,
    Option<(&'i PublishedPath, &'i FrameHistory)>,
    Option<&'i NetId>,
    Option<&'i ProxySmoothing>,
);

/// All targets at one moment, as a screen showed them; created by [`RewindQuery::at`].
#[doc(alias = "lag compensation")]
#[derive(Clone, Copy)]
pub struct Rewound<'a, 'w, 's> {
    pub(super) query: &'a RewindQuery<'w, 's>,
    pub(super) moment: Moment<'a>,
    pub(super) bases: BaseView<'a>,
    /// View time of movement bases.
    pub(super) bases_at: ViewTime,
    pub(super) filter: RewindFilter<'a>,
}

/// Target with its stored history, despawned or not.
#[derive(Clone, Copy)]
pub(crate) struct StoredTarget<'a> {
    pub place: TargetEntry<'a>,
    pub target: Target<'a>,
    /// Whether the filter accepts it.
    pub wanted: bool,
}

/// Most informative reason found so far for a query without a hit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MissReason(pub Miss);

impl MissReason {
    /// Keeps the more informative of two reasons, and of equal ones that with the lower network id, so
    /// that the result does not depend on the search order.
    pub fn consider(&mut self, miss: Miss) {
        if order(&miss) > order(&self.0) {
            self.0 = miss;
        }
    }
}

/// Returns a rank by how informative a reason is, and then by its target.
fn order(miss: &Miss) -> (u8, Reverse<Option<NetId>>) {
    let (rank, target) = match *miss {
        Miss::InvalidQuery | Miss::NoTarget => (0, None),
        Miss::NotPresent(id) => (1, Some(id)),
        Miss::NearMiss(id) => (2, Some(id)),
        Miss::MovedTooFar(id) => (3, Some(id)),
        Miss::NotSent(id) => (4, Some(id)),
        Miss::InCover(id) => (5, Some(id)),
        Miss::Blocked { hit, .. } => (5, Some(hit.target)),
    };
    (rank, Reverse(target))
}

impl<'a, 'w, 's> Rewound<'a, 'w, 's> {
    /// Restricts the targets by a filter.
    #[must_use]
    pub fn with_filter(self, filter: RewindFilter<'a>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the requested moment and the one that is used.
    #[must_use]
    pub fn time(&self) -> RewoundTime {
        self.moment.rewound_time()
    }

    /// Returns the pose of one target at this moment.
    ///
    /// # Errors
    /// Returns the reason if it has none.
    pub fn pose(&self, entity: Entity) -> Result<PoseSample, Miss> {
        let slot = self.query.table.slot(entity).ok_or(Miss::NoTarget)?;
        self.body(slot).map(|body| body.pose)
    }

    /// Returns the first target that a ray hits, unless the world is in the way. A head takes precedence
    /// over a box in front of it, unless the world is between the two; see
    /// [`HitBoxes::nearest_first`](crate::HitBoxes::nearest_first).
    ///
    /// # Errors
    /// Returns the reason if the ray hit no target.
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        self.unless_in_cover(origin, self.first(&ray)?)
    }

    /// Like [`cast_ray`](Self::cast_ray), without cover protection.
    pub(super) fn first(&self, ray: &UnitRay) -> Result<TargetHit, Miss> {
        let counted = self.first_target(ray)?;
        counted.before(self.first_obstacle(ray.origin.into(), ray.direction.into(), counted.reach()))
    }

    /// Like [`first`](Self::first), through the world.
    fn first_target(&self, ray: &UnitRay) -> Result<HeadPriorityHit, Miss> {
        #[cfg(feature = "moved_colliders")]
        if let Some(moved) = self.query.moved() {
            return self.cast_moved(moved, ray);
        }
        let mut first = FirstHit::new(*ray);
        let reason = self.nearest_first(ray, &mut first);
        first.hit.ok_or(reason)
    }

    /// Returns the final hit, unless an obstacle is in the way or the victim is under cover protection.
    pub(super) fn unless_obstructed(
        &self,
        origin: Vec3,
        counted: HeadPriorityHit,
        wall: Option<WorldHit>,
    ) -> Result<TargetHit, Miss> {
        self.unless_in_cover(origin, counted.before(wall)?)
    }

    /// Returns the first obstacle of a ray with a unit direction at this moment: static geometry, or an
    /// [`Occluder`] where it was drawn. `None` if there is none within `max_distance`.
    #[must_use]
    pub fn first_obstacle(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<WorldHit> {
        if !validity::is_point(origin) {
            return None;
        }
        let max_distance = max_distance.min(1e7);
        let fixed = self.query.world.cast(origin, direction, max_distance);
        self.nearest_obstacle(fixed, origin, direction, max_distance)
    }

    /// Returns the nearer of a wall and the first occluder along a ray with a unit direction.
    pub(super) fn nearest_obstacle(
        &self,
        fixed: Option<f32>,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
    ) -> Option<WorldHit> {
        let mut way = NearestObstacle::new(fixed, max_distance);
        self.occluders(|entity, occluder, pose| way.consider((entity, occluder), pose, origin, direction));
        way.nearest
    }

    /// Calls `each` with every occluder that exists at this moment, and its drawn pose.
    pub(super) fn occluders(&self, mut each: impl FnMut(Entity, &Occluder, Isometry3d)) {
        for mover in &self.query.movers {
            if let Some(pose) = self.occluder(mover) {
                each(mover.0, mover.1, pose);
            }
        }
    }

    /// Returns the drawn pose of an occluder.
    pub(super) fn occluder_pose(&self, entity: Entity) -> Option<Isometry3d> {
        self.occluder(self.query.movers.get(entity).ok()?)
    }

    fn occluder(&self, (_, occluder, history, id, mode): MoverItem<'_>) -> Option<Isometry3d> {
        if occluder.base != 0 {
            return self.bases.pose(occluder.base);
        }
        let (path, history) = history?;
        let target = Target { id: *id?, path, history, mode };
        let (pose, _) = self.moment.pose(&target, &self.query.sampler, &self.bases).ok()?;
        Some(pose.body())
    }

    /// Calls `met` with the body of every target that can be near `probe`; the callback returns whether
    /// it was hit. Returns the reason for a miss, for the case that none was hit.
    pub(crate) fn bodies(&self, probe: &Probe, mut met: impl FnMut(&Body<'_>) -> bool) -> Miss {
        self.slots(probe, |_, body| met(body))
    }

    /// Tests bodies in the order in which a ray reaches their bounds, until all remaining ones are behind
    /// the hit. Returns the reason for a miss, for the case that none was hit.
    pub(super) fn nearest_first(&self, ray: &UnitRay, first: &mut FirstHit) -> Miss {
        /// Maximum number of targets to sort; further ones are tested immediately.
        const ORDERED: usize = 16;
        let mut reason = MissReason::default();
        let mut room: LimbPoses = [Isometry3d::IDENTITY; MAX_LIMBS];
        let mut ordered = [(0.0_f32, 0_usize); ORDERED];
        let mut count = 0;
        let mut look = |slot: usize, first: &mut FirstHit| match self.body(slot) {
            Ok(body) => {
                if !first.look(&body, &mut room) {
                    reason.consider(Miss::NearMiss(body.id));
                }
            }
            Err(miss) => reason.consider(miss),
        };
        self.near(&Probe::along(ray), |slot, enter| {
            if count == ORDERED {
                if enter <= first.reach() {
                    look(slot, first);
                }
                return;
            }
            // Few targets are near a ray: insertion sort, which keeps the order of equal distances.
            let mut at = count;
            while at > 0 && ordered[at - 1].0 > enter {
                ordered[at] = ordered[at - 1];
                at -= 1;
            }
            ordered[at] = (enter, slot);
            count += 1;
        });
        for (enter, slot) in &ordered[..count] {
            if *enter > first.reach() {
                break;
            }
            look(*slot, first);
        }
        reason.0
    }

    /// Like [`bodies`](Self::bodies), with slots.
    pub(super) fn slots(&self, probe: &Probe, mut met: impl FnMut(usize, &Body<'_>) -> bool) -> Miss {
        let mut reason = MissReason::default();
        self.near(probe, |slot, _| match self.body(slot) {
            Ok(body) => {
                if !met(slot, &body) {
                    reason.consider(Miss::NearMiss(body.id));
                }
            }
            Err(miss) => reason.consider(miss),
        });
        reason.0
    }

    /// Calls `look` once with the slot of every target that can be near `probe`, and with the distance in
    /// metres along a ray before which it cannot hit the target.
    pub(super) fn near(&self, probe: &Probe, mut look: impl FnMut(usize, f32)) {
        let table = &self.query.table;
        let named = |slot: usize| {
            let id = table.place(slot).map(|place| place.id);
            self.moment.overrides.iter().any(|named| Some(named.target) == id)
        };
        let asked = |slot: usize| self.moment.overrides.is_empty() || !named(slot);
        if self.moment.row() == RowKey::All {
            self.near_on_screen(probe, asked, &mut look);
        } else {
            table.near(self.moment.row(), probe, |slot, enter| {
                if asked(slot) {
                    look(slot, enter);
                }
            });
        }
        // The rows do not contain the poses of targets with overrides.
        for (index, named) in self.moment.overrides.iter().enumerate() {
            let repeated = self.moment.overrides[..index].iter().any(|other| other.target == named.target);
            if let Some(slot) = table.named(named.target).filter(|_| !repeated) {
                look(slot, 0.0);
            }
        }
    }

    /// Like [`near`](Self::near), for a shooter that was not sent every snapshot: a target that its
    /// screen showed elsewhere than the rows assume is tested individually. A target that was never sent
    /// to it is treated as near where other clients saw it.
    fn near_on_screen(
        &self,
        probe: &Probe,
        asked: impl Fn(usize) -> bool,
        look: &mut impl FnMut(usize, f32),
    ) {
        let table = &self.query.table;
        let row = self.moment.time.map_or(RowKey::Present, |time| RowKey::Tick(time.tick));
        table.near(row, probe, |slot, enter| {
            if asked(slot) && !self.was_drawn_elsewhere(slot) {
                look(slot, enter);
            }
        });
        for slot in (0..table.slots()).filter(|slot| asked(*slot) && self.was_drawn_elsewhere(*slot)) {
            let around = match self.body(slot) {
                Ok(body) => SweptBounds::at(&body.pose, &body.boxes.bounds()),
                // There is no better information.
                Err(_) => table.envelope(row, slot),
            };
            if let Some(enter) = probe.enters(&around) {
                look(slot, enter);
            }
        }
    }

    /// Returns whether this shooter's screen showed a target elsewhere than the screens of other clients:
    /// it was sent some snapshots of the target, but not the ones that other clients drew it from.
    fn was_drawn_elsewhere(&self, slot: usize) -> bool {
        let Some(((sent, time), place)) =
            self.moment.sent.zip(self.moment.time).zip(self.query.table.place(slot))
        else {
            return false;
        };
        if sent.newest(place.id).is_none() {
            return false;
        }
        let path = match place.remains {
            Some(remains) => Some(&remains.path),
            None => self.query.pawns.get(place.entity).ok().map(|(path, ..)| path),
        };
        match path.and_then(|path| path.sent.stamp(time)) {
            Some(ViewStamp::Interpolated { from, to, .. }) => {
                !(sent.contains(place.id, from) && sent.contains(place.id, to))
            }
            Some(ViewStamp::Extrapolated { from, .. }) => !sent.contains(place.id, from),
            Some(ViewStamp::Present) | None => false,
        }
    }

    /// Returns a target's body at this moment; [`Miss::NoTarget`] if the filter rejects it.
    pub(crate) fn body(&self, slot: usize) -> Result<Body<'_>, Miss> {
        // The shooter is near its own ray, and needs no look-up.
        if let (Some(exclude), Some(place)) = (self.filter.exclude, self.query.table.place(slot))
            && exclude == place.entity
        {
            return Err(Miss::NoTarget);
        }
        let known = self.known(slot).filter(|known| known.wanted).ok_or(Miss::NoTarget)?;
        let StoredTarget { place, target, .. } = known;
        if self.moment.time.is_none() && place.remains.is_some() {
            // A despawned target exists only in the past.
            return Err(Miss::NotPresent(place.id));
        }
        let (pose, time) = self.moment.pose(&target, &self.query.sampler, &self.bases)?;
        Ok(place.body(target.history, pose, (time, self.query.tick.0)))
    }

    /// Returns the target in a slot with its stored history.
    pub(super) fn known(&self, slot: usize) -> Option<StoredTarget<'_>> {
        let place = self.query.table.place(slot)?;
        let (path, history, mode, team, layers) = match place.remains {
            Some(DespawnedTarget { path, history, mode, team, layers }) => {
                (path, history, mode.as_ref(), *team, *layers)
            }
            None => {
                let (path, history, mode, team, layers) = self.query.pawns.get(place.entity).ok()?;
                (path, history, mode, team.copied(), layers.copied())
            }
        };
        let wanted = self.filter.allows(place.entity, team, layers.unwrap_or_default());
        let target = Target { id: place.id, path, history, mode };
        Some(StoredTarget { place, target, wanted })
    }
}
