//! Swimming and flying: movement in all directions.

use bevy::prelude::*;

use crate::{
    event::MoveEvent,
    floor::HOVER_MAX,
    part::Part,
    planes::{Planes, upright},
    step_state::{PawnStep, Physics},
    step_up::step_up,
    sweep::sweep,
    velocity::accelerated,
    volume::VolumeId,
};

/// Immersed fraction of a floating swimmer; its middle stays below the surface.
const FLOATING_IMMERSION: f32 = 0.65;

/// Time in seconds in which a swimmer comes to rest at the surface. Without it, swimmers would leap out
/// of the water and fall back forever.
const SURFACE_SECONDS: f32 = 0.15;

/// Moves for `dt` in flight.
pub(crate) fn fly(pawn: &mut PawnStep<'_>, parts: &[Part], dt: f32) {
    let forces = pawn.forces();
    pawn.velocity = accelerated(pawn.config, &forces, pawn.velocity, pawn.free_wish(), dt);
    slide(pawn, parts, dt);
}

/// Moves for `dt` in water.
pub(crate) fn swim(pawn: &mut PawnStep<'_>, parts: &[Part], dt: f32) {
    let config = pawn.config;
    let immersed = immersion(pawn);
    let mut wish = pawn.free_wish();
    // Whether the swimmer is on its way up a bank, which is faster than swimming.
    let leaves = pawn.input.jump && pawn.velocity.y > 0.75 * config.out_of_water_speed;
    if immersed < FLOATING_IMMERSION && wish.y > 0.0 {
        // A swimmer cannot swim up out of the water.
        wish.y = 0.0;
    }
    let forces = pawn.forces();
    pawn.velocity = accelerated(config, &forces, pawn.velocity, wish, dt);
    // Keeps the middle below the surface: a rising swimmer slows down in time.
    let below = (immersed - 0.5) * pawn.body.height();
    let lift = config.buoyancy * (immersed / FLOATING_IMMERSION).min(1.0);
    pawn.velocity.y -= pawn.gravity() * (1.0 - lift) * dt;
    if !leaves {
        pawn.velocity.y = pawn.velocity.y.min((below / SURFACE_SECONDS).max(0.0));
    }
    let wall = slide(pawn, parts, dt);
    if let Some(wall) = wall
        && pawn.input.jump
        && immersed < 0.9
        && pawn.wish().dot(wall) < 0.0
    {
        // Up the bank, and out of the water as soon as the middle of the capsule is above the surface.
        pawn.velocity.y = pawn.velocity.y.max(config.out_of_water_speed);
    }
}

/// Returns the fraction of the capsule below the surface, 0 to 1.
fn immersion(pawn: &PawnStep<'_>) -> f32 {
    let id = pawn.volume.map_or(VolumeId::NONE, |volume| volume.id);
    let up = pawn.state.up;
    let Some(surface) = pawn.scene.volume_top(id, up) else { return 1.0 };
    let feet = pawn.frame.to_world(pawn.feet).dot(up);
    ((surface - feet) / pawn.body.height()).clamp(0.0, 1.0)
}

/// Moves at the current velocity, slides along obstacles, and climbs low steps. Returns the horizontal
/// normal of the first wall.
pub(crate) fn slide(pawn: &mut PawnStep<'_>, parts: &[Part], dt: f32) -> Option<Vec3> {
    pawn.velocity = pawn.velocity.clamp_length_max(pawn.config.max_speed);
    let wanted = pawn.velocity * dt;
    let mut motion = wanted;
    let mut first = None;
    let mut walls = Planes::default();
    for _ in 0..4 {
        if motion.length_squared() < 1e-12 {
            break;
        }
        let Some(hit) = sweep(parts, pawn.body, pawn.feet, motion) else {
            pawn.feet += motion;
            break;
        };
        let fraction = (hit.distance / motion.length()).min(1.0);
        pawn.feet += motion * fraction;
        motion *= 1.0 - fraction;
        let wall = upright(hit.normal);
        if first.is_none() && wall != Vec3::ZERO {
            first = Some(wall);
        }
        // A swimmer can walk up a beach.
        let flat = motion.with_y(0.0);
        if hit.normal.y.abs() < pawn.config.walkable_floor_y && flat != Vec3::ZERO && !hit.pawn {
            let floor_y = pawn.feet.y - HOVER_MAX;
            let body = pawn.body;
            if pawn.physics() == Physics::Swim
                && let Some(top) =
                    step_up(&pawn.config.floor_rules(), parts, body, pawn.feet, flat, wall, floor_y)
            {
                pawn.events.push(MoveEvent::Stepped { height: top.y - pawn.feet.y });
                pawn.feet = top;
                break;
            }
        }
        pawn.hit_wall(hit.normal);
        walls.push(hit.normal);
        motion = walls.clip(motion);
        pawn.velocity = walls.clip(pawn.velocity);
        if motion.dot(wanted) <= 0.0 {
            pawn.velocity = Vec3::ZERO;
            break;
        }
    }
    first
}
