//! Step of a projectile's flight: a straight line past bodies that move during the step.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::shape::Ball;
use bevy_unlag_core::LimbPoses;

use crate::{
    hit_box::{BodyBounds, HitGroup},
    query::Rewound,
    query_result::TargetHit,
    table::Probe,
    target::{Body, HeadPriorityHit, Nearest, is_nearer},
    unit_ray::UnitRay,
    world::{NearbyColliders, NearestObstacle, Occluder, WorldHit, WorldTrace},
};

/// Step from one moment to the next.
pub(super) struct FlightStep<'l, 'a, 'w, 's> {
    pub then: Rewound<'a, 'w, 's>,
    pub later: Rewound<'a, 'w, 's>,
    /// Position of the muzzle when fired.
    pub muzzle: Vec3,
    pub a: Vec3,
    pub b: Vec3,
    pub radius: f32,
    pub walls: &'l NearbyColliders,
}

/// First hit of a step, with the fraction of the step at which it occurs: a target, or the world.
pub(super) struct StepHit {
    pub part: f32,
    pub what: Result<TargetHit, Option<Entity>>,
}

/// Maximum displacement of an occluder in a step, in metres; a larger one is a teleport.
const LEAP: f32 = 1.0;
/// Distance in metres behind the first touched box of a body within which the body's head takes
/// precedence.
const AHEAD: f32 = 1.0;
/// Distance in metres by which a body may leave its bounds while it turns and tilts within a step.
const SLACK: f32 = 0.05;

impl FlightStep<'_, '_, '_, '_> {
    pub fn meets(&self, rooms: &mut (LimbPoses, LimbPoses)) -> Option<StepHit> {
        let target = self.target(rooms);
        let wall = self.world(target.map_or(1.0, |counted| counted.reach()));
        let Some(counted) = target else {
            return wall.map(|wall| StepHit { part: wall.distance, what: Err(wall.by) });
        };
        match (counted.before(wall), wall) {
            (Ok(hit), _) => Some(StepHit { part: hit.distance, what: Ok(hit) }),
            (Err(_), wall) => wall.map(|wall| StepHit { part: wall.distance, what: Err(wall.by) }),
        }
    }

    /// Returns the first target, with the fraction of the step as the distance.
    fn target(&self, rooms: &mut (LimbPoses, LimbPoses)) -> Option<HeadPriorityHit> {
        let way = UnitRay::between(self.a, self.b);
        let mut best: Option<HeadPriorityHit> = None;
        let (origin, direction, max) = (way.origin, way.direction, way.max);
        let probe = Probe::Ray { origin, direction, max, radius: self.radius };
        let (pass, seconds) = (self.pass(), self.then.query.sampler.tick_seconds);
        self.then.slots(&probe, |slot, from| {
            let to = self.later.body(slot).ok().filter(|to| is_continuous(from, to, seconds));
            let Some(counted) = pass.meets_body(from, to.as_ref().unwrap_or(from), rooms) else {
                return false;
            };
            let before = best.is_none_or(|best| is_nearer(&counted.hit, &best.hit));
            if before && self.then.unless_in_cover(self.muzzle, counted.hit).is_ok() {
                best = Some(counted);
            }
            true
        });
        best
    }

    fn pass(&self) -> BallPath {
        BallPath { a: self.a, b: self.b, radius: self.radius }
    }

    /// Returns the first obstacle within a fraction of the step, with that fraction as the distance.
    fn world(&self, reach: f32) -> Option<WorldHit> {
        let way = UnitRay::between(self.a, self.b);
        let length = way.max.max(1e-9);
        let (origin, direction, max) = (self.a, Vec3::from(way.direction), way.max * reach);
        let world = &self.then.query.world;
        let fixed = if self.radius == 0.0 {
            world.cast_among(self.walls, origin, direction, max)
        } else {
            world.sweep_ball_among(self.walls, self.radius, &UnitRay { max, ..way })
        };
        let pass = self.pass();
        // The cached walls do not cover the region beyond the step.
        let wall = fixed.map(|distance| distance / length).or_else(|| pass.wall_beyond(world, reach));
        let mut nearest = NearestObstacle::new(wall, reach.next_up());
        self.then.occluders(|entity, occluder, pose| {
            let later = self.later.occluder_pose(entity).unwrap_or(pose);
            nearest.meet(entity, |_| pass.meets_occluder(occluder, pose, later, reach));
        });
        nearest.nearest
    }
}

/// Ball that moves along a straight line.
pub(crate) struct BallPath {
    pub a: Vec3,
    pub b: Vec3,
    pub radius: f32,
}

