//! The tuning of the capsule mover.

mod check;
mod presets;

pub use check::InvalidConfig;
pub(crate) use check::{Figure, check_figures};

use bevy::prelude::*;

use crate::{CustomMode, MovementMode, Transitions};

/// What moves the capsule through the world.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum MoverBackend {
    /// This crate's sweeps.
    #[default]
    Unlag,
    /// Rapier's `KinematicCharacterController`, for comparison: it knows no movement bases and no
    /// one-way colliders, and sees a collider only after a step of rapier.
    Rapier,
}

/// How input changes the velocity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum AccelerationModel {
    /// Unreal's: friction turns the velocity, acceleration adds up to the maximum speed, and a
    /// pawn without input brakes.
    #[default]
    Unreal,
    /// Quake's: friction always, and acceleration until the speed *along the wish* is the
    /// wished speed, so that turning in the air gains speed.
    Quake,
}

/// What other pawns are to a pawn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum PawnCollision {
    /// Nothing.
    #[default]
    Ignore,
    /// Walls. A client has the others where it sees them, which is in the past: bumping into
    /// somebody who moves is corrected by the server.
    Block,
    /// Soft: two pawns in one place drift apart. Corrections are small.
    Push,
}

/// The tuning of [`CapsuleModel`](crate::CapsuleModel). It must be the same on both sides: a
/// difference is a misprediction in every tick. The defaults are Unreal's, in metres; see
/// [`quake`](Self::quake) and [`arcade`](Self::arcade) for others.
#[derive(Resource, Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct CapsuleConfig {
    /// Metres; default 0.34. A gap must be a little wider than twice this to walk through.
    pub radius: f32,
    /// Metres from the middle to the feet, standing; default 0.88, so 1.76 m tall.
    pub half_height: f32,
    /// Metres from the middle to the feet, crouched; default 0.40. Never less than the radius.
    pub crouched_half_height: f32,
    /// Metres above the feet that a standing pawn looks from; default 1.64.
    pub eye_height: f32,
    /// Metres above the feet that a crouched pawn looks from; default 0.66.
    pub crouched_eye_height: f32,

    /// Metres per second; default 6. What full input reaches on any walkable ground.
    pub max_walk_speed: f32,
    /// Metres per second; default 9. What full input reaches with
    /// [`CapsuleInput::sprint`](crate::CapsuleInput::sprint), forwards.
    pub sprint_speed: f32,
    /// Metres per second; default 2. What full input reaches with
    /// [`CapsuleInput::walk`](crate::CapsuleInput::walk).
    pub slow_walk_speed: f32,
    /// Metres per second; default 3. What full input reaches crouched.
    pub crouched_speed: f32,
    /// Metres per second; default 3.
    pub max_swim_speed: f32,
    /// Metres per second; default 6.
    pub max_fly_speed: f32,
    /// Metres per second; default 60. No pawn is ever faster, falls included, so that a move stays
    /// near the colliders that were looked up for it. Raising it makes fast moves dearer.
    pub max_speed: f32,

    /// How input changes the velocity. Default: [`AccelerationModel::Unreal`].
    pub acceleration_model: AccelerationModel,
    /// Metres per second squared; default 20.48. How fast input changes the speed: a stand turns
    /// into a run in 0.3 s. For Quake's model: its acceleration times the maximum speed.
    pub acceleration: f32,
    /// Per second; default 8. How fast a run turns to a new direction, and, times
    /// [`braking_friction_factor`](Self::braking_friction_factor), how hard a pawn without input
    /// brakes in proportion to its speed.
    pub ground_friction: f32,
    /// Default 2. Raising it stops pawns sooner and turns them no faster.
    pub braking_friction_factor: f32,
    /// Metres per second squared; default 20.48. The constant part of braking on a floor.
    pub braking_deceleration: f32,
    /// Metres per second; default 0. Quake's model brakes a slower pawn as if it were this fast.
    pub stop_speed: f32,
    /// Per second; default 0.3. Friction of fluids and of flight, unless a
    /// [`MoveVolume`](crate::MoveVolume) says otherwise.
    pub fluid_friction: f32,
    /// Metres per second squared; default 0. Braking without input while swimming.
    pub braking_swimming: f32,
    /// Metres per second squared; default 0. Braking without input while flying. At 0 a flight
    /// goes on until input or a wall ends it.
    pub braking_flying: f32,
    /// Metres per second squared; default 0. Level braking without input in the air.
    pub braking_falling: f32,

    /// Metres per second; default 4.2. The height of a jump is this squared over twice gravity.
    pub jump_speed: f32,
    /// Seconds; default 0. As long as the button is held, but no longer than this, the jump keeps
    /// its speed: small and big jumps.
    pub jump_max_hold: f32,
    /// Jumps until the next landing; default 1. 2 allows one more in the air.
    pub jump_max_count: u8,
    /// Seconds after walking off a ledge in which a jump still counts as one from the floor;
    /// default 0. 0.1 forgives late presses.
    pub coyote_time: f32,
    /// Seconds before a landing in which a press still jumps at the landing; default 0. 0.1
    /// forgives early presses.
    pub jump_buffer: f32,
    /// Metres per second squared, towards the ground; default 9.8.
    pub gravity: f32,
    /// Where up is, one long; default +Y. A [`MoveVolume`](crate::MoveVolume) can override it.
    /// Another direction than +Y makes a move about a third dearer.
    pub up: Vec3,
    /// Metres per second; default 40. No fall gets faster by gravity.
    pub terminal_speed: f32,
    /// 0 to 1; default 0.05. The fraction of `acceleration` that input has in the air.
    pub air_control: f32,
    /// Metres per second; default 0.25. Below this level speed air control is
    /// [`air_control_boost`](Self::air_control_boost) times as strong, so that a jump from a
    /// standstill can get over an edge.
    pub air_control_boost_below: f32,
    /// Default 2.
    pub air_control_boost: f32,
    /// Metres per second; default 1,000, no limit. Quake's model adds no more than
    /// this along the wish in the air.
    pub air_wish_speed: f32,

    /// Metres; default 0.45. Ledges up to this height above the floor are climbed, and floors up
    /// to this far below are stepped down to. Raising it makes walking on stairs and past clutter
    /// dearer.
    pub step_height: f32,
    /// The upward part of a floor's normal; default 0.71, about 44.8°. Steeper is a wall.
    pub walkable_floor_y: f32,
    /// Metres from the capsule's side; default 0. A floor that is touched further out than this
    /// is only perched on: see [`perch_height`](Self::perch_height).
    pub perch_radius_threshold: f32,
    /// Metres; default 0.4. A pawn perches as long as there is a floor for the middle of the
    /// capsule within the step height and this.
    pub perch_height: f32,
    /// Default: false. The capsule's round end sinks over the rim of a ledge and rises over that of
    /// a step, which is soft. True keeps the feet level with a rim for as long as it is touched, as
    /// if the capsule's base were flat. Unreal's `bUseFlatBaseForFloorChecks`.
    pub flat_base: bool,
    /// Whether a walk goes on over ledges. Default: true.
    pub walk_off_ledges: bool,
    /// Whether a crouched walk goes on over ledges. Default: false.
    pub walk_off_ledges_crouched: bool,
    /// Metres; default 0.1. As far over a ledge comes the middle of a pawn that does not walk off.
    pub ledge_threshold: f32,

    /// Upwards force of water over gravity; default 1: a swimmer neither sinks nor rises.
    pub buoyancy: f32,
    /// Metres per second; default 4.2. A swimmer who holds jump against a bank leaves the water
    /// with this.
    pub out_of_water_speed: f32,

    /// Whether a pawn that leaves a moving base keeps the base's velocity. Default: true.
    pub impart_base_velocity: bool,
    /// Whether a turning base turns the view of who stands on it. Default: false.
    pub turn_with_base: bool,
    /// What other pawns are. Default: [`PawnCollision::Ignore`].
    pub pawns: PawnCollision,
    /// Metres per second at which two pawns in one place drift apart, with
    /// [`PawnCollision::Push`]; default 3.
    pub pawn_push_speed: f32,
    /// Rapier's collision groups whose members stop a capsule; default all, and colliders
    /// without groups always do.
    pub blocked_by: u32,

    /// Seconds; default 0.05. A longer step is cut into slices. Lowering it makes steps at low
    /// tick rates dearer and truer.
    pub max_slice_seconds: f32,
    /// Default 8. A step longer than this many slices is cut off there.
    pub max_slices: u8,
    /// Which mode follows what.
    pub transitions: Transitions,
    /// Modes of the game, by number; see [`register_mode`](Self::register_mode).
    pub custom_modes: Vec<CustomMode>,
    /// What moves the capsule. Default: [`MoverBackend::Unlag`].
    pub backend: MoverBackend,
}

