//! A shotgun: everybody is posed once, and every pellet is a ray.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::query::Ray as ParryRay;
use bevy_unlag_core::{LimbPoses, NetId};

use super::{
    PosedTargets, Rewound,
    fan::{Fan, Touching},
};
use crate::{
    HitGroup, Miss, TargetHit, WorldHit,
    swept::Swept,
    target::{FirstHit, UnitRay},
};

/// What the pellets of one shot did. Keep it in a `Local`: one that is filled again allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Pellets {
    results: Vec<Result<TargetHit, Miss>>,
    counts: Vec<PelletCount>,
    fan: Fan,
    rays: Vec<Pellet>,
    near: Vec<Near>,
}

/// How many pellets of one shot hit one target, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PelletCount {
    /// The target, in this app.
    pub entity: Entity,
    /// The target, on the wire.
    pub target: NetId,
    /// Pellets in the [head](HitGroup::Head).
    pub head: u32,
    /// Pellets in the [body](HitGroup::Body).
    pub body: u32,
    /// Pellets in the [limbs](HitGroup::Limb).
    pub limb: u32,
}

/// Somebody who may be met.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// Metres to the box around them.
    way: f32,
    slot: usize,
    by: Touching,
}

/// Metres by which rounding may make a box nearer.
const SLACK: f32 = 1e-3;

#[derive(Clone, Copy, Debug)]
struct Pellet {
    /// A ray with a negative length is none.
    first: FirstHit,
    /// What stands in the way.
    wall: Option<WorldHit>,
}

impl Pellets {
    /// What each pellet hit, or why it hit nobody, in the order in which they were asked about.
    pub fn results(&self) -> &[Result<TargetHit, Miss>] {
        &self.results
    }

    /// How many hit whom, in the order of the targets' names.
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
    /// What many rays from one place meet, for a fraction of the cost of as many rays. Whoever is hit, and where,
    /// and what stops a pellet is what [`cast_ray`](Self::cast_ray) says with
    /// [`RewindBackend::Table`](crate::RewindBackend::Table), whichever backend is selected; why a pellet passes
    /// everybody is said of all of them together. Both buffers are cleared first. A direction that is none gives
    /// [`Miss::Nonsense`] for that pellet.
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
        self.meet_pellets(origin.into(), posed, pellets);
        self.stop_pellets(pellets);

        let nobody = posed.reason();
        pellets.results.extend(pellets.rays.iter().map(|pellet| match (pellet.first.hit, pellet.wall) {
            _ if pellet.first.ray.max < 0.0 => Err(Miss::Nonsense),
            (None, _) => Err(nobody),
            (Some(counted), wall) => self.unless_stopped(origin, counted, wall),
        }));
        pellets.count();
    }

    /// Finds whom each meets: the nearer ones first, so that who is behind them need not be posed.
    fn meet_pellets(&self, origin: Vec3A, posed: &mut PosedTargets, pellets: &mut Pellets) {
        let Pellets { fan, rays, near, .. } = pellets;
        fan.set(origin, rays.iter().map(|pellet| (pellet.first.ray.direction, pellet.first.ray.max)));
        let row = self.moment.row();
        // Where somebody was that was drawn otherwise, the table does not know.
        let sure = self.moment.overrides.is_empty();
        self.near(
            &fan.probe(),
            |_| true,
            |slot, _| {
                let Swept { low, high } = self.query.table.envelope(row, slot);
                let by = if sure { fan.touching(low, high) } else { Touching::ALL };
                if by.any() {
                    let way = if sure { origin.clamp(low, high).distance(origin) } else { 0.0 };
                    near.push(Near { way, slot, by });
                }
            },
        );
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
                posed.consider(Miss::Beside(body.id));
            }
        }
    }

    /// Finds what stands in the way of those that would hit somebody: the colliders that any of them can
    /// meet are looked up once.
    fn stop_pellets(&self, pellets: &mut Pellets) {
        let Pellets { fan, rays, .. } = pellets;
        let way = |pellet: &Pellet| pellet.first.hit.map_or(-1.0, |counted| counted.reach());
        if rays.iter().all(|pellet| pellet.first.hit.is_none()) {
            return;
        }
        fan.shorten(rays.iter().map(way));
        // What a pellet meets, and what stops it before.
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