impl BallPath {
    /// Returns the hit on a body that moves from one pose to another, with the fraction of the path as
    /// the distance.
    pub fn meets_body(
        &self,
        from: &Body<'_>,
        to: &Body<'_>,
        (room, later_room): &mut (LimbPoses, LimbPoses),
    ) -> Option<HeadPriorityHit> {
        let (body, later) = (from.pose.body(), to.pose.body());
        if !self.passes(&Moving::new(body, later), &from.boxes.bounds()) {
            return None;
        }
        let (limbs, later_limbs) = (from.limbs(room), to.limbs(later_room));
        let (mut first, mut head) = (Nearest::default(), Nearest::default());
        let (mut head_at, mut length) = (0.0, 0.0);
        for (index, shape) in from.boxes.shapes().iter().enumerate() {
            let (Some(limb), Some(later_limb)) = (limbs.get(shape.limb), later_limbs.get(shape.limb)) else {
                continue;
            };
            let (pose, later_pose) = (shape.pose(*limb), shape.pose(*later_limb));
            let ends = [body * pose.translation, later * later_pose.translation];
            let (a, b) = (Vec3A::from(self.a) - ends[0], Vec3A::from(self.b) - ends[1]);
            let is_head = from.boxes.head_first() && from.boxes.boxes()[index].group == HitGroup::Head;
            // The precedence of a head must not depend on the length of the steps.
            let ahead = if is_head { AHEAD } else { 0.0 };
            if !passes_origin(a, b + (b - a).normalize_or_zero() * ahead, shape.radius + self.radius) {
                continue;
            }
            let moving = Moving::new(
                Isometry3d { rotation: body.rotation * pose.rotation, translation: ends[0] },
                Isometry3d { rotation: later.rotation * later_pose.rotation, translation: ends[1] },
            );
            let line = moving.line(self.a, self.b);
            let parts = line.max.max(1e-9);
            let touched = shape.cast_ball(line.origin, line.direction, line.max, self.radius);
            if let Some(at) = touched {
                first.consider(index, at / parts);
            }
            if is_head && let Some(at) = shape.cast_ray(line.origin, line.direction, line.max + AHEAD) {
                head.consider(index, at / parts);
                if head.0 == Some((index, at / parts)) {
                    // The ball touches the head before its centre reaches it.
                    head_at = touched.unwrap_or(at) / parts;
                    length = parts;
                }
            }
        }
        let (index, part) = first.0?;
        let near = |(_, at): &(usize, f32)| (at - part) * length <= AHEAD;
        let head = head.0.filter(near).map(|(index, _)| (index, head_at));
        Some(HeadPriorityHit::new(from.hit(index, part, Vec3::ZERO), from.boxes, head))
    }

    /// Returns the distance of the first wall beyond the path, as a fraction of the path: from 1 to `reach`. There may
    /// be a head behind it.
    pub fn wall_beyond(&self, world: &WorldTrace<'_, '_>, reach: f32) -> Option<f32> {
        if reach <= 1.0 {
            return None;
        }
        let way = UnitRay::between(self.a, self.b);
        let behind = world.cast(self.b, way.direction.into(), way.max * reach - way.max);
        behind.map(|distance| 1.0 + distance / way.max.max(1e-9))
    }

    /// Returns the fraction of the path at which the ball hits an occluder that moves from one pose to
    /// another. With a `reach` beyond the path, more than 1, the occluder stands still from then on.
    pub fn meets_occluder(
        &self,
        occluder: &Occluder,
        pose: Isometry3d,
        later: Isometry3d,
        reach: f32,
    ) -> Option<f32> {
        let size = occluder.shape.raw.compute_local_bounding_sphere();
        let around = Vec3::from_array(size.center.into()).length() + size.radius + self.radius + LEAP;
        let way = UnitRay::between(self.a, self.b);
        let beyond = UnitRay { origin: self.b.into(), max: way.max * (reach - 1.0).max(0.0), ..way };
        let ways = [way, beyond];
        if !ways.iter().any(|way| way.passes(pose.translation, around)) {
            return None;
        }
        let goes = later.translation.distance(pose.translation) <= LEAP;
        let later = if goes { later } else { pose };
        let line = Moving::new(pose, later).line(self.a, self.b);
        let (origin, direction) = (Vec3::from(line.origin), Vec3::from(line.direction));
        let still = Isometry3d::IDENTITY;
        let met = if self.radius == 0.0 {
            occluder.cast(still, origin, direction, line.max)
        } else {
            let start = Isometry3d::from_translation(origin);
            occluder.sweep(still, &Ball::new(self.radius), start, direction, line.max)
        };
        let met = met.map(|at| at / line.max.max(1e-9));
        if met.is_some() || reach <= 1.0 {
            return met;
        }
        let behind = occluder.cast(later, self.b, beyond.direction.into(), beyond.max);
        behind.map(|at| 1.0 + at / self.a.distance(self.b).max(1e-9))
    }

    fn passes(&self, body: &Moving, bounds: &BodyBounds) -> bool {
        body.line(self.a, self.b).passes_body_within(bounds, self.radius + SLACK)
    }
}

/// Frame of reference that moves in a straight line and has the rotation half-way between both ends.
struct Moving {
    from: Vec3A,
    to: Vec3A,
    back: Quat,
}

impl Moving {
    fn new(from: Isometry3d, to: Isometry3d) -> Self {
        // Of the two quaternions for the same rotation, use the nearer one.
        let end = if from.rotation.dot(to.rotation) < 0.0 { -to.rotation } else { to.rotation };
        let half = (from.rotation + end).normalize();
        Self { from: from.translation, to: to.translation, back: half.inverse() }
    }

    /// Returns the line from `a` to `b` in this frame.
    fn line(&self, a: Vec3, b: Vec3) -> UnitRay {
        let (a, b) = (self.back * (Vec3A::from(a) - self.from), self.back * (Vec3A::from(b) - self.to));
        UnitRay::between(a.into(), b.into())
    }
}

/// Returns whether a line segment comes within `radius` of the origin.
fn passes_origin(a: Vec3A, b: Vec3A, radius: f32) -> bool {
    let line = b - a;
    let part = (-a.dot(line) / line.length_squared().max(1e-12)).clamp(0.0, 1.0);
    (a + line * part).length_squared() <= radius * radius
}

/// Returns whether a body moved from one pose to the other, as opposed to a teleport.
pub(crate) fn is_continuous(from: &Body<'_>, to: &Body<'_>, seconds: f32) -> bool {
    let speed = from.pose.velocity.length().max(to.pose.velocity.length());
    let moved = from.pose.position.distance(to.pose.position);
    from.boxes.is_same_set(to.boxes) && moved <= 2.0 * speed * seconds + 0.25
}
