//! Sight between two regions: whether the walls block every line from one to the other.
//!
//! A convex piece of the level that is between all corners of two regions is between all their points. So most
//! questions have an answer after a few lines against the wall that answered them last time. Where no single piece
//! suffices, the regions are divided until each part is behind one, or is too small to look past its corners.

use bevy::{math::Vec3A, prelude::*};

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

/// Part of both regions.
#[derive(Clone, Copy)]
struct Part {
    eyes: [Post; 3],
    sides: [Post; 2],
    /// Walls between each eye and each side, among the first candidates.
    masks: [[Mask; 2]; 3],
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

/// Returns whether no eye in `fan` sees any part of `board`, as [`look`] does. Tries few walls first, which is cheaper:
/// one for each triangle of the fan and each half of the board.
pub(super) fn is_blocked(
    (fan, board): (&Fan, &Board),
    memory: &mut Memory,
    (level, walls, effort): World<'_>,
) -> bool {
    if effort.left <= 0 {
        return false;
    }
    let mut shaft = Shaft::new((fan, board), (level, walls, effort));
    // Mostly it is the wall of last time.
    shaft.recall(memory, 0..1);
    if shaft.covers(0, fan, board) {
        return true;
    }
    let known = shaft.count;
    shaft.recall(memory, 1..REMEMBERED);
    let is_covered = shaft.covers(known, fan, board) || {
        let known = shaft.gather(fan, board);
        shaft.covers(known, fan, board) || shaft.covers_parts(fan, board)
    };
    shaft.store(memory);
    if is_covered || shaft.effort.left <= 0 {
        return is_covered;
    }
    shaft.count = shaft.count.min(REMEMBERED);
    let sight = shaft.answer(fan, board, false);
    shaft.store(memory);
    sight == Sight::Blocked
}

impl<'a> Shaft<'a> {
    fn new((fan, board): (&Fan, &Board), (level, walls, effort): World<'a>) -> Self {
        let heights = (fan.up.dot(board.up) > 0.9999).then(|| {
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

    /// Remembers the walls for the next test.
    fn store(&self, memory: &mut Memory) {
        let remembered = self.count.min(REMEMBERED);
        for (slot, candidate) in memory.pieces.iter_mut().zip(&self.candidates[..remembered]) {
            *slot = candidate.piece;
        }
        memory.count = remembered as u8;
    }

    fn answer(&mut self, fan: &Fan, board: &Board, is_open: bool) -> Sight {
        if (is_open || self.count == 0) && self.finds_clear_line(fan, board) {
            return Sight::Clear;
        }
        if self.covers(0, fan, board) {
            return Sight::Blocked;
        }
        let known = self.count;
        let mut ring = [[0; 2]; RING];
        for (masks, eye) in ring.iter_mut().zip(&fan.ring) {
            let Some(found) = self.masks(eye, &board.sides) else { return Sight::Clear };
            *masks = found;
        }
        let Some(middle) = self.masks(&fan.middle, &board.sides) else { return Sight::Clear };
        // A wall that is not between any corners is hardly between all corners of a part.
        self.active = ring.iter().chain([&middle]).flatten().fold(0, |all, mask| all | mask);
        for (index, corner) in fan.ring.iter().enumerate() {
            let next = (index + 1) % RING;
            let part = Part {
                eyes: [fan.middle, *corner, fan.ring[next]],
                sides: board.sides,
                masks: [middle, ring[index], ring[next]],
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

    /// Returns whether a candidate is between each triangle of the fan and each half of the board.
    fn covers_parts(&mut self, fan: &Fan, board: &Board) -> bool {
        let [left, right] = board.sides;
        let sides = [left, left.midpoint(&right), right];
        let middle = sides.map(|side| self.bits(self.candidates_from(0), &fan.middle, &side));
        // The middle is a corner of all triangles, so only walls before it and both sides of a half count there.
        let halves = [middle[0] & middle[1], middle[1] & middle[2]];
        if halves.contains(&0) {
            return false;
        }
        let considered = [halves[0], halves[0] | halves[1], halves[1]];
        let mut masks = [[0; 3]; RING];
        for (masks, eye) in masks.iter_mut().zip(&fan.ring) {
            for ((mask, side), considered) in masks.iter_mut().zip(&sides).zip(considered) {
                *mask = self.bits(considered, eye, side);
                if *mask == 0 {
                    return false;
                }
            }
        }
        (0..RING).all(|index| {
            let [a, b] = [masks[index], masks[(index + 1) % RING]];
            (0..2).all(|half| halves[half] & a[half] & a[half + 1] & b[half] & b[half + 1] != 0)
        })
    }

    /// Returns whether a single one of the candidates with at least this index is between both regions.
    fn covers(&mut self, first: usize, fan: &Fan, board: &Board) -> bool {
        for k in first..self.count {
            let mut lines = 0;
            // Opposite corners one after the other: a wall that is not between all of them is soon found out.
            let opposite = [0, 4, 2, 6, 1, 5, 3, 7].map(|index| &fan.ring[index]);
            let is_between = [&fan.middle].into_iter().chain(opposite).all(|eye| {
                lines += 2;
                board.sides.iter().all(|side| self.blocks(k, eye, side))
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
        let length = |a: &Post, b: &Post| a.low.distance_squared(b.low);
        let edges = [length(&eyes[0], &eyes[1]), length(&eyes[1], &eyes[2]), length(&eyes[2], &eyes[0])];
        let wide = length(&sides[0], &sides[1]);
        let long = edges[0].max(edges[1]).max(edges[2]);
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
            let first = edges.iter().position(|edge| *edge >= long).unwrap_or(0);
            let second = (first + 1) % 3;
            let middle = eyes[first].midpoint(&eyes[second]);
            for (index, side) in sides.iter().enumerate() {
                let ends = [masks[first][index], masks[second][index]];
                let Some(mask) = self.mask_between(ends, &middle, side) else { return Sight::Clear };
                (halves[0].masks[second][index], halves[1].masks[first][index]) = (mask, mask);
            }
            (halves[0].eyes[second], halves[1].eyes[first]) = (middle, middle);
        }
        for half in halves {
            let sight = self.divide(half, depth + 1);
            if sight != Sight::Blocked {
                return sight;
            }
        }
        Sight::Blocked
    }

    /// Returns the walls between an eye and both sides of a body; `None` if there is a clear line.
    fn masks(&mut self, eye: &Post, sides: &[Post; 2]) -> Option<[Mask; 2]> {
        Some([self.mask(eye, &sides[0])?, self.mask(eye, &sides[1])?])
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
