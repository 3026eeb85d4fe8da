//! Ends no step inside anything.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;

use crate::{
    BaseId,
    scene::NearParts,
    sweep::{Body, MAX_PUSH, advance, depth, push_out},
};

/// Metres that a pawn may be inside something at the end of a step.
const MAX_DEPTH: f32 = 0.02;
/// Metres inside something from which a pawn is stuck.
const STUCK_DEPTH: f32 = 0.1;

/// What became of a pawn that was inside something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Escape {
    /// The feet now.
    pub(crate) feet: Vec3,
    /// Whether they are back where the step began, because nothing else helped.
    pub(crate) back: bool,
    /// Metres that it is still inside, if that means stuck.
    pub(crate) stuck: Option<f32>,
}

/// Pushes a pawn out of what it is in, and back to `start` if that does not help; none when it is
/// free. The parts at `feet` must be there.
pub(crate) fn escape(near: &mut NearParts<'_>, body: Body, feet: Vec3, start: Vec3) -> Option<Escape> {
    if depth(near.parts(), body, feet) <= 0.0 {
        return None;
    }
    near.cover(body.aabb(feet).loosened(2.0 * MAX_PUSH));
    let parts = near.parts();
    // Fixed parts come first. They hold: whoever a base squeezes against them ends in the base.
    let fixed = &parts[..parts.iter().position(|part| part.base != BaseId::NONE).unwrap_or(parts.len())];
    let held = push_out(fixed, body, feet);
    let pushed = push_out(parts, body, held);
    let out = if pushed == held { held } else { advance(fixed, body, held, pushed - held).0 };
    let left = depth(fixed, body, out);
    let back = left > MAX_DEPTH && left >= depth(fixed, body, start);
    let feet = if back { start } else { out };
    let stuck = depth(parts, body, feet);
    Some(Escape { feet, back, stuck: (stuck > STUCK_DEPTH).then_some(stuck) })
}
