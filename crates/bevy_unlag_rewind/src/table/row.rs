//! Bounding boxes of all targets in one tick, tested eight at a time, and eight times eight before that.

use bevy::math::{Vec3A, Vec4};
use bevy_unlag_core::Tick;

use super::LANES;
use crate::{
    shape::ray_box,
    swept_bounds::{FAR, SweptBounds},
    unit_ray::UnitRay,
};

/// Eight boxes in two vectors of four, which compare four at a time on any CPU. Indexed by axis, then
/// lower or upper side.
#[derive(Clone, Copy, Debug)]
struct Block([[[Vec4; 2]; 2]; 3]);

impl Block {
    /// No probe intersects its boxes.
    const EMPTY: Self = Self([[[Vec4::splat(FAR); 2]; 2]; 3]);
    /// Bounds of no boxes.
    const NOTHING: Self = Self([[[Vec4::splat(FAR); 2], [Vec4::splat(-FAR); 2]]; 3]);

    fn set(&mut self, lane: usize, around: SweptBounds) {
        for (axis, (low, high)) in around.low.to_array().into_iter().zip(around.high.to_array()).enumerate() {
            self.0[axis][0][lane / 4][lane % 4] = low;
            self.0[axis][1][lane / 4][lane % 4] = high;
        }
    }

    fn get(&self, lane: usize) -> SweptBounds {
        let of = |axis: usize, side: usize| self.0[axis][side][lane / 4][lane % 4];
        let corner = |side: usize| Vec3A::new(of(0, side), of(1, side), of(2, side));
        SweptBounds { low: corner(0), high: corner(1) }
    }

    /// Returns the bounds of all boxes.
    fn bounds(&self) -> SweptBounds {
        let (mut low, mut high) = (Vec3A::ZERO, Vec3A::ZERO);
        for (axis, [lows, highs]) in self.0.iter().enumerate() {
            // A lane without a target has both sides far away.
            let end = |half: usize| {
                Vec4::select(lows[half].cmplt(Vec4::splat(FAR)), highs[half], Vec4::splat(-FAR))
            };
            low[axis] = lows[0].min(lows[1]).min_element();
            high[axis] = end(0).max(end(1)).max_element();
        }
        SweptBounds { low, high }
    }
}

/// Bounding boxes of all targets in one tick. A target has a lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Tick of this row; `None` if it was never used.
    pub tick: Option<Tick>,
    /// Index of the order of its lanes; `None` if they are the slots.
    pub order: Option<usize>,
    blocks: Vec<Block>,
    /// Bounds of every block, or larger ones. A probe that misses them need not be tested against the block.
    groups: Vec<Block>,
}

/// Volume that a query covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Probe {
    /// Ray with a unit direction and a radius.
    Ray {
        /// Origin.
        origin: Vec3A,
        /// Unit direction.
        direction: Vec3A,
        /// Length in metres.
        max: f32,
        /// Radius in metres.
        radius: f32,
    },
    /// Bundle of rays with a common origin.
    Fan {
        /// Origin.
        origin: Vec3A,
        /// Minimum components of the ray directions in world space, per metre along the common axis.
        low: Vec3A,
        /// Maximum components of the ray directions.
        high: Vec3A,
        /// Length along the common axis, in metres.
        max: f32,
    },
    /// Axis-aligned box in world space.
    Box {
        /// Minimum corner.
        low: Vec3A,
        /// Maximum corner.
        high: Vec3A,
    },
}

impl Probe {
    /// Creates a probe for a ray without thickness.
    pub fn along(ray: &UnitRay) -> Self {
        Self::Ray { origin: ray.origin, direction: ray.direction, max: ray.max, radius: 0.0 }
    }

    /// Returns the distance in metres along a ray at which it enters a box, or `None` if it misses. For a
    /// fan it is always 0.
    pub fn enters(&self, around: &SweptBounds) -> Option<f32> {
        let SweptBounds { low, high } = *around;
        match *self {
            Self::Ray { origin, direction, max, radius } => {
                let half = (high - low) * 0.5 + radius + 1e-3;
                ray_box(origin - (low + high) * 0.5, direction, half).filter(|enter| *enter <= max)
            }
            Self::Fan { .. } => Some(0.0),
            Self::Box { low: own_low, high: own_high } => {
                (own_low.cmple(high).all() && own_high.cmpge(low).all()).then_some(0.0)
            }
        }
    }
}

