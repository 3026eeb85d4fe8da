//! Sight between two regions: whether the walls block every line from one to the other.
//!
//! A convex piece of the level that is between all corners of two regions is between all their points. So most
//! questions have an answer after a few lines against the wall that answered them last time. Where no single piece
//! suffices, the regions are divided until each part is behind one, or is too small to look past its corners.

use bevy::prelude::*;

use super::walls::{Effort, Level, PieceIndex, Walls};

/// Corners of the region of an eye, around its middle.
pub(super) const RING: usize = 8;
/// Pieces of the level that one test considers, and that are remembered for the next one.
const CONSIDERED: usize = 8;
const REMEMBERED: usize = 6;
/// Size in metres of parts that are not divided further. Openings that are narrower than half of it may be missed.
const SMALL: f32 = 0.2;
/// Divisions of a part in a row.
const MAX_DEPTH: u32 = 5;
/// Parts of one question.
const MAX_PARTS: u32 = 400;

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
    pub low: Vec3,
    pub high: Vec3,
}

impl Post {
    fn middle(&self) -> Vec3 {
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
    pub up: Vec3,
}

/// Region in which a body can be, as an upright rectangle that faces the eye.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    pub sides: [Post; 2],
    pub up: Vec3,
}

/// What the tests of a pair of pawns remember.
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
    heights: Option<(Vec3, f32, f32)>,
    parts: u32,
}

/// Returns whether any eye in `fan` sees any part of `board`. `Unknown` if there is no effort left, or too many parts.
/// `is_open`: whether the answer is likely to be [`Sight::Clear`].
pub(super) fn look(
    (fan, board): (&Fan, &Board),
    is_open: bool,
    memory: &mut Memory,
    (level, walls, effort): (&dyn Level, &mut Walls, &mut Effort),
) -> Sight {
    if effort.left <= 0 {
        return Sight::Unknown;
    }
    let heights = (fan.up.dot(board.up) > 0.9999).then(|| {
        let all = fan.ring.iter().chain([&fan.middle]).chain(&board.sides);
        all.fold((fan.up, f32::INFINITY, f32::NEG_INFINITY), |(up, low, high), post| {
            (up, low.min(post.low.dot(up)), high.max(post.high.dot(up)))
        })
    });
    let mut shaft =
        Shaft { level, walls, effort, candidates: default(), count: 0, heights, parts: 0 };
    for piece in &memory.pieces[..usize::from(memory.count)] {
        shaft.consider(*piece);
    }
    let sight = shaft.answer(fan, board, is_open);
    let remembered = shaft.count.min(REMEMBERED);
    for (slot, candidate) in memory.pieces.iter_mut().zip(&shaft.candidates[..remembered]) {
        *slot = candidate.piece;
    }
    memory.count = remembered as u8;
    sight
}

impl Shaft<'_> {
    fn answer(&mut self, fan: &Fan, board: &Board, is_open: bool) -> Sight {
        let (eye, body) = (fan.middle.middle(), board.sides[0].midpoint(&board.sides[1]).middle());
        if is_open || self.count == 0 {
            if self.is_clear(eye, body) {
                return Sight::Clear;
            }
            // From the other side another wall may be the first.
            if self.count <= 1 && self.is_clear(body, eye) {
                return Sight::Clear;
            }
        }
        for k in 0..self.count {
            let is_between = |post: &Post| board.sides.iter().all(|side| self.blocks(k, post, side));
            let all = fan.ring.iter().chain([&fan.middle]).all(is_between);
            self.effort.left -= 2;
            if all {
                self.effort.left -= RING as i64 * 2;
                self.candidates.swap(0, k);
                return Sight::Blocked;
            }
        }
        for (index, corner) in fan.ring.iter().enumerate() {
            let next = fan.ring[(index + 1) % RING];
            let sight = self.divide([fan.middle, *corner, next], board.sides, 0);
            if sight != Sight::Blocked {
                return sight;
            }
        }
        Sight::Blocked
    }

    /// Returns whether any eye in a triangle sees anything between two sides of a body.
    fn divide(&mut self, eyes: [Post; 3], sides: [Post; 2], depth: u32) -> Sight {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Sight::Unknown;
        }
        let known = self.count;
        if self.is_covered(0..known, &eyes, &sides) {
            return Sight::Blocked;
        }
        if eyes.iter().any(|eye| sides.iter().any(|side| self.sees(eye, side))) {
            return Sight::Clear;
        }
        if self.is_covered(known..self.count, &eyes, &sides) {
            return Sight::Blocked;
        }
        let [a, b, c] = eyes;
        let length = |a: &Post, b: &Post| a.low.distance_squared(b.low);
        let (ab, bc, ca, wide) = (length(&a, &b), length(&b, &c), length(&c, &a), length(&sides[0], &sides[1]));
        let long = ab.max(bc).max(ca);
        if depth >= MAX_DEPTH || long.max(wide) < SMALL * SMALL {
            return Sight::Blocked;
        }
        let halves = if wide >= long {
            let middle = sides[0].midpoint(&sides[1]);
            [(eyes, [sides[0], middle]), (eyes, [middle, sides[1]])]
        } else {
            // The longest edge is between the first two.
            let [a, b, c] = if long == ab {
                [a, b, c]
            } else if long == bc {
                [b, c, a]
            } else {
                [c, a, b]
            };
            let middle = a.midpoint(&b);
            [([a, middle, c], sides), ([middle, b, c], sides)]
        };
        for (eyes, sides) in halves {
            let sight = self.divide(eyes, sides, depth + 1);
            if sight != Sight::Blocked {
                return sight;
            }
        }
        Sight::Blocked
    }

    /// Returns whether one of the candidates is between all eyes and both sides.
    fn is_covered(&mut self, candidates: core::ops::Range<usize>, eyes: &[Post; 3], sides: &[Post; 2]) -> bool {
        for k in candidates {
            self.effort.left -= 2;
            if eyes.iter().all(|eye| sides.iter().all(|side| self.blocks(k, eye, side))) {
                self.effort.left -= 4;
                self.candidates.swap(0, k);
                return true;
            }
        }
        false
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

    /// Returns whether there is a clear line between the ends of two posts.
    fn sees(&mut self, eye: &Post, side: &Post) -> bool {
        self.effort.left -= 2;
        if (0..self.count).any(|k| self.blocks(k, eye, side)) {
            return false;
        }
        [(eye.high, side.high), (eye.high, side.low), (eye.low, side.high), (eye.low, side.low)]
            .into_iter()
            .any(|(from, to)| self.is_clear(from, to))
    }

    /// Returns whether a line is clear. The wall that blocks it becomes a candidate.
    fn is_clear(&mut self, from: Vec3, to: Vec3) -> bool {
        self.effort.left -= 1;
        let is_known =
            |candidate: &Candidate| self.walls.piece(candidate.piece).blocks(from, to);
        if self.candidates[..self.count].iter().any(is_known) {
            return false;
        }
        self.effort.ray();
        let Some(wall) = self.level.first_wall(from, to) else { return true };
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
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests;
