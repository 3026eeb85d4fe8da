//! Deterministic projectile trajectories: position as a function of age, bitwise equal on all machines with
//! the same static geometry.

use bevy::prelude::*;
use bevy_unlag_core::{LocalGravity, SUB_TICKS, WorldGravity};
use bevy_unlag_rewind::{Ballistic, WallContact};

use super::ProjectileLaunch;
use crate::weapon::{Bounce, Projectile, ticks};

/// Distance from a wall after a bounce, in metres.
const SKIN: f32 = 1e-3;
/// Speed after a bounce off the ground below which the projectile comes to rest, in metres per second.
const REST: f32 = 0.3;
/// Maximum number of bounces per tick, after which the projectile comes to rest.
const MAX_BOUNCES_PER_TICK: usize = 4;

/// A straight segment of a trajectory, within one tick.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PathSegment {
    /// Age at the start, in ticks.
    pub from: f64,
    /// Age at the end, in ticks.
    pub to: f64,
    /// Start position, in metres.
    pub a: Vec3,
    /// End position, in metres.
    pub b: Vec3,
    /// Velocity at the start, in metres per second.
    pub velocity: Vec3,
}

impl PathSegment {
    /// Returns the age at a fraction of the segment, in ticks.
    #[must_use]
    pub fn age(&self, part: f32) -> f64 {
        self.from + (self.to - self.from) * f64::from(part)
    }

    /// Splits the segment in two: a target that turns within a tick does not move in a straight line.
    pub(super) fn halves(&self) -> [Self; 2] {
        let (age, middle) = (self.age(0.5), self.a.lerp(self.b, 0.5));
        [Self { to: age, b: middle, ..*self }, Self { from: age, a: middle, ..*self }]
    }

    /// Clips the segment to the range between two ages, in ticks; `None` if nothing is left.
    fn between(&self, from: f64, to: f64) -> Option<Self> {
        let (from, to) = (self.from.max(from), self.to.min(to));
        (from < to).then(|| Self { from, to, a: self.at(from), b: self.at(to), ..*self })
    }

    fn at(&self, age: f64) -> Vec3 {
        let part = (age - self.from) / (self.to - self.from).max(1e-9);
        self.a.lerp(self.b, part.clamp(0.0, 1.0) as f32)
    }
}

/// End of a trajectory that hits no pawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathEnd {
    /// Age, in ticks.
    pub age: f64,
    /// Position of the projectile's centre.
    pub point: Vec3,
    /// Outward unit normal of the wall that it hit; `None` if its lifetime is over.
    pub normal: Option<Vec3>,
}

/// Trajectory of a projectile that hits no pawn: a ballistic path with bounces off walls, until it ends at a
/// wall or its lifetime is over. Each tick of age is tested against static geometry in a few straight
/// segments, and falls along the gravity of the place where that tick begins. The result is a pure function of
/// the [launch](ProjectileLaunch), independent of who evaluates it and how often.
#[derive(Clone, Debug)]
pub struct Trajectory {
    start: Ballistic,
    started_bounces: u8,
    /// Acceleration in ordinary gravity.
    weight: f32,
    /// Gravity at the shooter, for where it is unknown.
    at_launch: LocalGravity,
    gravity: WorldGravity,
    /// Gravity in the last simulated tick.
    here: LocalGravity,
    radius: f32,
    bounce: Option<Bounce>,
    /// Age at the end of the lifetime, in ticks.
    life: f64,
    tick_seconds: f32,
    /// Number of whole ticks of age that have been simulated.
    ticks: u32,
    now: Ballistic,
    /// Whether it has come to rest.
    lies: bool,
    bounces: u8,
    /// Segments of the last simulated tick.
    segments: [PathSegment; MAX_BOUNCES_PER_TICK + 2],
    count: usize,
    end: Option<PathEnd>,
}

impl Trajectory {
    /// Creates the trajectory of a launch, in an app with the given tick length in seconds. It falls along the
    /// shooter's up direction at the launch; see [`in_gravity`](Self::in_gravity).
    #[must_use]
    pub fn new(launch: &ProjectileLaunch, projectile: &Projectile, tick_seconds: f32) -> Self {
        let at_launch = LocalGravity { up: launch.up.direction(), scale: 1.0 };
        let gravity = at_launch.acceleration(projectile.gravity);
        let start = Ballistic { position: launch.from, velocity: launch.velocity(), gravity };
        let sound = start.position.is_finite() && start.velocity.is_finite() && gravity.is_finite();
        let life = f64::from(ticks(projectile.life, tick_seconds));
        let flown = f64::from(launch.flown) / SUB_TICKS as f64;
        let mut path = Self {
            start,
            started_bounces: launch.bounces,
            weight: projectile.gravity,
            at_launch,
            gravity: WorldGravity::default(),
            here: at_launch,
            radius: projectile.radius.max(0.0),
            bounce: projectile.bounce,
            life: if sound { (life - flown).max(0.0) } else { 0.0 },
            tick_seconds,
            ticks: 0,
            now: start,
            lies: false,
            bounces: launch.bounces,
            segments: default(),
            count: 0,
            end: None,
        };
        path.restart();
        path
    }

    /// Lets it fall along the gravity of every place that it passes, where that is known. Call it before the
    /// trajectory is evaluated.
    #[must_use]
    pub fn in_gravity(self, gravity: &WorldGravity) -> Self {
        Self { gravity: gravity.clone(), ..self }
    }

    fn restart(&mut self) {
        (self.now, self.lies, self.here) = (self.start, false, self.at_launch);
        self.bounces = self.started_bounces;
        (self.ticks, self.count, self.end) = (0, 0, None);
        if self.life <= 0.0 {
            self.end = Some(PathEnd { age: 0.0, point: self.start.position, normal: None });
        }
    }

