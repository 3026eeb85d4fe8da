//! Sight between two regions: whether the walls block every line from one to the other.
//!
//! Every line from an eye to a body outside its region leaves the region through an edge. So a body is out of sight if
//! the walls block all lines from the edges on its side. A convex piece of the level that is between all corners of an
//! edge and a body is between all their points. So most questions have an answer after a few lines against the wall
//! that answered them last time. Where no single piece suffices, edges and body are divided until each part is behind
//! one, or is too small to look past its corners.

mod edges;

use bevy::{math::Vec3A, prelude::*};

use self::edges::{Edges, Plan};
use super::walls::{Effort, Level, PieceIndex, Walls};

/// Corners of the region of an eye, around its middle.
pub(super) const RING: usize = 8;
/// Pieces of the level that one test considers, and that are remembered for the next one.
const CONSIDERED: usize = Mask::BITS as usize;
const REMEMBERED: usize = 8;
/// Walls along one line that become candidates, and how many of the earlier ones stay if they are too many.
const GATHERED: usize = 16;
const KEPT: usize = 4;
/// Size in metres of parts that are not divided further. Openings that are narrower may be missed.
const SMALL: f32 = 0.05;
/// Divisions of a part in a row.
const MAX_DEPTH: u32 = 12;
/// Parts of one question.
const MAX_PARTS: u32 = 2_000;

/// Whether two regions see each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sight {
    Clear,
    Blocked,
    Unknown,
}

/// Places above each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Post {
    pub low: Vec3A,
    pub high: Vec3A,
}

impl Post {
    fn middle(&self) -> Vec3A {
        self.low.midpoint(self.high)
    }

    fn midpoint(&self, other: &Self) -> Self {
        Self { low: self.low.midpoint(other.low), high: self.high.midpoint(other.high) }
    }
}

/// Region in which an eye can be: the triangles between a middle and a ring.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fan {
    pub middle: Post,
    pub ring: [Post; RING],
    pub up: Vec3A,
    plan: Plan,
}

impl Fan {
    pub fn new(middle: Post, ring: [Post; RING], up: Vec3A) -> Self {
        Self { middle, ring, up, plan: Plan::new(&middle, &ring, up) }
    }
}

/// Region in which a body can be, as an upright rectangle that faces the eye.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    pub sides: [Post; 2],
    pub up: Vec3A,
}

impl Board {
    fn middle(&self) -> Vec3A {
        self.sides[0].midpoint(&self.sides[1]).middle()
    }
}

/// Memory of the tests of a pair of pawns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pieces: [PieceIndex; REMEMBERED],
    count: u8,
}

/// Piece of the level that may be between both regions.
#[derive(Clone, Copy, Default)]
struct Candidate {
    piece: PieceIndex,
    /// Whether it blocks either all heights or none.
    is_tall: bool,
}

/// A question about two regions.
struct Shaft<'a> {
    level: &'a dyn Level,
    walls: &'a mut Walls,
    effort: &'a mut Effort,
    candidates: [Candidate; CONSIDERED],
    count: usize,
    /// Up direction of both, with the lowest and the highest place along it; `None` if they differ.
    heights: Option<(Vec3A, f32, f32)>,
    parts: u32,
    /// Candidates that divided regions are tested against.
    active: Mask,
}

/// Level, its known walls, and the effort that is left.
type World<'a> = (&'a dyn Level, &'a mut Walls, &'a mut Effort);

/// Candidates as bits: those that are between all heights of two posts.
type Mask = u16;

/// Part of an edge and of a body.
#[derive(Clone, Copy)]
struct Part {
    eyes: [Post; 2],
    sides: [Post; 2],
    /// Walls between each eye and each side, among the first candidates.
    masks: [[Mask; 2]; 2],
    known: usize,
}

