//! Everything that the verdict on one shot depends on, so that anybody can check it later.

mod drawn;
mod lines;
mod log;
mod shapes;
mod text;
mod wire;

use core::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{
    BasePoses, LimbPoses, NetId, PoseSample, ProxySmoothing, Sampler, Snapshot, Tick, ViewTime,
};

use crate::{
    ClaimedTarget, FrameHistory, HitBoxes, JudgedTime, Miss, Occluder, RewindLimits, StampOverride,
    TargetHit, WorldHit,
    query::{Moment, Reason},
    target::{Body, FirstHit, Limbs, Target, UnitRay},
};
use bevy_unlag_smoothing::PublishedPath;
pub use drawn::{DrawnBody, DrawnEvidence, DrawnFrames};
pub use lines::EvidencePart;
pub use log::EvidenceLog;

/// Everything that the verdict on one ray depends on; made by [`Rewound::evidence`](crate::Rewound::evidence).
/// It is a record of its own: [`replay`](Self::replay) needs no world, no server and no connection. What a
/// caller decides before and after that, it can note: see [`EvidenceNotes`].
///
/// It travels and is kept as bytes with [`Wire`](bevy_unlag_core::Wire), about 2 KB with one candidate, and as
/// text with serde: a line of facts to read, and the bytes in hexadecimal digits, from which it is read
/// again.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(into = "text::Written", try_from = "text::Written")]
pub struct ShotEvidence {
    /// Who fired, where the caller has said so.
    pub shooter: Option<NetId>,
    /// The shot's name, where the caller has said so.
    pub shot: u32,
    /// The server's tick in which it was judged.
    pub tick: Tick,
    /// The tick in which it arrived.
    pub arrived: Tick,
    /// The moment that was asked for, and the one that was judged.
    pub time: JudgedTime,
    /// The oldest moment that was honoured of any target; `None` without a limit.
    pub oldest: Option<ViewTime>,
    /// Targets that were drawn from other snapshots than the moment implies.
    pub overrides: Vec<StampOverride>,
    /// The limits.
    pub limits: RewindLimits,
    /// Where the ray started.
    pub origin: Vec3,
    /// Where it went, of any length; zero for a question that made no sense.
    pub direction: Vec3,
    /// How far, in metres.
    pub max_distance: f32,
    /// The movement bases that candidates stood on.
    pub bases: Vec<BaseEvidence>,
    /// The sets of hit boxes that candidates had.
    pub sets: Vec<HitBoxes>,
    /// Everybody near the ray whom the filter wanted, in the order in which they were looked at.
    pub candidates: Vec<CandidateEvidence>,
    /// Those near it whom the filter did not want.
    pub left_out: Vec<NetId>,
    /// Metres to the first wall along the ray; `None` when there is none.
    pub wall: Option<f32>,
    /// The doors, lifts and shields that the ray met.
    pub occluders: Vec<OccluderEvidence>,
    /// Ticks for which the victim had been out of sight, where that mattered; see
    /// [`CoverProtection`](crate::CoverProtection).
    pub hidden: Option<u16>,
    /// The verdict.
    pub answer: Result<TargetHit, Miss>,
    /// Whether some hit box is here as the box around its shape, because its shape does not travel: it is no
    /// box, ball or capsule. A replay may then differ.
    pub approximate: bool,
    /// What the caller has to say about it. No replay looks at it.
    pub notes: EvidenceNotes,
}

/// What decides about a shot besides its ray, as whoever judges it notes it down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EvidenceNotes {
    /// The moment that the shooter claimed, before a [`ViewLedger`](crate::ViewLedger) moved it:
    /// [`ShotEvidence::time`] has what was asked of the query.
    pub claimed: Option<ViewTime>,
    /// Whom the shooter named, and what came of that where the ray itself did not hit it: see
    /// [`Rewound::cast_ray_claimed`](crate::Rewound::cast_ray_claimed).
    pub claim: Option<(ClaimedTarget, Option<TargetHit>)>,
    /// Why the shot was not judged at all, by a number of the caller's own. Then the answer is that of the ray if it
    /// had been, or [`Miss::Nobody`] where nothing was asked.
    pub refused: Option<u8>,
}

/// Where a movement base was when it was drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseEvidence {
    /// Which one.
    pub base: u16,
    /// Where it was.
    pub pose: Isometry3d,
    /// Where it was a tick before.
    pub before: Isometry3d,
}

/// Somebody near the ray.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateEvidence {
    /// Who, in the server's app.
    pub entity: Entity,
    /// Who, on the wire.
    pub target: NetId,
    /// Its own way of being drawn, if it had one.
    pub mode: Option<ProxySmoothing>,
    /// What had been sent of it around every moment that came into question, oldest first.
    pub snapshots: Vec<Snapshot>,
    /// Where it was when the shot was judged; `None` when it was not there any more.
    pub live: Option<PoseSample>,
    /// Which of the sets of hit boxes was judged.
    pub set: u32,
    /// Its limbs at the judged moment, in the space of its body; empty when there was nothing to hit.
    pub limbs: Vec<Isometry3d>,
    /// Which of the sets of hit boxes it had when the shot was judged.
    pub live_set: u32,
    /// Its limbs when the shot was judged.
    pub live_limbs: Vec<Isometry3d>,
}

