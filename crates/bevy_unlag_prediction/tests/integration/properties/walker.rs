//! Movement model in 3D with three modes, each with a top speed.

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, MoveModel, StepContext, Wire, WireError};

/// Movement mode.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Mode {
    #[default]
    Walk,
    Fly,
    Fall,
}

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Walk, Self::Fly, Self::Fall];

    /// Returns the top speed in metres per second.
    pub(crate) fn top_speed(self) -> f32 {
        match self {
            Self::Walk => 4.0,
            Self::Fly => 12.0,
            Self::Fall => 30.0,
        }
    }
}

/// Input with floats of any size, as read from the wire.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct WalkerInput {
    pub(crate) mode: Mode,
    pub(crate) towards: Vec3,
}

#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct WalkerState {
    /// Position, a multiple of [`GRID`], so that sums are exact and distances are free of rounding errors.
    pub(crate) position: Vec3,
    pub(crate) velocity: Vec3,
    pub(crate) mode: Mode,
    /// Number of pushes.
    pub(crate) pushed: u32,
}

/// Instant displacement in metres, at most [`LONGEST_SHOVE`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Shove(pub(crate) Vec3);

/// Event of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkerEvent {
    pub(crate) mode: Mode,
    pub(crate) metres: f64,
}

pub(crate) const LONGEST_SHOVE: f32 = 1.0;
const GRID: f32 = 1.0 / 1024.0;
/// Limit of the coordinates; multiples of the grid are exact up to here.
const EDGE: f32 = 4096.0;
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

#[derive(Resource, Default)]
pub(crate) struct WalkerConfig;

pub(crate) struct Walker;

/// Returns the position after a displacement that is rounded towards zero.
fn moved(position: Vec3, by: Vec3) -> Vec3 {
    (position + (by / GRID).trunc() * GRID).clamp(Vec3::splat(-EDGE), Vec3::splat(EDGE))
}

impl Wire for Mode {
    fn write(&self, w: &mut BitWriter) {
        w.bits(*self as u32, 2);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Self::ALL.get(r.bits(2)? as usize).copied().ok_or(WireError::Invalid)
    }
}

impl Wire for WalkerInput {
    fn write(&self, w: &mut BitWriter) {
        self.mode.write(w);
        self.towards.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { mode: Mode::read(r)?, towards: Vec3::read(r)? })
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        self.mode.write(w);
        w.bool(self.towards != base.towards);
        if self.towards != base.towards {
            self.towards.write(w);
        }
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mode = Mode::read(r)?;
        Ok(Self { mode, towards: if r.bool()? { Vec3::read(r)? } else { base.towards } })
    }
}

impl Wire for Shove {
    fn write(&self, w: &mut BitWriter) {
        self.0.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(Vec3::read(r)?))
    }
}

impl Wire for WalkerState {
    fn write(&self, w: &mut BitWriter) {
        self.position.write(w);
        self.velocity.write(w);
        self.mode.write(w);
        w.bits(self.pushed, 32);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            position: Vec3::read(r)?,
            velocity: Vec3::read(r)?,
            mode: Mode::read(r)?,
            pushed: r.bits(32)?,
        })
    }
}

impl MoveModel for Walker {
    type Config = WalkerConfig;
    type Input = WalkerInput;
    type State = WalkerState;
    type Event = WalkerEvent;
    type Push = Shove;
    type World = ();
    type Diagnostics = ();

    fn step(
        _: &WalkerConfig,
        state: &WalkerState,
        input: &WalkerInput,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        events: &mut Vec<WalkerEvent>,
    ) -> WalkerState {
        let mode = input.mode;
        let wanted = input.towards.clamp_length_max(1.0) * mode.top_speed();
        let velocity = match mode {
            Mode::Walk => wanted.with_y(0.0),
            Mode::Fly => wanted,
            Mode::Fall => (state.velocity + GRAVITY * ctx.dt).clamp_length_max(mode.top_speed()),
        };
        let position = moved(state.position, velocity * ctx.dt);
        let metres = (position - state.position).as_dvec3().length();
        events.push(WalkerEvent { mode, metres });
        WalkerState { position, velocity, mode, ..*state }
    }

    fn position(state: &WalkerState) -> Vec3 {
        state.position
    }

    fn velocity(state: &WalkerState) -> Vec3 {
        state.velocity
    }

    fn kind(state: &WalkerState) -> u32 {
        state.mode as u32 | state.pushed << 2
    }

    fn push(_: &WalkerConfig, state: &WalkerState, push: &Shove) -> WalkerState {
        let position = moved(state.position, push.0.clamp_length_max(LONGEST_SHOVE));
        WalkerState { position, pushed: state.pushed.wrapping_add(1), ..*state }
    }

    fn missing_input(last: &WalkerInput, axes: bool) -> WalkerInput {
        if axes { *last } else { WalkerInput { towards: Vec3::ZERO, ..*last } }
    }

    fn try_nudge(
        _: &WalkerConfig,
        state: &WalkerState,
        by: Vec3,
        _: &StepContext,
        (): &SystemParamItem<()>,
    ) -> Option<WalkerState> {
        Some(WalkerState { position: moved(state.position, by), ..*state })
    }
}