/// Returns whether any eye in `fan` sees any part of `board`. `Unknown` if there is no effort left, or too many parts.
/// `is_open`: whether the answer is likely to be [`Sight::Clear`].
pub(super) fn look(
    (fan, board): (&Fan, &Board),
    is_open: bool,
    memory: &mut Memory,
    (level, walls, effort): World<'_>,
) -> Sight {
    if effort.left <= 0 {
        return Sight::Unknown;
    }
    let mut shaft = Shaft::new((fan, board), (level, walls, effort));
    shaft.recall(memory, 0..REMEMBERED);
    let sight = shaft.answer(fan, board, is_open);
    shaft.store(memory);
    sight
}

/// Returns whether no eye in `fan` sees any part of `board`, as [`look`] does. Also tries the walls along the middle.
pub(super) fn is_blocked(
    (fan, board): (&Fan, &Board),
    memory: &mut Memory,
    (level, walls, effort): World<'_>,
) -> bool {
    if effort.left <= 0 {
        return false;
    }
    let mut shaft = Shaft::new((fan, board), (level, walls, effort));
    let Some(edges) = Edges::new(fan, board) else { return false };
    // Mostly it is the wall of last time.
    shaft.recall(memory, 0..1);
    if shaft.covers(0, &edges, board) {
        return true;
    }
    let known = shaft.count;
    shaft.recall(memory, 1..REMEMBERED);
    let is_covered = shaft.covers(known, &edges, board) || {
        let known = shaft.gather(fan, board);
        shaft.covers(known, &edges, board)
    };
    let is_blocked = is_covered || shaft.divide_all(&edges, board) == Sight::Blocked;
    shaft.store(memory);
    is_blocked
}

impl<'a> Shaft<'a> {
    fn new((fan, board): (&Fan, &Board), (level, walls, effort): World<'a>) -> Self {
        let heights = edges::have_same_up(fan, board).then(|| {
            let all = fan.ring.iter().chain([&fan.middle]).chain(&board.sides);
            all.fold((fan.up, f32::INFINITY, f32::NEG_INFINITY), |(up, low, high), post| {
                (up, low.min(post.low.dot(up)), high.max(post.high.dot(up)))
            })
        });
        Self { level, walls, effort, candidates: default(), count: 0, heights, parts: 0, active: 0 }
    }

    /// Makes candidates of some of the walls of the last test.
    fn recall(&mut self, memory: &Memory, which: core::ops::Range<usize>) {
        let known = usize::from(memory.count);
        for piece in &memory.pieces[which.start.min(known)..which.end.min(known)] {
            self.consider(*piece);
        }
    }

    /// Remembers the walls for the next test, those first that are between some corners.
    fn store(&self, memory: &mut Memory) {
        let is_active = |index: &usize| self.active & 1 << index != 0;
        let (active, others) = ((0..self.count).filter(is_active), (0..self.count).filter(|k| !is_active(k)));
        memory.count = 0;
        for (slot, index) in memory.pieces.iter_mut().zip(active.chain(others)) {
            *slot = self.candidates[index].piece;
            memory.count += 1;
        }
    }

    fn answer(&mut self, fan: &Fan, board: &Board, is_open: bool) -> Sight {
        if (is_open || self.count == 0) && self.finds_clear_line(fan, board) {
            return Sight::Clear;
        }
        let Some(edges) = Edges::new(fan, board) else { return Sight::Clear };
        if self.covers(0, &edges, board) { Sight::Blocked } else { self.divide_all(&edges, board) }
    }

