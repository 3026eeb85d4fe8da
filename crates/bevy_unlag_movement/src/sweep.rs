//! Sweeps of the capsule against parts, and its recovery from penetration.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use crate::{
    base::BaseId,
    distance::{Separation, separation},
    part::Part,
};

/// Gap in metres that moves keep between the capsule and anything, so that rounding never makes them
/// touch. The gap to a floor is larger: see [`floor`](crate::floor).
pub(crate) const SKIN: f32 = 0.005;
/// Distance in metres below which a gap counts as closed.
pub(crate) const TOLERANCE: f32 = 2.5e-4;
/// Approach speed, per metre moved, below which a direction counts as parallel.
const PARALLEL: f32 = 1e-4;
/// Maximum number of iterations: enough for any approach but a grazing one, which then ends slightly
/// early.
const MAX_ADVANCES: u32 = 24;
/// Smallest component of a contact normal along the blocking side of a one-way collider that still
/// blocks.
pub(crate) const ONE_WAY_SIDE: f32 = 0.7;
/// Depth in metres inside the blocking side of a one-way collider up to which a capsule is still
/// blocked; from further inside it passes.
const ONE_WAY_DEPTH: f32 = 0.01;

/// Capsule, upright on its feet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Body {
    /// Radius in metres.
    pub(crate) radius: f32,
    /// Length of the core, from its lower to its upper end, in metres.
    pub(crate) core: f32,
}

impl Body {
    /// Creates a capsule; one that is lower than wide becomes a ball.
    pub(crate) fn new(radius: f32, half_height: f32) -> Self {
        Self { radius, core: (2.0 * (half_height - radius)).max(0.0) }
    }

    /// Returns the height from the feet to the head in metres.
    pub(crate) fn height(self) -> f32 {
        self.core + 2.0 * self.radius
    }

    /// Returns the lower end of the core when the feet are at `feet`.
    pub(crate) fn low(self, feet: Vec3) -> Vec3 {
        feet + Vec3::Y * self.radius
    }

    /// Returns the bounding box of the capsule.
    pub(crate) fn aabb(self, feet: Vec3) -> Aabb {
        let side = Vec3::new(self.radius, 0.0, self.radius);
        Aabb::new(feet - side, feet + side + Vec3::Y * self.height())
    }
}

/// Hit of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// Distance moved in metres.
    pub(crate) distance: f32,
    /// Direction from the part to the capsule.
    pub(crate) normal: Vec3,
    /// Point of contact on the part.
    pub(crate) point: Vec3,
    /// Movement base of the part.
    pub(crate) base: BaseId,
    /// Whether the part is another pawn.
    pub(crate) pawn: bool,
}

/// Sweeps the core, grown by `reach`, against one part by conservative advancement: each iteration
/// advances by the distance at which it could touch at the earliest, so it cannot tunnel.
pub(crate) fn sweep_core(
    part: &Part,
    low: Vec3,
    core: f32,
    reach: f32,
    direction: Vec3,
    length: f32,
) -> Option<Hit> {
    let mut moved = 0.0;
    for advance in 0..MAX_ADVANCES {
        let near = separation(part, low + direction * moved, core, reach + (length - moved) + 1e-3)?;
        let closing = -near.normal.dot(direction);
        // The distance to a convex part is convex along a line: once it grows, it keeps growing.
        if closing <= PARALLEL {
            return None;
        }
        let gap = near.distance - reach;
        if advance == 0 && part.one_way.is_some() && gap < -ONE_WAY_DEPTH {
            return None;
        }
        if gap <= TOLERANCE || advance + 1 == MAX_ADVANCES {
            let passes = part.one_way.is_some_and(|side| near.normal.dot(side) < ONE_WAY_SIDE);
            return (!passes).then_some(Hit {
                distance: moved,
                normal: near.normal,
                point: near.point,
                base: part.base,
                pawn: part.pawn,
            });
        }
        moved += gap / closing;
        if moved >= length {
            return None;
        }
    }
    None
}

/// Sweeps against all parts but those of the base `skip`, keeping a gap of [`SKIN`]. The first part in
/// order wins a tie.
pub(crate) fn sweep_ignoring_base(
    parts: &[Part],
    body: Body,
    feet: Vec3,
    motion: Vec3,
    skip: BaseId,
) -> Option<Hit> {
    let length = motion.length();
    if length < 1e-6 {
        return None;
    }
    let direction = motion / length;
    let low = body.low(feet);
    let swept = body.aabb(feet).merged(&body.aabb(feet + motion)).loosened(SKIN + TOLERANCE);
    let mut best: Option<Hit> = None;
    let mut left = length;
    for part in parts {
        if !swept.intersects(&part.aabb) || (skip != BaseId::NONE && part.base == skip) {
            continue;
        }
        if let Some(hit) = sweep_core(part, low, body.core, body.radius + SKIN, direction, left)
            && (best.is_none() || hit.distance < left - 1e-6)
        {
            left = hit.distance;
            best = Some(hit);
            if left <= 0.0 {
                break;
            }
        }
    }
    best
}

pub(crate) fn sweep(parts: &[Part], body: Body, feet: Vec3, motion: Vec3) -> Option<Hit> {
    sweep_ignoring_base(parts, body, feet, motion, BaseId::NONE)
}

/// Moves as far as possible; returns the final position and the hit.
pub(crate) fn advance(parts: &[Part], body: Body, feet: Vec3, motion: Vec3) -> (Vec3, Option<Hit>) {
    match sweep(parts, body, feet, motion) {
        Some(hit) => (feet + motion.normalize_or_zero() * hit.distance, Some(hit)),
        None => (feet + motion, None),
    }
}

/// Returns the separation of an overlapping part. Other pawns and one-way colliders are excluded: a
/// capsule leaves those without being pushed out.
fn overlap(part: &Part, body: Body, feet: Vec3, aabb: &Aabb) -> Option<Separation> {
    if !aabb.intersects(&part.aabb) || part.pawn || part.one_way.is_some() {
        return None;
    }
    separation(part, body.low(feet), body.core, body.radius)
}

/// Returns the deepest penetration of the capsule, without skin, in metres; 0 when it is free.
pub(crate) fn depth(parts: &[Part], body: Body, feet: Vec3) -> f32 {
    let aabb = body.aabb(feet);
    parts
        .iter()
        .filter_map(|part| overlap(part, body, feet, &aabb))
        .fold(0.0, |deepest: f32, near| deepest.max(body.radius - near.distance))
}

/// Longest push in metres. Parts within this distance must be known.
pub(crate) const MAX_PUSH: f32 = 0.5;

/// Pushes the capsule out of one part after the other, in a few iterations.
pub(crate) fn push_out(parts: &[Part], body: Body, start: Vec3) -> Vec3 {
    let mut feet = start;
    for _ in 0..4 {
        let mut pushed = false;
        for part in parts {
            let aabb = body.aabb(feet);
            if let Some(near) = overlap(part, body, feet, &aabb) {
                let inside = body.radius - near.distance;
                if inside > TOLERANCE {
                    feet += near.normal * (inside + TOLERANCE);
                    feet = start + (feet - start).clamp_length_max(MAX_PUSH);
                    pushed = true;
                }
            }
        }
        if !pushed {
            break;
        }
    }
    feet
}
