//! Recording of shot evidence.

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, SUB_TICKS, Snapshot, ViewStamp, ViewTime};

use super::{Rewound, rewound::StoredTarget};
use crate::{
    evidence::{BaseEvidence, CandidateEvidence, OccluderEvidence, ShotEvidence, is_exact},
    hit_boxes::HitBoxes,
    query_result::Miss,
    table::Probe,
    unit_ray::UnitRay,
};

impl Rewound<'_, '_, '_> {
    /// Casts a ray like [`cast_ray`](Self::cast_ray), and records everything that the result depends on.
    /// Allocates, and costs a few times as much as the ray cast: for logs, debug views and disputes.
    #[must_use]
    pub fn evidence(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> ShotEvidence {
        let mut evidence = ShotEvidence {
            tick: self.query.tick.0,
            arrived: self.moment.arrived,
            time: self.time(),
            oldest: self.moment.oldest,
            overrides: self.moment.overrides.to_vec(),
            limits: *self.moment.limits,
            answer: self.cast_ray(origin, direction, max_distance),
            ..default()
        };
        // An invalid query is recorded as a ray without a direction.
        let Some(ray) = UnitRay::new(origin, direction, max_distance) else { return evidence };
        (evidence.origin, evidence.direction, evidence.max_distance) = (origin, direction, ray.max);
        self.near(&Probe::along(&ray), |slot, _| self.record_candidate(slot, &mut evidence));
        let way: Vec3 = ray.direction.into();
        evidence.wall = self.query.world.cast(origin, way, ray.max);
        self.occluders(|entity, occluder, pose| {
            if let Some(distance) = occluder.cast(pose, origin, way, ray.max) {
                let shape = Some(occluder.shape.clone());
                evidence.occluders.push(OccluderEvidence { entity, pose, distance, shape });
            }
        });
        let hit =
            match &evidence.answer {
                Ok(hit) => Some(*hit),
                Err(Miss::InCover(target)) => self.query.table.named(*target).and_then(|slot| {
                    Some(self.body(slot).ok()?.cast_ray(&ray, &mut LimbPoses::default())?.hit)
                }),
                Err(_) => None,
            };
        let hidden = hit.and_then(|hit| self.hidden(origin, &hit));
        evidence.hidden = hidden.map(|ticks| ticks.clamp(0, i32::from(u16::MAX)) as u16);
        evidence
    }

    /// Records a candidate near the ray.
    fn record_candidate(&self, slot: usize, evidence: &mut ShotEvidence) {
        let Some(known) = self.known(slot) else { return };
        let StoredTarget { place, target, wanted } = known;
        if !wanted {
            evidence.left_out.push(place.id);
            return;
        }
        let snapshots = self.snapshots(&known);
        for base in snapshots.iter().map(|snapshot| snapshot.base) {
            self.record_base(base, evidence);
        }
        let mut room = LimbPoses::default();
        let mut set_of = |boxes: &HitBoxes| {
            let index = evidence.sets.iter().position(|set| set.is_same_set(boxes)).unwrap_or_else(|| {
                evidence.approximate |= !is_exact(boxes);
                evidence.sets.push(boxes.clone());
                evidence.sets.len() - 1
            });
            // At most two sets for each network id, so the index fits.
            index as u32
        };
        let (set, limbs) = match self.body(slot) {
            Ok(body) => (set_of(body.boxes), body.limbs(&mut room).to_vec()),
            Err(_) => (set_of(place.boxes), Vec::new()),
        };
        let live_set = set_of(place.boxes);
        let live = target.path.present().copied();
        let live_limbs = live.map(|pose| {
            place.body(target.history, pose, (None, self.query.tick.0)).limbs(&mut room).to_vec()
        });
        evidence.candidates.push(CandidateEvidence {
            entity: place.entity,
            target: place.id,
            mode: target.mode.copied(),
            snapshots,
            live,
            set,
            limbs,
            live_set,
            live_limbs: live_limbs.unwrap_or_default(),
        });
    }

    fn record_base(&self, base: u16, evidence: &mut ShotEvidence) {
        if base == 0 || evidence.bases.iter().any(|known| known.base == base) {
            return;
        }
        let before = self.query.bases.at(self.bases_at.later(-SUB_TICKS));
        if let Some(pose) = self.bases.pose(base) {
            let before = before.pose(base).unwrap_or(pose);
            evidence.bases.push(BaseEvidence { base, pose, before });
        }
    }

    /// Returns the snapshots around every moment at which the target can be posed, and those that the
    /// shot names.
    fn snapshots(&self, known: &StoredTarget<'_>) -> Vec<Snapshot> {
        let moment = &self.moment;
        let Some(time) = moment.time else { return Vec::new() };
        let target = &known.target;
        let sent = &target.path.sent;
        let named = moment.overrides.iter().find(|named| named.target == target.id);
        let sampler = self.query.sampler.of(target.mode);
        if named.is_some_and(|named| !moment.may_have_shown(target, named, &sampler)) {
            // The override is rejected, so the target is not posed.
            return Vec::new();
        }
        let mut found: Vec<Snapshot> = Vec::new();
        let mut around = |time: ViewTime| match moment.implied(target, time) {
            Some(ViewStamp::Interpolated { from, to, .. }) => {
                found.extend(sent.get(from));
                found.extend(sent.get(to));
            }
            Some(ViewStamp::Extrapolated { from, .. }) => found.extend(sent.get(from)),
            // The moment lies before the first snapshot; record that one.
            Some(ViewStamp::Present) | None => {
                found.extend(sent.iter().find(|snapshot| moment.was_sent(target, snapshot.tick)));
            }
        };
        around(time);
        if let Some(named) = named {
            around(time.later(i64::from(named.shift)));
            around(ViewTime::at(moment.arrived).later(SUB_TICKS));
            moment.oldest.into_iter().for_each(&mut around);
            found.extend(sent.get(named.from));
            found.extend(named.to.and_then(|to| sent.get(to)));
        }
        found.sort_by_key(|snapshot| snapshot.tick.since(time.tick));
        found.dedup_by_key(|snapshot| snapshot.tick);
        found
    }
}
