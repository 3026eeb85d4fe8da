//! Probe of a pawn's surroundings for debug views.

use bevy::{math::bounding::Aabb3d, prelude::*};
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::StepContext;

use crate::{
    base::BaseId,
    body::body_of,
    config::CapsuleConfig,
    floor::{HOVER_MAX, probe_ground},
    frame::Frame,
    mover::MoverHit,
    scene::Include,
    state::CapsuleState,
    sweep::sweep,
    world::MoverWorld,
};

/// Look-ahead time of a probe in seconds.
const AHEAD: f32 = 0.25;

/// Floor or steep surface below the feet.
#[doc(alias = "FFindFloorResult")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbeFloor {
    /// Point where the capsule would touch it.
    pub point: Vec3,
    /// Unit normal of its face, which decides whether it is walkable.
    pub normal: Vec3,
    /// Distance down to it in metres.
    pub distance: f32,
    /// Whether it is walkable.
    pub walkable: bool,
    /// Movement base that carries it.
    pub base: BaseId,
}

/// Surroundings of a pawn as a step would see them, in world space. For debug views, not for game rules.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct MoverProbe {
    /// Floor within the step height, or else the nearest steep surface.
    pub floor: Option<ProbeFloor>,
    /// Motion of the sweep in metres: a quarter of a second at the current velocity.
    pub sweep_motion: Vec3,
    /// First hit of the sweep.
    pub sweep: Option<MoverHit>,
    /// Bounding boxes of all convex parts that were examined.
    pub parts: Vec<Aabb3d>,
}

impl MoverWorld<'_, '_> {
    /// Probes the surroundings of a pawn.
    #[must_use]
    pub fn probe(&self, config: &CapsuleConfig, state: &CapsuleState, ctx: &StepContext) -> MoverProbe {
        if !state.is_valid() {
            return MoverProbe::default();
        }
        let config = config.class(state.class);
        let frame = Frame::new(state.up, state.position);
        let seconds = self.step_seconds(ctx);
        let body = body_of(config, state.crouched);
        let feet = frame.to_local(state.position);
        let motion = frame.direction_to_local(state.velocity) * AHEAD;
        let down = (config.step_height + HOVER_MAX).max(0.0);
        let swept = body.aabb(feet).merged(&body.aabb(feet + motion)).loosened(down);
        self.scene.with_parts(ctx.entity, seconds, config.blocked_by, frame, Include::Pawns, |near| {
            near.cover(swept);
            let below = probe_ground(&config.floor_rules(), near.parts(), body.radius, feet, down);
            let walkable = below.floor.is_some();
            let floor = below.floor.or(below.steep).map(|floor| ProbeFloor {
                point: frame.to_world(floor.point),
                normal: frame.direction_to_world(floor.face),
                distance: floor.distance,
                walkable,
                base: floor.base,
            });
            let sweep = sweep(near.parts(), body, feet, motion);
            let sweep = sweep.map(|hit| MoverHit::new(frame, feet, motion, &hit));
            let in_world = |local| {
                let aabb = frame.aabb_to_world(local);
                Aabb3d { min: aabb.mins.into(), max: aabb.maxs.into() }
            };
            let parts = near.parts().iter().map(|part| in_world(part.aabb)).collect();
            MoverProbe { floor, sweep_motion: frame.direction_to_world(motion), sweep, parts }
        })
    }
}
