//! Tuning of the capsule mover.

mod check;
mod presets;

pub use check::InvalidConfig;
#[cfg(feature = "kart")]
pub(crate) use check::check_ranges;
pub(crate) use check::{FieldRange, ranged_config};

use bevy::prelude::*;
use bevy_unlag_core::PawnClass;

use self::check::MAX_VALUE;
use crate::{
    mode::{CustomMode, MovementMode, Transitions},
    pawn_classes::{self, TooManyClasses},
};

/// Implementation that moves the capsule through the world. Needs the feature `rapier_controller`.
#[cfg(feature = "rapier_controller")]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize, Reflect)]
#[doc(alias = "KinematicCharacterController")]
pub enum MoverBackend {
    /// This crate's own sweeps.
    #[default]
    Unlag,
    /// Rapier's `KinematicCharacterController`, for comparison. It supports neither movement bases nor
    /// one-way colliders, and sees a collider only after a step of rapier.
    Rapier,
}

/// Formula by which input changes the velocity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize, Reflect)]
pub enum AccelerationModel {
    /// Unreal's formula: friction turns the velocity, acceleration adds up to the maximum speed, and a
    /// pawn without input brakes.
    #[doc(alias = "CalcVelocity")]
    #[default]
    Unreal,
    /// Quake's formula: friction always applies, and acceleration adds until the speed *along the wished
    /// direction* reaches the wished speed, so that turning in the air gains speed.
    #[doc(alias = "PM_Accelerate")]
    #[doc(alias = "strafe jumping")]
    Quake,
}

/// Collision between pawns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize, Reflect)]
pub enum PawnCollision {
    /// Pawns ignore each other.
    #[default]
    Ignore,
    /// Pawns block each other like walls. A client has remote pawns where it displays them, which is in
    /// the past, so the server corrects a client that bumps into a moving pawn.
    Block,
    /// Pawns that overlap drift apart. Corrections are small.
    Push,
}

