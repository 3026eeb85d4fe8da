//! Ray casts of shotgun pellets: every target is posed once, and every pellet is a ray.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::query::Ray as ParryRay;
use bevy_unlag_core::{LimbPoses, NetId};

use super::{
    PosedTargets, Rewound,
    ray_bundle::{RayBundle, RaySet},
};
use crate::{
    hit_box::HitGroup,
    query_result::{Miss, TargetHit},
    swept_bounds::SweptBounds,
    target::FirstHit,
    unit_ray::UnitRay,
    world::WorldHit,
};

/// Results of the pellets of one shot. Keep it in a `Local`: reusing it avoids allocations.
#[derive(Clone, Debug, Default)]
pub struct Pellets {
    results: Vec<Result<TargetHit, Miss>>,
    counts: Vec<PelletCount>,
    fan: RayBundle,
    rays: Vec<Pellet>,
    near: Vec<Near>,
}

/// Number of pellets of one shot that hit one target, by hit group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PelletCount {
    /// Target entity in this app.
    pub entity: Entity,
    /// Network id of the target.
    pub target: NetId,
    /// Hits in the [head](HitGroup::Head).
    pub head: u32,
    /// Hits in the [body](HitGroup::Body).
    pub body: u32,
    /// Hits in the [limbs](HitGroup::Limb).
    pub limb: u32,
}

/// Possible target.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// Distance to its bounds, in metres.
    way: f32,
    slot: usize,
    by: RaySet,
}

/// Margin for rounding of distances to bounds, in metres.
const SLACK: f32 = 1e-3;

#[derive(Clone, Copy, Debug)]
struct Pellet {
    /// A ray with a negative length is inactive.
    first: FirstHit,
    /// First obstacle along the ray.
    wall: Option<WorldHit>,
}

impl Pellets {
    /// Returns the hit of each pellet or the reason for its miss, in the order of the directions.
    pub fn results(&self) -> &[Result<TargetHit, Miss>] {
        &self.results
    }

    /// Returns the number of hits per target, in the order of network ids.
    #[must_use]
    pub fn counts(&self) -> &[PelletCount] {
        &self.counts
    }

    fn clear(&mut self) {
        self.results.clear();
        self.counts.clear();
        self.rays.clear();
        self.near.clear();
    }

    fn count(&mut self) {
        for hit in self.results.iter().flatten() {
            let index = match self.counts.binary_search_by_key(&hit.target, |count| count.target) {
                Ok(index) => index,
                Err(index) => {
                    let (entity, target) = (hit.entity, hit.target);
                    self.counts.insert(index, PelletCount { entity, target, head: 0, body: 0, limb: 0 });
                    index
                }
            };
            let count = &mut self.counts[index];
            match hit.group {
                HitGroup::Head => count.head += 1,
                HitGroup::Body => count.body += 1,
                HitGroup::Limb => count.limb += 1,
            }
        }
    }
}

