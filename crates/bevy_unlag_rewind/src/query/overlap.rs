//! Overlap and proximity queries.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::{query::intersection_test, shape::Cuboid};
use bevy_unlag_core::LimbPoses;

use super::Rewound;
use crate::{
    convex_cast::parry_pose,
    hit_box::{HitBox, HitGroup},
    query_result::{Miss, TargetHit},
    table::Probe,
    target::{Body, is_nearer},
    validity,
};

/// Box of a body with its point nearest to a query point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub index: usize,
    pub distance: f32,
    pub point: Vec3,
}

impl Body<'_> {
    /// Returns the box nearest to a point within `max`, among those that satisfy `wanted`; of two at the
    /// same distance, the first.
    pub(super) fn nearest(
        &self,
        point: Vec3,
        max: f32,
        room: &mut LimbPoses,
        mut wanted: impl FnMut(usize, Isometry3d) -> bool,
    ) -> Option<Near> {
        let mut nearest: Option<Near> = None;
        for (index, shape, pose) in self.shapes(room) {
            let reach = nearest.map_or(max, |near| near.distance);
            let gap = pose.translation.distance(point.into()) - shape.radius;
            if gap > reach || !wanted(index, pose) {
                continue;
            }
            let raw = &self.boxes.boxes()[index].shape.raw;
            let found = raw.project_point(&parry_pose(pose), point, true);
            let distance = if found.is_inside { 0.0 } else { found.point.distance(point) };
            if nearest.map_or(distance <= max, |near| distance < near.distance) {
                nearest = Some(Near { index, distance, point: found.point });
            }
        }
        nearest
    }

    pub(super) fn hit_near(&self, near: Near) -> TargetHit {
        self.hit(near.index, near.distance, near.point)
    }
}

pub(super) fn around(centre: Vec3, reach: f32) -> Probe {
    let (centre, reach) = (Vec3A::from(centre), Vec3A::splat(reach));
    Probe::Box { low: centre - reach, high: centre + reach }
}

/// Returns the nearer of two hits; of equal ones, the one with the lower network id.
fn nearer(best: Option<TargetHit>, hit: Option<TargetHit>) -> Option<TargetHit> {
    hit.filter(|hit| best.is_none_or(|best| is_nearer(hit, &best))).or(best)
}

impl Rewound<'_, '_, '_> {
    /// Calls `each` once with every target that a ball overlaps: with the box nearest to the centre, the
    /// distance to it (0 inside) and its nearest point. Ignores the world.
    ///
    /// # Errors
    /// Returns the reason if no target overlaps.
    pub fn overlap_ball(&self, centre: Vec3, radius: f32, each: impl FnMut(TargetHit)) -> Result<(), Miss> {
        if !validity::is_point(centre) || !validity::is_size(radius) {
            return Err(Miss::InvalidQuery);
        }
        self.overlap((centre, radius), |_, _| true, each)
    }

    /// Calls `each` once with every target that a box with half extents `half` overlaps: with the
    /// overlapping hit box nearest to the centre. Ignores the world.
    ///
    /// # Errors
    /// Returns the reason if no target overlaps.
    pub fn overlap_box(&self, pose: Isometry3d, half: Vec3, each: impl FnMut(TargetHit)) -> Result<(), Miss> {
        let sound = half.to_array().into_iter().all(validity::is_size);
        let pose = validity::pose(pose).filter(|_| sound).ok_or(Miss::InvalidQuery)?;
        let (cuboid, at) = (Cuboid::new(half), parry_pose(pose));
        let overlaps = |hit_box: &HitBox, own: Isometry3d| {
            intersection_test(&at, &cuboid, &parry_pose(own), &*hit_box.shape.raw).unwrap_or(false)
        };
        self.overlap((pose.translation.into(), half.length()), overlaps, each)
    }

    /// Calls `each` with every target that has a box within a ball that satisfies `wanted`.
    fn overlap(
        &self,
        (centre, reach): (Vec3, f32),
        wanted: impl Fn(&HitBox, Isometry3d) -> bool,
        mut each: impl FnMut(TargetHit),
    ) -> Result<(), Miss> {
        let mut room = LimbPoses::default();
        let mut any = false;
        let reason = self.bodies(&around(centre, reach), |body| {
            let boxes = body.boxes.boxes();
            let near = body.nearest(centre, reach, &mut room, |index, pose| wanted(&boxes[index], pose));
            near.into_iter().for_each(|near| each(body.hit_near(near)));
            any |= near.is_some();
            near.is_some()
        });
        if any { Ok(()) } else { Err(reason) }
    }

    /// Returns the target nearest to a point, at most `max_distance` away: with its nearest box, the
    /// distance (0 inside) and its nearest point. Ignores the world.
    ///
    /// # Errors
    /// Returns the reason if there is no target in range.
    pub fn closest_point(&self, point: Vec3, max_distance: f32) -> Result<TargetHit, Miss> {
        if !validity::is_point(point) || max_distance.is_nan() || max_distance < 0.0 {
            return Err(Miss::InvalidQuery);
        }
        let mut room = LimbPoses::default();
        let mut best: Option<TargetHit> = None;
        let reason = self.bodies(&around(point, max_distance.min(1e7)), |body| {
            let reach = best.map_or(max_distance, |best| best.distance);
            let hit = body.nearest(point, reach, &mut room, |_, _| true).map(|near| body.hit_near(near));
            best = nearer(best, hit);
            hit.is_some()
        });
        best.ok_or(reason)
    }

    /// Returns the target that contains a point: the hit is on its head if the head contains the point
    /// and takes precedence, otherwise on the first such box. Of several targets, the one with the lowest
    /// network id is returned.
    ///
    /// # Errors
    /// Returns the reason if no target contains the point.
    pub fn contains_point(&self, point: Vec3) -> Result<TargetHit, Miss> {
        if !validity::is_point(point) {
            return Err(Miss::InvalidQuery);
        }
        let mut room = LimbPoses::default();
        let mut best: Option<TargetHit> = None;
        let reason = self.bodies(&around(point, 0.0), |body| {
            let boxes = body.boxes.boxes();
            let mut found: Option<usize> = None;
            for (index, shape, pose) in body.shapes(&mut room) {
                let far = pose.translation.distance(point.into()) > shape.radius;
                if far || !boxes[index].shape.raw.contains_point(&parry_pose(pose), point) {
                    continue;
                }
                let head = boxes[index].group == HitGroup::Head && body.boxes.head_first();
                let before = found.is_some_and(|found| boxes[found].group == HitGroup::Head);
                if found.is_none() || head && !before {
                    found = Some(index);
                }
            }
            let hit = found.map(|index| body.hit(index, 0.0, point));
            best = nearer(best, hit);
            hit.is_some()
        });
        best.ok_or(reason)
    }
}
