//! One target at one moment: where its body was, and what of it a ray meets.

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};
use bevy_unlag_core::{LimbPoses, LimbRig, NetId, PoseSample, ProxySmoothing, Tick, ViewTime};
use bevy_unlag_smoothing::PublishedPath;

use crate::{
    BodyBounds, FrameHistory, HitBox, HitBoxes, HitGroup, Miss, TargetHit, WorldHit, query::sound,
    shape::Shape, table::Place,
};

/// Somebody who may be hit, as the server remembers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub entity: Entity,
    pub id: NetId,
    pub path: &'a PublishedPath,
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

impl<'a> Place<'a> {
    /// What could be hit of it when it was drawn at a moment; as it is in the tick `now` for `None`.
    pub fn body(
        &self,
        history: &'a FrameHistory,
        pose: PoseSample,
        (time, now): (Option<ViewTime>, Tick),
    ) -> Body<'a> {
        // After a change what was drawn before is what it was, on the limbs that it had.
        let old = time.and_then(|time| history.old_set(time));
        let (boxes, rig) = old.map_or((self.boxes, self.rig), |old| (&old.boxes, old.rig.as_ref()));
        let limbs = Limbs::of(history, rig, time.unwrap_or(ViewTime::at(now)));
        Body { entity: self.entity, id: self.id, pose, boxes, limbs }
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
        let sound = sound::is_point(origin) && max >= 0.0;
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
    #[inline]
    pub fn passes_body(&self, bounds: &BodyBounds) -> bool {
        self.passes_body_within(bounds, 0.0)
    }

    /// The same for what is as thick as `reach` to every side.
    #[inline]
    pub fn passes_body_within(&self, bounds: &BodyBounds, reach: f32) -> bool {
        let radius = bounds.radius + reach;
        // Beside the axis of the body, seen from above: most rays pass there.
        let (from, way) = (self.origin, self.direction);
        let moment = from.x * way.z - from.z * way.x;
        let rounded = radius + 1e-3;
        if moment * moment > rounded * rounded * (way.x * way.x + way.z * way.z) {
            return false;
        }
        let middle = Vec3A::new(0.0, (bounds.low + bounds.high) * 0.5, 0.0);
        let half = Vec3A::new(radius, (bounds.high - bounds.low) * 0.5 + reach, radius);
        crate::shape::ray_box(from - middle, way, half).is_some_and(|at| at <= self.max)
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
        self.pierce_within(ray, ray.max, room, |index, distance| {
            met(index, distance);
            f32::INFINITY
        });
    }

    /// The same, unless all of it is further away than `reach`. The callback says beyond how many metres it
    /// need not hear of any box but a head.
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
        let mut enough = f32::INFINITY;
        for (four, shapes) in self.boxes.shapes().chunks(4).enumerate() {
            let mut balls = [FourBalls::NOWHERE; 4];
            for (ball, shape) in balls.iter_mut().zip(shapes) {
                if let Some(limb) = limbs.get(shape.limb) {
                    *ball = shape.middle(limb).extend(shape.radius);
                }
            }
            let (mut near, soon) = FourBalls::around(balls).near(&ray, enough);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let (index, shape) = (four * 4 + lane, &shapes[lane]);
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

    /// What a ray hits of it: see [`HitBoxes::head_first`].
    pub fn cast_ray(&self, ray: &UnitRay, room: &mut LimbPoses) -> Option<Counted> {
        let mut first = FirstHit::new(*ray);
        first.look(self, room);
        first.hit
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

/// What counts of whoever was met first, before anybody has asked what the world does to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Counted {
    pub hit: TargetHit,
    /// Where a head counts before what lies in front of it: that, and the metres to the head.
    front: Option<(TargetHit, f32)>,
}

impl Counted {
    /// From a hit on what was met first, and the head that counts before it with the metres to it.
    pub fn new(first: TargetHit, boxes: &HitBoxes, head: Option<(usize, f32)>) -> Self {
        match head.filter(|(head, _)| *head != usize::from(first.hit_box)) {
            None => Self { hit: first, front: None },
            Some((head, at)) => {
                let hit = hit_on((first.entity, first.target), boxes, head, first.distance, first.point);
                Self { hit, front: Some((first, at)) }
            }
        }
    }

    /// Metres within which what of the world stands in the way decides.
    pub fn reach(&self) -> f32 {
        self.front.map_or(self.hit.distance, |(first, head)| head.max(first.distance))
    }

    /// The hit, when this is the first of the world within [`reach`](Self::reach): what stands before all of the
    /// target stops it, and what stands between its first box and its head leaves the first box.
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

    /// Metres beyond which no box but a head counts any more.
    pub fn enough(&self) -> f32 {
        self.first.0.map_or(f32::INFINITY, |(_, nearest)| nearest)
    }

    /// What was met first, and the head that counts before it: see [`HitBoxes::head_first`].
    fn counts(&self, boxes: &HitBoxes) -> Option<((usize, f32), Option<(usize, f32)>)> {
        Some((self.first.0?, self.head.0.filter(|_| boxes.head_first())))
    }
}

/// The first body that a ray meets, of those that it is shown. The ray itself stays as long as it was: of
/// whoever counts the head counts also where it lies behind somebody who was looked at before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstHit {
    pub ray: UnitRay,
    reach: f32,
    /// On what was met first so far.
    pub hit: Option<Counted>,
}

impl FirstHit {
    pub fn new(ray: UnitRay) -> Self {
        Self { ray, reach: ray.max, hit: None }
    }