impl Rewound<'_, '_, '_> {
    /// Casts many rays from one origin, for a fraction of the cost of separate casts. Hits and obstacles
    /// are those of [`cast_ray`](Self::cast_ray), always without moved colliders; the reason for a miss is
    /// shared by all pellets that miss. Clears both buffers first. An invalid direction results in
    /// [`Miss::InvalidQuery`] for that pellet.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_unlag_rewind::{Pellets, PosedTargets, RewindQuery, RewindTime};
    ///
    /// fn shoot(query: RewindQuery, mut posed: Local<PosedTargets>, mut pellets: Local<Pellets>) {
    ///     let Ok(then) = query.at(RewindTime::Now) else { return };
    ///     let spread = [Vec3::NEG_Z, Vec3::new(0.05, 0.0, -1.0), Vec3::new(-0.05, 0.0, -1.0)];
    ///     then.cast_pellets(Vec3::Y, &spread, 40.0, &mut posed, &mut pellets);
    ///     for count in pellets.counts() {
    ///         info!("{:?}: {} in the head", count.target, count.head);
    ///     }
    /// }
    /// ```
    #[doc(alias = "shotgun")]
    pub fn cast_pellets(
        &self,
        origin: Vec3,
        directions: &[Vec3],
        max_distance: f32,
        posed: &mut PosedTargets,
        pellets: &mut Pellets,
    ) {
        pellets.clear();
        let no_ray = UnitRay { origin: Vec3A::ZERO, direction: Vec3A::ZERO, max: -1.0 };
        pellets.rays.extend(directions.iter().map(|direction| {
            let ray = UnitRay::new(origin, *direction, max_distance);
            Pellet { first: FirstHit::new(ray.unwrap_or(no_ray)), wall: None }
        }));
        self.find_pellet_hits(origin.into(), posed, pellets);
        self.find_pellet_obstacles(pellets);

        let nobody = posed.reason();
        pellets.results.extend(pellets.rays.iter().map(|pellet| match (pellet.first.hit, pellet.wall) {
            _ if pellet.first.ray.max < 0.0 => Err(Miss::InvalidQuery),
            (None, _) => Err(nobody),
            (Some(counted), wall) => self.unless_obstructed(origin, counted, wall),
        }));
        pellets.count();
    }

    /// Finds the first target of each pellet, nearer targets first, so that targets behind them need not
    /// be posed.
    fn find_pellet_hits(&self, origin: Vec3A, posed: &mut PosedTargets, pellets: &mut Pellets) {
        let Pellets { fan, rays, near, .. } = pellets;
        fan.set(origin, rays.iter().map(|pellet| (pellet.first.ray.direction, pellet.first.ray.max)));
        let row = self.moment.row();
        // The table does not contain the poses of targets with overrides.
        let sure = self.moment.overrides.is_empty();
        self.near(&fan.probe(), |slot, _| {
            let SweptBounds { low, high } = self.query.table.envelope(row, slot);
            let by = if sure { fan.touching(low, high) } else { RaySet::ALL };
            if by.any() {
                let way = if sure { origin.clamp(low, high).distance(origin) } else { 0.0 };
                near.push(Near { way, slot, by });
            }
        });
        near.sort_unstable_by(|a, b| a.way.total_cmp(&b.way));

        posed.clear();
        let mut room = LimbPoses::default();
        for Near { way, slot, by } in near.drain(..) {
            let meets =
                |number: usize, pellet: &Pellet| by.has(number) && pellet.first.reach() >= way - SLACK;
            if !rays.iter().enumerate().any(|(number, pellet)| meets(number, pellet)) {
                continue;
            }
            let body = match self.body(slot) {
                Ok(body) => body,
                Err(miss) => {
                    posed.consider(miss);
                    continue;
                }
            };
            let (pose, bounds) = (body.pose.body(), body.boxes.bounds());
            let back = pose.rotation.inverse();
            let here = back * (origin - pose.translation);
            let mut index = None;
            for (number, pellet) in rays.iter_mut().enumerate() {
                if !meets(number, pellet) || pellet.first.ray.max < 0.0 {
                    continue;
                }
                let first = &mut pellet.first;
                let local =
                    UnitRay { origin: here, direction: back * first.ray.direction, max: first.ray.max };
                if (UnitRay { max: first.reach(), ..local }).passes_body(&bounds) {
                    let index = *index.get_or_insert_with(|| posed.push(&body, &mut room));
                    posed.cast_at(index, &local, first);
                }
            }
            if index.is_none() {
                posed.consider(Miss::NearMiss(body.id));
            }
        }
    }

    /// Finds the obstacles of all pellets that would hit a target; the colliders near them are looked up
    /// once.
    fn find_pellet_obstacles(&self, pellets: &mut Pellets) {
        let Pellets { fan, rays, .. } = pellets;
        let way = |pellet: &Pellet| pellet.first.hit.map_or(-1.0, |counted| counted.reach());
        if rays.iter().all(|pellet| pellet.first.hit.is_none()) {
            return;
        }
        fan.shorten(rays.iter().map(way));
        // Casts a pellet at one obstacle and keeps the nearest.
        let stop = |pellet: &mut Pellet, by: Option<Entity>, cast: &dyn Fn(&ParryRay, f32) -> Option<f32>| {
            let Some(counted) = pellet.first.hit else { return };
            let reach = pellet.wall.map_or(counted.reach(), |wall| wall.distance);
            let UnitRay { origin, direction, .. } = pellet.first.ray;
            let ray = ParryRay::new(origin.into(), direction.into());
            if let Some(distance) = cast(&ray, reach)
                && (pellet.wall.is_none() || distance < reach)
            {
                pellet.wall = Some(WorldHit { distance, by });
            }
        };
        self.query.world.each_near(
            |low, high| fan.touching(low, high).any(),
            |_, wall| {
                let cast = |ray: &ParryRay, reach| wall.shape().cast_ray(wall.position(), ray, reach, true);
                rays.iter_mut().for_each(|pellet| stop(pellet, None, &cast));
            },
        );
        self.occluders(|entity, occluder, pose| {
            let cast = |ray: &ParryRay, reach| {
                occluder.cast(pose, ray.origin, ray.dir, reach).filter(|distance| *distance < reach)
            };
            rays.iter_mut().for_each(|pellet| stop(pellet, Some(entity), &cast));
        });
    }
}
