//! The oracle: poses every hit box at a query time and tests each with parry.

use bevy::{math::DVec3, prelude::*};
use bevy_rapier3d::{
    parry::{query::Ray, shape::SharedShape},
    rapier::math::Pose,
};
use bevy_unlag_core::{
    BasePoses, Interpolation, LimbPoses, NetId, PoseSample, PoseSampler, SUB_TICKS, ViewStamp, ViewTime,
};
use bevy_unlag_rewind::{HitBoxes, HitGroup, QueryView, RewindFilter, RewindLimits, RewindMode, RewindTime};

use crate::differential::{
    hit_box_sets::REACH,
    random_world::{CrowdTarget, RandomWorld},
};

/// A target at the query time.
pub struct OracleTarget<'a> {
    pub person: &'a CrowdTarget,
    pub set: &'a HitBoxes,
    pub sample: PoseSample,
    /// Pose of each box relative to the root; `None` for boxes on missing limbs.
    pub boxes: Vec<Option<Pose>>,
    /// Whether an override determined its pose.
    pub named: bool,
}

/// The first hit of a ray.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OracleHit {
    pub id: NetId,
    pub index: usize,
    pub group: HitGroup,
    pub distance: f64,
}

/// Returns the pose of a target, the time of its pose (`None` for the present) and whether an override
/// determined it.
fn drawn_pose(
    crowd: &RandomWorld,
    person: &CrowdTarget,
    time: RewindTime<'_>,
    limits: &RewindLimits,
) -> Option<(PoseSample, Option<ViewTime>, bool)> {
    let world = crowd.app.world();
    let sampler = world.resource::<PoseSampler>().of(person.mode.as_ref());
    let (now, history) = (crowd.now(), crowd.history(person));
    let bases = world.resource::<BasePoses>();
    let plain = |time: ViewTime, bases_at: ViewTime| {
        let pose = history.sent.pose(history.sent.stamp(time)?, &sampler, &bases.at(bases_at))?;
        Some((pose, Some(time), false))
    };
    // A despawned target is not present.
    let present = || history.present().filter(|_| person.gone.is_none()).map(|pose| (*pose, None, false));
    match time {
        RewindTime::Now => present(),
        RewindTime::At(time) => plain(time, time),
        RewindTime::View(_) if limits.mode == RewindMode::Off => present(),
        RewindTime::View(view) => {
            let arrived = now.offset(-(view.queued_ticks.cast_signed()));
            let used = limits.validate(view.time, arrived, sampler.tick_seconds, view.round_trip).ok()?;
            let bases_at = view.bases.unwrap_or(ViewTime::at(now));
            let Some(named) = view.overrides.iter().find(|named| named.target == person.id) else {
                return plain(used, bases_at);
            };
            let cap =
                (limits.max_age.as_secs_f64() / f64::from(sampler.tick_seconds) * SUB_TICKS as f64) as i64;
            let (oldest, newest) =
                (ViewTime::at(arrived).later(-cap), ViewTime::at(arrived).later(SUB_TICKS));
            let wanted = used.later(i64::from(named.shift));
            let own = match wanted {
                wanted if wanted.since(newest) > 0 => newest,
                wanted if wanted.since(oldest) < 0 => oldest,
                wanted => wanted,
            };
            let stamp = if used != view.time || own != wanted {
                history.sent.stamp(own)?
            } else {
                let beyond = if sampler.interpolation == Interpolation::Step {
                    0.0
                } else {
                    2.0 * sampler.max_extrapolation_ticks()
                };
                if named.to.is_none() && own.ticks_since(named.from) > beyond {
                    return None;
                }
                named.stamp(own)?
            };
            let (ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. }) = stamp else {
                return None;
            };
            Some((history.sent.pose(stamp, &sampler, &bases.at(bases_at))?, Some(time), true))
        }
    }
}

fn allows(filter: &RewindFilter<'_>, person: &CrowdTarget) -> bool {
    let layers = person.layers.map_or(u32::MAX, |layers| layers.0);
    filter.exclude != Some(person.entity)
        && !(filter.exclude_team.is_some() && filter.exclude_team == person.team)
        && layers & filter.layers.0 != 0
        && filter.predicate.is_none_or(|only| only(person.entity))
}

