//! Ray casts of continuous beams, with a cache of nearby walls between ticks.

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use super::Rewound;
use crate::{
    query_result::{Miss, TargetHit},
    target::FirstHit,
    unit_ray::UnitRay,
    validity,
    world::NearbyColliders,
};

/// Cache of a beam between ticks. Use one per beam, for as long as it is active.
///
/// Results equal those of [`Rewound::cast_ray`] except for fixed colliders that appear: a new one does
/// not stop the beam before the walls are looked up again, at most [`ticks`](Self::ticks) later. A
/// collider nearby that is removed or moved takes effect at once, and so does every
/// [`Occluder`](crate::Occluder).
#[derive(Clone, Debug)]
pub struct BeamCache {
    /// Maximum age of the cached walls, in ticks. Default: 8. A larger value saves little and lets beams
    /// pass through newly built walls for longer.
    pub ticks: i32,
    /// Distance from the beam within which walls are cached, in metres. Default: 0.5. A larger value lets
    /// the beam turn further before walls are looked up again, but more walls are tested in every tick.
    pub margin: f32,
    walls: Option<CachedWalls>,
}

#[derive(Clone, Copy, Debug)]
struct CachedWalls {
    walls: NearbyColliders,
    way: UnitRay,
    margin: f32,
    since: Tick,
}

impl Default for BeamCache {
    fn default() -> Self {
        Self { ticks: 8, margin: 0.5, walls: None }
    }
}

impl CachedWalls {
    fn covers(&self, way: &UnitRay) -> bool {
        // The capsule around the cached ray is convex, so it is enough to test both ends.
        let ends = [way.origin, way.at(way.max).into()];
        ends.into_iter().all(|end| self.way.passes(end, self.margin))
    }
}

impl Rewound<'_, '_, '_> {
    /// Casts a beam: the result of [`cast_ray`](Self::cast_ray), at a lower cost.
    ///
    /// # Errors
    /// Returns the reason if the beam hit no target.
    pub fn cast_beam(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        cache: &mut BeamCache,
    ) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::InvalidQuery)?;
        let mut first = FirstHit::new(ray);
        let reason = self.nearest_first(&ray, &mut first);
        let counted = first.hit.ok_or(reason)?;
        let direction = ray.direction.into();
        let way = UnitRay { max: counted.reach(), ..ray };
        let walls = self.walls_of_beam(&way, &ray, cache);
        let fixed = self.query.world.cast_among(&walls, origin, direction, way.max);
        self.unless_obstructed(origin, counted, self.nearest_obstacle(fixed, origin, direction, way.max))
    }

    /// Returns the walls near a beam, from the cache if the beam is still within the cached region.
    fn walls_of_beam(&self, way: &UnitRay, longest: &UnitRay, cache: &mut BeamCache) -> NearbyColliders {
        let now = self.query.tick.0;
        let known = cache
            .walls
            .filter(|known| (0..cache.ticks).contains(&now.since(known.since)) && known.covers(way));
        let known = known.unwrap_or_else(|| {
            let margin = if validity::is_size(cache.margin) { cache.margin } else { 0.0 };
            let walls = self.query.world.gather(|low, high| longest.passes_box(margin, low, high));
            CachedWalls { walls, way: *longest, margin, since: now }
        });
        cache.walls = Some(known);
        known.walls
    }
}
