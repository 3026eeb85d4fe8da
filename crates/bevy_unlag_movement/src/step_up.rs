//! Climbing of steps: up, forwards, down.

use bevy::prelude::*;

use crate::{
    floor::{FloorRules, HOVER_MAX, find_floor, hover_above},
    part::Part,
    sweep::{Body, advance},
};

/// Smallest distance in metres that a climb goes beyond the edge. The capsule stops a skin's width
/// before a wall, and the motion of one tick from a standstill would not bring it above the step.
const MIN_AHEAD: f32 = 0.02;

/// Returns the position of the feet after climbing the obstacle of the horizontal motion `flat`; `None`
/// when the obstacle is too high, too steep or has no floor behind it. `wall` is its horizontal normal.
/// `floor_y` is the height of the floor that the pawn stood on: without it, the round end of the capsule
/// would climb anything bit by bit.
pub(crate) fn step_up(
    floor_rules: &FloorRules,
    parts: &[Part],
    body: Body,
    feet: Vec3,
    flat: Vec3,
    wall: Vec3,
    floor_y: f32,
) -> Option<Vec3> {
    let into = -flat.dot(wall);
    if into <= 0.0 {
        return None;
    }
    let forward = flat - wall * (MIN_AHEAD - into).max(0.0);
    let raised = advance(parts, body, feet, Vec3::Y * floor_rules.step_height).0;
    let ahead = advance(parts, body, raised, forward).0;
    // Mostly blocked up there as well: a wall, not a step.
    if (raised - ahead).dot(wall) < 0.25 * into.max(MIN_AHEAD) {
        return None;
    }
    let down = raised.y - feet.y + HOVER_MAX;
    let floor = find_floor(floor_rules, parts, body, ahead, down)?;
    if floor.point.y - floor_y > floor_rules.step_height + 1e-3 {
        return None;
    }
    Some(hover_above(parts, body, ahead, &floor))
}