ranged_config! {
    /// Tuning of [`CapsuleModel`](crate::CapsuleModel). It must be the same on client and server: a
    /// difference causes a misprediction in every tick. The defaults are Unreal's, in metres; see
    /// [`quake`](Self::quake) and [`arcade`](Self::arcade) for other presets.
    ///
    /// In the book: *Capsule movement*, `book/src/reference/capsule.md`.
    #[doc(alias = "UCharacterMovementComponent")]
    #[derive(Resource, Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize, Reflect)]
    #[reflect(Resource, Debug, Default)]
    #[serde(default)]
    pub struct CapsuleConfig(config) {
        /// Radius of the capsule in metres; default 0.34. The pawn fits through gaps slightly wider than
        /// twice this.
        pub radius: f32 = 0.34, within 0.01..=100.0;
        /// Distance from the middle to the feet when standing, in metres; default 0.88, so 1.76 m tall.
        pub half_height: f32 = 0.88, within config.radius..=100.0;
        /// Distance from the middle to the feet when crouched, in metres; default 0.40. Must not be less
        /// than the radius.
        pub crouched_half_height: f32 = 0.40, within config.radius..=config.half_height;
        /// Eye height above the feet when standing, in metres; default 1.64.
        pub eye_height: f32 = 1.64, within 0.0..=200.0;
        /// Eye height above the feet when crouched, in metres; default 0.66.
        pub crouched_eye_height: f32 = 0.66, within 0.0..=200.0;

        /// Speed at full input on any walkable ground, in metres per second; default 6.
        #[doc(alias = "MaxWalkSpeed")]
        pub max_walk_speed: f32 = 6.0, within 0.0..=config.max_speed;
        /// Forward speed at full input with [`CapsuleInput::sprint`](crate::CapsuleInput::sprint), in metres
        /// per second; default 9.
        pub sprint_speed: f32 = 9.0, within 0.0..=config.max_speed;
        /// Speed at full input with [`CapsuleInput::walk`](crate::CapsuleInput::walk), in metres per second;
        /// default 2.
        pub slow_walk_speed: f32 = 2.0, within 0.0..=config.max_speed;
        /// Speed at full input when crouched, in metres per second; default 3.
        pub crouched_speed: f32 = 3.0, within 0.0..=config.max_speed;
        /// Speed at full input when swimming, in metres per second; default 3.
        pub max_swim_speed: f32 = 3.0, within 0.0..=config.max_speed;
        /// Speed at full input when flying, in metres per second; default 6.
        pub max_fly_speed: f32 = 6.0, within 0.0..=config.max_speed;
        /// Upper limit of any speed, falls included, in metres per second; default 60. It keeps a move near
        /// the colliders that were looked up for it. Raising it makes fast moves more expensive.
        #[doc(alias = "sv_maxvelocity")]
        pub max_speed: f32 = 60.0, within 0.1..=1_000.0;

        /// Formula by which input changes the velocity. Default: [`AccelerationModel::Unreal`].
        pub acceleration_model: AccelerationModel = AccelerationModel::Unreal;
        /// Acceleration by input in metres per second squared; default 20.48, from standstill to full speed
        /// in 0.3 s. For Quake's model: its acceleration constant times the maximum speed.
        #[doc(alias = "MaxAcceleration")]
        pub acceleration: f32 = 20.48, within 0.0..=MAX_VALUE;
        /// Rate at which a running pawn turns to a new direction, per second; default 8. Times
        /// [`braking_friction_factor`](Self::braking_friction_factor) it is also the part of braking without
        /// input that is proportional to the speed.
        #[doc(alias = "sv_friction")]
        pub ground_friction: f32 = 8.0, within 0.0..=MAX_VALUE;
        /// Factor on [`ground_friction`](Self::ground_friction) when braking; default 2. Raising it stops
        /// pawns sooner without turning them faster.
        pub braking_friction_factor: f32 = 2.0, within 0.0..=MAX_VALUE;
        /// Constant part of braking on a floor, in metres per second squared; default 20.48.
        #[doc(alias = "BrakingDecelerationWalking")]
        pub braking_deceleration: f32 = 20.48, within 0.0..=MAX_VALUE;
        /// Speed in metres per second; default 0. Quake's model brakes a slower pawn as if it moved at this
        /// speed.
        #[doc(alias = "sv_stopspeed")]
        pub stop_speed: f32 = 0.0, within 0.0..=config.max_speed;
        /// Friction of fluids and of flight, per second; default 0.3. A [`MoveVolume`](crate::MoveVolume)
        /// can override it.
        pub fluid_friction: f32 = 0.3, within 0.0..=MAX_VALUE;
        /// Braking without input while swimming, in metres per second squared; default 0.
        pub braking_swimming: f32 = 0.0, within 0.0..=MAX_VALUE;
        /// Braking without input while flying, in metres per second squared; default 0. At 0 a flying pawn
        /// keeps moving until input or a wall stops it.
        pub braking_flying: f32 = 0.0, within 0.0..=MAX_VALUE;
        /// Horizontal braking without input in the air, in metres per second squared; default 0.
        pub braking_falling: f32 = 0.0, within 0.0..=MAX_VALUE;

        /// Upward speed of a jump in metres per second; default 4.2. The height of a jump is the square of
        /// this over twice gravity.
        #[doc(alias = "JumpZVelocity")]
        pub jump_speed: f32 = 4.2, within 0.0..=config.max_speed;
        /// Longest time in seconds for which holding the button keeps the upward speed of a jump, for low
        /// and high jumps; default 0.
        #[doc(alias = "JumpMaxHoldTime")]
        pub jump_max_hold: f32 = 0.0, within 0.0..=60.0;
        /// Number of jumps until the next landing; default 1. 2 allows a double jump.
        #[doc(alias = "JumpMaxCount")]
        pub jump_max_count: u8 = 1;
        /// Time in seconds after walking off a ledge during which a jump still counts as one from the floor;
        /// default 0. A value of 0.1 forgives late presses.
        pub coyote_time: f32 = 0.0, within 0.0..=60.0;
        /// Time in seconds before a landing during which a press still causes a jump at the landing; default
        /// 0. A value of 0.1 forgives early presses.
        pub jump_buffer: f32 = 0.0, within 0.0..=60.0;
        /// Gravity in metres per second squared, towards the ground; default 9.8.
        #[doc(alias = "sv_gravity")]
        pub gravity: f32 = 9.8, within -MAX_VALUE..=MAX_VALUE;
        /// Up direction, a unit vector; default +Y. A [`MoveVolume`](crate::MoveVolume) can override it. Any
        /// direction other than +Y makes a move about a third more expensive.
        pub up: Vec3 = Vec3::Y, measured (config.up.length() - 1.0).abs() => 0.0..=0.01;
        /// Limit of the falling speed by gravity, in metres per second; default 40.
        pub terminal_speed: f32 = 40.0, within 0.0..=1_000.0;
        /// Fraction of `acceleration` that input has in the air, 0 to 1; default 0.05.
        #[doc(alias = "AirControl")]
        pub air_control: f32 = 0.05, within 0.0..=1.0;
        /// Horizontal speed in metres per second below which air control is multiplied by
        /// [`air_control_boost`](Self::air_control_boost), so that a jump from a standstill can get over an
        /// edge; default 0.25.
        pub air_control_boost_below: f32 = 0.25, within 0.0..=config.max_speed;
        /// Factor on air control at low speed; default 2.
        pub air_control_boost: f32 = 2.0, within 0.0..=MAX_VALUE;
        /// Largest wished speed in the air for Quake's model, in metres per second; default 1,000, that is
        /// no limit.
        pub air_wish_speed: f32 = 1_000.0, within 0.0..=MAX_VALUE;

        /// Height in metres; default 0.45. Pawns climb ledges up to this height and step down to floors up
        /// to this far below. Raising it makes walking on stairs and past clutter more expensive.
        #[doc(alias = "MaxStepHeight")]
        #[doc(alias = "sv_stepsize")]
        pub step_height: f32 = 0.45, within 0.0..=2.0 * config.half_height;
        /// Smallest upward component of the normal of a walkable floor; default 0.71, about 44.8°. A steeper
        /// surface is a wall.
        #[doc(alias = "WalkableFloorZ")]
        pub walkable_floor_y: f32 = 0.71, within 0.2..=1.0;
        /// Distance from the capsule's side in metres; default 0. A pawn only perches on a floor that it
        /// touches within this distance of its side: see [`perch_height`](Self::perch_height).
        pub perch_radius_threshold: f32 = 0.0, within 0.0..=config.radius;
        /// Depth in metres; default 0.4. A pawn perches only while there is a floor below the middle of the
        /// capsule within the step height plus this.
        pub perch_height: f32 = 0.4, within 0.0..=100.0;
        /// Whether the pawn keeps its feet level with a rim for as long as it touches it, as if the
        /// capsule's base were flat. Default: false, so the round end sinks over the rim of a ledge and
        /// rises over the rim of a step, which is smoother. Unreal's `bUseFlatBaseForFloorChecks`.
        #[doc(alias = "bUseFlatBaseForFloorChecks")]
        pub flat_base: bool = false;
        /// Whether a walking pawn can walk off ledges. Default: true.
        #[doc(alias = "bCanWalkOffLedges")]
        pub walk_off_ledges: bool = true;
        /// Whether a crouched pawn can walk off ledges. Default: false.
        pub walk_off_ledges_crouched: bool = false;
        /// Distance in metres by which the middle of a pawn that does not walk off ledges may pass the edge;
        /// default 0.1.
        pub ledge_threshold: f32 = 0.1, within 0.0..=config.radius;

        /// Buoyancy of water relative to gravity; default 1: a swimmer neither sinks nor rises.
        pub buoyancy: f32 = 1.0, within 0.0..=100.0;
        /// Upward speed in metres per second with which a swimmer who holds jump against a bank leaves the
        /// water; default 4.2.
        pub out_of_water_speed: f32 = 4.2, within 0.0..=config.max_speed;

        /// Whether a pawn that leaves a moving base keeps the base's velocity. Default: true.
        #[doc(alias = "bImpartBaseVelocityX")]
        pub impart_base_velocity: bool = true;
        /// Whether a turning base turns the view of pawns on it. Default: false.
        pub turn_with_base: bool = false;
        /// Collision with other pawns. Default: [`PawnCollision::Ignore`].
        pub pawns: PawnCollision = PawnCollision::Ignore;
        /// Speed in metres per second at which overlapping pawns drift apart with [`PawnCollision::Push`];
        /// default 3.
        pub pawn_push_speed: f32 = 3.0, within 0.0..=config.max_speed;
        /// Rapier collision groups whose members block a capsule; default all. Colliders without groups
        /// always block it.
        pub blocked_by: u32 = u32::MAX;

        /// Longest slice of a step in seconds; default 0.05. A longer step is split into slices. Lowering it
        /// makes steps at low tick rates more accurate and more expensive.
        #[doc(alias = "MaxSimulationTimeStep")]
        pub max_slice_seconds: f32 = 0.05, within 0.001..=1.0;
        /// Maximum number of slices per step; default 8. A longer step is cut off.
        #[doc(alias = "MaxSimulationIterations")]
        pub max_slices: u8 = 8, measured f32::from(config.max_slices) => 1.0..=255.0;
        /// Transitions between the built-in modes.
        pub transitions: Transitions = Transitions::default();
        /// Custom modes of the game, by number; see [`register_mode`](Self::register_mode).
        pub custom_modes: Vec<CustomMode> = Vec::new();
        /// Configurations of the classes from 1 on; see [`add_class`](Self::add_class). Class 0 is this one.
        pub classes: Vec<Self> = Vec::new();
        @if(feature = "rapier_controller")
        /// Implementation that moves the capsule. Default: [`MoverBackend::Unlag`]. Needs the feature
        /// `rapier_controller`.
        pub backend: MoverBackend = MoverBackend::Unlag;
    }
}

