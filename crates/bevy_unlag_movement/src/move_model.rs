//! The capsule as a movement model.

use bevy::prelude::*;
use bevy_unlag_core::{
    MoveModel, PawnClass, PoseSample, Snapshot, StepContext, Tick, TimeDilation, Up, ViewFrame,
};

use crate::{
    body::body_of,
    capsule_model::CapsuleModel,
    config::CapsuleConfig,
    event::MoveEvent,
    frame::Frame,
    input::CapsuleInput,
    mode::MovementMode,
    proxy_extrapolation::extrapolate,
    server_queries::{CapsulePush, is_clear},
    state::CapsuleState,
    step::step,
    world::MoverWorld,
};

impl MoveModel for CapsuleModel {
    type Config = CapsuleConfig;
    type Input = CapsuleInput;
    type State = CapsuleState;
    type Event = MoveEvent;
    type Push = CapsulePush;
    type World = MoverWorld<'static, 'static>;
    type Diagnostics = Self;

    fn step(
        config: &CapsuleConfig,
        state: &CapsuleState,
        input: &CapsuleInput,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
        events: &mut Vec<MoveEvent>,
    ) -> CapsuleState {
        step(config, state, input, ctx, world, &mut (), events)
    }

    fn position(state: &CapsuleState) -> Vec3 {
        state.position
    }

    fn snapshot(state: &CapsuleState, tick: Tick) -> Snapshot {
        Snapshot {
            up: Up::new(state.up),
            yaw: state.yaw,
            pitch: (state.pitch >> 8) as i8,
            crouch: if state.crouched { 255 } else { 0 },
            alive: state.alive,
            grounded: state.is_grounded(),
            falling: state.mode == MovementMode::Falling,
            teleports: state.teleports,
            ..Snapshot::new(tick, state.position, state.world_velocity())
        }
    }

    fn velocity(state: &CapsuleState) -> Vec3 {
        state.world_velocity()
    }

    fn time_dilation(state: &CapsuleState) -> TimeDilation {
        state.time_dilation
    }

    fn base(state: &CapsuleState) -> u16 {
        state.base.0
    }

    fn turns_with_base(config: &CapsuleConfig) -> bool {
        config.turn_with_base
    }

    fn proxy_step(
        config: &CapsuleConfig,
        class: PawnClass,
        pose: &PoseSample,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> PoseSample {
        extrapolate(config, class, pose, ctx, world)
    }

    fn eye(config: &CapsuleConfig, state: &CapsuleState) -> Vec3 {
        state.eye(config)
    }

    fn look(input: &CapsuleInput) -> (u16, i16) {
        let input = input.clamped();
        (input.yaw, input.pitch)
    }

    fn view_frame(state: &CapsuleState) -> ViewFrame {
        ViewFrame { up: state.up, turn: state.base_turn }
    }

    fn kind(state: &CapsuleState) -> u32 {
        state.kind()
    }

    fn teleports(state: &CapsuleState) -> u8 {
        state.teleports
    }

    fn push(_config: &CapsuleConfig, state: &CapsuleState, push: &CapsulePush) -> CapsuleState {
        push.apply_to(state)
    }

    fn missing_input(last: &CapsuleInput, axes: bool) -> CapsuleInput {
        last.missing_input(axes)
    }

    fn can_combine_with(older: &CapsuleInput, newer: &CapsuleInput) -> bool {
        older.can_combine_with(newer)
    }

    fn try_nudge(
        config: &CapsuleConfig,
        state: &CapsuleState,
        by: Vec3,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> Option<CapsuleState> {
        if !by.is_finite() || !state.is_valid() {
            return None;
        }
        let frame = Frame::new(state.up, state.position);
        let config = config.class(state.class);
        let (body, mask) = (body_of(config, state.crouched), config.blocked_by);
        if !is_clear(mask, frame, body, (state.position, by), ctx, world) {
            return None;
        }
        let (position, seconds) = (state.position + by, world.step_seconds(ctx));
        // On a base the offset also applies to the position in the base's space.
        let turned_back = |pose: Isometry3d| pose.rotation.inverse() * by;
        let in_base = world.base_pose(state.base, seconds).map_or(Vec3::ZERO, turned_back);
        Some(CapsuleState { position, base_position: state.base_position + in_base, ..*state })
    }
}
