//! A ray that also counts a little beside the target that its shooter says it hit.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    query::{ClosestPoints, closest_points},
    shape::Segment,
};
use bevy_unlag_core::{LimbPoses, NetId};

use super::Rewound;
use crate::{HitBox, Miss, TargetHit, target::UnitRay, world::parry_pose};

/// Metres to a surface within which something is on it.
const ON_IT: f32 = 1e-3;

/// Whom a shooter says that its round hit, and how far beside it a ray still counts: Unreal Tournament's
/// padding. The claim proves nothing: it makes one target thicker, for this ray only.
#[derive(Clone, Copy, PartialEq, Debug)]
#[doc(alias("ExtraHitPadding", "ReceivedHitScanHitChar"))]
pub struct ClaimedTarget {
    /// Whom.
    pub target: NetId,
    /// Metres that the ray may pass beside its hit boxes. Nothing at 0, below, and for what is no number; Unreal
    /// Tournament has 0.4. Raising it forgives what the server and the screen disagree about, and gives a
    /// client that lies an aim that is as much too good.
    pub padding: f32,
}

/// Where a box is nearest to a ray.
#[derive(Clone, Copy)]
struct Beside {
    index: usize,
    /// Metres between them.
    gap: f32,
    /// Metres along the ray.
    distance: f32,
    /// On the box.
    point: Vec3,
}

impl Beside {
    /// `None` when the box is further than `reach` from the ray.
    fn of(ray: &UnitRay, (index, hit_box): (usize, &HitBox), pose: Isometry3d, reach: f32) -> Option<Self> {
        let own = parry_pose(pose);
        let sphere = hit_box.shape.raw.compute_bounding_sphere(&own);
        let centre = sphere.center;
        let near = sphere.radius + reach;
        if !ray.passes(centre.into(), near) {
            return None;
        }
        // Only the part of the ray that is near: no rounding of far away.
        let middle = (centre - Vec3::from(ray.origin)).dot(ray.direction.into());
        let ends = [middle - near, middle + near].map(|end| ray.at(end.clamp(0.0, ray.max)));
        let along =
            |point: Vec3| (point - Vec3::from(ray.origin)).dot(ray.direction.into()).clamp(0.0, ray.max);
        let raw = &*hit_box.shape.raw;
        let (on_ray, point) = match closest_points(
            &parry_pose(Isometry3d::IDENTITY),
            &Segment::new(ends[0], ends[1]),
            &own,
            raw,
            near,
        ) {
            Ok(ClosestPoints::WithinMargin(on_ray, point)) => (on_ray, point),
            Ok(ClosestPoints::Disjoint) => return None,
            // It grazes.
            Ok(ClosestPoints::Intersecting) | Err(_) => {
                let on_ray = ray.at(middle.clamp(0.0, ray.max));
                (on_ray, raw.project_point(&own, on_ray, true).point)
            }
        };
        let gap = on_ray.distance(point);
        (gap <= reach).then(|| Self { index, gap, distance: along(on_ray), point })
    }
}

impl Rewound<'_, '_, '_> {
    /// As [`cast_ray`](Self::cast_ray), and where that does not hit the claimed target, a ray that passes close
    /// enough beside it counts as a hit of the box that it comes nearest to, unless somebody else is met before.
    /// The world counts both along the ray and from there to the box. `point` of such a hit is on the box. It
    /// costs a second look at one target.
    ///
    /// # Errors
    /// Why the ray hit nobody.
    pub fn cast_ray_claimed(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        claimed: ClaimedTarget,
    ) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::Nonsense)?;
        let first = self.first(&ray);
        let exact = first.and_then(|hit| self.uncovered(origin, hit));
        let met = first.is_ok_and(|hit| hit.target == claimed.target);
        let padded = (!met && claimed.padding > 0.0).then(|| self.beside(&ray, claimed)).flatten();
        match padded {
            // Who is protected is met all the same.
            Some(hit) if first.map_or(true, |first| hit.distance < first.distance) => {
                self.uncovered(origin, hit).or(exact)
            }
            _ => exact,
        }
    }

    /// The claimed target where it is nearest to a ray that the world ends.
    fn beside(&self, ray: &UnitRay, claimed: ClaimedTarget) -> Option<TargetHit> {
        let body = self.body(self.query.table.named(claimed.target)?).ok()?;
        if !ray.within(body.pose.body()).passes_body_within(&body.boxes.bounds(), claimed.padding) {
            return None;
        }
        let wall = self.world(ray.origin.into(), ray.direction.into(), ray.max);
        let free = wall.map_or(ray.max, |wall| (wall.distance - ON_IT).max(0.0));
        let ray = UnitRay { max: free, ..*ray };
        let mut room = LimbPoses::default();
        let mut nearest: Option<Beside> = None;
        for (index, _, pose) in body.shapes(&mut room) {
            let reach = nearest.map_or(claimed.padding, |nearest| nearest.gap);
            let found = Beside::of(&ray, (index, &body.boxes.boxes()[index]), pose, reach);
            // Of two as near the first.
            nearest = found.filter(|found| nearest.is_none_or(|n| found.gap < n.gap)).or(nearest);
        }
        let Beside { index, gap, distance, point } = nearest?;
        let from = ray.at(distance);
        // Not through a wall, and not round a corner.
        let clear = gap <= ON_IT || self.world(from, (point - from) / gap, gap - ON_IT).is_none();
        clear.then(|| body.hit(index, distance, point))
    }
}