impl Row {
    /// Starts another tick, with the boxes of `first`.
    pub fn start(&mut self, tick: Tick, first: &Self) {
        self.tick = Some(tick);
        self.order = first.order;
        self.blocks.clone_from(&first.blocks);
        self.groups.clone_from(&first.groups);
    }

    /// Removes all boxes, and begins with another order of lanes.
    pub fn clear(&mut self, order: Option<usize>) {
        self.order = order;
        self.blocks.clear();
        self.groups.clear();
    }

    /// Sets the box of a lane.
    pub fn set(&mut self, lane: usize, swept: SweptBounds) {
        if self.tick.is_none() {
            return;
        }
        let (index, lane) = (lane / LANES, lane % LANES);
        if index >= self.blocks.len() {
            self.blocks.resize(index + 1, Block::EMPTY);
            self.groups.resize(self.blocks.len().div_ceil(LANES), Block::NOTHING);
        }
        self.blocks[index].set(lane, swept);
        if swept != SweptBounds::NOWHERE {
            let (group, lane) = (&mut self.groups[index / LANES], index % LANES);
            let SweptBounds { low, high } = group.get(lane);
            group.set(lane, SweptBounds { low: low.min(swept.low), high: high.max(swept.high) });
        }
    }

    /// Fits the bounds of all blocks to their boxes; otherwise they only grow.
    pub fn fit(&mut self) {
        for (index, block) in self.blocks.iter().enumerate() {
            self.groups[index / LANES].set(index % LANES, block.bounds());
        }
    }

    /// Returns the box of a lane.
    pub fn get(&self, lane: usize) -> Option<SweptBounds> {
        Some(self.blocks.get(lane / LANES)?.get(lane % LANES))
    }

    /// Calls `each` with every lane whose box intersects the probe, and with the distance in metres along
    /// a ray to the box.
    pub fn near(&self, probe: &Probe, each: impl FnMut(usize, f32)) {
        match *probe {
            Probe::Ray { origin, direction, max, radius } => {
                let slabs = Slabs::new(origin, (direction, direction), max, radius);
                self.visit(|block| slabs.meet::<false>(block), each);
            }
            Probe::Fan { origin, low, high, max } => {
                let slabs = Slabs::new(origin, (low, high), max, 0.0);
                self.visit(|block| slabs.meet::<true>(block), each);
            }
            Probe::Box { low, high } => {
                self.visit(|block| (block.overlap((low, high)), [Vec4::ZERO; 2]), each);
            }
        }
    }

    /// Calls `each` with every lane that passes `test`, which returns a mask of the boxes that a probe
    /// intersects and the distances to them. A probe that intersects a box intersects all larger ones.
    #[inline]
    fn visit(&self, test: impl Fn(&Block) -> (u32, [Vec4; 2]), mut each: impl FnMut(usize, f32)) {
        for (group, bounds) in self.groups.iter().enumerate() {
            let (mut wanted, _) = test(bounds);
            while wanted != 0 {
                let index = group * LANES + wanted.trailing_zeros() as usize;
                wanted &= wanted - 1;
                let Some(block) = self.blocks.get(index) else { break };
                let (mut mask, enter) = test(block);
                while mask != 0 {
                    let lane = mask.trailing_zeros() as usize;
                    each(index * LANES + lane, enter[lane / 4][lane % 4]);
                    mask &= mask - 1;
                }
            }
        }
    }
}

/// Thick ray, or hull of a fan of rays, for slab tests against four boxes at once. Computes the interval
/// in metres along the common axis in which part of it lies between the two sides of a box. Each world
/// axis contributes two bounds: both on entering, or one on entering and one on leaving.
struct Slabs([Slab; 3], Vec4);

struct Slab {
    /// Entering bound: side of the box, offset to subtract, and factor.
    enter: (usize, Vec4, Vec4),
    /// Leaving bound, in the same form.
    leave: (usize, Vec4, Vec4),
    /// Whether the fan contains both directions along this axis, in which case the second bound is on
    /// entering, too.
    spread: bool,
}

