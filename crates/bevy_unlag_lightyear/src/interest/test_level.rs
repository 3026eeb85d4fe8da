//! Level of boxes for the tests of this module.

use bevy::prelude::*;
use bevy_unlag_rewind::{WallId, WallPiece};

use super::walls::Level;

/// Boxes: centre and half extents.
pub(super) struct Boxes(pub Vec<(Vec3, Vec3)>);

impl Boxes {
    /// A wall of 3 m at x = 0 from z = -10 to 10, with an opening in `opening`, and a floor.
    pub fn wall_with_opening(opening: core::ops::Range<f32>) -> Self {
        let part = |from: f32, to: f32| {
            (Vec3::new(0.0, 1.5, (from + to) * 0.5), Vec3::new(0.1, 1.5, (to - from) * 0.5))
        };
        let floor = (Vec3::new(0.0, -0.5, 0.0), Vec3::new(20.0, 0.5, 20.0));
        Self(vec![floor, part(-10.0, opening.start), part(opening.end, 10.0)])
    }

    /// Share of a line at which it meets a box.
    fn share(&self, index: usize, a: Vec3, b: Vec3) -> Option<f32> {
        let (centre, half) = self.0[index];
        let inverse = (b - a + Vec3::splat(1e-9)).recip();
        let (first, second) = ((centre - half - a) * inverse, (centre + half - a) * inverse);
        let enter = first.min(second).max_element().max(0.0);
        (enter <= first.max(second).min_element().min(1.0)).then_some(enter)
    }

    pub fn first(&self, a: Vec3, b: Vec3) -> Option<(usize, f32)> {
        let all = (0..self.0.len()).filter_map(|index| Some((index, self.share(index, a, b)?)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Level for Boxes {
    fn first_wall(&self, a: Vec3, b: Vec3) -> Option<WallId> {
        self.first(a, b).map(|(index, _)| WallId { collider: index as u32, part: 0 })
    }

    fn walls_along(&self, a: Vec3, b: Vec3, met: &mut dyn FnMut(WallId)) {
        let all = (0..self.0.len()).filter(|index| self.share(*index, a, b).is_some());
        all.for_each(|index| met(WallId { collider: index as u32, part: 0 }));
    }

    fn walls_in(&self, low: Vec3, high: Vec3, met: &mut dyn FnMut(WallId)) {
        for (index, (centre, half)) in self.0.iter().enumerate() {
            if (centre - half).cmple(high).all() && (centre + half).cmpge(low).all() {
                met(WallId { collider: index as u32, part: 0 });
            }
        }
    }

    fn piece(&self, wall: WallId) -> Option<WallPiece> {
        let (centre, half) = self.0[wall.collider as usize];
        Some(WallPiece::cuboid(Isometry3d::from_translation(centre), half))
    }

    fn free_way(&self, from: Vec3, direction: Vec3, most: f32) -> f32 {
        self.first(from, from + direction * most).map_or(most, |(_, share)| share * most)
    }
}