    /// Returns whether any eye on any edge sees any side of the body.
    fn divide_all(&mut self, edges: &Edges, board: &Board) -> Sight {
        let known = self.count;
        let mut masks = [[0; 2]; RING + 1];
        for corner in edges.corners() {
            let eye = &edges.posts[corner];
            let Some(left) = self.mask(eye, &board.sides[0]) else { return Sight::Clear };
            let Some(right) = self.mask(eye, &board.sides[1]) else { return Sight::Clear };
            masks[corner] = [left, right];
        }
        // A wall that is not between any corners is hardly between all corners of a part.
        self.active = masks.as_flattened().iter().fold(0, |all, mask| all | mask);
        for (a, b) in edges.pairs() {
            let part = Part {
                eyes: [edges.posts[a], edges.posts[b]],
                sides: board.sides,
                masks: [masks[a], masks[b]],
                known,
            };
            let sight = self.divide(part, 0);
            if sight != Sight::Blocked {
                return sight;
            }
        }
        Sight::Blocked
    }

    /// Looks along the middle, and from the other side as well, where another wall may be the first.
    fn finds_clear_line(&mut self, fan: &Fan, board: &Board) -> bool {
        let (eye, body) = (fan.middle.middle(), board.middle());
        self.is_clear(eye, body) || self.count == 1 && self.meets_nothing(body, eye)
    }

    /// Makes candidates of the walls along the middle. Returns the index of the first one.
    fn gather(&mut self, fan: &Fan, board: &Board) -> usize {
        let (mut met, mut count) = ([None; GATHERED], 0);
        self.effort.ray();
        self.level.walls_along(fan.middle.middle().into(), board.middle().into(), &mut |wall| {
            if let Some(slot) = met.get_mut(count) {
                *slot = Some(wall);
                count += 1;
            }
        });
        if self.count + count > CONSIDERED {
            self.count = self.count.min(KEPT);
        }
        let first = self.count;
        for wall in met.into_iter().flatten() {
            if let Some(piece) = self.walls.number(wall, self.level) {
                self.consider(piece);
            }
        }
        first
    }

    /// Returns whether a single one of the candidates with at least this index is between all edges and the body.
    fn covers(&mut self, first: usize, edges: &Edges, board: &Board) -> bool {
        for k in first..self.count {
            let mut lines = 0;
            let is_between = edges.corners().all(|corner| {
                lines += 2;
                board.sides.iter().all(|side| self.blocks(k, &edges.posts[corner], side))
            });
            self.effort.left -= lines;
            if is_between {
                self.candidates.swap(0, k);
                return true;
            }
        }
        false
    }

    /// Returns whether any eye in a part sees any side of the body in it.
    fn divide(&mut self, mut part: Part, depth: u32) -> Sight {
        self.parts += 1;
        if self.parts > MAX_PARTS || self.effort.left <= 0 {
            return Sight::Unknown;
        }
        if part.known < self.count {
            let new = self.candidates_from(part.known);
            for (masks, eye) in part.masks.iter_mut().zip(&part.eyes) {
                for (mask, side) in masks.iter_mut().zip(&part.sides) {
                    *mask |= self.bits(new, eye, side);
                }
            }
            part.known = self.count;
        }
        let Part { eyes, sides, masks, .. } = &part;
        if masks.iter().flatten().fold(Mask::MAX, |all, mask| all & mask) != 0 {
            return Sight::Blocked;
        }
        let [long, wide] = [eyes, sides].map(|[a, b]| a.low.distance_squared(b.low));
        if depth >= MAX_DEPTH || long.max(wide) < SMALL * SMALL {
            return Sight::Blocked;
        }
        let mut halves = [part, part];
        if wide >= long {
            let middle = sides[0].midpoint(&sides[1]);
            for (index, eye) in eyes.iter().enumerate() {
                let Some(mask) = self.mask_between(masks[index], eye, &middle) else { return Sight::Clear };
                (halves[0].masks[index][1], halves[1].masks[index][0]) = (mask, mask);
            }
            (halves[0].sides[1], halves[1].sides[0]) = (middle, middle);
        } else {
            let middle = eyes[0].midpoint(&eyes[1]);
            for (index, side) in sides.iter().enumerate() {
                let ends = [masks[0][index], masks[1][index]];
                let Some(mask) = self.mask_between(ends, &middle, side) else { return Sight::Clear };
                (halves[0].masks[1][index], halves[1].masks[0][index]) = (mask, mask);
            }
            (halves[0].eyes[1], halves[1].eyes[0]) = (middle, middle);
        }
        for half in halves {
            let sight = self.divide(half, depth + 1);
            if sight != Sight::Blocked {
                return sight;
            }
        }
        Sight::Blocked
    }

