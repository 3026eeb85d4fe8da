//! A target at one moment: the pose of its body, and ray tests against its hit boxes.

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, LimbRig, NetId, PoseSample, ProxySmoothing, Tick, ViewTime};
use bevy_unlag_smoothing::PublishedPath;

use crate::{
    bounding_spheres::ShapeGroup,
    drawn_limbs::DrawnLimbs,
    history::FrameHistory,
    hit_box::{HitBox, HitGroup},
    hit_boxes::HitBoxes,
    query_result::{Miss, TargetHit},
    shape::Shape,
    target_entry::TargetEntry,
    unit_ray::UnitRay,
    world::WorldHit,
};

/// Possible target, with the server's history of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub id: NetId,
    pub path: &'a PublishedPath,
    pub history: &'a FrameHistory,
    pub mode: Option<&'a ProxySmoothing>,
}

/// Body of a target at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    pub entity: Entity,
    pub id: NetId,
    pub pose: PoseSample,
    pub boxes: &'a HitBoxes,
    pub limbs: Limbs<'a>,
}

/// Source of a body's limb poses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limbs<'a> {
    /// Computed from the pose by a rig.
    Rig(&'a LimbRig),
    /// Recorded limb poses at a moment.
    Recorded(&'a FrameHistory, ViewTime),
    /// Poses of the limb nodes, in the space of the body.
    Nodes(&'a [Isometry3d]),
    /// A single limb, which is the body itself.
    None,
}

impl<'a> Limbs<'a> {
    /// Returns the limb poses of drawn nodes; without nodes, those of the rig.
    pub fn drawn(nodes: Option<&'a DrawnLimbs>, rig: Option<&'a LimbRig>) -> Self {
        match nodes.filter(|nodes| !nodes.0.is_empty()) {
            Some(nodes) => Self::Nodes(&nodes.0),
            None => rig.map_or(Self::None, Self::Rig),
        }
    }

    /// Returns the limb poses recorded at `time`; without a record, those of the rig.
    pub fn of(history: &'a FrameHistory, rig: Option<&'a LimbRig>, time: ViewTime) -> Self {
        if history.bones.is_empty() {
            rig.map_or(Self::None, Self::Rig)
        } else {
            Self::Recorded(history, time)
        }
    }
}

impl<'a> TargetEntry<'a> {
    /// Returns the body as it was drawn at the given moment, or as it is in the tick `now` if the moment
    /// is `None`.
    pub fn body(
        &self,
        history: &'a FrameHistory,
        pose: PoseSample,
        (time, now): (Option<ViewTime>, Tick),
    ) -> Body<'a> {
        // A view from before a change of hit boxes is tested against the old hit boxes, on the old limbs.
        let old = time.and_then(|time| history.old_set(time));
        let (boxes, rig) = old.map_or((self.boxes, self.rig), |old| (&old.boxes, old.rig.as_ref()));
        let limbs = Limbs::of(history, rig, time.unwrap_or(ViewTime::at(now)));
        Body { entity: self.entity, id: self.id, pose, boxes, limbs }
    }
}

impl<'a> Body<'a> {
    /// Returns the limb poses in the space of the body.
    pub fn limbs<'r>(&self, room: &'r mut LimbPoses) -> &'r [Isometry3d] {
        match self.limbs {
            Limbs::Rig(rig) => rig.in_body(&self.pose, room),
            Limbs::Recorded(history, time) => history.bones.at(time, room).unwrap_or_default(),
            Limbs::Nodes(limbs) => {
                let count = limbs.len().min(room.len());
                room[..count].copy_from_slice(&limbs[..count]);
                &room[..count]
            }
            Limbs::None => {
                room[0] = Isometry3d::IDENTITY;
                &room[..1]
            }
        }
    }

    /// Iterates over the shapes with their poses in the world.
    pub fn shapes<'r>(
        &self,
        room: &'r mut LimbPoses,
    ) -> impl Iterator<Item = (usize, &'a Shape, Isometry3d)> + use<'a, 'r> {
        let body = self.pose.body();
        let limbs = self.limbs(room);
        let shapes = self.boxes.shapes();
        shapes.iter().enumerate().filter_map(move |(index, shape)| {
            Some((index, shape, body * shape.pose(*limbs.get(shape.limb)?)))
        })
    }

    /// Calls `met` with every box that the ray hits and the distance in metres.
    pub fn pierce(&self, ray: &UnitRay, room: &mut LimbPoses, mut met: impl FnMut(usize, f32)) {
        self.pierce_within(ray, ray.max, room, |index, distance| {
            met(index, distance);
            f32::INFINITY
        });
    }

    /// Like [`pierce`](Self::pierce), but returns early if the whole body is further away than `reach`.
    /// The callback returns the distance in metres beyond which only head boxes are still of interest.
    fn pierce_within(
        &self,
        ray: &UnitRay,
        reach: f32,
        room: &mut LimbPoses,
        mut met: impl FnMut(usize, f32) -> f32,
    ) {
        let ray = ray.within(self.pose.body());
        if !(UnitRay { max: reach, ..ray }).passes_body(&self.boxes.bounds()) {
            return;
        }
        let limbs = self.limbs(room);
        let shapes = self.boxes.shapes();
        let mut enough = f32::INFINITY;
        for (number, group) in self.boxes.groups().iter().enumerate() {
            let first = number * ShapeGroup::LANES;
            let (mut near, soon) = group.spheres(&shapes[first..], limbs).near(&ray, enough);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let (index, shape) = (first + lane, &shapes[first + lane]);
                if soon >> lane & 1 == 0 && self.boxes.boxes()[index].group != HitGroup::Head {
                    continue;
                }
                let local = ray.within(shape.pose(limbs[shape.limb]));
                if let Some(distance) = shape.cast_ray(local.origin, local.direction, ray.max) {
                    enough = met(index, distance);
                }
            }
        }
    }

    /// Returns the hit of a ray on this body; see [`HitBoxes::head_first`].
    pub fn cast_ray(&self, ray: &UnitRay, room: &mut LimbPoses) -> Option<HeadPriorityHit> {
        let mut first = FirstHit::new(*ray);
        first.look(self, room);
        first.hit
    }

    /// Builds a hit on one of the body's boxes.
    pub fn hit(&self, index: usize, distance: f32, point: Vec3) -> TargetHit {
        hit_on((self.entity, self.id), self.boxes, index, distance, point)
    }
}

