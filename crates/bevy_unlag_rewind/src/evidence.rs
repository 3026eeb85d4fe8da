//! Shot evidence: a record of everything that the verdict on a shot depends on, which can be checked
//! later.

mod drawn_evidence;
mod format;
mod lines;
mod log;
mod shapes;

use core::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{
    BasePoses, LimbPoses, NetId, PoseSample, PoseSampler, ProxySmoothing, Snapshot, Tick, ViewTime,
};
use serde::{Deserialize, Serialize};

use crate::{
    checked_floats::checked,
    history::FrameHistory,
    hit_boxes::HitBoxes,
    limits::RewindLimits,
    query::{ClaimedTarget, MissReason, Moment},
    query_result::{Miss, RewoundTime, TargetHit},
    target::{Body, FirstHit, Limbs, Target},
    unit_ray::UnitRay,
    view::StampOverride,
    world::{NearestObstacle, Occluder, WorldHit},
};
use bevy_unlag_smoothing::PublishedPath;
pub use drawn_evidence::{DrawnBody, DrawnEvidence, DrawnFrames};
pub use lines::EvidencePart;
pub use log::EvidenceLog;

pub(crate) use format::clamped_padding;
pub(crate) use shapes::is_exact;

/// Record of everything that the verdict on one ray depends on; created by
/// [`Rewound::evidence`](crate::Rewound::evidence). It is self-contained: [`replay`](Self::replay) needs
/// no world, no server and no connection. A caller can add its own decisions before and after the ray
/// cast: see [`EvidenceNotes`].
///
/// [`to_bytes`](Self::to_bytes) is its binary form, about 2 KB with one candidate; serde writes it as text.
/// Both are exact to the bit. Reading checks every number, so a record from anywhere can be read and
/// replayed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShotEvidence {
    /// Network id of the shooter, if the caller provided it.
    pub shooter: Option<NetId>,
    /// Number of the shot, if the caller provided it.
    pub shot: u32,
    /// Server tick in which the shot was resolved.
    pub tick: Tick,
    /// Tick in which the shot arrived.
    pub arrived: Tick,
    /// Requested moment and the one that was used.
    pub time: RewoundTime,
    /// Oldest moment accepted for any target; `None` without a limit.
    pub oldest: Option<ViewTime>,
    /// Targets that were drawn from other snapshots than the moment implies.
    pub overrides: Vec<StampOverride>,
    /// Limits in effect.
    pub limits: RewindLimits,
    /// Origin of the ray.
    #[serde(deserialize_with = "checked")]
    pub origin: Vec3,
    /// Direction of the ray, of any length; zero for an invalid query.
    #[serde(deserialize_with = "checked")]
    pub direction: Vec3,
    /// Length of the ray in metres.
    #[serde(deserialize_with = "checked")]
    pub max_distance: f32,
    /// Movement bases on which candidates stood.
    pub bases: Vec<BaseEvidence>,
    /// Hit box sets of the candidates.
    pub sets: Vec<HitBoxes>,
    /// Targets near the ray that the filter accepted, in the order in which they were tested.
    pub candidates: Vec<CandidateEvidence>,
    /// Targets near the ray that the filter rejected.
    pub left_out: Vec<NetId>,
    /// Distance in metres to the first wall along the ray; `None` if there is none.
    #[serde(deserialize_with = "checked")]
    pub wall: Option<f32>,
    /// Occluders that the ray hit, such as doors, lifts and shields.
    pub occluders: Vec<OccluderEvidence>,
    /// Ticks for which the victim had been out of sight, if the rule applied; see
    /// [`CoverProtection`](crate::CoverProtection).
    pub hidden: Option<u16>,
    /// Verdict.
    pub answer: Result<TargetHit, Miss>,
    /// Whether a hit box is not a box, ball or capsule. It is then serialised as its bounding box, and a
    /// replay of what was read may differ.
    pub approximate: bool,
    /// Notes of the caller. Not used by a replay.
    pub notes: EvidenceNotes,
}