impl Slabs {
    #[inline]
    fn new(origin: Vec3A, (low, high): (Vec3A, Vec3A), max: f32, radius: f32) -> Self {
        let slab = |axis: usize| {
            let (from, low, high) = (origin[axis], inverse(low[axis]), inverse(high[axis]));
            let lower = |inverse| (0, Vec4::splat(from + radius), Vec4::splat(inverse));
            let upper = |inverse| (1, Vec4::splat(from - radius), Vec4::splat(inverse));
            // The steepest ray of the fan reaches the lower side first.
            let (enter, leave) =
                if high > 0.0 { (lower(high), upper(low)) } else { (upper(low), lower(high)) };
            Slab { enter, leave, spread: low < 0.0 && high > 0.0 }
        };
        Self([slab(0), slab(1), slab(2)], Vec4::splat(max))
    }
}

/// Returns a huge instead of an infinite inverse for a component of zero, so that a ray parallel to an
/// axis needs no special case.
fn inverse(d: f32) -> f32 {
    if d.abs() < 1e-18 { 1e18 } else { 1.0 / d }
}

impl Slab {
    #[inline]
    fn narrow<const FAN: bool>(&self, sides: &[[Vec4; 2]; 2], enter: &mut [Vec4; 2], leave: &mut [Vec4; 2]) {
        for half in 0..2 {
            let at = |(side, from, inverse): (usize, Vec4, Vec4)| (sides[side & 1][half] - from) * inverse;
            enter[half] = enter[half].max(at(self.enter));
            if FAN && self.spread {
                enter[half] = enter[half].max(at(self.leave));
            } else {
                leave[half] = leave[half].min(at(self.leave));
            }
        }
    }
}

impl Slabs {
    /// Returns a mask of the boxes that the ray or fan intersects, and the distances to them.
    #[inline]
    fn meet<const FAN: bool>(&self, Block(axes): &Block) -> (u32, [Vec4; 2]) {
        let Self([x, y, z], max) = self;
        let (mut enter, mut leave) = ([Vec4::ZERO; 2], [*max; 2]);
        x.narrow::<FAN>(&axes[0], &mut enter, &mut leave);
        z.narrow::<FAN>(&axes[2], &mut enter, &mut leave);
        let both = |enter: &[Vec4; 2], leave: &[Vec4; 2]| {
            enter[0].cmple(leave[0]).bitmask() | enter[1].cmple(leave[1]).bitmask() << 4
        };
        // Early out: most targets are beside the ray, seen from above.
        if both(&enter, &leave) == 0 {
            return (0, enter);
        }
        y.narrow::<FAN>(&axes[1], &mut enter, &mut leave);
        (both(&enter, &leave), enter)
    }
}

