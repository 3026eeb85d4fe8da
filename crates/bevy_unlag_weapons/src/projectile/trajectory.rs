//! Where a projectile is, as a function of its age: the same bits on every machine with the same walls.

use bevy::prelude::*;
use bevy_unlag_core::SUB_TICKS;
use bevy_unlag_rewind::{Ballistic, WallTouch};

use super::ProjectileLaunch;
use crate::{Bounce, Projectile, weapon::ticks};

/// Metres that it is put off a wall that it bounced off.
const SKIN: f32 = 1e-3;
/// On the ground it comes to rest when it bounces off slower than this, in metres per second.
const REST: f32 = 0.3;
/// How often it bounces in a tick, before it comes to rest.
const MOST_BOUNCES: usize = 4;

/// A straight part of a trajectory, within a tick.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Piece {
    /// Its age at the start, in ticks.
    pub from: f64,
    /// Its age at the end, in ticks.
    pub to: f64,
    /// Where it starts, in metres.
    pub a: Vec3,
    /// Where it ends.
    pub b: Vec3,
    /// How fast it goes at the start, in metres per second.
    pub velocity: Vec3,
}

impl Piece {
    /// The age at a part of it, in ticks.
    #[must_use]
    pub fn age(&self, part: f32) -> f64 {
        self.from + (self.to - self.from) * f64::from(part)
    }

    /// Both halves of it: who turns within a tick does not go straight in it.
    pub(super) fn halves(&self) -> [Self; 2] {
        let (age, middle) = (self.age(0.5), self.a.lerp(self.b, 0.5));
        [Self { to: age, b: middle, ..*self }, Self { from: age, a: middle, ..*self }]
    }

    /// The part of it between two ages, in ticks; `None` for nothing of it.
    fn between(&self, from: f64, to: f64) -> Option<Self> {
        let (from, to) = (self.from.max(from), self.to.min(to));
        (from < to).then(|| Self { from, to, a: self.at(from), b: self.at(to), ..*self })
    }

    fn at(&self, age: f64) -> Vec3 {
        let part = (age - self.from) / (self.to - self.from).max(1e-9);
        self.a.lerp(self.b, part.clamp(0.0, 1.0) as f32)
    }
}

/// Where a trajectory ends when it meets nobody.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathEnd {
    /// Its age, in ticks.
    pub age: f64,
    /// Where its middle is.
    pub point: Vec3,
    /// The unit vector out of the wall that it met; `None` when its time is over.
    pub normal: Option<Vec3>,
}

/// Where a projectile is that meets nobody: pulled down, off walls, until it ends at one or its time is over. A
/// tick of its age at a time is tested against what never moves, each by a few straight lines: a pure function of
/// its [launch](ProjectileLaunch), whoever asks and however often.
#[derive(Clone, Debug)]
pub struct Trajectory {
    start: Ballistic,
    started_bounces: u8,
    radius: f32,
    bounce: Option<Bounce>,
    /// Its last age, in ticks.
    life: f64,
    tick_seconds: f32,
    /// Whole ticks of its age that were gone through.
    ticks: u32,
    now: Ballistic,
    bounces: u8,
    /// Of the last of these ticks.
    pieces: [Piece; MOST_BOUNCES + 2],
    count: usize,
    end: Option<PathEnd>,
}

impl Trajectory {
    /// The path of something that was launched, in an app with ticks of so many seconds.
    #[must_use]
    pub fn new(launch: &ProjectileLaunch, projectile: &Projectile, tick_seconds: f32) -> Self {
        let gravity = Vec3::NEG_Y * projectile.gravity;
        let start = Ballistic { position: launch.from, velocity: launch.velocity(), gravity };
        let sound = start.position.is_finite() && start.velocity.is_finite() && gravity.is_finite();
        let life = f64::from(ticks(projectile.life, tick_seconds));
        let flown = f64::from(launch.flown) / SUB_TICKS as f64;
        let mut path = Self {
            start,
            started_bounces: launch.bounces,
            radius: projectile.radius.max(0.0),
            bounce: projectile.bounce,
            life: if sound { (life - flown).max(0.0) } else { 0.0 },
            tick_seconds,
            ticks: 0,
            now: start,
            bounces: launch.bounces,
            pieces: default(),
            count: 0,
            end: None,
        };
        path.rewind();
        path
    }