/// Notes of the caller on decisions outside the ray cast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidenceNotes {
    /// View time that the shooter claimed, before a [`ViewTimeValidator`](crate::ViewTimeValidator) corrected
    /// it; [`ShotEvidence::time`] contains the time that was requested from the query.
    pub claimed: Option<ViewTime>,
    /// Target that the shooter claimed, and the resulting hit if the ray itself did not hit it: see
    /// [`Rewound::cast_ray_claimed`](crate::Rewound::cast_ray_claimed).
    pub claim: Option<(ClaimedTarget, Option<TargetHit>)>,
    /// Reason for which the shot was rejected, as a number defined by the caller. The verdict is then
    /// that of the ray as if it had been accepted, or [`Miss::NoTarget`] if no ray was cast.
    pub refused: Option<u8>,
}

/// Drawn pose of a movement base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaseEvidence {
    /// Number of the base.
    pub base: u16,
    /// Pose when it was drawn.
    #[serde(deserialize_with = "checked")]
    pub pose: Isometry3d,
    /// Pose one tick before.
    #[serde(deserialize_with = "checked")]
    pub before: Isometry3d,
}

/// Target near the ray.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateEvidence {
    /// Entity in the server's app.
    pub entity: Entity,
    /// Network id.
    pub target: NetId,
    /// Smoothing mode of its own, if it had one.
    pub mode: Option<ProxySmoothing>,
    /// Sent snapshots around every relevant moment, oldest first.
    #[serde(deserialize_with = "format::ordered")]
    pub snapshots: Vec<Snapshot>,
    /// Pose when the shot was resolved; `None` if it no longer existed.
    #[serde(deserialize_with = "checked")]
    pub live: Option<PoseSample>,
    /// Index of the hit box set that was tested.
    pub set: u32,
    /// Limb poses at the tested moment, in body space; empty if there was nothing to hit.
    #[serde(deserialize_with = "checked")]
    pub limbs: Vec<Isometry3d>,
    /// Index of the hit box set that it had when the shot was resolved.
    pub live_set: u32,
    /// Limb poses when the shot was resolved.
    #[serde(deserialize_with = "checked")]
    pub live_limbs: Vec<Isometry3d>,
}

/// Occluder in the way of the ray.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OccluderEvidence {
    /// Entity in the server's app.
    pub entity: Entity,
    /// Drawn pose.
    #[serde(deserialize_with = "checked")]
    pub pose: Isometry3d,
    /// Distance along the ray in metres.
    #[serde(deserialize_with = "checked")]
    pub distance: f32,
    /// Shape; `None` if it cannot be serialised, because it is not a box, ball or capsule. In that case
    /// the distance is used.
    #[serde(with = "shapes::occluder")]
    pub shape: Option<Collider>,
}

impl Default for ShotEvidence {
    fn default() -> Self {
        Self {
            shooter: None,
            shot: 0,
            tick: Tick::default(),
            arrived: Tick::default(),
            time: RewoundTime::default(),
            oldest: None,
            overrides: Vec::new(),
            limits: RewindLimits::default(),
            origin: Vec3::ZERO,
            direction: Vec3::ZERO,
            max_distance: 0.0,
            bases: Vec::new(),
            sets: Vec::new(),
            candidates: Vec::new(),
            left_out: Vec::new(),
            wall: None,
            occluders: Vec::new(),
            hidden: None,
            answer: Err(Miss::NoTarget),
            approximate: false,
            notes: EvidenceNotes::default(),
        }
    }
}

impl CandidateEvidence {
    /// Rebuilds the candidate's history.
    fn path(&self) -> PublishedPath {
        PublishedPath::restored(&self.snapshots, self.live)
    }
}

