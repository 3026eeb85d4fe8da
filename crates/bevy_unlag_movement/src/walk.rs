//! Walking on a floor.

use bevy::prelude::*;

use crate::{
    MoveEvent,
    fall::fall,
    floor::{Floor, HOVER_MAX, along_floor, find_floor, hover_above, look_below, off_axis},
    glide::{Glide, glide},
    part::Part,
    planes::upright,
    slice::Slice,
    sweep::advance,
    velocity::pushed,
};

/// Height in metres below which a change of height is not a step.
const STEP: f32 = 0.05;
/// Depth in metres below the feet that is searched first for the floor of the last step.
const NEAR: f32 = 0.06;

/// Moves for `dt` on a floor; falls if there is none.
pub(crate) fn walk(slice: &mut Slice<'_>, parts: &[Part], dt: f32) {
    let config = slice.config;
    let below = |down| find_floor(&config.footing(), parts, slice.body, slice.feet, down);
    let Some(floor) = below(NEAR).or_else(|| below(config.step_height + HOVER_MAX)) else {
        slice.events.push(MoveEvent::WalkedOff);
        slice.leave_floor();
        fall(slice, parts, dt);
        return;
    };
    slice.set_base(floor.base);
    let forces = slice.forces();
    slice.velocity = pushed(config, &forces, slice.velocity.with_y(0.0), slice.wish(), dt);
    slide(slice, parts, floor, dt);
}

/// Moves along the floor for `dt`: over slopes, up and down steps, along walls, off ledges.
pub(crate) fn slide(slice: &mut Slice<'_>, parts: &[Part], floor: Floor, dt: f32) {
    let (start, config, body) = (slice.feet, slice.config, slice.body);
    let stays = holds_back(slice);
    let wanted = slice.velocity * dt;
    let begin = (start, slice.velocity);
    let Glide { feet, velocity, climbed } =
        glide(&config.footing(), parts, body, begin, &floor, dt, |normal, velocity| {
            slice.velocity = velocity;
            slice.hit_wall(normal);
        });
    (slice.feet, slice.velocity) = (feet, velocity);
    // A pawn that already stands over a ledge may not go further, but stays.
    let most = stays.then(|| off_axis(floor.point, start));
    let over = |slice: &Slice<'_>| most.is_some_and(|most| is_over_ledge(slice, parts, most));
    if !over(slice) && settle(slice, parts, &floor, climbed) {
        return;
    }
    if stays {
        slice.feet = along_ledge(slice, parts, start, &floor, wanted);
        if !over(slice) && settle(slice, parts, &floor, false) {
            return;
        }
        // The ledge turns here.
        slice.feet = start;
        slice.velocity = Vec3::ZERO;
        if settle(slice, parts, &floor, false) {
            return;
        }
    }
    slice.events.push(MoveEvent::WalkedOff);
    slice.leave_floor();
}

/// Returns whether the pawn is over a ledge: there is no floor for the middle of the capsule within the
/// step height, and the floor below its rim is further from the middle than `most`.
fn is_over_ledge(slice: &Slice<'_>, parts: &[Part], most: f32) -> bool {
    let config = slice.config;
    let down = config.step_height + HOVER_MAX;
    let footing = config.footing();
    let Some(floor) = find_floor(&footing, parts, slice.body, slice.feet, down) else { return true };
    let radius = config.ledge_threshold.clamp(0.01, slice.body.radius.max(0.01));
    // Starts at the height up to which the round base may have sunk below the rim.
    let up = slice.body.radius;
    let raised = slice.feet + Vec3::Y * up;
    off_axis(floor.point, slice.feet) > most + 1e-3
        && look_below(&footing, parts, radius, raised, up + down).floor.is_none()
}

/// Settles in the hover band of the floor below; returns false when there is none.
fn settle(slice: &mut Slice<'_>, parts: &[Part], from: &Floor, climbed: bool) -> bool {
    let down = slice.config.step_height + HOVER_MAX;
    let footing = slice.config.footing();
    let Some(floor) = find_floor(&footing, parts, slice.body, slice.feet, down) else { return false };
    // Height of the old floor at this place, if it continued.
    let level = from.point - floor.point;
    let slope = along_floor(level, from.face).y;
    let step = slope - level.y;
    // A bend in the ground is not a step.
    if step.abs() >= STEP && (climbed || floor.face.dot(from.face) > 0.999) {
        slice.events.push(MoveEvent::Stepped { height: step });
    }
    slice.feet = hover_above(parts, slice.body, slice.feet, &floor);
    slice.set_base(floor.base);
    true
}

/// Returns whether this pawn does not walk off ledges.
fn holds_back(slice: &Slice<'_>) -> bool {
    let config = slice.config;
    !config.walk_off_ledges || (slice.state.crouched && !config.walk_off_ledges_crouched)
}

/// Returns the position of a pawn that does not walk off ledges after moving along the ledge.
fn along_ledge(slice: &mut Slice<'_>, parts: &[Part], start: Vec3, floor: &Floor, wanted: Vec3) -> Vec3 {
    // The nearest point of the floor gives the direction of the ledge.
    let footing = slice.config.footing();
    let below = find_floor(&footing, parts, slice.body, slice.feet, HOVER_MAX + footing.step_height);
    let inwards = upright(below.map_or(floor.point, |below| below.point) - slice.feet);
    let along = wanted - inwards * wanted.dot(inwards).min(0.0);
    slice.velocity -= inwards * slice.velocity.dot(inwards).min(0.0);
    if along.length_squared() < 1e-10 {
        return start;
    }
    advance(parts, slice.body, start, along_floor(along, floor.face)).0
}
