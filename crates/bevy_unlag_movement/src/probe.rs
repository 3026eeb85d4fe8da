//! What a debug view shows of a pawn's surroundings.

use bevy::{math::bounding::Aabb3d, prelude::*};
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::StepContext;

use crate::{
    BaseId, CapsuleConfig, CapsuleState, MoverWorld,
    floor::{HOVER_MAX, look_below},
    frame::Frame,
    scene::Include,
    step::body_of,
    sweep::sweep,
};

/// Seconds that a probe looks ahead.
const AHEAD: f32 = 0.25;

/// What is under the feet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbeFloor {
    /// Where the capsule would touch it.
    pub point: Vec3,
    /// Of its face, one long: what decides whether it can be walked on.
    pub normal: Vec3,
    /// Metres down to it.
    pub distance: f32,
    /// Whether it can be walked on.
    pub walkable: bool,
    /// What carries it.
    pub base: BaseId,
}

/// What is ahead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbeHit {
    /// The feet where the sweep ends.
    pub position: Vec3,
    /// Where it touches.
    pub point: Vec3,
    /// Out of what it touches, one long.
    pub normal: Vec3,
}

/// What a step would see: for debug views, not for game rules. In the world's space.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct MoverProbe {
    /// The floor within a step's height, or what else is there.
    pub floor: Option<ProbeFloor>,
    /// A quarter of a second along the velocity, in metres.
    pub sweep_motion: Vec3,
    /// What that runs into.
    pub sweep: Option<ProbeHit>,
    /// The boxes of all convex parts that were looked at.
    pub parts: Vec<Aabb3d>,
}

impl MoverWorld<'_, '_> {
    /// Looks around a pawn.
    #[must_use]
    pub fn probe(&self, config: &CapsuleConfig, state: &CapsuleState, ctx: &StepContext) -> MoverProbe {
        if !state.is_sound() {
            return MoverProbe::default();
        }
        let frame = Frame::new(state.up, state.position);
        let seconds = self.step_seconds(ctx);
        let body = body_of(config, state.crouched);
        let feet = frame.to_local(state.position);
        let motion = frame.direction_to_local(state.velocity) * AHEAD;
        let down = (config.step_height + HOVER_MAX).max(0.0);
        let swept = body.aabb(feet).merged(&body.aabb(feet + motion)).loosened(down);
        self.scene.with_parts(ctx.entity, seconds, config.blocked_by, frame, Include::Pawns, |near| {
            near.cover(swept);
            let below = look_below(&config.footing(), near.parts(), body.radius, feet, down);
            let walkable = below.floor.is_some();
            let floor = below.floor.or(below.steep).map(|floor| ProbeFloor {
                point: frame.to_world(floor.point),
                normal: frame.direction_to_world(floor.face),
                distance: floor.distance,
                walkable,
                base: floor.base,
            });
            let sweep = sweep(near.parts(), body, feet, motion).map(|hit| ProbeHit {
                position: frame.to_world(feet + motion.normalize_or_zero() * hit.distance),
                point: frame.to_world(hit.point),
                normal: frame.direction_to_world(hit.normal),
            });
            let in_world = |local| {
                let aabb = frame.aabb_to_world(local);
                Aabb3d { min: aabb.mins.into(), max: aabb.maxs.into() }
            };
            let parts = near.parts().iter().map(|part| in_world(part.aabb)).collect();
            MoverProbe { floor, sweep_motion: frame.direction_to_world(motion), sweep, parts }
        })
    }
}
