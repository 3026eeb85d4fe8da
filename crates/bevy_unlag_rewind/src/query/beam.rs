//! A weapon that is asked about in every tick: what is near one tick is near the next.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick};

use super::{Rewound, fan::passes_box, rewound::Reason, sound};
use crate::{
    Miss, TargetHit,
    table::Probe,
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
    /// Whom it hit last.
    last: Option<NetId>,
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
        Self { ticks: 8, margin: 0.5, walls: None, last: None }
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
        let ray = UnitRay::new(origin, direction, max_distance);
        let ray = ray.filter(|_| sound::is_point(origin)).ok_or(Miss::Nonsense)?;
        let hit = self.first_of_beam(ray, cache)?;
        let direction = ray.direction.into();
        let way = UnitRay { max: hit.distance, ..ray };
        let walls = self.walls_of_beam(&way, &ray, cache);
        let fixed = self.query.world.cast_among(&walls, origin, direction, hit.distance);
        self.unless_stopped(origin, hit, self.or_occluded(fixed, origin, direction, hit.distance))
    }

    /// Whoever was hit last is looked at first: most others are behind it then, and need no pose.
    fn first_of_beam(&self, ray: UnitRay, cache: &mut BeamCache) -> Result<TargetHit, Miss> {
        let table = &self.query.table;
        let mut first = FirstHit::new(ray);
        let last = cache.last.and_then(|id| table.named(id));
        let mut reason = Reason::default();
        if let Some(body) = last.and_then(|slot| self.body(slot).ok())
            && !first.look(&body)
        {
            reason.consider(Miss::Beside(body.id));
        }
        let unknown = |slot: usize| Some(slot) != last;
        self.near(&Probe::along(&ray), unknown, |slot, enter| {
            if enter > first.reach() {
                return;
            }
            match self.body(slot) {
                Ok(body) if first.look(&body) => {}
                Ok(body) => reason.consider(Miss::Beside(body.id)),
                Err(miss) => reason.consider(miss),
            }
        });
        cache.last = first.hit.map(|hit| hit.target);
        first.hit.ok_or(reason.0)
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
