//! The boxes of all targets in one tick, eight at a time.

use bevy::math::{Vec3A, Vec4};
use bevy_unlag_core::Tick;

use super::LANES;
use crate::{swept::Swept, target::UnitRay};

/// Eight boxes, axis by axis, in two vectors of four: they are compared four at a time on any machine.
#[derive(Clone, Copy, Debug)]
struct Block {
    low: [[Vec4; 2]; 3],
    high: [[Vec4; 2]; 3],
}

impl Block {
    const EMPTY: Self = {
        let nowhere = [[Vec4::splat(1e30); 2]; 3];
        Self { low: nowhere, high: nowhere }
    };
}

/// The boxes of all targets in one tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The tick; `None` before it was ever used.
    pub tick: Option<Tick>,
    blocks: Vec<Block>,
}

/// What a question covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Probe {
    /// A ray with a unit direction, as thick as `radius`.
    Ray {
        /// Where it starts.
        origin: Vec3A,
        /// Where it goes.
        direction: Vec3A,
        /// How far.
        max: f32,
        /// How far to either side.
        radius: f32,
    },
    /// A box along the axes of the world.
    Box {
        /// Its lowest corner.
        low: Vec3A,
        /// Its highest corner.
        high: Vec3A,
    },
}

impl Probe {
    /// The ray itself.
    pub fn along(ray: &UnitRay) -> Self {
        Self::Ray { origin: ray.origin, direction: ray.direction, max: ray.max, radius: 0.0 }
    }
}

impl Row {
    /// Begins anew.
    pub fn start(&mut self, tick: Tick, blocks: usize) {
        self.tick = Some(tick);
        self.blocks.clear();
        self.blocks.resize(blocks, Block::EMPTY);
    }

    pub fn set(&mut self, slot: usize, swept: Swept) {
        if self.tick.is_none() {
            return;
        }
        let (block, lane) = (slot / LANES, slot % LANES);
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, Block::EMPTY);
        }
        for (axis, (low, high)) in swept.low.to_array().into_iter().zip(swept.high.to_array()).enumerate() {
            self.blocks[block].low[axis][lane / 4][lane % 4] = low;
            self.blocks[block].high[axis][lane / 4][lane % 4] = high;
        }
    }

    /// The box of a slot.
    pub fn get(&self, slot: usize) -> Option<Swept> {
        let (block, lane) = (self.blocks.get(slot / LANES)?, slot % LANES);
        let of = |axis: &[Vec4; 2]| axis[lane / 4][lane % 4];
        let corner = |side: &[[Vec4; 2]; 3]| Vec3A::new(of(&side[0]), of(&side[1]), of(&side[2]));
        Some(Swept { low: corner(&block.low), high: corner(&block.high) })
    }

    /// Calls back with every slot whose box the probe touches, and with the metres along a ray to where it
    /// does.
    pub fn near(&self, probe: &Probe, mut each: impl FnMut(usize, f32)) {
        match *probe {
            Probe::Ray { origin, direction, max, radius } => {
                // A way along an axis is no exception: its inverse is huge, not infinite.
                let inverse = direction.to_array().map(|d| if d.abs() < 1e-18 { 1e18 } else { 1.0 / d });
                let ray = Slabs::new(origin.to_array(), inverse, max, radius);
                for (index, block) in self.blocks.iter().enumerate() {
                    for half in 0..2 {
                        let enter = block.enter(half, &ray);
                        let mut mask = enter.cmple(block.leave(half, &ray)).bitmask();
                        while mask != 0 {
                            let lane = mask.trailing_zeros() as usize;
                            each(index * LANES + half * 4 + lane, enter[lane]);
                            mask &= mask - 1;
                        }
                    }
                }
            }
            Probe::Box { low, high } => {
                for (index, block) in self.blocks.iter().enumerate() {
                    for half in 0..2 {
                        let mut mask = block.overlap(half, low, high);
                        while mask != 0 {
                            each(index * LANES + half * 4 + mask.trailing_zeros() as usize, 0.0);
                            mask &= mask - 1;
                        }
                    }
                }
            }
        }
    }
}

/// A thick ray for four boxes at once: grown boxes are the same as planes that are further away.
struct Slabs {
    /// By axis: what is taken from the lower and from the higher side, and what that is multiplied with.
    axes: [(Vec4, Vec4, Vec4); 3],
    max: Vec4,
}

impl Slabs {
    fn new(origin: [f32; 3], inverse: [f32; 3], max: f32, radius: f32) -> Self {
        let axis = |axis: usize| {
            let (origin, inverse): (f32, f32) = (origin[axis], inverse[axis]);
            (Vec4::splat(origin + radius), Vec4::splat(origin - radius), Vec4::splat(inverse))
        };
        Self { axes: [axis(0), axis(1), axis(2)], max: Vec4::splat(max) }
    }
}

impl Block {
    fn planes(&self, axis: usize, half: usize, ray: &Slabs) -> (Vec4, Vec4) {
        let (low, high, inverse) = ray.axes[axis];
        ((self.low[axis][half] - low) * inverse, (self.high[axis][half] - high) * inverse)
    }

    fn enter(&self, half: usize, ray: &Slabs) -> Vec4 {
        (0..3).fold(Vec4::ZERO, |enter, axis| {
            let (a, b) = self.planes(axis, half, ray);
            enter.max(a.min(b))
        })
    }

    fn leave(&self, half: usize, ray: &Slabs) -> Vec4 {
        (0..3).fold(ray.max, |leave, axis| {
            let (a, b) = self.planes(axis, half, ray);
            leave.min(a.max(b))
        })
    }

    fn overlap(&self, half: usize, low: Vec3A, high: Vec3A) -> u32 {
        (0..3).fold(0b1111, |mask, axis| {
            let below = self.low[axis][half].cmple(Vec4::splat(high[axis]));
            let above = self.high[axis][half].cmpge(Vec4::splat(low[axis]));
            mask & (below & above).bitmask()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_finds_what_it_touches_and_nothing_else() {
        let mut row = Row::default();
        row.start(Tick(3), 1);
        let cube = |x: f32| Swept { low: Vec3A::new(x, 0.0, 0.0), high: Vec3A::new(x + 1.0, 1.0, 1.0) };
        for slot in 0..20 {
            row.set(slot, cube(slot as f32 * 10.0));
        }
        row.set(7, Swept::NOWHERE);
        row.set(11, Swept::EVERYWHERE);
        let found = |probe: &Probe| {
            let mut found = Vec::new();
            row.near(probe, |slot, _| found.push(slot));
            found
        };
        let ray = |origin: [f32; 3], direction: [f32; 3], max, radius| Probe::Ray {
            origin: Vec3A::from_array(origin),
            direction: Vec3A::from_array(direction),
            max,
            radius,
        };
        assert_eq!(found(&ray([-1.0, 0.5, 0.5], [1.0, 0.0, 0.0], 25.0, 0.0)), [0, 1, 2, 11]);
        assert_eq!(found(&ray([50.5, 0.5, 9.0], [0.0, 0.0, -1.0], 100.0, 0.0)), [5, 11]);
        assert_eq!(found(&ray([50.5, 0.5, 9.0], [0.0, 0.0, 1.0], 100.0, 0.0)), [11]);
        assert_eq!(found(&ray([52.0, 0.5, 9.0], [0.0, 0.0, -1.0], 100.0, 1.1)), [5, 11]);
        let low = Vec3A::new(70.5, 0.2, 0.2);
        assert_eq!(found(&Probe::Box { low, high: low + 10.0 }), [8, 11]);
    }
}
