//! Lattice of points, and which of them see each other.

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_unlag_rewind::WorldTrace;

/// Steps to the neighbours of a point.
const STEPS: [IVec3; 10] = [
    IVec3::new(1, 0, 0),
    IVec3::new(-1, 0, 0),
    IVec3::new(0, 0, 1),
    IVec3::new(0, 0, -1),
    IVec3::new(1, 0, 1),
    IVec3::new(1, 0, -1),
    IVec3::new(-1, 0, 1),
    IVec3::new(-1, 0, -1),
    IVec3::new(0, 1, 0),
    IVec3::new(0, -1, 0),
];
/// Position of the first point in units of the spacing: levels are built on whole numbers, and rays along the faces of
/// walls would be decided by rounding.
const OFFSET: Vec3 = Vec3::new(0.37, 0.5, 0.41);
/// Directions to the sides of a point.
const SIDES: [Vec3; 4] = [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z];
/// Distance from a point to its sides in units of the spacing: rays from side to side find openings that the ray from
/// point to point misses.
const ASIDE: f32 = 0.35;
/// Height above the ground up to which points are known in advance, in metres.
const PREPARED_HEIGHT: f32 = 3.0;

/// Way from a point to a neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Unknown,
    Blocked,
    Open(u32),
}

struct Point {
    cell: IVec3,
    ways: [Way; STEPS.len()],
    /// Which sides are not behind a wall, once that is known.
    sides: Option<[bool; SIDES.len()]>,
    /// Bits of the points of which it is known whether they are in sight, and of those that are.
    known: Vec<u64>,
    seen: Vec<u64>,
}

/// Whether two sets of points see each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sight {
    Clear,
    Blocked,
    Unknown,
}

/// Rays against the level, and how many may still be cast.
pub(super) struct Rays<'a> {
    pub is_clear: &'a dyn Fn(Vec3, Vec3) -> bool,
    pub left: u32,
    pub cast: u64,
}

impl Rays<'_> {
    /// Casts a ray that does not count.
    pub fn probe(&mut self, a: Vec3, b: Vec3) -> bool {
        self.cast += 1;
        (self.is_clear)(a, b)
    }

    /// Casts a ray, even if none is left.
    pub fn cast(&mut self, a: Vec3, b: Vec3) -> bool {
        self.left = self.left.saturating_sub(1);
        self.probe(a, b)
    }
}

/// Points of the level in a regular lattice and the lines of sight between them. That two points see each other is a
/// fact of the fixed level: it is found by one ray, or by up to five if walls are in between, and remembered, so a
/// level that was played on for a while needs hardly any rays. Points are added where pawns are.
///
/// Fixed colliders that appear, move or disappear clear it by themselves; call [`clear`](Self::clear) after changes
/// that components do not show, such as disabled colliders.
#[derive(Resource)]
pub struct SightLattice {
    spacing: Vec3,
    max_points: usize,
    index: HashMap<IVec3, u32>,
    points: Vec<Point>,
    is_full: bool,
}

impl SightLattice {
    /// Creates an empty lattice with this horizontal and vertical spacing in metres, at least 0.1 each, and at most
    /// this many points.
    #[must_use]
    pub fn new(spacing: Vec2, max_points: usize) -> Self {
        let Vec2 { x: across, y: up } = spacing.max(Vec2::splat(0.1));
        Self {
            spacing: Vec3::new(across, up, across),
            max_points: max_points.min(u32::MAX as usize),
            index: HashMap::default(),
            points: Vec::new(),
            is_full: false,
        }
    }

    /// Returns the number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Forgets everything, because the level has changed.
    pub fn clear(&mut self) {
        self.index.clear();
        self.points.clear();
        self.is_full = false;
    }

    /// Casts all rays between the points that can be reached from `starts` and are at most 3 m above the ground along
    /// +Y, so that no pawn is shown for lack of tests. Call it when the level has been loaded, with some spawn points
    /// about a metre above the ground, and not before physics has taken the level in: in a frame after the one that
    /// spawned it and a few more. Takes seconds: half a square of the number of points, at a third of a microsecond
    /// each; a floor of 40 × 40 m has about 3,000 points at the default spacing.
    pub fn prepare(&mut self, world: &WorldTrace<'_, '_>, starts: &[Vec3]) {
        let is_clear = |a: Vec3, b: Vec3| world.is_clear(a, b);
        self.prepare_by(&is_clear, starts);
    }

