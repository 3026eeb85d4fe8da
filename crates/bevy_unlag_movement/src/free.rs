//! Swimming and flying: movement in all directions.

use bevy::prelude::*;

use crate::{
    MoveEvent, VolumeId,
    floor::HOVER_MAX,
    part::Part,
    planes::{Planes, upright},
    slice::{Physics, Slice},
    step_up::step_up,
    sweep::sweep,
    velocity::pushed,
};

/// Immersed fraction of a floating swimmer; its middle stays below the surface.
const AFLOAT: f32 = 0.65;

/// Time in seconds in which a swimmer comes to rest at the surface. Without it, swimmers would leap out
/// of the water and fall back forever.
const SURFACE_SECONDS: f32 = 0.15;

/// Moves for `dt` in flight.
pub(crate) fn fly(slice: &mut Slice<'_>, parts: &[Part], dt: f32) {
    let forces = slice.forces();
    slice.velocity = pushed(slice.config, &forces, slice.velocity, slice.free_wish(), dt);
    slide(slice, parts, dt);
}

/// Moves for `dt` in water.
pub(crate) fn swim(slice: &mut Slice<'_>, parts: &[Part], dt: f32) {
    let config = slice.config;
    let immersed = immersion(slice);
    let mut wish = slice.free_wish();
    // Whether the swimmer is on its way up a bank, which is faster than swimming.
    let leaves = slice.input.jump && slice.velocity.y > 0.75 * config.out_of_water_speed;
    if immersed < AFLOAT && wish.y > 0.0 {
        // A swimmer cannot swim up out of the water.
        wish.y = 0.0;
    }
    let forces = slice.forces();
    slice.velocity = pushed(config, &forces, slice.velocity, wish, dt);
    // Keeps the middle below the surface: a rising swimmer slows down in time.
    let below = (immersed - 0.5) * slice.body.height();
    let lift = config.buoyancy * (immersed / AFLOAT).min(1.0);
    slice.velocity.y -= slice.gravity() * (1.0 - lift) * dt;
    if !leaves {
        slice.velocity.y = slice.velocity.y.min((below / SURFACE_SECONDS).max(0.0));
    }
    let wall = slide(slice, parts, dt);
    if let Some(wall) = wall
        && slice.input.jump
        && immersed < 0.9
        && slice.wish().dot(wall) < 0.0
    {
        // Up the bank, and out of the water as soon as the middle of the capsule is above the surface.
        slice.velocity.y = slice.velocity.y.max(config.out_of_water_speed);
    }
}

/// Returns the fraction of the capsule below the surface, 0 to 1.
fn immersion(slice: &Slice<'_>) -> f32 {
    let id = slice.volume.map_or(VolumeId::NONE, |volume| volume.id);
    let up = slice.state.up;
    let Some(surface) = slice.scene.volume_top(id, up) else { return 1.0 };
    let feet = slice.frame.to_world(slice.feet).dot(up);
    ((surface - feet) / slice.body.height()).clamp(0.0, 1.0)
}

/// Moves at the current velocity, slides along obstacles, and climbs low steps. Returns the horizontal
/// normal of the first wall.
pub(crate) fn slide(slice: &mut Slice<'_>, parts: &[Part], dt: f32) -> Option<Vec3> {
    slice.velocity = slice.velocity.clamp_length_max(slice.config.max_speed);
    let wanted = slice.velocity * dt;
    let mut motion = wanted;
    let mut first = None;
    let mut walls = Planes::default();
    for _ in 0..4 {
        if motion.length_squared() < 1e-12 {
            break;
        }
        let Some(hit) = sweep(parts, slice.body, slice.feet, motion) else {
            slice.feet += motion;
            break;
        };
        let fraction = (hit.distance / motion.length()).min(1.0);
        slice.feet += motion * fraction;
        motion *= 1.0 - fraction;
        let wall = upright(hit.normal);
        if first.is_none() && wall != Vec3::ZERO {
            first = Some(wall);
        }
        // A swimmer can walk up a beach.
        let flat = motion.with_y(0.0);
        if hit.normal.y.abs() < slice.config.walkable_floor_y && flat != Vec3::ZERO && !hit.pawn {
            let floor_y = slice.feet.y - HOVER_MAX;
            let body = slice.body;
            if slice.physics() == Physics::Swim
                && let Some(top) =
                    step_up(&slice.config.footing(), parts, body, slice.feet, flat, wall, floor_y)
            {
                slice.events.push(MoveEvent::Stepped { height: top.y - slice.feet.y });
                slice.feet = top;
                break;
            }
        }
        slice.hit_wall(hit.normal);
        walls.push(hit.normal);
        motion = walls.clip(motion);
        slice.velocity = walls.clip(slice.velocity);
        if motion.dot(wanted) <= 0.0 {
            slice.velocity = Vec3::ZERO;
            break;
        }
    }
    first
}