impl ShotEvidence {
    /// Resolves the shot again from this record alone, with the same code as the original. `sampler` is
    /// that of the server. An unmodified record reproduces its own [`answer`](Self::answer).
    ///
    /// # Errors
    /// Returns the reason if the ray hit no target.
    pub fn replay(&self, sampler: &PoseSampler) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(self.origin, self.direction, self.max_distance).ok_or(Miss::InvalidQuery)?;
        let (poses, moment) = (self.base_poses(sampler), self.moment());
        let bases = poses.at(ViewTime::default());
        let mut first = FirstHit::new(ray);
        let mut room = LimbPoses::default();
        let mut reason = MissReason::default();
        let mut seen = None;
        for candidate in &self.candidates {
            match self.posed_candidate(candidate, &candidate.path(), &moment, (sampler, &bases)) {
                Ok((body, time)) => {
                    let before = first.hit;
                    if !first.look(&body, &mut room) {
                        reason.consider(Miss::NearMiss(body.id));
                    } else if first.hit != before {
                        seen = time;
                    }
                }
                Err(miss) => reason.consider(miss),
            }
        }
        let counted = first.hit.ok_or(reason.0)?;
        let hit = counted.before(self.first_obstacle(ray.direction.into(), counted.reach()))?;
        let rewound = seen.map_or(0, |seen| ViewTime::at(self.arrived).since(seen));
        let safe = self.limits.cover.zip(self.hidden).is_some_and(|(rule, hidden)| {
            let tick = sampler.tick_seconds;
            rule.concerns(rewound, tick) && rule.protects(i32::from(hidden), tick)
        });
        if safe { Err(Miss::InCover(hit.target)) } else { Ok(hit) }
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            requested: self.time.requested,
            time: self.time.used,
            arrived: self.arrived,
            oldest: self.oldest,
            overrides: &self.overrides,
            // The record contains only snapshots that were sent.
            sent: None,
            complete: true,
            limits: &self.limits,
        }
    }

    /// Returns a candidate's body as it was tested, and its view time.
    fn posed_candidate<'a>(
        &'a self,
        candidate: &'a CandidateEvidence,
        path: &PublishedPath,
        moment: &Moment<'_>,
        (sampler, bases): (&PoseSampler, &bevy_unlag_core::BaseView<'_>),
    ) -> Result<(Body<'a>, Option<ViewTime>), Miss> {
        let (entity, id) = (candidate.entity, candidate.target);
        let history = &FrameHistory::default();
        let target = Target { id, path, history, mode: candidate.mode.as_ref() };
        let (pose, time) = moment.pose(&target, sampler, bases)?;
        let boxes = self.sets.get(candidate.set as usize).ok_or(Miss::NotPresent(id))?;
        Ok((Body { entity, id, pose, boxes, limbs: Limbs::Nodes(&candidate.limbs) }, time))
    }

    /// Returns the first obstacle along the ray.
    fn first_obstacle(&self, direction: Vec3, max: f32) -> Option<WorldHit> {
        let mut way = NearestObstacle::new(self.wall.filter(|wall| *wall <= max), max);
        for OccluderEvidence { entity, pose, distance, shape } in &self.occluders {
            way.meet(*entity, |reach| match shape.clone() {
                Some(shape) => Occluder { shape, base: 0 }.cast(*pose, self.origin, direction, reach),
                None => Some(*distance),
            });
        }
        way.nearest
    }

    /// Returns the recorded base poses, on a clock that is 0 at the view time of the bases.
    fn base_poses(&self, sampler: &PoseSampler) -> BasePoses {
        if self.bases.is_empty() {
            return BasePoses::default();
        }
        let bases = self.bases.clone();
        let tick = Duration::from_secs_f32(sampler.tick_seconds.clamp(1e-4, 10.0));
        let half = -0.5 * tick.as_secs_f64();
        BasePoses::new(tick, move |base, seconds| {
            let found = bases.iter().find(|found| found.base == base)?;
            Some(if seconds > half { found.pose } else { found.before })
        })
    }
}
