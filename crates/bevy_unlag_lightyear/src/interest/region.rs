//! Regions in which an eye or a body can be soon, as sets of lattice points.

use bevy::prelude::*;

use super::lattice::{Rays, SightLattice, Way};

/// Ways along the lattice are at most this much longer than straight ones.
const DETOUR: f32 = 1.1;
/// Part of the spacing by which a region is widened, so that it holds the nearest points of all places in it.
const SLACK: f32 = 0.6;

/// Motion of which a pawn is capable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// Speed in metres per second, horizontal and vertical.
    pub speed: Vec2,
    /// Height of a jump in metres.
    pub jump: f32,
    /// Time constant in seconds with which the velocity follows the input.
    pub response: f32,
}

/// Region in which a part of a pawn can be within some time, relative to up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// Middle of the region at the height of the root.
    centre: Vec3,
    /// Horizontal radius, and longest way from the root, in metres.
    radius: f32,
    way: f32,
    /// Lowest and highest place above the root.
    low: f32,
    high: f32,
}

/// Place of a pawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub position: Vec3,
    pub up: Vec3,
    pub velocity: Vec3,
    /// Height above the position of a point inside the body.
    pub middle: f32,
}

impl Region {
    /// Returns where the parts of a pawn between the heights `low` and `high` and within `radius` of its axis can be in
    /// `seconds`.
    ///
    /// A velocity that follows its input with a time constant τ has moved the pawn by v·τ·(1 − e^(−t/τ)) whatever the
    /// input is, and by at most the rest of its speed in any direction.
    pub fn new(
        root: &Root,
        (radius, low, high): (f32, f32, f32),
        motion: &Motion,
        seconds: f32,
        spacing: Vec3,
    ) -> Self {
        let rise = root.velocity.dot(root.up);
        let along = root.velocity - root.up * rise;
        let speed = motion.speed.x.max(along.length());
        let response = motion.response.max(1e-3);
        let lag = response * (1.0 - (-seconds / response).exp());
        let jump = (motion.speed.y * seconds).min(motion.jump);
        let slack = spacing.y * 0.5;
        Self {
            centre: root.position + along * lag,
            radius: radius + speed * (seconds - lag) + spacing.x * SLACK,
            way: radius + speed * seconds * DETOUR + spacing.x,
            low: low - jump.max(-rise * seconds) - slack,
            high: high + jump.max(rise * seconds) + slack,
        }
    }

    fn holds(&self, at: Vec3, up: Vec3, way: f32) -> bool {
        let from = at - self.centre;
        let height = from.dot(up);
        let aside = (from - up * height).length();
        way <= self.way && aside <= self.radius && (self.low..=self.high).contains(&height)
    }
}

/// Buffers of [`collect`].
#[derive(Default)]
pub(super) struct Search {
    /// Shortest known way to each point; infinite for points that were not reached.
    ways: Vec<f32>,
    reached: Vec<u32>,
    open: Vec<u32>,
}

impl Search {
    /// Notes a way to a point, and whether it is shorter than the one before.
    fn reach(&mut self, point: u32, way: f32) {
        let index = point as usize;
        if self.ways.len() <= index {
            self.ways.resize(index + 1, f32::INFINITY);
        }
        if way < self.ways[index] {
            if self.ways[index] == f32::INFINITY {
                self.reached.push(point);
            }
            self.ways[index] = way;
            self.open.push(point);
        }
    }

    fn reset(&mut self) {
        for point in self.reached.drain(..) {
            self.ways[point as usize] = f32::INFINITY;
        }
        self.open.clear();
    }
}

/// Collects the points of two regions around a pawn that it can reach without passing through walls. Returns false if
/// they are not all known: no ray was left, or no point around the pawn is in its sight.
pub(super) fn collect(
    lattice: &mut SightLattice,
    root: &Root,
    [eyes, body]: [&Region; 2],
    rays: &mut Rays<'_>,
    search: &mut Search,
    (eye_points, body_points): (&mut Vec<u32>, &mut Vec<u32>),
) -> bool {
    eye_points.clear();
    body_points.clear();
    search.reset();
    let longest = eyes.way.max(body.way);
    let (low, high) = (eyes.low.min(body.low), eyes.high.max(body.high));
    let middle = root.position + root.up * root.middle;
    lattice.for_each_corner(middle, rays, |point, at| {
        let from = at - root.position;
        search.reach(point, (from - root.up * from.dot(root.up)).length());
    });
    let mut is_complete = !search.open.is_empty();
    let steps: [f32; SightLattice::NEIGHBOURS] = core::array::from_fn(|step| {
        let by = lattice.step(step);
        (by - root.up * by.dot(root.up)).length()
    });
    let mut next = 0;
    while let Some(&point) = search.open.get(next) {
        next += 1;
        let way = search.ways[point as usize];
        for (step, length) in steps.iter().enumerate() {
            let there = way + length;
            let height = (lattice.position(point) + lattice.step(step) - root.position).dot(root.up);
            if there > longest || !(low..=high).contains(&height) {
                continue;
            }
            match lattice.way(point, step, rays) {
                Way::Open(other) => search.reach(other, there),
                Way::Blocked => {}
                Way::Unknown => is_complete = false,
            }
        }
    }
    for point in &search.reached {
        let (at, way) = (lattice.position(*point), search.ways[*point as usize]);
        if eyes.holds(at, root.up, way) {
            eye_points.push(*point);
        }
        if body.holds(at, root.up, way) {
            body_points.push(*point);
        }
    }
    is_complete && !eye_points.is_empty() && !body_points.is_empty()
}
