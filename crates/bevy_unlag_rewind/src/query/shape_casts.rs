//! Shape casts of balls and capsules.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::shape::{Ball, Capsule, Shape as ParryShape};
use bevy_unlag_core::LimbPoses;

use super::Rewound;
use crate::{
    convex_cast::{cast_convex, parry_pose},
    hit_box::HitGroup,
    query_result::{Miss, TargetHit},
    shape::Shape,
    table::Probe,
    target::{Body, HeadPriorityHit, Nearest, is_nearer},
    unit_ray::UnitRay,
    validity,
    world::{NearestObstacle, WorldHit},
};

impl Rewound<'_, '_, '_> {
    /// Returns the first target that a ball touches with its centre moving along a ray, unless it touches
    /// the world before. A ball that touches the world at its start does not move. The `point` of the hit
    /// is on the target. A head takes precedence over a box in front of it if the centre would pass
    /// through the head, unless the ball touches the world between the two.
    ///
    /// # Errors
    /// Returns the reason if the ball hit no target.
    #[doc(alias = "sphere_cast")]
    pub fn cast_ball(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
    ) -> Result<TargetHit, Miss> {
        if !validity::is_point(origin) || !validity::is_size(radius) {
            return Err(Miss::InvalidQuery);
        }
        if radius == 0.0 {
            return self.cast_ray(origin, direction, max_distance);
        }
        let way = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        let counted = self.first_swept(way, radius, touch_ball(radius))?;
        let from = Isometry3d::from_translation(origin);
        self.unless_swept(counted, &Ball::new(radius), from, way.direction.into())
    }

    /// Returns the first target that a capsule touches, unless it touches the world before. The capsule
    /// extends from `a` to `b` with `radius` and moves along `direction` without turning. Otherwise like
    /// [`cast_ball`](Self::cast_ball). Costs twenty times as much as a ball for each nearby target.
    ///
    /// # Errors
    /// Returns the reason if the capsule hit no target.
    pub fn cast_capsule(
        &self,
        (a, b): (Vec3, Vec3),
        radius: f32,
        direction: Vec3,
        max_distance: f32,
    ) -> Result<TargetHit, Miss> {
        let sound = validity::is_point(a) && validity::is_point(b) && validity::is_size(radius);
        let middle = (a + b) * 0.5;
        let half = (b - a) * 0.5;
        let way =
            UnitRay::new(middle, direction, max_distance).filter(|_| sound).ok_or(Miss::InvalidQuery)?;
        if half.length() < 1e-6 {
            return self.cast_ball(middle, direction, max_distance, radius);
        }
        let capsule = Capsule::new(-half, half, radius);
        self.first_convex(way, &capsule, half.length() + radius, Quat::IDENTITY)
    }

    /// Returns the first target that a convex shape touches, unless it touches the world before.
    pub(super) fn first_convex(
        &self,
        way: UnitRay,
        moved: &dyn ParryShape,
        reach: f32,
        turned: Quat,
    ) -> Result<TargetHit, Miss> {
        let from = Isometry3d::new(way.origin, turned);
        let counted = self.first_swept(way, reach, |way, body, shape, pose| {
            touch_convex(body, shape, pose, moved, from, way)
        })?;
        self.unless_swept(counted, moved, from, way.direction.into())
    }

    /// Returns the first target touched by a shape with a bounding radius of `reach` whose centre moves
    /// along `way`. `touch` returns the distance at which it touches a box.
    fn first_swept(
        &self,
        way: UnitRay,
        reach: f32,
        touch: impl Fn(&UnitRay, (&Body<'_>, usize), &Shape, Isometry3d) -> Option<f32>,
    ) -> Result<HeadPriorityHit, Miss> {
        let mut room = LimbPoses::default();
        let (origin, direction, max) = (way.origin, way.direction, way.max);
        let probe = Probe::Ray { origin, direction, max, radius: reach };
        let mut first = FirstSweepHit::default();
        let reason = self.bodies(&probe, |body| {
            first.look(max, |within| body.sweep(&way, within, reach, &mut room, &touch))
        });
        first.0.ok_or(reason)
    }

    /// Returns the hit, unless the shape touches the world before.
    fn unless_swept(
        &self,
        counted: HeadPriorityHit,
        shape: &dyn ParryShape,
        from: Isometry3d,
        direction: Vec3,
    ) -> Result<TargetHit, Miss> {
        let wall = self.world_swept(shape, from, direction, counted.reach());
        self.unless_obstructed(from.translation.into(), counted, wall)
    }

    /// Returns the first part of the world that a ball touches with its centre moving along a ray with a
    /// unit direction; see [`first_obstacle`](Self::first_obstacle).
    #[must_use]
    pub fn first_obstacle_ball(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
    ) -> Option<WorldHit> {
        if radius == 0.0 {
            return self.first_obstacle(origin, direction, max_distance);
        }
        let sound = validity::is_point(origin) && validity::is_size(radius) && direction.is_normalized();
        let from = Isometry3d::from_translation(origin);
        let max = max_distance.min(1e7);
        sound.then(|| self.world_swept(&Ball::new(radius), from, direction, max)).flatten()
    }

    pub(super) fn world_swept(
        &self,
        shape: &dyn ParryShape,
        from: Isometry3d,
        direction: Vec3,
        max_distance: f32,
    ) -> Option<WorldHit> {
        let fixed = self.query.world.sweep(shape, from, direction, max_distance);
        let mut way = NearestObstacle::new(fixed, max_distance);
        self.occluders(|entity, occluder, pose| {
            way.meet(entity, |reach| occluder.sweep(pose, shape, from, direction, reach));
        });
        way.nearest
    }
}

/// Accumulator for the first target that a swept shape touches.
#[derive(Default)]
pub(crate) struct FirstSweepHit(pub Option<HeadPriorityHit>);

impl FirstSweepHit {
    /// Tests a target and returns whether it was touched. `touch` gets the maximum distance in metres,
    /// which is `max` before the first hit.
    pub fn look(&mut self, max: f32, touch: impl FnOnce(f32) -> Option<HeadPriorityHit>) -> bool {
        // Nothing beyond the first hit matters, except the head of the same target.
        let counted = touch(self.0.as_ref().map_or(max, |first| first.hit.distance));
        let nearer = |counted: &HeadPriorityHit| {
            self.0.as_ref().is_none_or(|first| is_nearer(&counted.hit, &first.hit))
        };
        self.0 = counted.filter(nearer).or(self.0);
        counted.is_some()
    }
}

/// Returns a function for the distance at which a ball touches a box.
fn touch_ball(radius: f32) -> impl Fn(&UnitRay, (&Body<'_>, usize), &Shape, Isometry3d) -> Option<f32> {
    move |way, _, shape, pose| {
        let local = way.within(pose);
        shape.cast_ball(local.origin, local.direction, way.max, radius)
    }
}

/// Returns the distance at which a convex shape touches a box.
fn touch_convex(
    (body, index): (&Body<'_>, usize),
    shape: &Shape,
    pose: Isometry3d,
    moved: &dyn ParryShape,
    from: Isometry3d,
    way: &UnitRay,
) -> Option<f32> {
    let reach = shape.radius + moved.compute_local_bounding_sphere().radius;
    if !way.passes(pose.translation, reach) {
        return None;
    }
    let raw = &*body.boxes.boxes()[index].shape.raw;
    let (own, from) = (parry_pose(pose), parry_pose(from));
    cast_convex((&own, raw), (&from, moved), way.direction.into(), way.max)
}

impl Body<'_> {
    /// Returns the hit of a ball on this body within the given distance in metres.
    pub(crate) fn sweep_ball(
        &self,
        whole: &UnitRay,
        within: f32,
        radius: f32,
        room: &mut LimbPoses,
    ) -> Option<HeadPriorityHit> {
        self.sweep(whole, within, radius, room, touch_ball(radius))
    }

    /// Returns the hit of a swept shape on this body within the given distance in metres.
    fn sweep(
        &self,
        whole: &UnitRay,
        within: f32,
        reach: f32,
        room: &mut LimbPoses,
        touch: impl Fn(&UnitRay, (&Body<'_>, usize), &Shape, Isometry3d) -> Option<f32>,
    ) -> Option<HeadPriorityHit> {
        let way = &UnitRay { max: within, ..*whole };
        if !way.within(self.pose.body()).passes_body_within(&self.boxes.bounds(), reach) {
            return None;
        }
        let (mut first, mut head) = (Nearest::default(), Nearest::default());
        let (mut touched, mut head_pose) = (Isometry3d::IDENTITY, Isometry3d::IDENTITY);
        for (index, shape, pose) in self.shapes(room) {
            if !whole.passes(pose.translation, shape.radius + reach) {
                continue;
            }
            if let Some(distance) = touch(way, (self, index), shape, pose) {
                if first.0.is_none_or(|(_, nearest)| distance < nearest) {
                    touched = pose;
                }
                first.consider(index, distance);
            }
            if self.boxes.head_first() && self.boxes.boxes()[index].group == HitGroup::Head {
                let local = whole.within(pose);
                if let Some(through) = shape.cast_ray(local.origin, local.direction, whole.max) {
                    head.consider(index, through);
                    // `head` holds this box exactly if it is the nearest so far.
                    if head.0 == Some((index, through)) {
                        head_pose = pose;
                    }
                }
            }
        }
        let (index, distance) = first.0?;
        let middle = Vec3A::from(way.at(distance));
        let point =
            self.boxes.boxes()[index].shape.raw.project_point(&parry_pose(touched), middle.into(), true);
        let head = head.0.filter(|(head, _)| *head != index).map(|(head, through)| {
            // The shape touches the head before its centre reaches it.
            let way = &UnitRay { max: through, ..*whole };
            let shape = &self.boxes.shapes()[head];
            (head, touch(way, (self, head), shape, head_pose).unwrap_or(through))
        });
        Some(HeadPriorityHit::new(self.hit(index, distance, point.point), self.boxes, head))
    }
}