/// Returns all targets that can be hit at a query time.
pub fn all_targets<'a>(
    crowd: &'a RandomWorld,
    time: RewindTime<'_>,
    filter: &RewindFilter<'_>,
) -> Vec<OracleTarget<'a>> {
    let world = crowd.app.world();
    let limits = match time {
        RewindTime::View(QueryView { limits: Some(limits), .. }) => limits,
        _ => world.resource::<RewindLimits>(),
    };
    let mut room = LimbPoses::default();
    let mut seen = vec![];
    for person in crowd.people.iter().filter(|person| allows(filter, person)) {
        let Some((sample, at, named)) = drawn_pose(crowd, person, time, limits) else { continue };
        let here = crowd.history(person).present().map(|here| here.position);
        let gone = here.is_some_and(|here| here.distance(sample.position) > limits.max_distance);
        if !sample.alive || gone {
            continue;
        }
        let set = person.set_at(at);
        let limbs = match &person.rig {
            Some(rig) => rig.in_world(&sample, &mut room),
            None => {
                room[0] = sample.body();
                &room[..1]
            }
        };
        let boxes = set.boxes().iter().map(|hit_box| {
            let pose = *limbs.get(usize::from(hit_box.limb))? * hit_box.offset;
            Some(Pose::from_parts(Vec3::from(pose.translation) - sample.position, pose.rotation))
        });
        let boxes = boxes.collect();
        seen.push(OracleTarget { person, set, sample, boxes, named });
    }
    seen
}

/// A ray in metres with a unit direction.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub origin: Vec3,
    pub direction: Vec3,
    pub max: f32,
}

/// Returns a shape that is larger by `by` metres on all sides.
fn inflated(shape: &SharedShape, by: f32) -> SharedShape {
    let with = |size: f32, by: f32| (size + by).max(1e-4);
    if by == 0.0 {
        shape.clone()
    } else if let Some(cuboid) = shape.as_cuboid() {
        let half = cuboid.half_extents;
        SharedShape::cuboid(with(half.x, by), with(half.y, by), with(half.z, by))
    } else if let Some(ball) = shape.as_ball() {
        SharedShape::ball(with(ball.radius, by))
    } else if let Some(capsule) = shape.as_capsule() {
        SharedShape::capsule(capsule.segment.a, capsule.segment.b, with(capsule.radius, by))
    } else {
        let cylinder = shape.as_cylinder().expect("only cuboids, balls, capsules and cylinders are used");
        SharedShape::cylinder(with(cylinder.half_height, by), with(cylinder.radius, by))
    }
}

/// Intersection method of the oracle for a ray and a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RayMethod {
    /// Parry's own ray cast. It is iterative for capsules and cylinders and off by up to a millimetre.
    Cast,
    /// Sphere tracing: steps by the distance to the shape. Slow and exact.
    SphereTracing,
}

/// Distance at which a point counts as on the surface, in metres.
const SURFACE_EPSILON: f32 = 5e-7;

fn intersect(shape: &SharedShape, pose: &Pose, ray: &Ray, max: f32, by: RayMethod) -> Option<f32> {
    // The ray cast is exact for boxes.
    if by == RayMethod::Cast || shape.as_cuboid().is_some() {
        return shape.cast_ray(pose, ray, max, true);
    }
    let mut along = 0.0_f64;
    for _ in 0..100_000 {
        let point = ray.origin.as_dvec3() + ray.dir.as_dvec3() * along;
        let off = shape.distance_to_point(pose, point.as_vec3(), true);
        if off <= SURFACE_EPSILON {
            return Some(along as f32);
        }
        along += f64::from(off);
        if along > f64::from(max) {
            return None;
        }
    }
    Some(along as f32)
}

