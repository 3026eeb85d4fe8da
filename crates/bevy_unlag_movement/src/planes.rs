//! Clipping of a motion by one wall or by the crease between two.

use bevy::prelude::*;
use smallvec::SmallVec;

/// Walls hit in one move.
#[derive(Default)]
pub(crate) struct Planes(SmallVec<[Vec3; 8]>);

impl Planes {
    /// Adds a wall by its normal, unless a nearly equal one is known.
    pub(crate) fn push(&mut self, normal: Vec3) {
        if !self.0.iter().any(|old| old.dot(normal) > 0.9999) {
            self.0.push(normal);
        }
    }

    fn allows(&self, v: Vec3) -> bool {
        self.0.iter().all(|n| v.dot(*n) >= -1e-4 * v.length())
    }

    /// Returns the part of `v` that leads into no wall; never longer than `v` and never against it.
    pub(crate) fn clip(&self, v: Vec3) -> Vec3 {
        if self.allows(v) {
            return v;
        }
        for n in &self.0 {
            let slid = v - *n * v.dot(*n).min(0.0);
            if self.allows(slid) {
                return slid;
            }
        }
        for (i, first) in self.0.iter().enumerate() {
            for second in &self.0[i + 1..] {
                let crease = first.cross(*second).normalize_or_zero();
                let slid = crease * v.dot(crease);
                if slid != Vec3::ZERO && self.allows(slid) {
                    return slid;
                }
            }
        }
        Vec3::ZERO
    }
}

/// Returns the normal of a wall without its vertical component: for a walking pawn, leaning walls
/// neither lift nor press down.
pub(crate) fn upright(normal: Vec3) -> Vec3 {
    Vec3::new(normal.x, 0.0, normal.z).normalize_or_zero()
}