impl Default for CapsuleConfig {
    fn default() -> Self {
        Self {
            radius: 0.34,
            half_height: 0.88,
            crouched_half_height: 0.40,
            eye_height: 1.64,
            crouched_eye_height: 0.66,
            max_walk_speed: 6.0,
            sprint_speed: 9.0,
            slow_walk_speed: 2.0,
            crouched_speed: 3.0,
            max_swim_speed: 3.0,
            max_fly_speed: 6.0,
            max_speed: 60.0,
            acceleration_model: AccelerationModel::Unreal,
            acceleration: 20.48,
            ground_friction: 8.0,
            braking_friction_factor: 2.0,
            braking_deceleration: 20.48,
            stop_speed: 0.0,
            fluid_friction: 0.3,
            braking_swimming: 0.0,
            braking_flying: 0.0,
            braking_falling: 0.0,
            jump_speed: 4.2,
            jump_max_hold: 0.0,
            jump_max_count: 1,
            coyote_time: 0.0,
            jump_buffer: 0.0,
            gravity: 9.8,
            up: Vec3::Y,
            terminal_speed: 40.0,
            air_control: 0.05,
            air_control_boost_below: 0.25,
            air_control_boost: 2.0,
            air_wish_speed: 1_000.0,
            step_height: 0.45,
            walkable_floor_y: 0.71,
            perch_radius_threshold: 0.0,
            perch_height: 0.4,
            flat_base: false,
            walk_off_ledges: true,
            walk_off_ledges_crouched: false,
            ledge_threshold: 0.1,
            buoyancy: 1.0,
            out_of_water_speed: 4.2,
            impart_base_velocity: true,
            turn_with_base: false,
            pawns: PawnCollision::Ignore,
            pawn_push_speed: 3.0,
            blocked_by: u32::MAX,
            max_slice_seconds: 0.05,
            max_slices: 8,
            transitions: Transitions::default(),
            custom_modes: Vec::new(),
            backend: MoverBackend::Unlag,
        }
    }
}

