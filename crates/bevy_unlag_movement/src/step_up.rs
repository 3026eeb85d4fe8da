//! Climbing a step: up, forwards, down.

use bevy::prelude::*;

use crate::{
    CapsuleConfig,
    floor::{HOVER_MAX, find_floor, hover_above},
    part::Parts,
    planes::upright,
    sweep::{Body, advance},
};

/// Where the feet are after climbing what stops the level motion `flat`, or none when it is too
/// high, too steep or leads nowhere. `floor_y` is the height of the floor that it stood on: the
/// capsule's round end would otherwise climb anything, a bit at a time.
pub(crate) fn step_up(
    config: &CapsuleConfig,
    parts: &Parts<'_>,
    body: Body,
    feet: Vec3,
    flat: Vec3,
    floor_y: f32,
) -> Option<Vec3> {
    let raised = advance(parts, body, feet, Vec3::Y * config.step_height).0;
    let (mut ahead, hit) = advance(parts, body, raised, flat);
    if let Some(hit) = hit {
        let wall = upright(hit.normal);
        let rest = flat - (ahead - raised);
        let along = rest - wall * rest.dot(wall).min(0.0);
        ahead = advance(parts, body, ahead, along).0;
    }
    let progress = (ahead - raised).dot(flat.normalize_or_zero());
    if progress < 1e-4 {
        return None;
    }
    let down = raised.y - feet.y + HOVER_MAX;
    let floor = find_floor(parts, body, ahead, down, config.walkable_floor_y)?;
    if floor.point.y - floor_y > config.step_height + 1e-3 {
        return None;
    }
    Some(hover_above(parts, body, ahead, &floor))
}