/// Something that moves and stood in the way.
#[derive(Clone, Debug)]
pub struct OccluderEvidence {
    /// Which one, in the server's app.
    pub entity: Entity,
    /// Where it was drawn.
    pub pose: Isometry3d,
    /// Metres to where the ray met it.
    pub distance: f32,
    /// Its shape; `None` when it does not travel: it is no box, ball or capsule. Then the distance counts.
    pub shape: Option<Collider>,
}

impl Default for ShotEvidence {
    fn default() -> Self {
        Self {
            shooter: None,
            shot: 0,
            tick: Tick::default(),
            arrived: Tick::default(),
            time: JudgedTime::default(),
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
            answer: Err(Miss::Nobody),
            approximate: false,
            notes: EvidenceNotes::default(),
        }
    }
}

impl CandidateEvidence {
    /// What the server remembered of it.
    fn path(&self) -> PublishedPath {
        PublishedPath::restored(&self.snapshots, self.live)
    }
}

impl ShotEvidence {
    /// The same with the names of shooter and shot.
    #[must_use]
    pub fn of_shot(self, shooter: NetId, shot: u32) -> Self {
        Self { shooter: Some(shooter), shot, ..self }
    }

    /// The same with what the caller notes about it.
    #[must_use]
    pub fn with_notes(self, notes: EvidenceNotes) -> Self {
        Self { notes, ..self }
    }

    /// Judges the shot again, from this record alone and with the code that judged it. `sampler` is the one of
    /// that server. A record that nobody has changed gives its own [`answer`](Self::answer).
    ///
    /// # Errors
    /// Why it hit nobody.
    pub fn replay(&self, sampler: &Sampler) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(self.origin, self.direction, self.max_distance).ok_or(Miss::Nonsense)?;
        let (poses, moment) = (self.base_poses(sampler), self.moment());
        let bases = poses.at(ViewTime::default());
        let mut first = FirstHit::new(ray);
        let mut room = LimbPoses::default();
        let mut reason = Reason::default();
        let mut seen = None;
        for candidate in &self.candidates {
            match self.judged(candidate, &candidate.path(), &moment, (sampler, &bases)) {
                Ok((body, time)) => {
                    let before = first.hit;
                    if !first.look(&body, &mut room) {
                        reason.consider(Miss::Beside(body.id));
                    } else if first.hit != before {
                        seen = time;
                    }
                }
                Err(miss) => reason.consider(miss),
            }
        }
        let counted = first.hit.ok_or(reason.0)?;
        let hit = counted.before(self.in_the_way(ray.direction.into(), counted.reach()))?;
        let rewound = seen.map_or(0, |seen| ViewTime::at(self.arrived).since(seen));
        let safe = self.limits.cover.zip(self.hidden).is_some_and(|(rule, hidden)| {
            let tick = sampler.tick_seconds;
            rule.concerns(rewound, tick) && rule.protects(i32::from(hidden), tick)
        });
        if safe { Err(Miss::InCover(hit.target)) } else { Ok(hit) }
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            asked: self.time.asked,
            time: self.time.used,
            arrived: self.arrived,
            oldest: self.oldest,
            overrides: &self.overrides,
            // Only what was sent is on record.
            sent: None,
            complete: true,
            limits: &self.limits,
        }
    }

    /// A candidate's body as it was judged, and when that was.
    fn judged<'a>(
        &'a self,
        candidate: &'a CandidateEvidence,
        path: &PublishedPath,
        moment: &Moment<'_>,
        (sampler, bases): (&Sampler, &bevy_unlag_core::BaseView<'_>),
    ) -> Result<(Body<'a>, Option<ViewTime>), Miss> {
        let (entity, id) = (candidate.entity, candidate.target);
        let history = &FrameHistory::default();
        let target = Target { entity, id, path, history, mode: candidate.mode.as_ref() };
        let (pose, time) = moment.pose(&target, sampler, bases)?;
        let boxes = self.sets.get(candidate.set as usize).ok_or(Miss::Gone(id))?;
        Ok((Body { entity, id, pose, boxes, limbs: Limbs::Nodes(&candidate.limbs) }, time))
    }

    /// What stood in the way of the ray, and how far along it.
    fn in_the_way(&self, direction: Vec3, max: f32) -> Option<WorldHit> {
        let wall = self.wall.filter(|wall| *wall <= max);
        let mut nearest = wall.map(|distance| WorldHit { distance, by: None });
        for occluder in &self.occluders {
            let reach = nearest.map_or(max, |hit| hit.distance);
            let distance = match &occluder.shape {
                Some(shape) => {
                    let shape = shape.clone();
                    Occluder { shape, base: 0 }.cast(occluder.pose, self.origin, direction, reach)
                }
                None => Some(occluder.distance),
            };
            if let Some(distance) = distance.filter(|distance| *distance < reach) {
                nearest = Some(WorldHit { distance, by: Some(occluder.entity) });
            }
        }
        nearest
    }

    /// The bases as they were when they were drawn, for a clock that stands at 0 then.
    fn base_poses(&self, sampler: &Sampler) -> BasePoses {
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
