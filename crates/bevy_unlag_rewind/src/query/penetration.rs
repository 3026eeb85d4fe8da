//! Ray casts through several targets.

use bevy::prelude::*;
use bevy_unlag_core::LimbPoses;

use super::Rewound;
use crate::{
    query_result::{Miss, TargetHit},
    table::Probe,
    unit_ray::UnitRay,
    world::WorldHit,
};

/// Effect of the world on a ray that passes through targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WallPenetration {
    /// The ray ends at the first obstacle.
    #[default]
    Stop,
    /// The ray passes through. The result tells where the first obstacle is; the game decides what the
    /// penetration costs.
    Pass,
}

impl Rewound<'_, '_, '_> {
    /// Writes every box that a ray hits into `hits`, nearest first, which is the order in which a bullet
    /// penetrates them. Returns the first obstacle in the world within `max_distance`. Clears `hits`
    /// first; reusing the buffer avoids allocations.
    ///
    /// # Errors
    /// Returns the reason if the ray hit no target.
    #[doc(alias = "penetration")]
    pub fn cast_ray_all(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        walls: WallPenetration,
        hits: &mut Vec<TargetHit>,
    ) -> Result<Option<WorldHit>, Miss> {
        hits.clear();
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        let mut room = LimbPoses::default();
        let reason = self.bodies(&Probe::along(&ray), |body| {
            let before = hits.len();
            body.pierce(&ray, &mut room, |index, distance| {
                hits.push(body.hit(index, distance, ray.at(distance)));
            });
            hits.len() > before
        });
        hits.sort_unstable_by(|a, b| {
            a.distance.total_cmp(&b.distance).then((a.target, a.hit_box).cmp(&(b.target, b.hit_box)))
        });
        let first = hits.first().copied().ok_or(reason)?;
        let wall = self.first_obstacle(origin, ray.direction.into(), ray.max);
        if let Some(wall) = wall
            && walls == WallPenetration::Stop
        {
            hits.retain(|hit| hit.distance < wall.distance);
            if hits.is_empty() {
                return Err(Miss::Blocked { hit: first, distance: wall.distance, by: wall.by });
            }
        }
        let mut covered = None;
        hits.retain(|hit| match self.unless_in_cover(origin, *hit) {
            Ok(_) => true,
            Err(miss) => {
                covered = Some(miss);
                false
            }
        });
        match covered {
            Some(miss) if hits.is_empty() => Err(miss),
            _ => Ok(wall),
        }
    }
}