    /// Metres beyond which nobody counts any more.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// Whether the ray meets it.
    pub fn look(&mut self, body: &Body<'_>, room: &mut LimbPoses) -> bool {
        let mut met = Met::default();
        let note = |index, distance| {
            met.consider(body.boxes, index, distance);
            met.enough()
        };
        body.pierce_within(&self.ray, self.reach, room, note);
        self.consider((body.entity, body.id), body.boxes, &met)
    }

    /// Takes in all that the ray meets of somebody. Says whether it meets it before nobody counts any more.
    pub fn consider(&mut self, named: (Entity, NetId), boxes: &HitBoxes, met: &Met) -> bool {
        let Some(((index, distance), head)) = met.counts(boxes).filter(|((_, at), _)| *at <= self.reach)
        else {
            return false;
        };
        let hit = hit_on(named, boxes, index, distance, self.ray.at(distance));
        if self.hit.as_ref().is_none_or(|best| is_nearer(&hit, &best.hit)) {
            self.reach = distance;
            self.hit = Some(Counted::new(hit, boxes, head));
        }
        true
    }
}

/// Balls around four boxes: one look says which of them a ray comes near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FourBalls {
    /// By axis.
    middles: [Vec4; 3],
    radii: Vec4,
}

impl FourBalls {
    /// A middle and a radius that no ray comes near.
    pub const NOWHERE: Vec4 = Vec4::new(1e18, 1e18, 1e18, 0.0);

    /// From middles with their radii.
    #[inline]
    pub fn around([a, b, c, d]: [Vec4; 4]) -> Self {
        let Mat4 { x_axis: x, y_axis: y, z_axis: z, w_axis: radii } = Mat4::from_cols(a, b, c, d).transpose();
        Self { middles: [x, y, z], radii }
    }

    pub fn middle(&self, lane: usize) -> Vec3A {
        Vec3A::new(self.middles[0][lane], self.middles[1][lane], self.middles[2][lane])
    }

    /// Those that a ray comes near, as bits, and those that it comes to within `enough` metres if at all.
    #[inline]
    pub fn near(&self, ray: &UnitRay, enough: f32) -> (u32, u32) {
        let [x, y, z] = self.middles;
        let (origin, direction) = (ray.origin, ray.direction);
        let to = [x - origin.x, y - origin.y, z - origin.z];
        let along = to[0] * direction.x + to[1] * direction.y + to[2] * direction.z;
        let soon = (along - self.radii).cmple(Vec4::splat(enough)).bitmask();
        let along = along.max(Vec4::ZERO).min(Vec4::splat(ray.max));
        let aside = [to[0] - along * direction.x, to[1] - along * direction.y, to[2] - along * direction.z];
        let squares = aside[0] * aside[0] + aside[1] * aside[1] + aside[2] * aside[2];
        (squares.cmple(self.radii * self.radii).bitmask(), soon)
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
