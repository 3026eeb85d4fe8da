//! Along a floor: over slopes, up low steps, along walls. What walks and what drives do it alike.

use bevy::prelude::*;

use crate::{
    floor::{Floor, Footing, along_floor},
    part::Part,
    planes::{Planes, upright},
    step_up::step_up,
    sweep::{Body, sweep},
};

/// Metres per second into a wall, beside what the last tick's acceleration gave, below which it is
/// no hit: a pawn that leans on a wall does not hit it in every tick.
const HIT_SPEED: f32 = 1.0;

/// How fast something ran into a wall, if that was a hit. `gain` is the speed that its own
/// acceleration gave it in the tick.
pub(crate) fn impact(velocity: Vec3, normal: Vec3, gain: f32) -> Option<f32> {
    let speed = -velocity.dot(normal);
    (speed > HIT_SPEED + gain).then_some(speed)
}

/// Where a glide ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glide {
    /// The feet.
    pub(crate) feet: Vec3,
    /// Level.
    pub(crate) velocity: Vec3,
    /// Whether it went up a step.
    pub(crate) climbed: bool,
}

/// Goes along `floor` for `dt` at the level `velocity`: slopes do not change the level speed, walls
/// take away what leads into them. `hit` is told of every wall: its normal and the velocity that it
/// was met with.
pub(crate) fn glide(
    footing: &Footing,
    parts: &[Part],
    body: Body,
    (mut feet, mut velocity): (Vec3, Vec3),
    floor: &Floor,
    dt: f32,
    mut hit: impl FnMut(Vec3, Vec3),
) -> Glide {
    let mut climbed = false;
    let wanted = velocity * dt;
    let mut flat = wanted;
    let mut face = floor.face;
    let mut walls = Planes::default();
    for _ in 0..4 {
        if flat.length_squared() < 1e-10 {
            break;
        }
        let motion = along_floor(flat, face);
        let Some(met) = sweep(parts, body, feet, motion) else {
            feet += motion;
            break;
        };
        let fraction = (met.distance / motion.length()).min(1.0);
        feet += motion * fraction;
        flat *= 1.0 - fraction;
        if met.normal.y >= footing.walkable_y && !met.pawn {
            // The foot of a ramp: on along it.
            face = met.normal;
            continue;
        }
        let wall = upright(met.normal);
        if !met.pawn
            && let Some(top) = step_up(footing, parts, body, feet, flat, wall, floor.point.y)
        {
            feet = top;
            climbed = true;
            break;
        }
        if wall == Vec3::ZERO {
            // A low ceiling over a ramp.
            hit(met.normal, velocity);
            velocity = Vec3::ZERO;
            break;
        }
        hit(wall, velocity);
        walls.push(wall);
        flat = walls.clip(flat);
        velocity = walls.clip(velocity);
        if flat.dot(wanted) <= 0.0 {
            // Nobody is bent back by two walls: in a blunt corner it would swing for ever.
            velocity = Vec3::ZERO;
            break;
        }
    }
    velocity.y = 0.0;
    Glide { feet, velocity, climbed }
}
