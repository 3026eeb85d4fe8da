//! Short burst of speed along the wished direction, also in the air.

use bevy::prelude::*;
use bevy_unlag_core::Wire;

use super::{MAX_TIMER, TimerFormat};
use crate::{
    ability::MoveAbility,
    config::{CapsuleConfig, TooManyModes},
    mode::{CustomMode, ModePhysics, MovementMode},
    mover::Mover,
    server_queries::debug_hash,
};

/// Moves the pawn at [`DashConfig::speed`] for [`DashConfig::seconds`] without gravity, sliding along
/// walls. It is a custom mode with [`ModePhysics::Ability`](crate::ModePhysics::Ability).
#[derive(Clone, Copy, Debug, TypePath)]
pub struct Dash;

/// Tuning of [`Dash`]; must be the same on client and server.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DashConfig {
    /// Custom mode of the dash. Default: one that [`Dash`] registers under [`MODE`](Self::MODE) as soon as the app
    /// runs.
    pub mode: Option<MovementMode>,
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
        Self { mode: None, speed: 20.0, seconds: 0.2, cooldown: 1.0, end_speed: 6.0 }
    }
}

impl DashConfig {
    /// Name of the mode that [`register`](Self::register) adds.
    pub const MODE: &'static str = "Dash";

    /// Registers the mode of the dash in `capsule` and returns a config with that mode and defaults
    /// otherwise.
    ///
    /// # Errors
    /// Returns [`TooManyModes`] when `capsule` has no room for another custom mode.
    pub fn register(capsule: &mut CapsuleConfig) -> Result<Self, TooManyModes> {
        Ok(Self { mode: Some(Self::register_mode(capsule)?), ..Self::default() })
    }

    fn register_mode(capsule: &mut CapsuleConfig) -> Result<MovementMode, TooManyModes> {
        capsule.register_mode(CustomMode {
            name: Self::MODE.to_owned(),
            physics: ModePhysics::Ability,
            can_jump: false,
            ..CustomMode::default()
        })
    }
}

/// Registers the mode of the dash, unless the game has given it one. Also after a game has replaced one of the
/// configurations, with which the registered mode is lost or another one.
fn register_mode(
    mut capsule: ResMut<CapsuleConfig>,
    mut config: ResMut<DashConfig>,
    mut registered: Local<Option<MovementMode>>,
) {
    let is_ability = |mode: &MovementMode| {
        capsule.custom_mode(*mode).is_some_and(|mode| mode.physics == ModePhysics::Ability)
    };
    let by_game = config.mode.filter(|mode| *registered != Some(*mode));
    if by_game.is_some_and(|mode| is_ability(&mode)) {
        return;
    }
    let mode = match capsule.mode_named(DashConfig::MODE).filter(is_ability) {
        Some(mode) => mode,
        None => match DashConfig::register_mode(&mut capsule) {
            Ok(mode) => mode,
            Err(error) => return error!("no mode for the dash: {error}"),
        },
    };
    *registered = Some(mode);
    if config.mode != *registered {
        config.mode = *registered;
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

/// The beginning of a [`Dash`], as all clients receive it.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub struct DashCue;

impl MoveAbility for Dash {
    type Param = Res<'static, DashConfig>;
    type Input = DashInput;
    type State = DashState;
    type Event = DashEvent;
    type Cue = DashCue;

    fn build(app: &mut App) {
        let changed =
            resource_exists_and_changed::<CapsuleConfig>.or_else(resource_exists_and_changed::<DashConfig>);
        app.init_resource::<CapsuleConfig>()
            .init_resource::<DashConfig>()
            .add_systems(PreUpdate, register_mode.run_if(changed));
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
        let Some(mode) = config.mode.filter(|_| pressed && state.cooldown <= 0.0 && state.left <= 0.0) else {
            return;
        };
        let direction = mover.wish().try_normalize().unwrap_or_else(|| mover.forward());
        mover.leave_floor();
        mover.set_mode(mode);
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
        if Some(mover.mode()) != config.mode {
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
        if state.left > 0.0 && Some(mover.mode()) != config.mode {
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

    fn cue(event: &DashEvent) -> Option<DashCue> {
        matches!(event, DashEvent::Started { .. }).then_some(DashCue)
    }

    fn config_hash(config: &Res<'_, DashConfig>) -> u32 {
        debug_hash(&**config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dash_has_its_mode_whatever_a_game_inserts_after_the_plugins() {
        let own = CustomMode { name: "Glide".to_owned(), physics: ModePhysics::Ability, ..default() };
        for inserted in 0..4 {
            let mut app = App::new();
            Dash::build(&mut app);
            app.update();
            if inserted & 1 != 0 {
                let mut capsule = CapsuleConfig::default();
                assert_eq!(capsule.register_mode(own.clone()), Ok(MovementMode::Custom(0)));
                app.insert_resource(capsule);
            }
            if inserted & 2 != 0 {
                app.insert_resource(DashConfig { speed: 5.0, ..default() });
            }
            app.update();
            let (capsule, dash) =
                (app.world().resource::<CapsuleConfig>(), app.world().resource::<DashConfig>());
            let mode = dash.mode.expect("a mode is registered");
            let name = capsule.custom_mode(mode).map(|mode| mode.name.as_str());
            assert_eq!(name, Some(DashConfig::MODE), "{inserted}");
        }
    }

    #[test]
    fn mode_that_a_game_gives_the_dash_is_kept() {
        let mut app = App::new();
        Dash::build(&mut app);
        let own = CustomMode { name: "Sprint".to_owned(), physics: ModePhysics::Ability, ..default() };
        let mode = app.world_mut().resource_mut::<CapsuleConfig>().register_mode(own).expect("room");
        app.insert_resource(DashConfig { mode: Some(mode), ..default() });
        app.update();
        assert_eq!(app.world().resource::<DashConfig>().mode, Some(mode));
        assert_eq!(app.world().resource::<CapsuleConfig>().custom_modes.len(), 1);
    }
}
