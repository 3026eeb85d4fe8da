//! One target at one moment: where its body was, and what of it a ray meets.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, LimbRig, NetId, PoseSample, ProxySmoothing, ViewTime};

use crate::{BodyBounds, FrameHistory, HitBox, HitBoxes, HitGroup, TargetHit, shape::Shape};

/// Somebody who may be hit, as the server remembers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub entity: Entity,
    pub id: NetId,
    pub history: &'a FrameHistory,
    pub mode: Option<&'a ProxySmoothing>,
}

/// Somebody's body at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    pub entity: Entity,
    pub id: NetId,
    pub pose: PoseSample,
    pub boxes: &'a HitBoxes,
    pub limbs: Limbs<'a>,
}

/// Where a body's limbs come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limbs<'a> {
    /// From its pose.
    Rig(&'a LimbRig),
    /// From what was recorded, at a moment.
    Recorded(&'a FrameHistory, ViewTime),
    /// From the nodes that show them, in the space of the body.
    Nodes(&'a [Isometry3d]),
    /// There is one, the body itself.
    None,
}

impl<'a> Limbs<'a> {
    /// What was recorded at a moment; without any record, what the rig says.
    pub fn of(history: &'a FrameHistory, rig: Option<&'a LimbRig>, time: ViewTime) -> Self {
        if history.bones.is_empty() {
            rig.map_or(Self::None, Self::Rig)
        } else {
            Self::Recorded(history, time)
        }
    }
}

/// A ray with a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitRay {
    pub origin: Vec3A,
    pub direction: Vec3A,
    pub max: f32,
}

impl UnitRay {
    /// `None` when it is no ray.
    pub fn new(origin: Vec3, direction: Vec3, max: f32) -> Option<Self> {
        let direction = direction.try_normalize()?;
        let sound = origin.is_finite() && max >= 0.0;
        sound.then_some(Self { origin: origin.into(), direction: direction.into(), max: max.min(1e7) })
    }

    pub fn at(&self, distance: f32) -> Vec3 {
        (self.origin + self.direction * distance).into()
    }

    /// The same in the space of `pose`.
    pub fn within(&self, pose: Isometry3d) -> Self {
        let back = pose.rotation.inverse();
        Self {
            origin: back * (self.origin - pose.translation),
            direction: back * self.direction,
            max: self.max,
        }
    }

    pub fn passes(&self, centre: Vec3A, radius: f32) -> bool {
        let to = centre - self.origin;
        let along = to.dot(self.direction).clamp(0.0, self.max);
        (to - self.direction * along).length_squared() <= radius * radius
    }

    /// Whether it comes near what is within `bounds` of the body that it is in the space of.
    pub fn passes_body(&self, bounds: &BodyBounds) -> bool {
        self.passes_body_within(bounds, 0.0)
    }

    /// The same for what is as thick as `reach` to every side.
    pub fn passes_body_within(&self, bounds: &BodyBounds, reach: f32) -> bool {
        let middle = Vec3A::new(0.0, (bounds.low + bounds.high) * 0.5, 0.0);
        let half = Vec3A::new(bounds.radius, (bounds.high - bounds.low) * 0.5, bounds.radius) + reach;
        crate::shape::ray_box(self.origin - middle, self.direction, half).is_some_and(|at| at <= self.max)
    }
}

impl<'a> Body<'a> {
    /// The limbs in the space of the body.
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

    /// The shapes with their poses in the world.
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

    /// Calls back with every box that a ray meets and the metres to it.
    pub fn pierce(&self, ray: &UnitRay, room: &mut LimbPoses, mut met: impl FnMut(usize, f32)) {
        let ray = ray.within(self.pose.body());
        if !ray.passes_body(&self.boxes.bounds()) {
            return;
        }
        let limbs = self.limbs(room);
        for (index, shape) in self.boxes.shapes().iter().enumerate() {
            let Some(limb) = limbs.get(shape.limb) else { continue };
            let pose = shape.pose(*limb);
            if !ray.passes(pose.translation, shape.radius) {
                continue;
            }
            let local = ray.within(pose);
            if let Some(distance) = shape.cast_ray(local.origin, local.direction, ray.max) {
                met(index, distance);
            }
        }
    }

    /// What a ray hits of it: see [`HitBoxes::head_first`].
    pub fn cast_ray(&self, ray: &UnitRay, room: &mut LimbPoses) -> Option<TargetHit> {
        let mut met = Met::default();
        self.pierce(ray, room, |index, distance| met.consider(self.boxes, index, distance));
        let (index, distance) = met.counts(self.boxes)?;
        Some(self.hit(index, distance, ray.at(distance)))
    }

    /// A hit on one of its boxes.
    pub fn hit(&self, index: usize, distance: f32, point: Vec3) -> TargetHit {
        hit_on((self.entity, self.id), self.boxes, index, distance, point)
    }
}

/// A hit on one of somebody's boxes.
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

/// The boxes of one body that a ray met, as far as they count.
#[derive(Default)]
pub(crate) struct Met {
    first: Nearest,
    head: Nearest,
}

impl Met {
    pub fn consider(&mut self, boxes: &HitBoxes, index: usize, distance: f32) {
        self.first.consider(index, distance);
        if boxes.boxes()[index].group == HitGroup::Head {
            self.head.consider(index, distance);
        }
    }

    /// The box that counts, and the metres to where the body as a whole was met: see
    /// [`HitBoxes::head_first`].
    pub fn counts(&self, boxes: &HitBoxes) -> Option<(usize, f32)> {
        let (index, distance) = self.first.0?;
        let head = self.head.0.filter(|_| boxes.head_first());
        Some((head.map_or(index, |(index, _)| index), distance))
    }
}

/// The first body that a ray meets, of those that it is shown.
pub(crate) struct FirstHit {
    ray: UnitRay,
    reach: f32,
    room: LimbPoses,
    /// On what was met first so far.
    pub hit: Option<TargetHit>,
}

impl FirstHit {
    pub fn new(ray: UnitRay) -> Self {
        Self { ray, reach: ray.max, room: LimbPoses::default(), hit: None }
    }

    /// Metres beyond which nothing counts any more.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// Whether the ray meets it.
    pub fn look(&mut self, body: &Body<'_>) -> bool {
        let hit = body.cast_ray(&UnitRay { max: self.reach, ..self.ray }, &mut self.room);
        if let Some(mut hit) = hit
            && self.hit.as_ref().is_none_or(|best| is_nearer(&hit, best))
        {
            // Its own head counts also where it lies behind somebody who was looked at before.
            if self.reach < self.ray.max && hit.group != HitGroup::Head && body.boxes.head_first() {
                hit = body.cast_ray(&self.ray, &mut self.room).unwrap_or(hit);
            }
            // Nothing beyond it counts.
            self.reach = hit.distance;
            self.hit = Some(hit);
        }
        hit.is_some()
    }
}

/// The nearest of some boxes; of two at the same distance the first.
#[derive(Default)]
pub(crate) struct Nearest(pub Option<(usize, f32)>);

impl Nearest {
    pub fn consider(&mut self, index: usize, distance: f32) {
        if self.0.is_none_or(|(_, nearest)| distance < nearest) {
            self.0 = Some((index, distance));
        }
    }
}

/// Whether one hit counts before another: the nearer one, and of two at the same distance the one with the
/// lower name, so that it is not the order in which an app happens to keep them.
pub(crate) fn is_nearer(a: &TargetHit, b: &TargetHit) -> bool {
    (a.distance, a.target) < (b.distance, b.target)
}