    /// Returns the end, once it is known.
    #[must_use]
    pub fn end(&self) -> Option<PathEnd> {
        self.end
    }

    /// Returns the up direction in the last simulated tick, a unit vector.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.here.up
    }

    /// Returns the number of bounces so far.
    #[must_use]
    pub fn bounces(&self) -> u8 {
        self.bounces
    }

    /// Returns the segments of the last simulated tick.
    #[must_use]
    pub fn segments(&self) -> &[PathSegment] {
        &self.segments[..self.count]
    }

    /// Simulates the next tick of age; does nothing after the end. `touch(origin, direction, max_distance,
    /// radius)` returns where a sphere that moves along a unit direction first touches a wall:
    /// [`WorldTrace::cast_contact`](bevy_unlag_rewind::WorldTrace::cast_contact).
    pub fn advance(&mut self, touch: impl Fn(Vec3, Vec3, f32, f32) -> Option<WallContact>) {
        if self.end.is_some() {
            return;
        }
        self.count = 0;
        if !self.lies {
            self.here = self.gravity.at(self.now.position).unwrap_or(self.at_launch);
            self.now.gravity = self.here.acceleration(self.weight);
        }
        let mut at = f64::from(self.ticks);
        self.ticks += 1;
        let until = f64::from(self.ticks).min(self.life);
        while at < until {
            let seconds = (until - at) as f32 * self.tick_seconds;
            let next = self.now.after(seconds);
            let (a, velocity) = (self.now.position, self.now.velocity);
            let length = a.distance(next.position);
            let direction = (next.position - a).try_normalize();
            let wall = direction.and_then(|direction| {
                let wall = touch(a, direction, length, self.radius)?;
                Some((wall, (wall.distance / length).clamp(0.0, 1.0)))
            });
            let Some((wall, part)) = wall else {
                self.push(PathSegment { from: at, to: until, a, b: next.position, velocity });
                (self.now, at) = (next, until);
                continue;
            };
            let age = at + (until - at) * f64::from(part);
            let point = a.lerp(next.position, part);
            self.push(PathSegment { from: at, to: age, a, b: point, velocity });
            let Some(bounce) = self.bounce.filter(|bounce| self.bounces < bounce.times) else {
                self.end = Some(PathEnd { age, point, normal: Some(wall.normal) });
                return;
            };
            self.bounces += 1;
            let arrives = self.now.after(seconds * part).velocity;
            let mut leaves = reflect(arrives, wall.normal, bounce.keep);
            let gravity = self.now.gravity;
            let lies = leaves.length() < REST && wall.normal.dot(gravity) < -0.5 * gravity.length();
            // In a narrow gap it would bounce to and fro endlessly.
            let stuck = self.count > MAX_BOUNCES_PER_TICK;
            if lies || stuck {
                leaves = Vec3::ZERO;
                self.lies = true;
            }
            let gravity = if lies || stuck { Vec3::ZERO } else { gravity };
            self.now = Ballistic { position: point + wall.normal * SKIN, velocity: leaves, gravity };
            at = age;
        }
        if until >= self.life {
            self.end = Some(PathEnd { age: self.life, point: self.now.position, normal: None });
        }
    }

    fn push(&mut self, piece: PathSegment) {
        if let Some(slot) = self.segments.get_mut(self.count) {
            *slot = piece;
            self.count += 1;
        }
    }

    /// Calls `each` with the segments from one age to a later one, in ticks, while it returns `true`. The
    /// cost is proportional to the number of ticks in between; for an age before the last simulated tick, the
    /// trajectory is simulated again from its start.
    pub fn for_each_segment(
        &mut self,
        from: f64,
        to: f64,
        touch: impl Fn(Vec3, Vec3, f32, f32) -> Option<WallContact>,
        mut each: impl FnMut(&PathSegment) -> bool,
    ) {
        if from < f64::from(self.ticks) - 1.0 {
            self.restart();
        }
        loop {
            for piece in self.segments().iter().filter_map(|piece| piece.between(from, to)) {
                if !each(&piece) {
                    return;
                }
            }
            if self.end.is_some() || f64::from(self.ticks) >= to {
                return;
            }
            self.advance(&touch);
        }
    }

    /// Returns position and velocity at an age, in ticks. Only the last simulated tick is known: see
    /// [`for_each_segment`](Self::for_each_segment).
    #[must_use]
    pub fn at(&self, age: f64) -> (Vec3, Vec3) {
        let piece = self.segments().iter().rev().find(|piece| piece.from <= age);
        let piece = piece.or(self.segments().first());
        piece.map_or((self.start.position, self.start.velocity), |piece| {
            let passed = (age.clamp(piece.from, piece.to) - piece.from) as f32 * self.tick_seconds;
            let moves = piece.velocity != Vec3::ZERO;
            let pulled = if moves { self.here.acceleration(self.weight) * passed } else { Vec3::ZERO };
            (piece.at(age), piece.velocity + pulled)
        })
    }
}

/// Returns the unit direction of a velocity, or down if it is zero.
pub(super) fn direction_or_down(velocity: Vec3, up: Vec3) -> Vec3 {
    velocity.try_normalize().unwrap_or(LocalGravity { up, scale: 1.0 }.down())
}

/// Reflects a velocity off a surface and scales it by `keep`.
pub(crate) fn reflect(velocity: Vec3, normal: Vec3, keep: f32) -> Vec3 {
    (velocity - normal * (2.0 * velocity.dot(normal).min(0.0))) * keep
}

#[cfg(test)]
mod tests;
