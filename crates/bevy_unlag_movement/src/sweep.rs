//! Moving the capsule until it touches, and pushing it out of what it is in.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use crate::{
    distance::{Separation, separation},
    part::{Part, Parts},
};

/// Metres that moves keep between the capsule and anything, so that rounding never makes them
/// touch. A floor is kept further away: see [`floor`](crate::floor).
pub(crate) const SKIN: f32 = 0.005;
/// Metres within which a gap counts as closed.
const TOLERANCE: f32 = 2.5e-4;
/// A direction that closes slower than this, per metre moved, does not close.
const PARALLEL: f32 = 1e-4;
/// Enough for any approach but a graze, which then ends a little early.
const MAX_ADVANCES: u32 = 24;

/// The capsule, upright on its feet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// Metres.
    pub(crate) radius: f32,
    /// Metres from the lower to the upper end of the core.
    pub(crate) core: f32,
}

impl Body {
    /// A capsule of this size; one that is lower than wide becomes a ball.
    pub(crate) fn new(radius: f32, half_height: f32) -> Self {
        Self { radius, core: (2.0 * (half_height - radius)).max(0.0) }
    }

    /// The ends of the core when the feet are at `feet`.
    fn ends(self, feet: Vec3) -> (Vec3, Vec3) {
        let low = feet + Vec3::Y * self.radius;
        (low, low + Vec3::Y * self.core)
    }

    /// The box about the capsule.
    pub(crate) fn aabb(self, feet: Vec3) -> Aabb {
        let side = Vec3::new(self.radius, 0.0, self.radius);
        Aabb::new(feet - side, feet + side + Vec3::Y * (self.core + 2.0 * self.radius))
    }
}

/// Where a sweep ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// Metres moved.
    pub(crate) distance: f32,
    /// From the part to the capsule.
    pub(crate) normal: Vec3,
    /// On the part.
    pub(crate) point: Vec3,
}

/// Sweeps the capsule, grown by `skin`, against one part. It advances by the distance at which it
/// could touch at the earliest, so it can never jump across.
pub(crate) fn sweep_part(
    part: &Part<'_>,
    body: Body,
    skin: f32,
    feet: Vec3,
    direction: Vec3,
    length: f32,
) -> Option<Hit> {
    let reach = body.radius + skin;
    let end = feet + direction * length;
    let swept = body.aabb(feet).merged(&body.aabb(end)).loosened(skin + TOLERANCE);
    if !swept.intersects(&part.aabb) {
        return None;
    }
    let mut moved = 0.0;
    for advance in 0..MAX_ADVANCES {
        let (a, b) = body.ends(feet + direction * moved);
        let near = separation(part, a, b, reach + (length - moved) + 1e-3)?;
        let closing = -near.normal.dot(direction);
        // The distance to a convex part is convex along a line: once it grows, it grows on.
        if closing <= PARALLEL {
            return None;
        }
        let gap = near.distance - reach;
        if gap <= TOLERANCE || advance + 1 == MAX_ADVANCES {
            return Some(Hit { distance: moved, normal: near.normal, point: near.point });
        }
        moved += gap / closing;
        if moved >= length {
            return None;
        }
    }
    None
}

/// Sweeps against all parts, keeping [`SKIN`] away; the first in order wins a tie.
pub(crate) fn sweep(parts: &Parts<'_>, body: Body, feet: Vec3, motion: Vec3) -> Option<Hit> {
    let length = motion.length();
    if length < 1e-6 {
        return None;
    }
    let direction = motion / length;
    let mut best: Option<Hit> = None;
    let mut left = length;
    for part in parts {
        if let Some(hit) = sweep_part(part, body, SKIN, feet, direction, left)
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

/// Moves as far as possible; returns where to and what was hit.
pub(crate) fn advance(parts: &Parts<'_>, body: Body, feet: Vec3, motion: Vec3) -> (Vec3, Option<Hit>) {
    match sweep(parts, body, feet, motion) {
        Some(hit) => (feet + motion.normalize_or_zero() * hit.distance, Some(hit)),
        None => (feet + motion, None),
    }
}

fn overlap(part: &Part<'_>, body: Body, feet: Vec3) -> Option<Separation> {
    if !body.aabb(feet).intersects(&part.aabb) {
        return None;
    }
    let (a, b) = body.ends(feet);
    separation(part, a, b, body.radius)
}

/// Metres that the capsule, without skin, is inside the part that it is deepest in; 0 when free.
pub(crate) fn depth(parts: &Parts<'_>, body: Body, feet: Vec3) -> f32 {
    parts
        .iter()
        .filter_map(|part| overlap(part, body, feet))
        .fold(0.0, |deepest: f32, near| deepest.max(body.radius - near.distance))
}

/// Pushes the capsule out of one part after the other, a few times over.
pub(crate) fn push_out(parts: &Parts<'_>, body: Body, mut feet: Vec3) -> Vec3 {
    for _ in 0..4 {
        let mut pushed = false;
        for part in parts {
            if let Some(near) = overlap(part, body, feet) {
                let inside = body.radius - near.distance;
                if inside > TOLERANCE {
                    feet += near.normal * (inside + TOLERANCE);
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
