//! Recovery from penetration at the end of a step.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;

use crate::{
    base::BaseId,
    scene::NearParts,
    sweep::{Body, MAX_PUSH, advance, depth, push_out},
};

/// Penetration in metres that is tolerated at the end of a step.
const MAX_DEPTH: f32 = 0.02;
/// Penetration in metres from which a pawn counts as stuck.
const STUCK_DEPTH: f32 = 0.1;

/// Result of pushing a pawn out of a penetration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depenetration {
    /// Position of the feet after the recovery.
    pub(crate) feet: Vec3,
    /// Whether the pawn was put back to the start of the step, because pushing did not help.
    pub(crate) was_reset: bool,
    /// Remaining penetration in metres, if the pawn is stuck.
    pub(crate) stuck: Option<f32>,
}

/// Pushes a pawn out of a penetration, and puts it back to `start` if that does not help. Returns `None`
/// when the pawn is free. `near` must already cover the capsule at `feet`.
pub(crate) fn depenetrate(
    near: &mut NearParts<'_>,
    body: Body,
    feet: Vec3,
    start: Vec3,
) -> Option<Depenetration> {
    if depth(near.parts(), body, feet) <= 0.0 {
        return None;
    }
    near.cover(body.aabb(feet).loosened(2.0 * MAX_PUSH));
    let parts = near.parts();
    // Fixed parts come first, and they take precedence: a pawn that a base squeezes against a wall ends
    // inside the base.
    let fixed = &parts[..parts.iter().position(|part| part.base != BaseId::NONE).unwrap_or(parts.len())];
    let held = push_out(fixed, body, feet);
    let pushed = push_out(parts, body, held);
    let out = if pushed == held { held } else { advance(fixed, body, held, pushed - held).0 };
    let left = depth(fixed, body, out);
    let was_reset = left > MAX_DEPTH && left >= depth(fixed, body, start);
    let feet = if was_reset { start } else { out };
    let stuck = depth(parts, body, feet);
    Some(Depenetration { feet, was_reset, stuck: (stuck > STUCK_DEPTH).then_some(stuck) })
}