/// Builds a hit on one of a target's boxes.
pub(crate) fn hit_on(
    (entity, target): (Entity, NetId),
    boxes: &HitBoxes,
    index: usize,
    distance: f32,
    point: Vec3,
) -> TargetHit {
    let HitBox { group, factor, .. } = boxes.boxes()[index];
    TargetHit { entity, target, hit_box: index as u8, group, factor, distance, point }
}

/// Hit on the first target along a ray, before the world is tested for obstruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct HeadPriorityHit {
    pub hit: TargetHit,
    /// Set if a head takes precedence over the box in front of it: the hit on that box, and the distance
    /// to the head in metres.
    front: Option<(TargetHit, f32)>,
}

impl HeadPriorityHit {
    /// Builds the hit from the box that was hit first, and from the head that takes precedence over it
    /// with its distance in metres.
    pub fn new(first: TargetHit, boxes: &HitBoxes, head: Option<(usize, f32)>) -> Self {
        match head.filter(|(head, _)| *head != usize::from(first.hit_box)) {
            None => Self { hit: first, front: None },
            Some((head, at)) => {
                let hit = hit_on((first.entity, first.target), boxes, head, first.distance, first.point);
                Self { hit, front: Some((first, at)) }
            }
        }
    }

    /// Returns the distance in metres within which world geometry affects the result.
    pub fn reach(&self) -> f32 {
        self.front.map_or(self.hit.distance, |(first, head)| head.max(first.distance))
    }

