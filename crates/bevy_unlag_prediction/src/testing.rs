//! Minimal movement model for the unit tests of this crate.

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, MoveModel, StepContext, Wire, WireError};

/// Model that slides along X at one metre per second.
#[derive(Clone, Debug)]
pub(crate) struct Slider;

#[derive(Resource, Default)]
pub(crate) struct Tuning;

#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub(crate) struct Body {
    pub(crate) x: f32,
}

impl Wire for Body {
    fn write(&self, w: &mut BitWriter) {
        w.f32(self.x);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { x: r.f32()? })
    }
}

/// Direction along X.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Way(pub(crate) i8);

impl Wire for Way {
    fn write(&self, w: &mut BitWriter) {
        w.signed(i32::from(self.0), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.signed(8)? as i8))
    }
}

impl MoveModel for Slider {
    type Config = Tuning;
    type Input = Way;
    type State = Body;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        _: &Tuning,
        state: &Body,
        input: &Way,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        _: &mut Vec<()>,
    ) -> Body {
        Body { x: state.x + f32::from(input.0) * ctx.dt }
    }

    fn position(state: &Body) -> Vec3 {
        Vec3::X * state.x
    }

    fn velocity(_: &Body) -> Vec3 {
        Vec3::ZERO
    }

    fn kind(_: &Body) -> u32 {
        0
    }
}
