//! Teleport ten metres forwards if the destination is free, after the example in Unreal's documentation.

use bevy::prelude::*;
use bevy_unlag_core::Wire;

use super::{MAX_TIMER, TimerFormat};
use crate::{ability::MoveAbility, mover::Mover, server_queries::debug_hash};

/// Teleports the pawn [`TeleportConfig::distance`] ahead when the button is pressed and the capsule is
/// free at the destination. Obstacles in between are ignored.
#[derive(Clone, Copy, Debug, TypePath)]
pub struct Teleport;

/// Tuning of [`Teleport`]; must be the same on client and server.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct TeleportConfig {
    /// Distance in metres; default 10.
    pub distance: f32,
    /// Time between two teleports in seconds; default 1.
    pub cooldown: f32,
}

impl Default for TeleportConfig {
    fn default() -> Self {
        Self { distance: 10.0, cooldown: 1.0 }
    }
}

/// Input for [`Teleport`] in one tick.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Reflect, Wire)]
pub struct TeleportInput {
    /// Whether the button is down.
    pub pressed: bool,
}

/// Predicted state of [`Teleport`].
#[derive(Clone, Copy, PartialEq, Default, Debug, Reflect, Wire)]
pub struct TeleportState {
    /// Whether the button was down in the last step. A teleport needs a new press.
    pub held: bool,
    /// Seconds until the next teleport is possible.
    #[wire(with = TimerFormat)]
    pub cooldown: f32,
}

/// Event of [`Teleport`].
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
pub enum TeleportEvent {
    /// The pawn teleported.
    Teleported {
        /// Position of the feet before, in metres.
        from: Vec3,
        /// Position of the feet afterwards, in metres.
        to: Vec3,
    },
    /// The destination is not free.
    Blocked,
}

/// A [`Teleport`], as all clients receive it.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub struct TeleportCue;

impl MoveAbility for Teleport {
    type Param = Res<'static, TeleportConfig>;
    type Input = TeleportInput;
    type State = TeleportState;
    type Event = TeleportEvent;
    type Cue = TeleportCue;

    fn build(app: &mut App) {
        app.init_resource::<TeleportConfig>();
    }

    fn begin(
        config: &Res<'_, TeleportConfig>,
        state: &mut TeleportState,
        input: &TeleportInput,
        mover: &mut Mover<'_, '_, '_>,
        events: &mut Vec<TeleportEvent>,
    ) {
        let pressed = input.pressed && !state.held && !mover.state().disabled;
        state.held = input.pressed;
        if !pressed || state.cooldown > 0.0 {
            return;
        }
        let from = mover.position();
        let to = from + mover.forward() * config.distance;
        if mover.teleport_to(to) {
            state.cooldown = config.cooldown.clamp(0.0, MAX_TIMER);
            events.push(TeleportEvent::Teleported { from, to });
        } else {
            events.push(TeleportEvent::Blocked);
        }
    }

    fn end(
        _config: &Res<'_, TeleportConfig>,
        state: &mut TeleportState,
        _input: &TeleportInput,
        mover: &mut Mover<'_, '_, '_>,
        _events: &mut Vec<TeleportEvent>,
    ) {
        state.cooldown = (state.cooldown - mover.seconds()).max(0.0);
    }

    fn kind(state: &TeleportState) -> u32 {
        u32::from(state.held) | u32::from(state.cooldown > 0.0) << 1
    }

    fn is_outcome(event: &TeleportEvent) -> bool {
        matches!(event, TeleportEvent::Teleported { .. })
    }

    fn cue(event: &TeleportEvent) -> Option<TeleportCue> {
        matches!(event, TeleportEvent::Teleported { .. }).then_some(TeleportCue)
    }

    fn config_hash(config: &Res<'_, TeleportConfig>) -> u32 {
        debug_hash(&**config)
    }
}