impl Block {
    /// Returns a mask of the boxes that overlap another one.
    fn overlap(&self, (low, high): (Vec3A, Vec3A)) -> u32 {
        let half = |half: usize| {
            (0..3).fold(0b1111, |mask, axis| {
                let below = self.0[axis][0][half].cmple(Vec4::splat(high[axis]));
                let above = self.0[axis][1][half].cmpge(Vec4::splat(low[axis]));
                mask & (below & above).bitmask()
            })
        };
        half(0) | half(1) << 4
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    #[test]
    fn fan_finds_every_box_that_any_of_its_rays_finds() {
        let mut rng = SmallRng::seed_from_u64(9);
        let (mut found, mut beside) = (0, 0);
        for round in 0..2_000 {
            let mut vector =
                |scale: f32| Vec3A::from_array([(); 3].map(|()| rng.random_range(-1.0..1.0))) * scale;
            let mut row = Row::default();
            row.start(Tick(3), &Row::default());
            for slot in 0..64 {
                let (low, size) = (vector(20.0), vector(1.0).abs());
                row.set(slot, SweptBounds { low, high: low + size });
            }
            // Includes rays along an axis, and fans of zero width.
            let axis = if round % 7 == 0 { Vec3A::Z } else { vector(1.0).normalize() };
            let origin = vector(10.0);
            let spread = [0.0, 0.1, 1.0][round % 3];
            let rays: Vec<Vec3A> = (0..5).map(|_| (axis + vector(spread)).normalize()).collect();
            let parts = rays.iter().filter(|ray| ray.dot(axis) > 0.2).map(|ray| *ray / ray.dot(axis));
            let (low, high) = parts.fold((axis, axis), |(low, high), ray| (low.min(ray), high.max(ray)));
            let mut near = [f32::INFINITY; 64];
            row.near(&Probe::Fan { origin, low, high, max: 25.0 }, |slot, enter| near[slot] = enter);
            found += near.iter().filter(|enter| enter.is_finite()).count();
            for direction in rays.iter().filter(|ray| ray.dot(axis) > 0.2) {
                let ray = Probe::Ray { origin, direction: *direction, max: 24.9, radius: 0.0 };
                row.near(&ray, |slot, enter| {
                    assert!(near[slot] <= enter + 1e-3, "{slot}: {} {enter}", near[slot]);
                });
            }
            beside += near.iter().filter(|enter| enter.is_infinite()).count();
        }
        assert!(found > 5_000 && beside > 60_000, "{found} {beside}");
    }

    #[test]
    fn probe_finds_exactly_the_boxes_that_it_touches() {
        let mut row = Row::default();
        row.start(Tick(3), &Row::default());
        let cube = |x: f32| SweptBounds { low: Vec3A::new(x, 0.0, 0.0), high: Vec3A::new(x + 1.0, 1.0, 1.0) };
        for slot in 0..20 {
            row.set(slot, cube(slot as f32 * 10.0));
        }
        row.set(7, SweptBounds::NOWHERE);
        row.set(11, SweptBounds::EVERYWHERE);
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

    /// Returns what a probe finds without the bounds of blocks.
    fn found_one_by_one(row: &Row, probe: &Probe) -> Vec<(usize, f32)> {
        let mut found = Vec::new();
        for (index, block) in row.blocks.iter().enumerate() {
            let (mask, enter) = match *probe {
                Probe::Ray { origin, direction, max, radius } => {
                    Slabs::new(origin, (direction, direction), max, radius).meet::<false>(block)
                }
                Probe::Fan { origin, low, high, max } => {
                    Slabs::new(origin, (low, high), max, 0.0).meet::<true>(block)
                }
                Probe::Box { low, high } => (block.overlap((low, high)), [Vec4::ZERO; 2]),
            };
            let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
            found.extend(lanes.map(|lane| (index * LANES + lane, enter[lane / 4][lane % 4])));
        }
        found
    }

    #[test]
    fn bounds_of_blocks_hide_no_box_from_any_probe() {
        let mut rng = SmallRng::seed_from_u64(21);
        let (mut row, mut found) = (Row::default(), 0);
        row.start(Tick(3), &Row::default());
        for round in 0..3_000 {
            let mut vector =
                |scale: f32| Vec3A::from_array([(); 3].map(|()| rng.random_range(-1.0..1.0))) * scale;
            let (low, origin, way, size) = (vector(50.0), vector(60.0), vector(1.0), vector(2.0).abs());
            let direction = if round % 9 == 0 { Vec3A::NEG_Z } else { way.normalize_or(Vec3A::X) };
            let lane = rng.random_range(0..150);
            row.set(
                lane,
                match round % 50 {
                    0 => SweptBounds::EVERYWHERE,
                    1..25 => SweptBounds::NOWHERE,
                    _ => SweptBounds { low, high: low + size },
                },
            );
            if round % 7 == 0 {
                row.fit();
            }
            let spread = Vec3A::new(0.1, 0.02, 0.1);
            for probe in [
                Probe::Ray { origin, direction, max: 90.0, radius: 0.0 },
                Probe::Ray { origin, direction, max: 30.0, radius: 1.5 },
                Probe::Fan { origin, low: direction - spread, high: direction + spread, max: 70.0 },
                Probe::Box { low: origin, high: origin + size * 5.0 },
            ] {
                let mut near = Vec::new();
                row.near(&probe, |lane, enter| near.push((lane, enter)));
                assert_eq!(near, found_one_by_one(&row, &probe), "{round}: {probe:?}");
                found += near.len();
            }
        }
        assert!(found > 10_000, "{found}");
    }
}