impl CapsuleConfig {
    /// Adds a custom mode and returns it. If the name is already taken, replaces the tuning of that
    /// mode. Register the same modes in the same order on client and server.
    ///
    /// # Errors
    /// Returns [`TooManyModes`] when there are already 256 custom modes.
    pub fn register_mode(&mut self, mode: CustomMode) -> Result<MovementMode, TooManyModes> {
        let place = self.custom_modes.iter().position(|known| known.name == mode.name);
        let place = place.unwrap_or(self.custom_modes.len());
        let id = u8::try_from(place).map_err(|_| TooManyModes)?;
        for class in &mut self.classes {
            class.register_mode(mode.clone())?;
        }
        if place < self.custom_modes.len() {
            self.custom_modes[place] = mode;
        } else {
            self.custom_modes.push(mode);
        }
        Ok(MovementMode::Custom(id))
    }

    /// Adds the configuration of a class and returns the class. It gets the custom modes of this configuration,
    /// registered before or after. Add the same classes in the same order on client and server.
    ///
    /// # Errors
    /// Returns [`TooManyClasses`] when there are already 256 classes.
    pub fn add_class(&mut self, class: Self) -> Result<PawnClass, TooManyClasses> {
        let number = pawn_classes::next(&self.classes)?;
        self.classes.push(Self { custom_modes: self.custom_modes.clone(), classes: Vec::new(), ..class });
        Ok(number)
    }

