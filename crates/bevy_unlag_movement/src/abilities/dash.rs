//! Short burst of speed along the wished direction, also in the air.

use bevy::prelude::*;
use bevy_unlag_core::Wire;

use super::{MAX_TIMER, TimerFormat};
use crate::{
    ability::MoveAbility, config::CapsuleConfig, mode::MovementMode, mover::Mover, server_queries::debug_hash,
};

/// Moves the pawn at [`DashConfig::speed`] for [`DashConfig::seconds`] without gravity, sliding along
/// walls. It is a custom mode: register one with [`ModePhysics::Ability`](crate::ModePhysics::Ability)
/// and set [`DashConfig::mode`] to it, or call [`DashConfig::register`].
#[derive(Clone, Copy, Debug, TypePath)]
pub struct Dash;

/// Tuning of [`Dash`]; must be the same on client and server.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DashConfig {
    /// Custom mode of the dash; default [`MovementMode::Custom`]`(0)`.
    pub mode: MovementMode,
    /// Speed in metres per second; default 20.
    pub speed: f32,
    /// Duration in seconds; default 0.2, that is 4 m at the default speed.
    pub seconds: f32,
    /// Time from the end of one dash to the next, in seconds; default 1.
    pub cooldown: f32,
    /// Maximum speed after the dash, in metres per second; default 6.
    pub end_speed: f32,
}

impl Default for DashConfig {
    fn default() -> Self {
        Self { mode: MovementMode::Custom(0), speed: 20.0, seconds: 0.2, cooldown: 1.0, end_speed: 6.0 }
    }
}

impl DashConfig {
    /// Name of the mode that [`register`](Self::register) adds.
    pub const MODE: &'static str = "Dash";

    /// Registers the mode of the dash in `capsule` and returns a config with that mode and defaults
    /// otherwise.
    ///
    /// # Errors
    /// Returns [`TooManyModes`](crate::TooManyModes) when `capsule` has no room for another custom mode.
    pub fn register(capsule: &mut CapsuleConfig) -> Result<Self, crate::config::TooManyModes> {
        let mode = capsule.register_mode(crate::mode::CustomMode {
            name: Self::MODE.to_owned(),
            physics: crate::mode::ModePhysics::Ability,
            can_jump: false,
            ..crate::mode::CustomMode::default()
        })?;
        Ok(Self { mode, ..Self::default() })
    }
}

/// Input for [`Dash`] in one tick.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Reflect, Wire)]
pub struct DashInput {
    /// Whether the button is down.
    pub pressed: bool,
}

/// Predicted state of [`Dash`].
#[derive(Clone, Copy, PartialEq, Default, Debug, Reflect, Wire)]
pub struct DashState {
    /// Whether the button was down in the last step. A dash needs a new press.
    pub held: bool,
    /// Seconds until the current dash ends; 0 when there is none.
    #[wire(with = TimerFormat)]
    pub left: f32,
    /// Seconds until the next dash is possible.
    #[wire(with = TimerFormat)]
    pub cooldown: f32,
}

/// Event of [`Dash`].
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
pub enum DashEvent {
    /// The dash began.
    Started {
        /// Unit vector in world space.
        direction: Vec3,
    },
    /// The dash ended.
    Ended,
}

impl MoveAbility for Dash {
    type Param = Res<'static, DashConfig>;
    type Input = DashInput;
    type State = DashState;
    type Event = DashEvent;

    fn build(app: &mut App) {
        if app.world().contains_resource::<DashConfig>() {
            return;
        }
        let mut capsule = app.world_mut().get_resource_or_init::<CapsuleConfig>();
        match DashConfig::register(&mut capsule) {
            Ok(config) => {
                app.insert_resource(config);
            }
            Err(error) => error!("no mode for the dash: {error}"),
        }
    }

    fn begin(
        config: &Res<'_, DashConfig>,
        state: &mut DashState,
        input: &DashInput,
        mover: &mut Mover<'_, '_, '_>,
        events: &mut Vec<DashEvent>,
    ) {
        let pressed = input.pressed && !state.held && !mover.state().disabled;
        state.held = input.pressed;
        if !pressed || state.cooldown > 0.0 || state.left > 0.0 {
            return;
        }
        let direction = mover.wish().try_normalize().unwrap_or_else(|| mover.forward());
        mover.leave_floor();
        mover.set_mode(config.mode);
        mover.set_velocity(direction * config.speed);
        state.left = config.seconds.clamp(0.0, MAX_TIMER);
        events.push(DashEvent::Started { direction });
    }

    fn custom(
        config: &Res<'_, DashConfig>,
        state: &mut DashState,
        _input: &DashInput,
        mover: &mut Mover<'_, '_, '_>,
        seconds: f32,
        events: &mut Vec<DashEvent>,
    ) {
        if mover.mode() != config.mode {
            return;
        }
        mover.slide(seconds.min(state.left));
        state.left -= seconds;
        // Half a millisecond of tolerance: rounding must not cost a tick.
        if state.left <= 5e-4 {
            state.left = 0.0;
            state.cooldown = config.cooldown.clamp(0.0, MAX_TIMER);
            mover.set_velocity(mover.velocity().clamp_length_max(config.end_speed));
            mover.leave_floor();
            events.push(DashEvent::Ended);
        }
    }

    fn end(
        config: &Res<'_, DashConfig>,
        state: &mut DashState,
        _input: &DashInput,
        mover: &mut Mover<'_, '_, '_>,
        events: &mut Vec<DashEvent>,
    ) {
        state.cooldown = (state.cooldown - mover.seconds()).max(0.0);
        if state.left > 0.0 && mover.mode() != config.mode {
            // Something else, such as a jump pad, ended the dash.
            state.left = 0.0;
            state.cooldown = config.cooldown.clamp(0.0, MAX_TIMER);
            events.push(DashEvent::Ended);
        }
    }

    fn kind(state: &DashState) -> u32 {
        u32::from(state.held) | u32::from(state.left > 0.0) << 1 | u32::from(state.cooldown > 0.0) << 2
    }

    fn is_outcome(event: &DashEvent) -> bool {
        matches!(event, DashEvent::Started { .. })
    }

    fn config_hash(config: &Res<'_, DashConfig>) -> u32 {
        debug_hash(&**config)
    }
}
