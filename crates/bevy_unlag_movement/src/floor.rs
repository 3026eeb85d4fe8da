//! What is under the feet.

use bevy::prelude::*;

use crate::{
    part::Parts,
    sweep::{Body, Hit, advance, sweep_part},
};

/// Metres between feet and floor: within this band nothing moves, so a standing pawn is still and
/// a walking one never scrapes.
const HOVER_MIN: f32 = 0.019;
pub(crate) const HOVER_MAX: f32 = 0.024;
/// The middle of the band.
const HOVER: f32 = 0.021_5;
/// Contacts this close to the capsule's side, in metres, are walls: it is about to slip off.
const EDGE: f32 = 0.001_5;
/// Metres by which a walkable floor may lie below something steep that is nearer, such as the
/// foot of a steep slope beside it.
const STEEP_BESIDE: f32 = 0.03;

/// A walkable floor below the feet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    /// Metres down to it.
    pub(crate) distance: f32,
    /// The normal of its face.
    pub(crate) face: Vec3,
    /// Where the capsule would touch it.
    pub(crate) point: Vec3,
}

/// The walkable floor at most `max_down` below the feet.
pub(crate) fn find_floor(
    parts: &Parts<'_>,
    body: Body,
    feet: Vec3,
    max_down: f32,
    walkable_y: f32,
) -> Option<Floor> {
    let mut nearest = f32::INFINITY;
    let mut best: Option<Floor> = None;
    for part in parts {
        let Some(Hit { distance, normal, point }) = sweep_part(part, body, 0.0, feet, Vec3::NEG_Y, max_down)
        else {
            continue;
        };
        nearest = nearest.min(distance);
        let face = part.face_normal(point, normal);
        let off_axis = Vec2::new(point.x - feet.x, point.z - feet.z).length();
        if face.y < walkable_y || off_axis > body.radius - EDGE {
            continue;
        }
        // Of floors that are equally near the most level one is it.
        let better = best.is_none_or(|old| {
            distance < old.distance - 1e-3 || (distance <= old.distance + 1e-3 && face.y > old.face.y)
        });
        if better {
            best = Some(Floor { distance, face, point });
        }
    }
    best.filter(|floor| floor.distance <= nearest + STEEP_BESIDE)
}

/// Moves the feet into the hover band above `floor`, as far as nothing is in the way.
pub(crate) fn hover_above(parts: &Parts<'_>, body: Body, feet: Vec3, floor: &Floor) -> Vec3 {
    if (HOVER_MIN..=HOVER_MAX).contains(&floor.distance) {
        return feet;
    }
    advance(parts, body, feet, Vec3::Y * (HOVER - floor.distance)).0
}

/// The motion along a floor whose level part is `flat`: slopes do not change the level speed.
pub(crate) fn along_floor(flat: Vec3, face: Vec3) -> Vec3 {
    let rise = if face.y > 1e-3 { -(flat.x * face.x + flat.z * face.z) / face.y } else { 0.0 };
    Vec3::new(flat.x, rise, flat.z)
}