    /// Returns whether there is a class: class 0, or one that [`add_class`](Self::add_class) has returned.
    #[must_use]
    pub fn has_class(&self, class: PawnClass) -> bool {
        pawn_classes::has(&self.classes, class)
    }

    /// Returns the configuration of a class; this one for an unknown class.
    #[must_use]
    pub fn class(&self, class: PawnClass) -> &Self {
        pawn_classes::find(self, &self.classes, class)
    }

    /// Returns the mode with this name, built-in names included (`"Walking"`).
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

    /// Returns the tuning of a registered custom mode; `None` for other modes.
    #[must_use]
    pub fn custom_mode(&self, mode: MovementMode) -> Option<&CustomMode> {
        match mode {
            MovementMode::Custom(id) => self.custom_modes.get(usize::from(id)),
            _ => None,
        }
    }

    /// Returns the transitions that apply in `mode`.
    #[must_use]
    pub fn transitions_of(&self, mode: MovementMode) -> &Transitions {
        self.custom_mode(mode).map_or(&self.transitions, |custom| &custom.transitions)
    }
}

/// Error when a config already has 256 custom modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyModes;

impl core::fmt::Display for TooManyModes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a CapsuleConfig holds at most 256 custom modes; reuse the name of an existing mode")
    }
}

impl core::error::Error for TooManyModes {}
