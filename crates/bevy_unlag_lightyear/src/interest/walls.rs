//! Walls of the level that tests have met.

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_unlag_rewind::{LevelCopy, WallId, WallPiece};

/// Level against which sight is tested.
pub(super) trait Level {
    /// Returns the first wall between two points.
    fn first_wall(&self, a: Vec3, b: Vec3) -> Option<WallId>;

    /// Calls `met` with walls between two points, in any order.
    fn walls_along(&self, a: Vec3, b: Vec3, met: &mut dyn FnMut(WallId));

    /// Calls `met` with the walls whose bounds meet an axis-aligned box.
    fn walls_in(&self, low: Vec3, high: Vec3, met: &mut dyn FnMut(WallId));

    /// Returns the convex piece with this name.
    fn piece(&self, wall: WallId) -> Option<WallPiece>;

    /// Returns the distance along a unit direction that is free of walls, at most `most`.
    fn free_way(&self, from: Vec3, direction: Vec3, most: f32) -> f32;
}

/// Copy of the level in which sight is tested. It is empty while physics may lack a change of the level.
#[derive(Resource, Default)]
pub(super) struct TestedLevel(pub LevelCopy);

impl Level for TestedLevel {
    fn first_wall(&self, a: Vec3, b: Vec3) -> Option<WallId> {
        self.0.first_wall(a, b).map(|(wall, _)| wall)
    }

    fn walls_along(&self, a: Vec3, b: Vec3, met: &mut dyn FnMut(WallId)) {
        self.0.walls_along(a, b, met);
    }

    fn walls_in(&self, low: Vec3, high: Vec3, met: &mut dyn FnMut(WallId)) {
        self.0.walls_in(low, high, met);
    }

    fn piece(&self, wall: WallId) -> Option<WallPiece> {
        self.0.piece(wall)
    }

    fn free_way(&self, from: Vec3, direction: Vec3, most: f32) -> f32 {
        self.0.first_wall(from, from + direction * most).map_or(most, |(_, share)| share * most)
    }
}

/// Number of a piece in [`Walls`].
pub(super) type PieceIndex = u16;

/// Convex pieces of the level that tests have met. A line against one of them costs some nanoseconds, a ray through
/// the level twenty times as much.
#[derive(Resource, Default)]
pub(super) struct Walls {
    pieces: Vec<WallPiece>,
    /// `None` for what is not convex.
    index: HashMap<WallId, Option<PieceIndex>>,
    /// Number of times that all was forgotten: what was remembered before is void.
    generation: u32,
}

impl Walls {
    /// Forgets everything, because the level has changed.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.index.clear();
        self.generation = self.generation.wrapping_add(1);
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns a piece that [`number`](Self::number) has named since the last [`clear`](Self::clear).
    pub fn piece(&self, index: PieceIndex) -> &WallPiece {
        &self.pieces[usize::from(index)]
    }

    /// Returns the number of a wall; `None` if it is not convex or there are too many.
    pub fn number(&mut self, wall: WallId, level: &dyn Level) -> Option<PieceIndex> {
        if let Some(known) = self.index.get(&wall) {
            return *known;
        }
        let number = level.piece(wall).and_then(|piece| self.take(piece));
        // It is bounded, too: a level of millions of triangles is met ray by ray.
        if self.index.len() < 2 * usize::from(PieceIndex::MAX) {
            self.index.insert(wall, number);
        }
        number
    }

    /// Takes a piece in, together with those with which it is one wall, and returns its number.
    fn take(&mut self, mut piece: WallPiece) -> Option<PieceIndex> {
        let mut number = None;
        // On either side of it is one at most.
        for (known, index) in self.pieces.iter_mut().zip(0..) {
            let Some(union) = known.union(&piece) else { continue };
            piece = union;
            *known = piece.clone();
            number = Some(index);
        }
        if number.is_none() {
            number = PieceIndex::try_from(self.pieces.len()).ok();
            if number.is_some() {
                self.pieces.push(piece);
            }
        }
        number
    }
}

/// Work of a tick, in lines against known walls.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub(super) struct Effort {
    /// Lines that may still be tested before no further question is begun.
    pub left: i64,
    /// Rays cast.
    pub rays: u64,
}

/// Lines against a known wall that cost as much as a ray through the level.
const LINES_PER_RAY: i64 = 20;

impl Effort {
    /// Returns an effort of this many rays.
    pub fn of_rays(rays: u32) -> Self {
        Self { left: i64::from(rays) * LINES_PER_RAY, rays: 0 }
    }

    /// Counts a ray.
    pub fn ray(&mut self) {
        self.left -= LINES_PER_RAY;
        self.rays += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(from: f32, to: f32) -> WallPiece {
        let centre = Vec3::new(0.0, 1.5, (from + to) * 0.5);
        WallPiece::cuboid(Isometry3d::from_translation(centre), Vec3::new(0.1, 1.5, (to - from) * 0.5))
    }

    #[test]
    fn walls_in_a_line_become_one() {
        let mut walls = Walls::default();
        let [left, right] = [part(0.0, 2.0), part(3.0, 5.0)].map(|piece| walls.take(piece).expect("room"));
        assert_ne!(left, right);
        let middle = walls.take(part(2.0, 3.0)).expect("room");
        assert!(walls.piece(middle).is_same_cuboid(&part(0.0, 5.0)));
        assert_eq!(walls.pieces.len(), 2);
        assert_eq!(walls.take(part(7.0, 8.0)), Some(2), "apart");
    }
}