impl OracleTarget<'_> {
    /// Returns the distance to each box, in metres, with all boxes larger by `grow`.
    pub fn met(&self, line: &Line, grow: f32, by: RayMethod) -> impl Iterator<Item = (usize, f64)> {
        // Starts shortly before the body, because floats are more exact for small distances.
        let (origin, direction) = (line.origin.as_dvec3(), line.direction.as_dvec3());
        let from = origin - self.sample.position.as_dvec3();
        let skipped = (-from.dot(direction) - f64::from(REACH) - 0.4).max(0.0);
        let near: DVec3 = from + direction * skipped;
        let ray = Ray::new(near.as_vec3(), line.direction);
        let left = f64::from(line.max) + f64::from(grow) - skipped;
        self.boxes.iter().zip(self.set.boxes()).enumerate().filter_map(move |(index, (pose, hit_box))| {
            let (pose, shape) = (pose.as_ref()?, inflated(&hit_box.shape.raw, grow));
            let distance = (left >= 0.0).then(|| intersect(&shape, pose, &ray, left as f32, by))??;
            Some((index, f64::from(distance) + skipped))
        })
    }

    /// Whether the ray hits another of its boxes clearly before this one.
    pub fn is_behind(&self, index: usize, line: &Line) -> bool {
        let all = || self.met(line, 0.0, RayMethod::Cast);
        let own = all().find(|(met, _)| *met == index);
        own.is_some_and(|(_, own)| all().any(|(_, distance)| distance + 0.02 < own))
    }

    fn is_head(&self, index: usize) -> bool {
        self.set.boxes()[index].group == HitGroup::Head
    }
}

fn nearest(met: impl Iterator<Item = (usize, f64)>) -> Option<(usize, f64)> {
    met.reduce(|best, met| if met.1 < best.1 { met } else { best })
}

/// Returns the first hit of a ray.
pub fn first(seen: &[OracleTarget<'_>], line: &Line, by: RayMethod) -> Option<OracleHit> {
    let mut best: Option<OracleHit> = None;
    for target in seen {
        let Some((index, distance)) = nearest(target.met(line, 0.0, by)) else { continue };
        if best.is_some_and(|best| (best.distance, best.id) <= (distance, target.person.id)) {
            continue;
        }
        let head = nearest(target.met(line, 0.0, by).filter(|(index, _)| target.is_head(*index)));
        let index = match head {
            Some((head, _)) if target.set.head_first() => head,
            _ => index,
        };
        let group = target.set.boxes()[index].group;
        best = Some(OracleHit { id: target.person.id, index, group, distance });
    }
    best
}

/// Whether an answer is right for some shapes whose sizes differ by at most `graze` of their distance, if
/// distances may be off by `off` metres.
pub fn is_possible(
    seen: &[OracleTarget<'_>],
    line: &Line,
    answer: Option<OracleHit>,
    off: f64,
    graze: fn(f32) -> f32,
) -> bool {
    const NEVER: f64 = f64::INFINITY;
    // Lower and upper bound of the distance to each box.
    let bounds = |target: &OracleTarget<'_>| {
        let mut all = vec![(NEVER, NEVER); target.boxes.len()];
        let by = graze(line.origin.distance(target.sample.position));
        target.met(line, by, RayMethod::SphereTracing).for_each(|(index, distance)| all[index].0 = distance);
        target.met(line, -by, RayMethod::SphereTracing).for_each(|(index, distance)| all[index].1 = distance);
        all
    };
    let Some(answer) = answer else {
        return seen.iter().flat_map(bounds).all(|(_, latest)| latest == NEVER);
    };
    let slack = off.max(answer.distance * 1e-6);
    seen.iter().all(|target| {
        let all = bounds(target);
        let earliest = all.iter().fold(NEVER, |least, (a, _)| least.min(*a));
        let latest = all.iter().fold(NEVER, |least, (_, b)| least.min(*b));
        if target.person.id != answer.id {
            return latest >= answer.distance - slack;
        }
        let heads = || all.iter().enumerate().filter(|(index, _)| target.is_head(*index)).map(|(_, d)| *d);
        let (from, to) = all[answer.index];
        let counts = if !target.set.head_first() {
            from <= answer.distance + slack && to >= answer.distance - slack
        } else if target.is_head(answer.index) {
            from < NEVER && heads().all(|(_, latest)| latest >= from - slack)
        } else {
            from <= answer.distance + slack
                && to >= answer.distance - slack
                && heads().all(|(_, latest)| latest == NEVER)
        };
        counts && (earliest - slack..=latest + slack).contains(&answer.distance)
    }) && seen.iter().any(|target| target.person.id == answer.id)
}