    fn rewind(&mut self) {
        (self.now, self.bounces) = (self.start, self.started_bounces);
        (self.ticks, self.count, self.end) = (0, 0, None);
        if self.life <= 0.0 {
            self.end = Some(PathEnd { age: 0.0, point: self.start.position, normal: None });
        }
    }

    /// Where it ends, once that is known.
    #[must_use]
    pub fn end(&self) -> Option<PathEnd> {
        self.end
    }

    /// How often it has bounced by now.
    #[must_use]
    pub fn bounces(&self) -> u8 {
        self.bounces
    }

    /// The parts of the tick of its age that was gone through last.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces[..self.count]
    }

    /// Goes through the next tick of its age; nothing once it has ended. `touch` says where a ball of a radius
    /// touches a wall that goes from a place along a unit direction for so many metres:
    /// [`WorldTrace::touch`](bevy_unlag_rewind::WorldTrace::touch).
    pub fn advance(&mut self, touch: impl Fn(Vec3, Vec3, f32, f32) -> Option<WallTouch>) {
        if self.end.is_some() {
            return;
        }
        self.count = 0;
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
                self.push(Piece { from: at, to: until, a, b: next.position, velocity });
                (self.now, at) = (next, until);
                continue;
            };
            let age = at + (until - at) * f64::from(part);
            let point = a.lerp(next.position, part);
            self.push(Piece { from: at, to: age, a, b: point, velocity });
            let Some(bounce) = self.bounce.filter(|bounce| self.bounces < bounce.times) else {
                self.end = Some(PathEnd { age, point, normal: Some(wall.normal) });
                return;
            };
            self.bounces += 1;
            let arrives = self.now.after(seconds * part).velocity;
            let mut leaves = reflected(arrives, wall.normal, bounce.keep);
            let gravity = self.now.gravity;
            let lies = leaves.length() < REST && wall.normal.dot(gravity) < -0.5 * gravity.length();
            // In a narrow place it would go to and fro without end.
            let stuck = self.count > MOST_BOUNCES;
            if lies || stuck {
                leaves = Vec3::ZERO;
            }
            let gravity = if lies || stuck { Vec3::ZERO } else { gravity };
            self.now = Ballistic { position: point + wall.normal * SKIN, velocity: leaves, gravity };
            at = age;
        }
        if until >= self.life {
            self.end = Some(PathEnd { age: self.life, point: self.now.position, normal: None });
        }
    }

    fn push(&mut self, piece: Piece) {
        if let Some(slot) = self.pieces.get_mut(self.count) {
            *slot = piece;
            self.count += 1;
        }
    }

    /// Calls back with the way from one age to a later one, in ticks, for as long as it answers yes: work for every
    /// tick in between, and from the very start to an age before the last tick that was gone through.
    pub fn walk(
        &mut self,
        from: f64,
        to: f64,
        touch: impl Fn(Vec3, Vec3, f32, f32) -> Option<WallTouch>,
        mut each: impl FnMut(&Piece) -> bool,
    ) {
        if from < f64::from(self.ticks) - 1.0 {
            self.rewind();
        }
        loop {
            for piece in self.pieces().iter().filter_map(|piece| piece.between(from, to)) {
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

    /// Where it is at an age, in ticks, and how fast it goes. What was not gone through is not known: see
    /// [`walk`](Self::walk).
    #[must_use]
    pub fn at(&self, age: f64) -> (Vec3, Vec3) {
        let piece = self.pieces().iter().rev().find(|piece| piece.from <= age);
        let piece = piece.or(self.pieces().first());
        piece.map_or((self.start.position, self.start.velocity), |piece| {
            let passed = (age.clamp(piece.from, piece.to) - piece.from) as f32 * self.tick_seconds;
            let moves = piece.velocity != Vec3::ZERO;
            let pulled = if moves { self.start.gravity * passed } else { Vec3::ZERO };
            (piece.at(age), piece.velocity + pulled)
        })
    }
}

/// What is left of a velocity behind a surface.
pub(crate) fn reflected(velocity: Vec3, normal: Vec3, keep: f32) -> Vec3 {
    (velocity - normal * (2.0 * velocity.dot(normal).min(0.0))) * keep
}

#[cfg(test)]
mod tests;