impl CapsuleConfig {
    /// Adds a mode of the game and returns it. A name that is already taken replaces that mode's
    /// tuning. Register the same modes in the same order on both sides.
    ///
    /// # Errors
    /// When there are already 256.
    pub fn register_mode(&mut self, mode: CustomMode) -> Result<MovementMode, TooManyModes> {
        let place = self.custom_modes.iter().position(|known| known.name == mode.name);
        let place = place.unwrap_or(self.custom_modes.len());
        let id = u8::try_from(place).map_err(|_| TooManyModes)?;
        if place < self.custom_modes.len() {
            self.custom_modes[place] = mode;
        } else {
            self.custom_modes.push(mode);
        }
        Ok(MovementMode::Custom(id))
    }

    /// The mode of this name, built-in names included (`"Walking"`).
    #[must_use]
    pub fn mode_named(&self, name: &str) -> Option<MovementMode> {
        let custom = |(id, mode): (usize, &CustomMode)| {
            (mode.name == name).then(|| u8::try_from(id).ok().map(MovementMode::Custom)).flatten()
        };
        match name {
            "Walking" => Some(MovementMode::Walking),
            "Falling" => Some(MovementMode::Falling),
            "Swimming" => Some(MovementMode::Swimming),
            "Flying" => Some(MovementMode::Flying),
            _ => self.custom_modes.iter().enumerate().find_map(custom),
        }
    }

    /// The tuning of a custom mode, if it is one that was registered.
    #[must_use]
    pub fn custom_mode(&self, mode: MovementMode) -> Option<&CustomMode> {
        match mode {
            MovementMode::Custom(id) => self.custom_modes.get(usize::from(id)),
            _ => None,
        }
    }

    /// What leads out of `mode`.
    #[must_use]
    pub fn transitions_of(&self, mode: MovementMode) -> &Transitions {
        self.custom_mode(mode).map_or(&self.transitions, |custom| &custom.transitions)
    }
}

/// More custom modes than a mode's number can tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyModes;

impl core::fmt::Display for TooManyModes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a CapsuleConfig holds at most 256 custom modes; reuse one by its name")
    }
}

impl core::error::Error for TooManyModes {}
