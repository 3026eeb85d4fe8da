//! Bodies that are posed once for many rays.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, NetId};

use super::{Rewound, rewound::MissReason};
use crate::{
    bounding_spheres::BoundingSpheres4,
    hit_box::HitGroup,
    hit_boxes::HitBoxes,
    query_result::{Miss, TargetHit},
    table::Probe,
    target::{Body, BodyHits, FirstHit, HeadPriorityHit},
    unit_ray::UnitRay,
    validity,
};

/// All targets near a place at one moment, with posed limbs, for any number of rays. Keep it in a
/// `Local`: reusing it avoids allocations.
#[derive(Clone, Debug, Default)]
pub struct PosedTargets {
    targets: Vec<PosedTarget>,
    boxes: Vec<PosedBoxes>,
    /// Reason for which the other targets are not included.
    reason: MissReason,
}

#[derive(Clone, Debug)]
struct PosedTarget {
    entity: Entity,
    id: NetId,
    body: Isometry3d,
    set: HitBoxes,
    /// Range of its boxes.
    first: usize,
    last: usize,
}

/// Four boxes in body space.
#[derive(Clone, Copy, Debug)]
struct PosedBoxes {
    balls: BoundingSpheres4,
    /// Rotations into the space of each box.
    back: [Quat; 4],
    /// Index of the first of the four boxes.
    first: usize,
}

impl Rewound<'_, '_, '_> {
    /// Poses every target that can be hit by something that moves from `origin` along `direction` and
    /// extends `radius` to every side. Clears `posed` first.
    ///
    /// # Errors
    /// Returns [`Miss::InvalidQuery`] for invalid input.
    pub fn pose_along(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
        posed: &mut PosedTargets,
    ) -> Result<(), Miss> {
        posed.clear();
        let ray = UnitRay::new(origin, direction, max_distance);
        let UnitRay { origin, direction, max } =
            ray.filter(|_| validity::is_size(radius)).ok_or(Miss::InvalidQuery)?;
        self.pose_near(&Probe::Ray { origin, direction, max, radius }, posed);
        Ok(())
    }

    /// Poses every target that can be in an axis-aligned box with half extents `half`. Clears `posed`
    /// first.
    ///
    /// # Errors
    /// Returns [`Miss::InvalidQuery`] for invalid input.
    pub fn pose_around(&self, centre: Vec3, half: Vec3, posed: &mut PosedTargets) -> Result<(), Miss> {
        posed.clear();
        if !validity::is_point(centre) || !half.to_array().into_iter().all(validity::is_size) {
            return Err(Miss::InvalidQuery);
        }
        let (centre, half) = (Vec3A::from(centre), Vec3A::from(half));
        self.pose_near(&Probe::Box { low: centre - half, high: centre + half }, posed);
        Ok(())
    }

    /// Casts a ray like [`cast_ray`](Self::cast_ray), against targets that were posed at this moment.
    ///
    /// # Errors
    /// Returns the reason if the ray hit no target.
    pub fn cast_ray_among(
        &self,
        posed: &PosedTargets,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
    ) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        let counted = posed.first(ray)?;
        let wall = self.first_obstacle(origin, ray.direction.into(), counted.reach());
        self.unless_obstructed(origin, counted, wall)
    }

    fn pose_near(&self, probe: &Probe, posed: &mut PosedTargets) {
        let mut room = LimbPoses::default();
        let reason = self.bodies(probe, |body| {
            posed.push(body, &mut room);
            true
        });
        posed.reason.consider(reason);
    }
}

impl PosedTargets {
    /// Removes all targets.
    pub fn clear(&mut self) {
        self.targets.clear();
        self.boxes.clear();
        self.reason = MissReason::default();
    }

    /// Returns the number of targets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether there are no targets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Poses a body and returns its index.
    pub(super) fn push(&mut self, body: &Body<'_>, room: &mut LimbPoses) -> usize {
        let first = self.boxes.len();
        let limbs = body.limbs(room);
        for (four, shapes) in body.boxes.shapes().chunks(4).enumerate() {
            let mut balls = [BoundingSpheres4::NOWHERE; 4];
            let mut back = [Quat::IDENTITY; 4];
            for ((ball, back), shape) in balls.iter_mut().zip(&mut back).zip(shapes) {
                if let Some(limb) = limbs.get(shape.limb) {
                    let pose = shape.pose(*limb);
                    *ball = pose.translation.extend(shape.radius);
                    *back = pose.rotation.inverse();
                }
            }
            self.boxes.push(PosedBoxes { balls: BoundingSpheres4::around(balls), back, first: four * 4 });
        }
        self.targets.push(PosedTarget {
            entity: body.entity,
            id: body.id,
            body: body.pose.body(),
            set: body.boxes.clone(),
            first,
            last: self.boxes.len(),
        });
        self.targets.len() - 1
    }

    /// Returns the first target that a ray hits, regardless of the world, including obstacles between a
    /// head and the box in front of it. [`Rewound::cast_ray_among`] also tests the world.
    ///
    /// # Errors
    /// Returns the reason if the ray hit no target.
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        self.first(ray).map(|counted| counted.hit)
    }

    fn first(&self, ray: UnitRay) -> Result<HeadPriorityHit, Miss> {
        let mut first = FirstHit::new(ray);
        for (index, target) in self.targets.iter().enumerate() {
            let local = ray.within(target.body);
            if (UnitRay { max: first.reach(), ..local }).passes_body(&target.set.bounds()) {
                self.cast_at(index, &local, &mut first);
            }
        }
        first.hit.ok_or(self.reason())
    }

    /// Returns the reason for a ray that hits no target.
    pub(super) fn reason(&self) -> Miss {
        let mut reason = self.reason;
        reason.consider(self.targets.first().map_or(Miss::NoTarget, |target| Miss::NearMiss(target.id)));
        reason.0
    }

    /// Records the reason for which a target is not included.
    pub(super) fn consider(&mut self, miss: Miss) {
        self.reason.consider(miss);
    }

    /// Casts the ray of `first` against one of the targets; `local` is that ray in body space.
    pub(super) fn cast_at(&self, index: usize, local: &UnitRay, first: &mut FirstHit) {
        let Some(target) = self.targets.get(index) else { return };
        let shapes = target.set.shapes();
        let mut met = BodyHits::default();
        for four in &self.boxes[target.first..target.last] {
            let (mut near, soon) = four.balls.near(local, met.enough());
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let (back, index) = (four.back[lane], four.first + lane);
                if soon >> lane & 1 == 0 && target.set.boxes()[index].group != HitGroup::Head {
                    continue;
                }
                let origin = back * (local.origin - four.balls.middle(lane));
                if let Some(distance) = shapes[index].cast_ray(origin, back * local.direction, local.max) {
                    met.consider(&target.set, index, distance);
                }
            }
        }
        first.consider((target.entity, target.id), &target.set, &met);
    }
}
