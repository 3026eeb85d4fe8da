//! Second movement model, unrelated to the walker: a barge that is steered and drifts.

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, MoveModel, StepContext, Wire, WireError};

use super::TestModel;

#[derive(Clone, Copy, Debug)]
pub struct Barge;

#[derive(Resource)]
pub struct BargeConfig(pub f32);

/// Input of the barge.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct BargeInput {
    pub throttle: i8,
    pub rudder: i8,
}

#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
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
        let heading = state.heading + f32::from(input.rudder) / 127.0 * ctx.dt;
        let thrust = Vec2::from_angle(heading) * (f32::from(input.throttle) / 127.0 * engine.0);
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

impl Wire for BargeInput {
    fn write(&self, w: &mut BitWriter) {
        w.signed(i32::from(self.throttle), 8);
        w.signed(i32::from(self.rudder), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { throttle: r.signed(8)? as i8, rudder: r.signed(8)? as i8 })
    }
}

impl Wire for BargeState {
    fn write(&self, w: &mut BitWriter) {
        for value in [self.at.x, self.at.y, self.velocity.x, self.velocity.y, self.heading] {
            w.f32(value);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            at: Vec2::new(r.f32()?, r.f32()?),
            velocity: Vec2::new(r.f32()?, r.f32()?),
            heading: r.f32()?,
        })
    }
}
