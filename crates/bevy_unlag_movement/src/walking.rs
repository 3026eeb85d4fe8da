//! Walking on a floor.

use crate::{
    event::MoveEvent,
    falling::fall,
    floor::{HOVER_MAX, find_floor},
    floor_slide::slide,
    part::Part,
    step_state::PawnStep,
    velocity::accelerated,
};

/// Depth in metres below the feet that is searched first for the floor of the last step.
const FLOOR_SEARCH_DEPTH: f32 = 0.06;

/// Moves for `dt` on a floor; falls if there is none.
pub(crate) fn walk(pawn: &mut PawnStep<'_>, parts: &[Part], dt: f32) {
    let config = pawn.config;
    let below = |down| find_floor(&config.floor_rules(), parts, pawn.body, pawn.feet, down);
    let Some(floor) = below(FLOOR_SEARCH_DEPTH).or_else(|| below(config.step_height + HOVER_MAX)) else {
        pawn.events.push(MoveEvent::WalkedOffLedge);
        pawn.leave_floor();
        fall(pawn, parts, dt);
        return;
    };
    pawn.set_base(floor.base);
    let forces = pawn.forces();
    pawn.velocity = accelerated(config, &forces, pawn.velocity.with_y(0.0), pawn.wish(), dt);
    slide(pawn, parts, floor, dt);
}