    /// Returns the same as [`mask`](Self::mask) where one of the posts is in the middle between two others, whose walls
    /// are in `ends`. A wall at both ends is in between as well, and one at neither hardly ever.
    fn mask_between(&mut self, ends: [Mask; 2], eye: &Post, side: &Post) -> Option<Mask> {
        let [a, b] = ends;
        let walls = a & b | self.bits(a ^ b, eye, side);
        if walls == 0 { self.mask(eye, side) } else { Some(walls) }
    }

    /// Returns the walls between all heights of two posts; `None` if there is a clear line. A wall that is met later is
    /// missing in it.
    fn mask(&mut self, eye: &Post, side: &Post) -> Option<Mask> {
        let known = self.bits(self.candidates_from(0), eye, side);
        if known != 0 {
            return Some(known);
        }
        let before = self.count;
        for (from, to) in
            [(eye.high, side.high), (eye.high, side.low), (eye.low, side.high), (eye.low, side.low)]
        {
            if self.is_clear(from, to) {
                return None;
            }
        }
        Some(self.bits(self.candidates_from(before), eye, side))
    }

    /// Returns the candidates with at least this index.
    fn candidates_from(&self, first: usize) -> Mask {
        let all = Mask::MAX.checked_shr((CONSIDERED - self.count) as u32).unwrap_or(0);
        all & Mask::MAX.checked_shl(first as u32).unwrap_or(0) & self.active
    }

    /// Returns which of these candidates are between all heights of two posts.
    fn bits(&mut self, mut candidates: Mask, eye: &Post, side: &Post) -> Mask {
        let mut found = 0;
        while candidates != 0 {
            let k = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            self.effort.left -= 1;
            found |= Mask::from(self.blocks(k, eye, side)) << k;
        }
        found
    }

    /// Returns whether a candidate is between all heights of two posts.
    fn blocks(&self, k: usize, eye: &Post, side: &Post) -> bool {
        let Candidate { piece, is_tall } = self.candidates[k];
        let piece = self.walls.piece(piece);
        piece.blocks(eye.high, side.high)
            && (is_tall
                || piece.blocks(eye.low, side.high)
                    && piece.blocks(eye.high, side.low)
                    && piece.blocks(eye.low, side.low))
    }

    /// Returns whether a line is clear. The wall that blocks it becomes a candidate.
    fn is_clear(&mut self, from: Vec3A, to: Vec3A) -> bool {
        self.effort.left -= 1;
        let blocks = |candidate: &Candidate| self.walls.piece(candidate.piece).blocks(from, to);
        !self.candidates[..self.count].iter().any(blocks) && self.meets_nothing(from, to)
    }

    /// Casts a ray through the level. The wall that it meets becomes a candidate.
    fn meets_nothing(&mut self, from: Vec3A, to: Vec3A) -> bool {
        self.effort.ray();
        let Some(wall) = self.level.first_wall(from.into(), to.into()) else { return true };
        if let Some(piece) = self.walls.number(wall, self.level) {
            self.consider(piece);
        }
        false
    }

    fn consider(&mut self, piece: PieceIndex) {
        let is_there = self.candidates[..self.count].iter().any(|known| known.piece == piece);
        if self.count < CONSIDERED && !is_there {
            let wall = self.walls.piece(piece);
            let is_tall = self.heights.is_some_and(|(up, low, high)| wall.spans(up, low, high));
            self.candidates[self.count] = Candidate { piece, is_tall };
            self.active |= 1 << self.count;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests;
