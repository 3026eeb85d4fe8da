//! A weapon that is asked about in every tick: the walls near it in one tick are near it in the next.

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use super::{Rewound, fan::passes_box, sound};
use crate::{
    Miss, TargetHit,
    target::{FirstHit, UnitRay},
    world::NearWalls,
};

/// What a beam remembers from one tick to the next. One for every beam, kept as long as it burns.
///
/// Every answer is what [`Rewound::cast_ray`] would say, but for fixed colliders that appear: one that was
/// not there when walls were last looked up, at most [`ticks`](Self::ticks) ago, does not stop it yet. One
/// that goes or moves within reach counts at once, and so does every [`Occluder`](crate::Occluder).
#[derive(Clone, Debug)]
pub struct BeamCache {
    /// Ticks for which walls are remembered. Default 8. Raising it saves little and lets beams pass for longer
    /// what has just been built.
    pub ticks: i32,
    /// Metres to every side of a beam within which walls are remembered. Default 0.5. Raising it lets a beam
    /// turn further before they are looked up again; more walls are tested in every tick.
    pub margin: f32,
    walls: Option<Remembered>,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    walls: NearWalls,
    way: UnitRay,
    margin: f32,
    since: Tick,
}

impl Default for BeamCache {
    fn default() -> Self {
        Self { ticks: 8, margin: 0.5, walls: None }
    }
}

impl Remembered {
    fn covers(&self, way: &UnitRay) -> bool {
        // What is between two points that are near a line is near the line.
        let ends = [way.origin, way.at(way.max).into()];
        ends.into_iter().all(|end| self.way.passes(end, self.margin))
    }
}

impl Rewound<'_, '_, '_> {
    /// What a beam meets: the answer of [`cast_ray`](Self::cast_ray), sooner.
    ///
    /// # Errors
    /// Why it hit nobody.
    pub fn cast_beam(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        cache: &mut BeamCache,
    ) -> Result<TargetHit, Miss> {
        let ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::Nonsense)?;
        let mut first = FirstHit::new(ray);
        let reason = self.nearest_first(&ray, &mut first);
        let counted = first.hit.ok_or(reason)?;
        let direction = ray.direction.into();
        let way = UnitRay { max: counted.reach(), ..ray };
        let walls = self.walls_of_beam(&way, &ray, cache);
        let fixed = self.query.world.cast_among(&walls, origin, direction, way.max);
        self.unless_stopped(origin, counted, self.or_occluded(fixed, origin, direction, way.max))
    }

    /// The walls near a beam, from the cache when it is still within reach of what was looked up.
    fn walls_of_beam(&self, way: &UnitRay, longest: &UnitRay, cache: &mut BeamCache) -> NearWalls {
        let now = self.query.tick.0;
        let known = cache
            .walls
            .filter(|known| (0..cache.ticks).contains(&now.since(known.since)) && known.covers(way));
        let known = known.unwrap_or_else(|| {
            let margin = if sound::is_size(cache.margin) { cache.margin } else { 0.0 };
            let walls = self.query.world.gather(|low, high| passes_box(longest, margin, low, high));
            Remembered { walls, way: *longest, margin, since: now }
        });
        cache.walls = Some(known);
        known.walls
    }
}
