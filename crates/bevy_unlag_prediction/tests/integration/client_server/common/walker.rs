//! Movement model of most tests: it walks, runs, blinks, shoots and can be pushed.

use core::sync::atomic::{AtomicU32, Ordering};

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, MoveDiagnostics, MoveModel, StepContext, Wire, WireError};

use super::{TICK, TestModel};

/// Model that walks on a plane. A step is a pure function of its arguments unless [`WalkerConfig::is_impure`]
/// is set.
#[derive(Clone, Copy, Debug)]
pub struct Walker;

#[derive(Resource, Clone, Copy, Debug)]
pub struct WalkerConfig {
    /// Walking speed in metres per second. Running is half as fast again.
    pub speed: f32,
    /// Whether a step reads a counter outside its arguments: a bug that the tools must detect.
    pub is_impure: bool,
}

impl Default for WalkerConfig {
    fn default() -> Self {
        Self { speed: 5.0, is_impure: false }
    }
}

/// World that a step reads, with counters of steps for the tests.
#[derive(Resource, Default)]
pub struct WalkerWorld {
    /// X coordinate of a wall.
    pub wall: Option<f32>,
    /// Position of another pawn that blocks.
    pub other: Option<Vec3>,
    /// Whether blinking is refused.
    pub no_blink: bool,
    /// Numbers of full steps that were no replays and that were replays.
    pub live: AtomicU32,
    pub again: AtomicU32,
}

/// Input of one tick.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct WalkerInput {
    pub x: i8,
    pub z: i8,
    pub buttons: u8,
}

impl WalkerInput {
    pub const RUN: u8 = 1;
    pub const BLINK: u8 = 2;
    pub const FIRE: u8 = 4;
    pub const EAST: Self = Self { x: 127, z: 0, buttons: 0 };
    pub const WEST: Self = Self { x: -127, z: 0, buttons: 0 };
    pub const NOTHING: Self = Self { x: 0, z: 0, buttons: 0 };

    pub fn with(self, buttons: u8) -> Self {
        Self { buttons: self.buttons | buttons, ..self }
    }

    fn direction(self) -> Vec3 {
        Vec3::new(f32::from(self.x), 0.0, f32::from(self.z)) / 127.0
    }
}

/// State of the walker.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub struct WalkerState {
    pub at: Vec3,
    /// Walking velocity, in metres per second.
    pub walk: Vec3,
    /// Remaining velocity of a launch, in metres per second.
    pub thrown: Vec3,
    /// Speed of the ground along X, in metres per second.
    pub belt: i8,
    pub running: bool,
    /// Ticks before the next blink is possible.
    pub blink_cooldown: u8,
    pub blinks: u8,
    pub shots: u8,
    pub steps: u32,
}

/// Event of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WalkerEvent {
    /// Occurs in every tenth step.
    Bell,
    Blink,
    Shot,
}

/// Push by the server.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Push {
    /// Instant displacement along X, in metres.
    Shove(i8),
    /// Velocity along Z in metres per second, which decays.
    Launch(i8),
    /// New speed of the ground along X, in metres per second.
    Belt(i8),
    /// Teleport to this X.
    Throw(i8),
}

impl Walker {
    /// Length of a blink, in metres.
    pub const BLINK: f32 = 10.0;
    /// Ticks between two blinks.
    pub const TIRED: u8 = 40;
    /// Minimum distance to another pawn, in metres.
    const WIDE: f32 = 0.7;
}

impl TestModel for Walker {
    fn start() -> WalkerState {
        WalkerState::default()
    }

    fn install(app: &mut App) {
        app.init_resource::<WalkerConfig>().init_resource::<WalkerWorld>();
    }
}

impl MoveModel for Walker {
    type Config = WalkerConfig;
    type Input = WalkerInput;
    type State = WalkerState;
    type Event = WalkerEvent;
    type Push = Push;
    type World = Res<'static, WalkerWorld>;
    type Diagnostics = Self;