    /// Returns the final hit, given the first world hit within [`reach`](Self::reach). World geometry in
    /// front of the whole target blocks the hit; geometry between the first box and the head leaves the
    /// hit on the first box.
    ///
    /// # Errors
    /// [`Miss::Blocked`].
    pub fn before(self, wall: Option<WorldHit>) -> Result<TargetHit, Miss> {
        let Self { hit, front } = self;
        match (wall, front) {
            (Some(WorldHit { distance, by }), _) if distance <= hit.distance => {
                Err(Miss::Blocked { hit, distance, by })
            }
            (Some(_), Some((first, _))) => Ok(first),
            _ => Ok(hit),
        }
    }
}

/// Boxes of one body that a ray hit, reduced to those that can affect the result.
#[derive(Default)]
pub(crate) struct BodyHits {
    first: Nearest,
    head: Nearest,
}

impl BodyHits {
    pub fn consider(&mut self, boxes: &HitBoxes, index: usize, distance: f32) {
        self.first.consider(index, distance);
        if boxes.boxes()[index].group == HitGroup::Head {
            self.head.consider(index, distance);
        }
    }

    /// Returns the distance in metres beyond which only head boxes still matter.
    pub fn enough(&self) -> f32 {
        self.first.0.map_or(f32::INFINITY, |(_, nearest)| nearest)
    }

    /// Returns the box that was hit first, and the head that takes precedence over it; see
    /// [`HitBoxes::head_first`].
    fn counts(&self, boxes: &HitBoxes) -> Option<((usize, f32), Option<(usize, f32)>)> {
        Some((self.first.0?, self.head.0.filter(|_| boxes.head_first())))
    }
}

/// Accumulator for the first body that a ray hits. The ray itself is not shortened: the head of the
/// resulting target counts even if it lies behind a body that was tested earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstHit {
    pub ray: UnitRay,
    reach: f32,
    /// Best hit so far.
    pub hit: Option<HeadPriorityHit>,
}

impl FirstHit {
    pub fn new(ray: UnitRay) -> Self {
        Self { ray, reach: ray.max, hit: None }
    }

    /// Returns the distance in metres beyond which a target can no longer be the first.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// Tests a body and returns whether the ray hits it.
    pub fn look(&mut self, body: &Body<'_>, room: &mut LimbPoses) -> bool {
        let mut met = BodyHits::default();
        let note = |index, distance| {
            met.consider(body.boxes, index, distance);
            met.enough()
        };
        body.pierce_within(&self.ray, self.reach, room, note);
        self.consider((body.entity, body.id), body.boxes, &met)
    }

    /// Takes the box hits of one body into account. Returns whether the ray hits
    /// the body within the current reach.
    pub fn consider(&mut self, named: (Entity, NetId), boxes: &HitBoxes, met: &BodyHits) -> bool {
        let Some(((index, distance), head)) = met.counts(boxes).filter(|((_, at), _)| *at <= self.reach)
        else {
            return false;
        };
        let hit = hit_on(named, boxes, index, distance, self.ray.at(distance));
        if self.hit.as_ref().is_none_or(|best| is_nearer(&hit, &best.hit)) {
            self.reach = distance;
            self.hit = Some(HeadPriorityHit::new(hit, boxes, head));
        }
        true
    }
}

/// Nearest of several boxes; of two at the same distance, the first one considered.
#[derive(Default)]
pub(crate) struct Nearest(pub Option<(usize, f32)>);

impl Nearest {
    pub fn consider(&mut self, index: usize, distance: f32) {
        if self.0.is_none_or(|(_, nearest)| distance < nearest) {
            self.0 = Some((index, distance));
        }
    }
}

/// Returns whether hit `a` takes precedence over `b`: the nearer one, and at equal distance the one with
/// the lower network id, so that the result does not depend on the order of entities in an app.
pub(crate) fn is_nearer(a: &TargetHit, b: &TargetHit) -> bool {
    (a.distance, a.target) < (b.distance, b.target)
}
