//! Random query times, claims, filters and rays.

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};
use bevy_unlag_rewind::{
    HitLayers, QueryView, RewindFilter, RewindLimits, RewindMode, RewindTime, StampOverride, Team,
};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};

use crate::differential::{
    oracle::{Line, OracleTarget},
    random_world::{CrowdTarget, RandomWorld},
};

/// A query's time, limits and filter.
#[derive(Clone, Debug)]
pub struct RandomQuery {
    kind: Kind,
    time: ViewTime,
    pub overrides: Vec<StampOverride>,
    bases: Option<ViewTime>,
    queued_ticks: u32,
    pub limits: Option<RewindLimits>,
    without: Option<Entity>,
    exclude_team: Option<Team>,
    layers: HitLayers,
    /// Whether a predicate excludes half of the targets.
    some: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Now,
    At,
    View,
}

impl RandomQuery {
    pub fn time(&self) -> RewindTime<'_> {
        match self.kind {
            Kind::Now => RewindTime::Now,
            Kind::At => RewindTime::At(self.time),
            Kind::View => RewindTime::View(QueryView {
                overrides: &self.overrides,
                bases: self.bases,
                queued_ticks: self.queued_ticks,
                limits: self.limits.as_ref(),
                ..QueryView::from(self.time)
            }),
        }
    }

    pub fn filter<'a>(&self, half: &'a (dyn Fn(Entity) -> bool + Sync)) -> RewindFilter<'a> {
        let predicate = self.some.then_some(half);
        RewindFilter {
            exclude: self.without,
            exclude_team: self.exclude_team,
            layers: self.layers,
            predicate,
        }
    }
}

pub struct QueryGenerator {
    rng: SmallRng,
}

impl QueryGenerator {
    pub fn new(crowd: &RandomWorld) -> Self {
        Self { rng: SmallRng::seed_from_u64(crowd.seed << 32 | u64::from(crowd.now().0)) }
    }

    fn chance(&mut self, p: f64) -> bool {
        self.rng.random_bool(p)
    }

    fn sphere(&mut self, radius: f32) -> Vec3 {
        loop {
            let mut one = || self.rng.random_range(-1.0..1.0_f32);
            let point = Vec3::new(one(), one(), one());
            if point.length_squared() <= 1.0 {
                return point * radius;
            }
        }
    }

    /// Returns a random query.
    pub fn moment(&mut self, crowd: &RandomWorld) -> RandomQuery {
        let now = crowd.now();
        let kind = match self.rng.random_range(0..10) {
            0 => Kind::Now,
            1 | 2 => Kind::At,
            _ => Kind::View,
        };
        let age: f64 = match self.rng.random_range(0..20) {
            // In the future, as new as possible, beyond the cap, refused.
            0 => self.rng.random_range(-3.0..0.0),
            1 => self.rng.random_range(0.0..1.0),
            2 | 3 => self.rng.random_range(25.0..64.0),
            4 if self.chance(0.3) => self.rng.random_range(60.0..80.0),
            _ => self.rng.random_range(0.0..30.0),
        };
        let age = if self.chance(0.2) { age.round() } else { age };
        let time = ViewTime::after(now, -age);
        let limits = match self.rng.random_range(0..16) {
            0 => Some(RewindLimits { max_distance: self.rng.random_range(0.2..3.0), ..default() }),
            1 => Some(RewindLimits { mode: RewindMode::Off, ..default() }),
            _ => None,
        };
        let queued_ticks = if self.chance(0.1) { self.rng.random_range(0..16) } else { 0 };
        let bases = self.chance(0.5).then(|| ViewTime::after(now, -self.rng.random_range(0.0..4.0)));
        let named = if self.chance(0.4) { self.rng.random_range(1..7) } else { 0 };
        let mut overrides = Vec::new();
        for _ in 0..named {
            let person = crowd.people.choose(&mut self.rng).expect("the crowd must not be empty");
            overrides.extend(self.claim(crowd, person, time));
        }
        let somebody = crowd.people.choose(&mut self.rng).expect("the crowd must not be empty").entity;
        RandomQuery {
            kind,
            time,
            overrides,
            bases,
            queued_ticks,
            limits,
            without: self.chance(0.3).then_some(somebody),
            exclude_team: self.chance(0.2).then(|| Team(self.rng.random_range(0..3))),
            layers: if self.chance(0.15) { HitLayers(self.rng.random_range(1..8)) } else { default() },
            some: self.chance(0.1),
        }
    }

    /// Claims that a target was drawn from other snapshots, most of which were sent.
    fn claim(&mut self, crowd: &RandomWorld, person: &CrowdTarget, time: ViewTime) -> Option<StampOverride> {
        let sent: Vec<Tick> = crowd.history(person).sent.iter().map(|snapshot| snapshot.tick).collect();
        let shift = if self.chance(0.5) { 0 } else { self.rng.random_range(-12 * 256..6 * 256) };
        let own = time.later(i64::from(shift));
        let after = sent.partition_point(|tick| tick.since(own.tick) <= 0);
        let from = *sent.get(after.checked_sub(1 + self.rng.random_range(0..3))?)?;
        let to = sent.get(after + self.rng.random_range(0..3)).copied();
        let to = if self.chance(0.2) { None } else { to };
        let wrong = if self.chance(0.05) { self.rng.random_range(-2..3) } else { 0 };
        let shift = if self.chance(0.02) { i16::MAX } else { shift };
        Some(StampOverride { target: person.id, from: from.offset(wrong), to, shift })
    }

    /// Returns a ray at the present targets.
    pub fn ray(&mut self, seen: &[OracleTarget<'_>]) -> Line {
        let target = seen.choose(&mut self.rng);
        let at = match target {
            Some(target) => {
                let limb = target.boxes.choose(&mut self.rng).copied().flatten();
                target.sample.position + limb.map_or(Vec3::Y, |pose| pose.translation)
            }
            None => self.sphere(20.0),
        };
        let at = at + self.sphere(0.3);
        let mut away = self.sphere(1.0).normalize_or(Vec3::X);
        if self.chance(0.7) {
            away.y *= 0.15;
        }
        if self.chance(0.05) {
            // Along an axis of the world.
            away = *[Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z]
                .choose(&mut self.rng)
                .expect("there are six axes");
        }
        let distance = match self.rng.random_range(0..10) {
            // From the inside or nearly so, point blank, from afar.
            0 | 1 => self.rng.random_range(0.0..0.2),
            2..=4 => self.rng.random_range(0.3..4.0),
            9 => self.rng.random_range(50.0..300.0),
            _ => self.rng.random_range(4.0..50.0),
        };
        let origin = at + away.normalize_or(Vec3::X) * distance;
        // Mostly at the target, sometimes in any direction.
        let direction = if self.chance(0.1) { self.sphere(1.0) } else { -away };
        let max = match self.rng.random_range(0..10) {
            0 => distance + self.rng.random_range(-0.5..0.5_f32),
            1 => self.rng.random_range(0.0..60.0),
            _ => 400.0,
        };
        let direction = direction * self.rng.random_range(0.2..5.0_f32);
        Line { origin, direction, max }
    }
}