    fn step(
        config: &WalkerConfig,
        state: &WalkerState,
        input: &WalkerInput,
        ctx: &StepContext,
        ground: &SystemParamItem<Self::World>,
        events: &mut Vec<WalkerEvent>,
    ) -> WalkerState {
        // The temporary step that draws a frame covers less than a tick.
        if ctx.dt == TICK.as_secs_f32() {
            let counter = if ctx.replaying { &ground.again } else { &ground.live };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let mut next = *state;
        next.steps = state.steps.wrapping_add(1);
        if next.steps.is_multiple_of(10) {
            events.push(WalkerEvent::Bell);
        }
        next.running = input.buttons & WalkerInput::RUN != 0;
        let speed = if next.running { config.speed * 1.5 } else { config.speed };
        next.walk = input.direction().clamp_length_max(1.0) * speed;
        if config.is_impure {
            next.walk.z += ground.live.load(Ordering::Relaxed) as f32 % 7.0 * 0.1;
        }
        next.at += (next.walk + next.thrown + Vec3::X * f32::from(state.belt)) * ctx.dt;
        next.thrown = if next.thrown.length() < 0.05 { Vec3::ZERO } else { next.thrown * 0.9 };
        next.blink_cooldown = state.blink_cooldown.saturating_sub(1);
        if input.buttons & WalkerInput::BLINK != 0 && state.blink_cooldown == 0 && !ground.no_blink {
            next.at.x += Self::BLINK;
            next.blink_cooldown = Self::TIRED;
            next.blinks = state.blinks.wrapping_add(1);
            events.push(WalkerEvent::Blink);
        }
        if input.buttons & WalkerInput::FIRE != 0 {
            next.shots = state.shots.wrapping_add(1);
            events.push(WalkerEvent::Shot);
        }
        if let Some(wall) = ground.wall {
            next.at.x = next.at.x.min(wall);
        }
        if let Some(other) = ground.other {
            let apart = next.at - other;
            if apart.length() < Self::WIDE {
                next.at = other + apart.normalize_or(Vec3::Z) * Self::WIDE;
            }
        }
        next
    }

    fn position(state: &WalkerState) -> Vec3 {
        state.at
    }

    fn velocity(state: &WalkerState) -> Vec3 {
        state.walk + state.thrown
    }

    fn eye(_: &WalkerConfig, state: &WalkerState) -> Vec3 {
        state.at + Vec3::Y * 1.6
    }

    fn kind(state: &WalkerState) -> u32 {
        u32::from(state.running) | u32::from(state.shots) << 1
    }

    fn teleports(state: &WalkerState) -> u8 {
        state.blinks
    }

    fn push(_: &WalkerConfig, state: &WalkerState, push: &Push) -> WalkerState {
        let mut pushed = *state;
        match *push {
            Push::Shove(metres) => pushed.at.x += f32::from(metres),
            Push::Launch(speed) => pushed.thrown.z += f32::from(speed),
            Push::Belt(speed) => pushed.belt = speed,
            Push::Throw(x) => {
                pushed.at.x = f32::from(x);
                pushed.blinks = state.blinks.wrapping_add(1);
            }
        }
        pushed
    }

    fn missing_input(last: &WalkerInput, axes: bool) -> WalkerInput {
        if axes {
            WalkerInput { buttons: last.buttons & WalkerInput::RUN, ..*last }
        } else {
            WalkerInput::NOTHING
        }
    }

    fn can_combine_with(older: &WalkerInput, newer: &WalkerInput) -> bool {
        let (a, b) = (older.direction(), newer.direction());
        let alike = a.normalize_or_zero().dot(b.normalize_or_zero()) >= 0.996
            && (a.length() - b.length()).abs() < 0.1;
        older.buttons == newer.buttons && (a == b || alike)
    }

    fn try_nudge(
        _: &WalkerConfig,
        state: &WalkerState,
        by: Vec3,
        _: &StepContext,
        ground: &SystemParamItem<Self::World>,
    ) -> Option<WalkerState> {
        let at = state.at + by;
        ground.wall.is_none_or(|wall| at.x <= wall).then_some(WalkerState { at, ..*state })
    }

    fn is_outcome(event: &WalkerEvent) -> bool {
        *event == WalkerEvent::Blink
    }
}

impl MoveDiagnostics<Self> for Walker {
    fn is_near_pawn(
        _: &WalkerConfig,
        state: &WalkerState,
        _: &StepContext,
        ground: &SystemParamItem<<Self as MoveModel>::World>,
    ) -> bool {
        ground.other.is_some_and(|other| other.distance(state.at) < 2.0 * Self::WIDE)
    }

    fn config_hash(config: &WalkerConfig, _: &SystemParamItem<<Self as MoveModel>::World>) -> u32 {
        config.speed.to_bits().wrapping_mul(0x9e37_79b1) >> 16
    }

    fn surroundings_hash(
        _: &WalkerConfig,
        state: &WalkerState,
        ground: &SystemParamItem<<Self as MoveModel>::World>,
    ) -> u32 {
        let near = ground.wall.filter(|wall| wall - state.at.x < 10.0);
        near.map_or(0, |wall| wall.to_bits().wrapping_mul(0x9e37_79b1) >> 16)
    }
}

impl Wire for WalkerInput {
    fn write(&self, w: &mut BitWriter) {
        w.signed(i32::from(self.x), 8);
        w.signed(i32::from(self.z), 8);
        w.bits(u32::from(self.buttons & 7), 3);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { x: r.signed(8)? as i8, z: r.signed(8)? as i8, buttons: r.bits(3)? as u8 })
    }
}

impl Wire for Push {
    fn write(&self, w: &mut BitWriter) {
        let (kind, value) = match *self {
            Self::Shove(value) => (0, value),
            Self::Launch(value) => (1, value),
            Self::Throw(value) => (2, value),
            Self::Belt(value) => (3, value),
        };
        w.bits(kind, 2);
        w.signed(i32::from(value), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let kind = r.bits(2)?;
        let value = r.signed(8)? as i8;
        match kind {
            0 => Ok(Self::Shove(value)),
            1 => Ok(Self::Launch(value)),
            2 => Ok(Self::Throw(value)),
            _ => Ok(Self::Belt(value)),
        }
    }
}

impl Wire for WalkerState {
    fn write(&self, w: &mut BitWriter) {
        self.at.write(w);
        self.walk.write(w);
        self.thrown.write(w);
        w.signed(i32::from(self.belt), 8);
        w.bool(self.running);
        for byte in [self.blink_cooldown, self.blinks, self.shots] {
            w.bits(u32::from(byte), 8);
        }
        w.bits(self.steps, 32);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            at: Vec3::read(r)?,
            walk: Vec3::read(r)?,
            thrown: Vec3::read(r)?,
            belt: r.signed(8)? as i8,
            running: r.bool()?,
            blink_cooldown: r.bits(8)? as u8,
            blinks: r.bits(8)? as u8,
            shots: r.bits(8)? as u8,
            steps: r.bits(32)?,
        })
    }
}
