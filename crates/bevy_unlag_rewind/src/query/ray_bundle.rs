//! Batch of rays with a common origin, tested together against boxes.

use bevy::math::{Vec3A, Vec4};

use crate::{swept_bounds::SweptBounds, table::Probe};

/// Minimum cosine between a ray and the common axis, for the bundle to have such an axis.
const NARROW: f32 = 0.2;

const LANES: usize = 4;

/// Rays with unit directions and a common origin.
#[derive(Clone, Debug, Default)]
pub(super) struct RayBundle {
    origin: Vec3A,
    /// Minimum and maximum components of the directions in world space, per metre along the common axis;
    /// `None` if the rays are spread too widely.
    between: Option<(Vec3A, Vec3A)>,
    max: f32,
    blocks: Vec<Block>,
}

/// Four rays.
#[derive(Clone, Copy, Debug)]
struct Block {
    inverse: [Vec4; 3],
    max: Vec4,
}

/// Set of rays as a bit mask; rays beyond the last few share bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct RaySet(u64);

impl RaySet {
    pub const ALL: Self = Self(u64::MAX);

    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// Returns whether a ray may be in the set.
    pub fn has(self, ray: usize) -> bool {
        let shared = u64::BITS as usize - LANES;
        let bit = if ray < shared { ray } else { shared + ray % LANES };
        self.0 >> bit & 1 != 0
    }
}

impl RayBundle {
    /// Replaces the rays, each with its own length; a ray with a negative length is inactive.
    pub fn set(&mut self, origin: Vec3A, rays: impl Iterator<Item = (Vec3A, f32)> + Clone) {
        let real = rays.clone().filter(|(_, max)| *max >= 0.0);
        let axis = real.clone().map(|(direction, _)| direction).sum::<Vec3A>().normalize_or(Vec3A::X);
        self.origin = origin;
        self.max = real.clone().map(|(_, max)| max).fold(0.0, f32::max);
        self.between = real.map(|(direction, _)| (direction, direction.dot(axis))).try_fold(
            (axis, axis),
            |(low, high), (direction, along)| {
                let part = direction / along;
                (along >= NARROW).then(|| (low.min(part), high.max(part)))
            },
        );
        self.blocks.clear();
        for (index, (direction, max)) in rays.enumerate() {
            let lane = index % LANES;
            if lane == 0 {
                // Unused lanes are inactive.
                self.blocks.push(Block { inverse: [Vec4::ONE; 3], max: Vec4::NEG_ONE });
            }
            let Some(block) = self.blocks.last_mut() else { return };
            for (axis, d) in direction.to_array().into_iter().enumerate() {
                block.inverse[axis][lane] = d;
            }
            block.max[lane] = max;
        }
        for block in &mut self.blocks {
            block.inverse = block.inverse.map(|d| {
                let flat = d.abs().cmplt(Vec4::splat(1e-18));
                Vec4::select(flat, Vec4::splat(1e18), d.recip())
            });
        }
    }

    /// Changes the lengths of the rays.
    pub fn shorten(&mut self, rays: impl Iterator<Item = f32>) {
        self.max = 0.0;
        for (index, max) in rays.enumerate() {
            if let Some(block) = self.blocks.get_mut(index / LANES) {
                block.max[index % LANES] = max;
                self.max = self.max.max(max);
            }
        }
    }

    /// Returns a volume that contains all rays.
    pub fn probe(&self) -> Probe {
        match self.between {
            Some((low, high)) => Probe::Fan { origin: self.origin, low, high, max: self.max },
            None => Probe::Box { low: SweptBounds::EVERYWHERE.low, high: SweptBounds::EVERYWHERE.high },
        }
    }

    /// Returns the rays that intersect an axis-aligned box.
    pub fn touching(&self, low: Vec3A, high: Vec3A) -> RaySet {
        let (low, high) = (low - self.origin, high - self.origin);
        let masks = self.blocks.iter().map(|block| u64::from(block.touching(low, high)));
        let shifts = (0..u64::BITS).step_by(LANES).chain(core::iter::repeat(u64::BITS - LANES as u32));
        RaySet(masks.zip(shifts).fold(0, |all, (mask, shift)| all | mask << shift))
    }
}

impl Block {
    fn touching(&self, low: Vec3A, high: Vec3A) -> u32 {
        let (mut enter, mut leave) = (Vec4::ZERO, self.max);
        for axis in 0..3 {
            let (a, b) = (self.inverse[axis] * low[axis], self.inverse[axis] * high[axis]);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter.cmple(leave).bitmask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_beyond_the_last_few_share_their_bits() {
        for ray in 0..200 {
            let bit = if ray < 60 { ray } else { 60 + ray % 4 };
            assert!(RaySet(1 << bit).has(ray) && !RaySet(!(1 << bit)).has(ray), "{ray}");
        }
    }
}
