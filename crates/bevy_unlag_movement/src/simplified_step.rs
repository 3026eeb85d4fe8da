//! Simplified step for simulated proxies, which are only displayed.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};
use bevy_unlag_core::StepContext;

use crate::{
    base::BaseId,
    body::body_of,
    capsule_model::CapsuleModel,
    config::CapsuleConfig,
    floor::{HOVER_MAX, along_floor, probe_ground},
    frame::Frame,
    planes::upright,
    scene::Include,
    state::CapsuleState,
    step::seconds_of,
    step_state::gravity_strength,
    sweep::{Body, sweep},
    world::MoverWorld,
};

/// Interval between floor checks in ticks; in between the pawn continues along the slope. The checks of
/// different pawns fall into different ticks.
const FLOOR_CHECK_INTERVAL: u32 = 4;

impl CapsuleModel {
    /// Extrapolates a pawn at its velocity for `ctx.dt`. Walls deflect it, and it follows the floor,
    /// which is looked up every fourth tick. There is no input, no change of stance and no event, and
    /// only the fixed world counts. Several times cheaper than
    /// [`step`](bevy_unlag_core::MoveModel::step); meant for proxies between two updates. Unreal's
    /// `MoveSmooth`.
    #[doc(alias = "MoveSmooth")]
    #[must_use]
    pub fn simplified_step(
        config: &CapsuleConfig,
        state: &CapsuleState,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> CapsuleState {
        let config = config.class(state.class);
        let Some(dt) = seconds_of(config, state, ctx).filter(|_| state.is_valid()) else { return *state };
        let grounded = state.is_grounded();
        if grounded && state.velocity == Vec3::ZERO && state.base == BaseId::NONE {
            return *state;
        }
        let mut next = *state;
        let frame = Frame::new(state.up, state.position);
        let own_velocity = state.velocity + state.base_velocity;
        let mut velocity = frame.direction_to_local(own_velocity).clamp_length_max(config.max_speed);
        if state.mode == crate::mode::MovementMode::Falling {
            let volume = world.scene.volume_at(state.position + state.up * config.half_height);
            let pull = gravity_strength(config, volume.as_ref()) * dt;
            velocity.y = (velocity.y - pull).max(-config.terminal_speed);
        }
        let whole = body_of(config, state.crouched);
        // The feet of a walking pawn are raised over anything that it could step on.
        let lift = if grounded { config.step_height.clamp(0.0, whole.core) } else { 0.0 };
        let body = Body { core: whole.core - lift, ..whole };
        let feet = frame.to_local(state.position);
        let motion = velocity * dt;
        // A pawn on a base moves with the base and keeps its height above it.
        let floor_due = grounded
            && state.base == BaseId::NONE
            && (ctx.tick.0.wrapping_add(ctx.entity.index_u32())).is_multiple_of(FLOOR_CHECK_INTERVAL);
        // The time is unused because bases are excluded.
        world.scene.with_parts(ctx.entity, 0.0, config.blocked_by, frame, Include::Fixed, |near| {
            let reach = motion.length() + 0.05;
            let box_about = whole.aabb(feet).loosened(reach);
            let down = if grounded { Vec3::Y * config.step_height } else { Vec3::ZERO };
            near.cover(Aabb::new(box_about.mins - down, box_about.maxs));
            let parts = near.parts();
            let mut raised = feet + Vec3::Y * lift;
            if let Some(hit) = sweep(parts, body, raised, motion) {
                raised += motion.normalize_or_zero() * hit.distance;
                let normal = if grounded { upright(hit.normal) } else { hit.normal };
                let slid = |v: Vec3| v - normal * v.dot(normal).min(0.0);
                velocity = slid(velocity);
                let rest = slid(motion * (1.0 - (hit.distance / motion.length()).min(1.0)));
                if sweep(parts, body, raised, rest).is_none() {
                    raised += rest;
                }
            } else {
                raised += motion;
            }
            let mut end = raised - Vec3::Y * lift;
            if floor_due {
                let down = lift + config.step_height + HOVER_MAX;
                if let Some(floor) =
                    probe_ground(&config.floor_rules(), parts, whole.radius, raised, down).floor
                {
                    end = raised + Vec3::Y * (HOVER_MAX - floor.distance);
                    velocity = along_floor(velocity.with_y(0.0), floor.face);
                }
            }
            next.position = frame.to_world(end);
        });
        next.velocity = frame.direction_to_world(velocity) - state.base_velocity;
        if next.is_valid() { next } else { *state }
    }
}
