//! Kart model with throttle and steering, without a physics engine. Feature `kart`.

mod config;
mod dynamics;
mod heading;
mod input;
mod plugin;
mod proxy;
mod push;
mod state;
mod step;

pub use config::KartConfig;
pub use input::KartInput;
pub use plugin::{KartCollisionPlugin, KartPlugin};
pub use push::KartPush;
pub use state::KartState;

use bevy::prelude::*;
use bevy_unlag_core::{MoveDiagnostics, MoveModel, PawnClass, PoseSample, Snapshot, StepContext, Tick};

use crate::{
    server_queries::{debug_hash, is_clear, is_near_other_pawn},
    world::MoverWorld,
};

/// Kart that drives on the level: a force along its heading, air and rolling resistance, and a turn in
/// proportion to the distance driven. It follows floors, climbs low edges, falls where there is no
/// floor, and slides along walls.
///
/// A move is throttle and steering; its duration is that of the [`StepContext`], because a move is one
/// tick. The state is transform, velocity and the last move. Slopes do not change the horizontal speed,
/// movement bases carry a kart up and down only, and [`MoveVolume`](crate::MoveVolume)s do not affect
/// it. Needs the feature `kart`.
#[derive(Clone, Copy, Default, Debug, TypePath)]
pub struct KartModel;

/// Event of a kart step, for sounds, effects and damage. Events are values: a replay produces them
/// again, and its caller drops them.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub enum KartEvent {
    /// The kart hit an obstacle or another pawn, or was hit.
    Bumped {
        /// Normal of the obstacle.
        normal: Vec3,
        /// Speed into the obstacle in metres per second, which the kart has lost.
        speed: f32,
    },
    /// The wheels left the floor.
    TookOff,
    /// The wheels touched a floor.
    Landed {
        /// Downward speed at the impact in metres per second.
        speed: f32,
    },
    /// The kart is inside an obstacle and cannot get out.
    Stuck {
        /// Penetration in metres.
        depth: f32,
    },
}

impl MoveModel for KartModel {
    type Config = KartConfig;
    type Input = KartInput;
    type State = KartState;
    type Event = KartEvent;
    type Push = KartPush;
    type World = MoverWorld<'static, 'static>;
    type Diagnostics = Self;

    fn step(
        config: &KartConfig,
        state: &KartState,
        input: &KartInput,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
        events: &mut Vec<KartEvent>,
    ) -> KartState {
        step::step(config, state, *input, ctx, world, events)
    }

    fn position(state: &KartState) -> Vec3 {
        state.position
    }

    fn velocity(state: &KartState) -> Vec3 {
        state.tangent()
    }

    fn snapshot(state: &KartState, tick: Tick) -> Snapshot {
        Snapshot {
            yaw: state.yaw(),
            alive: state.alive,
            spin: Some(Snapshot::spin_units(state.spin)),
            grounded: state.grounded,
            falling: !state.grounded,
            teleports: state.teleports,
            ..Snapshot::new(tick, state.position, state.tangent())
        }
    }

    fn proxy_step(
        config: &KartConfig,
        class: PawnClass,
        pose: &PoseSample,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> PoseSample {
        proxy::extrapolate(config.class(class), pose, ctx, world)
    }

    fn eye(config: &KartConfig, state: &KartState) -> Vec3 {
        state.position + Vec3::Y * config.class(state.class).eye_height
    }

    fn kind(state: &KartState) -> u32 {
        u32::from(state.grounded) | u32::from(state.alive) << 1 | u32::from(state.class.0) << 2
    }

    fn teleports(state: &KartState) -> u8 {
        state.teleports
    }

    fn push(_config: &KartConfig, state: &KartState, push: &KartPush) -> KartState {
        push.apply_to(state)
    }

    fn missing_input(last: &KartInput, axes: bool) -> KartInput {
        last.missing_input(axes)
    }

    fn can_combine_with(older: &KartInput, newer: &KartInput) -> bool {
        older.can_combine_with(newer)
    }

    fn try_nudge(
        config: &KartConfig,
        state: &KartState,
        by: Vec3,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> Option<KartState> {
        let config = config.class(state.class);
        let sound = by.is_finite() && state.is_valid();
        let way = (state.position, by);
        let clear = sound && is_clear(config.blocked_by, step::frame(state), config.body(), way, ctx, world);
        clear.then_some(KartState { position: state.position + by, ..*state })
    }
}

impl MoveDiagnostics<Self> for KartModel {
    fn is_near_pawn(
        config: &KartConfig,
        state: &KartState,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> bool {
        let config = config.class(state.class);
        let (frame, feet) = (step::frame(state), state.position);
        state.is_valid() && is_near_other_pawn(config.blocked_by, frame, config.body(), feet, ctx, world)
    }

    fn config_hash(config: &KartConfig, _world: &MoverWorld<'_, '_>) -> u32 {
        debug_hash(config)
    }

    fn surroundings_hash(config: &KartConfig, state: &KartState, world: &MoverWorld<'_, '_>) -> u32 {
        if !state.is_valid() {
            return 0;
        }
        let config = config.class(state.class);
        let roof = state.position + Vec3::Y * config.body().height();
        world.scene.hash_around(config.blocked_by, state.position, roof)
    }

    fn level_hash(world: &MoverWorld<'_, '_>) -> u32 {
        world.scene.level_hash()
    }

    fn outline(config: &KartConfig, state: &KartState) -> (f32, f32) {
        let config = config.class(state.class);
        (config.radius, config.half_height)
    }
}
