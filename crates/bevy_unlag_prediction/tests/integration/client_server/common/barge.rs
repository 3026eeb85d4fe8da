//! Second movement model, unrelated to the walker: a barge that is steered and drifts.

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{MoveModel, StepContext, Wire};

use super::TestModel;

#[derive(Clone, Copy, Debug)]
pub struct Barge;

#[derive(Resource)]
pub struct BargeConfig(pub f32);

/// Input of the barge, as floats of any value: the move is simulated with the quantised ones.
#[derive(Clone, Copy, PartialEq, Default, Debug, Wire)]
pub struct BargeInput {
    #[wire(range = -1.0..=1.0, bits = 6)]
    pub throttle: f32,
    #[wire(range = -1.0..=1.0, bits = 6)]
    pub rudder: f32,
}

#[derive(Component, Clone, Copy, PartialEq, Default, Debug, Wire)]
pub struct BargeState {
    pub at: Vec2,
    pub velocity: Vec2,
    pub heading: f32,
}

impl TestModel for Barge {
    fn start() -> BargeState {
        BargeState::default()
    }

    fn install(app: &mut App) {
        app.insert_resource(BargeConfig(4.0));
    }
}

impl MoveModel for Barge {
    type Config = BargeConfig;
    type Input = BargeInput;
    type State = BargeState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        engine: &BargeConfig,
        state: &BargeState,
        input: &BargeInput,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        _: &mut Vec<()>,
    ) -> BargeState {
        let heading = state.heading + input.rudder * ctx.dt;
        let thrust = Vec2::from_angle(heading) * (input.throttle * engine.0);
        let velocity = (state.velocity + thrust * ctx.dt) * 0.995;
        BargeState { at: state.at + velocity * ctx.dt, velocity, heading }
    }

    fn position(state: &BargeState) -> Vec3 {
        Vec3::new(state.at.x, 0.0, state.at.y)
    }

    fn velocity(state: &BargeState) -> Vec3 {
        Vec3::new(state.velocity.x, 0.0, state.velocity.y)
    }

    fn kind(_: &BargeState) -> u32 {
        0
    }
}