    pub(super) fn prepare_by(&mut self, is_clear: &dyn Fn(Vec3, Vec3) -> bool, starts: &[Vec3]) {
        let mut rays = Rays { is_clear, left: u32::MAX, cast: 0 };
        let mut open: Vec<u32> = Vec::new();
        for start in starts {
            self.for_each_corner(*start, &mut rays, |point, _| open.push(point));
        }
        let mut is_known = vec![false; self.points.len()];
        let mut low = Vec::new();
        while let Some(point) = open.pop() {
            is_known.resize(self.points.len(), false);
            if core::mem::replace(&mut is_known[point as usize], true) {
                continue;
            }
            let at = self.position(point);
            let is_high = rays.cast(at, at - Vec3::Y * PREPARED_HEIGHT);
            if is_high {
                continue;
            }
            low.push(point);
            for step in 0..Self::NEIGHBOURS {
                if let Way::Open(next) = self.way(point, step, &mut rays) {
                    open.push(next);
                }
            }
        }
        for (index, a) in low.iter().enumerate() {
            for b in &low[index + 1..] {
                if self.fact(*a, *b).is_none() {
                    self.find(*a, *b, &mut rays);
                }
            }
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn spacing(&self) -> Vec3 {
        self.spacing
    }

    pub(super) fn position(&self, point: u32) -> Vec3 {
        self.place(self.points[point as usize].cell)
    }

    /// Returns the position of the point of a cell.
    fn place(&self, cell: IVec3) -> Vec3 {
        (cell.as_vec3() + OFFSET) * self.spacing
    }

    /// Calls `found` with each point around `from`, at the corners of its cell, to which there is a clear line.
    pub(super) fn for_each_corner(
        &mut self,
        from: Vec3,
        rays: &mut Rays<'_>,
        mut found: impl FnMut(u32, Vec3),
    ) {
        let base = from / self.spacing - OFFSET;
        if !base.is_finite() || base.abs().max_element() > 1e8 {
            return;
        }
        let base = base.floor().as_ivec3();
        for corner in 0..8 {
            let cell = base + IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2);
            let at = self.place(cell);
            if rays.probe(from, at)
                && let Some(point) = self.point(cell)
            {
                found(point, at);
            }
        }
    }

    /// Returns the point of a cell. `None` if the lattice is full.
    fn point(&mut self, cell: IVec3) -> Option<u32> {
        if let Some(known) = self.index.get(&cell) {
            return Some(*known);
        }
        if self.points.len() >= self.max_points {
            self.is_full = true;
            return None;
        }
        let point = self.points.len() as u32;
        self.points.push(Point {
            cell,
            ways: [Way::Unknown; STEPS.len()],
            sides: None,
            known: Vec::new(),
            seen: Vec::new(),
        });
        self.index.insert(cell, point);
        self.mark(point, point, true);
        Some(point)
    }

    /// Number of neighbours of a point.
    pub(super) const NEIGHBOURS: usize = STEPS.len();

    /// Returns the offset of a neighbour in metres.
    pub(super) fn step(&self, step: usize) -> Vec3 {
        STEPS[step].as_vec3() * self.spacing
    }

    /// Returns the way to a neighbour. [`Way::Unknown`] if no ray is left to find it.
    pub(super) fn way(&mut self, from: u32, step: usize, rays: &mut Rays<'_>) -> Way {
        let known = self.points[from as usize].ways[step];
        if known != Way::Unknown || rays.left == 0 {
            return known;
        }
        let cell = self.points[from as usize].cell + STEPS[step];
        let at = self.position(from);
        let is_open = rays.cast(at, self.place(cell));
        let way = match is_open.then(|| self.point(cell)) {
            Some(Some(next)) => {
                self.mark_both(from, next, true);
                Way::Open(next)
            }
            // Full: it starts over soon.
            Some(None) => return Way::Unknown,
            None => Way::Blocked,
        };
        self.points[from as usize].ways[step] = way;
        way
    }

    fn mark_both(&mut self, a: u32, b: u32, is_seen: bool) {
        self.mark(a, b, is_seen);
        self.mark(b, a, is_seen);
    }

    fn mark(&mut self, from: u32, to: u32, is_seen: bool) {
        let (word, bit) = (to as usize / 64, 1u64 << (to % 64));
        let point = &mut self.points[from as usize];
        if point.known.len() <= word {
            point.known.resize(word + 1, 0);
            point.seen.resize(word + 1, 0);
        }
        point.known[word] |= bit;
        if is_seen {
            point.seen[word] |= bit;
        }
    }

    /// Returns whether two points see each other, if that is known.
    fn fact(&self, a: u32, b: u32) -> Option<bool> {
        let point = &self.points[a as usize];
        let (word, bit) = (b as usize / 64, 1u64 << (b % 64));
        let is_known = point.known.get(word).is_some_and(|known: &u64| known & bit != 0);
        is_known.then(|| point.seen[word] & bit != 0)
    }

    fn find(&mut self, a: u32, b: u32, rays: &mut Rays<'_>) -> bool {
        let is_seen = rays.cast(self.position(a), self.position(b)) || self.is_seen_aside(a, b, rays);
        self.mark_both(a, b, is_seen);
        is_seen
    }

    /// Returns whether there is a clear line from a side of one point to a side of another.
    fn is_seen_aside(&mut self, a: u32, b: u32, rays: &mut Rays<'_>) -> bool {
        let (from, to) = (self.position(a), self.position(b));
        let way = (to - from).abs();
        // The sides across the line.
        let first = if way.x > way.z { 2 } else { 0 };
        let [near, far] = [(a, from), (b, to)].map(|(point, at)| {
            let open = self.sides(point, rays);
            [first, first + 1].map(|side| open[side].then(|| at + SIDES[side] * ASIDE * self.spacing))
        });
        // The parallels first.
        [(0, 0), (1, 1), (0, 1), (1, 0)]
            .into_iter()
            .filter_map(|(i, j)| near[i].zip(far[j]))
            .any(|(from, to)| rays.cast(from, to))
    }

    fn sides(&mut self, point: u32, rays: &mut Rays<'_>) -> [bool; SIDES.len()] {
        if let Some(known) = self.points[point as usize].sides {
            return known;
        }
        let at = self.position(point);
        let open = SIDES.map(|side| rays.cast(at, at + side * ASIDE * self.spacing));
        self.points[point as usize].sides = Some(open);
        open
    }

    /// Collects what some eyes see, and of what one of them does not know whether it does.
    pub(super) fn look(&self, eyes: &[u32], view: &mut View) {
        let words = self.points.len().div_ceil(64);
        for bits in [&mut view.seen, &mut view.unknown] {
            bits.clear();
            bits.resize(words, 0);
        }
        for eye in eyes {
            let Point { known, seen, .. } = &self.points[*eye as usize];
            view.seen.iter_mut().zip(seen).for_each(|(all, own)| *all |= own);
            view.unknown.iter_mut().zip(known).for_each(|(all, own)| *all |= !own);
            if let Some(rest) = view.unknown.get_mut(known.len()..) {
                rest.fill(u64::MAX);
            }
        }
    }

    /// Returns whether any of the eyes sees any of the points of a body, with as many rays as are left.
    pub(super) fn search(&mut self, eyes: &[u32], body: &[u32], rays: &mut Rays<'_>) -> Sight {
        let mut is_complete = true;
        for eye in eyes {
            for part in body {
                let is_seen = match self.fact(*eye, *part) {
                    Some(is_seen) => is_seen,
                    None if rays.left > 0 => self.find(*eye, *part, rays),
                    None => {
                        is_complete = false;
                        continue;
                    }
                };
                if is_seen {
                    return Sight::Clear;
                }
            }
        }
        if is_complete { Sight::Blocked } else { Sight::Unknown }
    }
}

/// Sight of a set of eyes, by the bits of points.
#[derive(Default)]
pub(super) struct View {
    seen: Vec<u64>,
    unknown: Vec<u64>,
}

impl View {
    /// Returns whether the eyes see any of the points of a body.
    pub fn of(&self, body: &[u32]) -> Sight {
        let has = |bits: &[u64], part: u32, missing: u64| {
            bits.get(part as usize / 64).copied().unwrap_or(missing) >> (part % 64) & 1 == 1
        };
        if body.iter().any(|part| has(&self.seen, *part, 0)) {
            Sight::Clear
        } else if body.iter().any(|part| has(&self.unknown, *part, u64::MAX)) {
            Sight::Unknown
        } else {
            Sight::Blocked
        }
    }
}

#[cfg(test)]
mod tests;
