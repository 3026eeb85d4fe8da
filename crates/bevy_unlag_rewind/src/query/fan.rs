//! Many rays from one place, asked together whether they touch a box.

use bevy::math::{Vec3, Vec3A};

use crate::{shape::ray_box, swept::Swept, table::Probe, target::UnitRay};

const LANES: usize = 8;

/// Rays with unit directions from one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Fan {
    origin: Vec3A,
    axis: Vec3A,
    /// Cosine and sine of the widest angle between a ray and the axis.
    widest: (f32, f32),
    max: f32,
    blocks: Vec<Block>,
}

/// Eight rays; the compiler turns loops over lanes into vector instructions.
#[derive(Clone, Copy, Debug)]
struct Block {
    inverse: [[f32; LANES]; 3],
    max: [f32; LANES],
}

/// Some rays of a fan, as bits; all beyond the last few share bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touching(u64);

impl Touching {
    pub const ALL: Self = Self(u64::MAX);

    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether a ray may be one of them.
    pub fn has(self, ray: usize) -> bool {
        let shared = u64::BITS as usize - LANES;
        let bit = if ray < shared { ray } else { shared + ray % LANES };
        self.0 >> bit & 1 != 0
    }
}

impl Fan {
    /// Starts anew with rays as long as each says; one with a negative length is none.
    pub fn set(&mut self, origin: Vec3A, rays: impl Iterator<Item = (Vec3A, f32)> + Clone) {
        self.origin = origin;
        self.axis = rays.clone().map(|(direction, _)| direction).sum::<Vec3A>().normalize_or(Vec3A::X);
        self.max = 0.0;
        self.blocks.clear();
        let mut widest = 1.0_f32;
        for (index, (direction, max)) in rays.enumerate() {
            let lane = index % LANES;
            if lane == 0 {
                // What is not filled in is no ray.
                self.blocks.push(Block { inverse: [[1.0; LANES]; 3], max: [-1.0; LANES] });
            }
            let Some(block) = self.blocks.last_mut() else { return };
            for (axis, d) in direction.to_array().into_iter().enumerate() {
                block.inverse[axis][lane] = if d.abs() < 1e-18 { 1e18 } else { 1.0 / d };
            }
            block.max[lane] = max;
            if max >= 0.0 {
                widest = widest.min(direction.dot(self.axis));
                self.max = self.max.max(max);
            }
        }
        // Rounding makes it no narrower.
        let cosine = (widest - 1e-5).max(-1.0);
        self.widest = (cosine, (1.0 - cosine * cosine).max(0.0).sqrt());
    }

    /// What no ray of it leaves.
    pub fn probe(&self) -> Probe {
        let (cosine, sine) = self.widest;
        if cosine < 0.2 {
            let Swept { low, high } = Swept::EVERYWHERE;
            return Probe::Box { low, high };
        }
        Probe::Ray { origin: self.origin, direction: self.axis, max: self.max, radius: self.max * sine }
    }

    /// Which rays of it touch a box along the axes of the world.
    pub fn touching(&self, low: Vec3A, high: Vec3A) -> Touching {
        if !self.near_cone(low, high) {
            return Touching(0);
        }
        let masks = self.blocks.iter().map(|block| u64::from(block.touching(self.origin, low, high)));
        let shifts = (0..u64::BITS).step_by(LANES).chain(core::iter::repeat(u64::BITS - LANES as u32));
        Touching(masks.zip(shifts).fold(0, |all, (mask, shift)| all | mask << shift))
    }

    /// Whether the ball around a box comes near the cone around all rays.
    fn near_cone(&self, low: Vec3A, high: Vec3A) -> bool {
        let to = (low + high) * 0.5 - self.origin;
        let reach = (high - low).length() * 0.5;
        let along = to.dot(self.axis);
        let aside = (to.length_squared() - along * along).max(0.0).sqrt();
        let (cosine, sine) = self.widest;
        // Metres outside of the cone's side; behind the tip it is further away than that.
        aside * cosine - along * sine <= reach * 1.0001 + 1e-3
    }
}

impl Block {
    fn touching(&self, origin: Vec3A, low: Vec3A, high: Vec3A) -> u8 {
        let (mut enter, mut leave) = ([0.0_f32; LANES], self.max);
        for axis in 0..3 {
            let (a, b) = (low[axis] - origin[axis], high[axis] - origin[axis]);
            for lane in 0..LANES {
                let (a, b) = (a * self.inverse[axis][lane], b * self.inverse[axis][lane]);
                let (near, far) = if a < b { (a, b) } else { (b, a) };
                enter[lane] = if enter[lane] > near { enter[lane] } else { near };
                leave[lane] = if leave[lane] < far { leave[lane] } else { far };
            }
        }
        (0..LANES).fold(0, |mask, lane| mask | u8::from(enter[lane] <= leave[lane]) << lane)
    }
}

/// Whether what is `radius` thick touches a box along the axes of the world on its way.
pub(super) fn passes_box(way: &UnitRay, radius: f32, low: Vec3A, high: Vec3A) -> bool {
    let half = (high - low) * 0.5 + radius + 1e-3;
    ray_box(way.origin - (low + high) * 0.5, way.direction, half).is_some_and(|at| at <= way.max)
}

/// The way from one point to another; of no length it has any direction.
pub(super) fn way(from: Vec3, to: Vec3) -> UnitRay {
    let (direction, max) = (to - from).try_normalize().map_or((Vec3::X, 0.0), |d| (d, from.distance(to)));
    UnitRay { origin: from.into(), direction: direction.into(), max }
}
