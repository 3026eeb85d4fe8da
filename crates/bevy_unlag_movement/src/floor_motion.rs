//! Motion along a floor: over slopes, up low steps and along walls. Shared by the capsule and the kart.

use bevy::prelude::*;

use crate::{
    floor::{Floor, FloorRules, along_floor},
    part::Part,
    planes::{Planes, upright},
    step_up::step_up,
    sweep::{Body, sweep},
};

/// Speed into a wall in metres per second, in addition to the acceleration of the last tick, below which
/// contact does not count as a hit. Otherwise a pawn that leans on a wall would hit it in every tick.
const HIT_SPEED: f32 = 1.0;

/// Returns the impact speed if a contact counts as a hit. `gain` is the speed that the pawn's own
/// acceleration added in the tick.
pub(crate) fn impact(velocity: Vec3, normal: Vec3, gain: f32) -> Option<f32> {
    let speed = -velocity.dot(normal);
    (speed > HIT_SPEED + gain).then_some(speed)
}

/// Result of a motion along a floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloorMotion {
    /// Final position of the feet.
    pub(crate) feet: Vec3,
    /// Final horizontal velocity.
    pub(crate) velocity: Vec3,
    /// Whether the motion climbed a step.
    pub(crate) climbed: bool,
}

/// Moves along `floor` for `dt` at the horizontal velocity. Slopes do not change the horizontal speed;
/// walls remove the part of the velocity that leads into them. Calls `hit` for every wall with its
/// normal and the velocity before the contact.
pub(crate) fn move_along_floor(
    floor_rules: &FloorRules,
    parts: &[Part],
    body: Body,
    (mut feet, mut velocity): (Vec3, Vec3),
    floor: &Floor,
    dt: f32,
    mut hit: impl FnMut(Vec3, Vec3),
) -> FloorMotion {
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
        if met.normal.y >= floor_rules.walkable_y && !met.pawn {
            // Foot of a ramp: continue along it.
            face = met.normal;
            continue;
        }
        let wall = upright(met.normal);
        if !met.pawn
            && let Some(top) = step_up(floor_rules, parts, body, feet, flat, wall, floor.point.y)
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
            // Two walls must not turn the motion back: in an obtuse corner it would oscillate forever.
            velocity = Vec3::ZERO;
            break;
        }
    }
    velocity.y = 0.0;
    FloorMotion { feet, velocity, climbed }
}
