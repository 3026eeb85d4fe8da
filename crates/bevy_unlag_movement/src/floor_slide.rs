//! Motion of a pawn along a floor: slopes, steps, walls and ledges.

use bevy::prelude::*;

use crate::{
    event::MoveEvent,
    floor::{Floor, HOVER_MAX, along_floor, distance_from_axis, find_floor, hover_above, probe_ground},
    floor_motion::{FloorMotion, move_along_floor},
    part::Part,
    planes::upright,
    step_state::PawnStep,
    sweep::advance,
};

/// Height in metres below which a change of height is not a step.
const MIN_STEP_HEIGHT: f32 = 0.05;

/// Moves along the floor for `dt`: over slopes, up and down steps, along walls, off ledges.
pub(crate) fn slide(pawn: &mut PawnStep<'_>, parts: &[Part], floor: Floor, dt: f32) {
    let (start, config, body) = (pawn.feet, pawn.config, pawn.body);
    let stays = stops_at_ledges(pawn);
    let wanted = pawn.velocity * dt;
    let begin = (start, pawn.velocity);
    let FloorMotion { feet, velocity, climbed } =
        move_along_floor(&config.floor_rules(), parts, body, begin, &floor, dt, |normal, velocity| {
            pawn.velocity = velocity;
            pawn.hit_wall(normal);
        });
    (pawn.feet, pawn.velocity) = (feet, velocity);
    // A pawn that already stands over a ledge may not go further, but stays.
    let most = stays.then(|| distance_from_axis(floor.point, start));
    let over = |pawn: &PawnStep<'_>| most.is_some_and(|most| is_over_ledge(pawn, parts, most));
    if !over(pawn) && settle(pawn, parts, &floor, climbed) {
        return;
    }
    if stays {
        pawn.feet = along_ledge(pawn, parts, start, &floor, wanted);
        if !over(pawn) && settle(pawn, parts, &floor, false) {
            return;
        }
        // The ledge turns here.
        pawn.feet = start;
        pawn.velocity = Vec3::ZERO;
        if settle(pawn, parts, &floor, false) {
            return;
        }
    }
    pawn.events.push(MoveEvent::WalkedOffLedge);
    pawn.leave_floor();
}

/// Returns whether the pawn is over a ledge: there is no floor for the middle of the capsule within the
/// step height, and the floor below its rim is further from the middle than `most`.
fn is_over_ledge(pawn: &PawnStep<'_>, parts: &[Part], most: f32) -> bool {
    let config = pawn.config;
    let down = config.step_height + HOVER_MAX;
    let floor_rules = config.floor_rules();
    let Some(floor) = find_floor(&floor_rules, parts, pawn.body, pawn.feet, down) else { return true };
    let radius = config.ledge_threshold.clamp(0.01, pawn.body.radius.max(0.01));
    // Starts at the height up to which the round base may have sunk below the rim.
    let up = pawn.body.radius;
    let raised = pawn.feet + Vec3::Y * up;
    distance_from_axis(floor.point, pawn.feet) > most + 1e-3
        && probe_ground(&floor_rules, parts, radius, raised, up + down).floor.is_none()
}

/// Settles in the hover band of the floor below; returns false when there is none.
fn settle(pawn: &mut PawnStep<'_>, parts: &[Part], from: &Floor, climbed: bool) -> bool {
    let down = pawn.config.step_height + HOVER_MAX;
    let floor_rules = pawn.config.floor_rules();
    let Some(floor) = find_floor(&floor_rules, parts, pawn.body, pawn.feet, down) else { return false };
    // Height of the old floor at this place, if it continued.
    let level = from.point - floor.point;
    let slope = along_floor(level, from.face).y;
    let step = slope - level.y;
    // A bend in the ground is not a step.
    if step.abs() >= MIN_STEP_HEIGHT && (climbed || floor.face.dot(from.face) > 0.999) {
        pawn.events.push(MoveEvent::Stepped { height: step });
    }
    pawn.feet = hover_above(parts, pawn.body, pawn.feet, &floor);
    pawn.set_base(floor.base);
    true
}

/// Returns whether this pawn does not walk off ledges.
fn stops_at_ledges(pawn: &PawnStep<'_>) -> bool {
    let config = pawn.config;
    !config.walk_off_ledges || (pawn.state.crouched && !config.walk_off_ledges_crouched)
}

/// Returns the position of a pawn that does not walk off ledges after moving along the ledge.
fn along_ledge(pawn: &mut PawnStep<'_>, parts: &[Part], start: Vec3, floor: &Floor, wanted: Vec3) -> Vec3 {
    // The nearest point of the floor gives the direction of the ledge.
    let floor_rules = pawn.config.floor_rules();
    let below = find_floor(&floor_rules, parts, pawn.body, pawn.feet, HOVER_MAX + floor_rules.step_height);
    let inwards = upright(below.map_or(floor.point, |below| below.point) - pawn.feet);
    let along = wanted - inwards * wanted.dot(inwards).min(0.0);
    pawn.velocity -= inwards * pawn.velocity.dot(inwards).min(0.0);
    if along.length_squared() < 1e-10 {
        return start;
    }
    advance(parts, pawn.body, start, along_floor(along, floor.face)).0
}
