//! Ray casts with padding around the target that the shooter claims to have hit.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    query::{ClosestPoints, closest_points},
    shape::Segment,
};
use bevy_unlag_core::{LimbPoses, NetId};

use super::Rewound;
use crate::{
    checked_floats::checked,
    convex_cast::parry_pose,
    evidence::clamped_padding,
    hit_box::HitBox,
    query_result::{Miss, TargetHit},
    unit_ray::UnitRay,
};

/// Distance in metres within which a point counts as on a surface.
const ON_IT: f32 = 1e-3;

/// Target that a shooter claims to have hit, and the distance by which a ray may miss it: Unreal
/// Tournament's hit padding. The claim proves nothing; it only makes one target thicker, for this ray.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[doc(alias("ExtraHitPadding", "ReceivedHitScanHitChar"))]
pub struct ClaimedTarget {
    /// Network id of the claimed target.
    pub target: NetId,
    /// Distance in metres by which the ray may miss the target's hit boxes. No padding if it is 0,
    /// negative or NaN. Unreal Tournament uses 0.4 m. A larger value tolerates more disagreement between
    /// server and screen, and improves the aim of a cheating client by as much.
    #[serde(serialize_with = "clamped_padding", deserialize_with = "checked")]
    pub padding: f32,
}

/// Closest approach of a ray to a box.
#[derive(Clone, Copy)]
struct ClosestApproach {
    index: usize,
    /// Distance between ray and box, in metres.
    gap: f32,
    /// Distance along the ray, in metres.
    distance: f32,
    /// Point on the box.
    point: Vec3,
}

impl ClosestApproach {
    /// Returns `None` if the box is further than `reach` from the ray.
    fn of(ray: &UnitRay, (index, hit_box): (usize, &HitBox), pose: Isometry3d, reach: f32) -> Option<Self> {
        let own = parry_pose(pose);
        let sphere = hit_box.shape.raw.compute_bounding_sphere(&own);
        let centre = sphere.center;
        let near = sphere.radius + reach;
        if !ray.passes(centre.into(), near) {
            return None;
        }
        // Uses only the part of the ray that is near, which avoids rounding errors from distant points.
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
            // The ray grazes the box.
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
    /// Casts a ray like [`cast_ray`](Self::cast_ray). If it does not hit the claimed target but passes
    /// within the padding, it counts as a hit on the nearest box of that target, unless another target is
    /// hit before. World geometry is tested along the ray and from there to the box. The `point` of such
    /// a hit is on the box. Costs a second test of one target.
    ///
    /// # Errors
    /// Returns the reason if the ray hit no target.
    pub fn cast_ray_claimed(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        claimed: ClaimedTarget,
    ) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        let first = self.first(&ray);
        let exact = first.and_then(|hit| self.unless_in_cover(origin, hit));
        let met = first.is_ok_and(|hit| hit.target == claimed.target);
        let padded = (!met && claimed.padding > 0.0).then(|| self.beside(&ray, claimed)).flatten();
        match padded {
            // A target under cover protection still ends the ray.
            Some(hit) if first.map_or(true, |first| hit.distance < first.distance) => {
                self.unless_in_cover(origin, hit).or(exact)
            }
            _ => exact,
        }
    }

    /// Returns the padded hit on the claimed target, for a ray that ends at the first obstacle.
    fn beside(&self, ray: &UnitRay, claimed: ClaimedTarget) -> Option<TargetHit> {
        let body = self.body(self.query.table.named(claimed.target)?).ok()?;
        if !ray.within(body.pose.body()).passes_body_within(&body.boxes.bounds(), claimed.padding) {
            return None;
        }
        let wall = self.first_obstacle(ray.origin.into(), ray.direction.into(), ray.max);
        let free = wall.map_or(ray.max, |wall| (wall.distance - ON_IT).max(0.0));
        let ray = UnitRay { max: free, ..*ray };
        let mut room = LimbPoses::default();
        let mut nearest: Option<ClosestApproach> = None;
        for (index, _, pose) in body.shapes(&mut room) {
            let reach = nearest.map_or(claimed.padding, |nearest| nearest.gap);
            let found = ClosestApproach::of(&ray, (index, &body.boxes.boxes()[index]), pose, reach);
            // Of two at the same distance, keep the first.
            nearest = found.filter(|found| nearest.is_none_or(|n| found.gap < n.gap)).or(nearest);
        }
        let ClosestApproach { index, gap, distance, point } = nearest?;
        let from = ray.at(distance);
        // The padding must not reach through a wall or around a corner.
        let clear = gap <= ON_IT || self.first_obstacle(from, (point - from) / gap, gap - ON_IT).is_none();
        clear.then(|| body.hit(index, distance, point))
    }
}
