//! Deterministic, replayable capsule movement on rapier colliders.
//!
//! [`CapsuleModel`] walks, falls, jumps, crouches, swims and flies, climbs steps, rides lifts and slides
//! along walls. It is a [`MoveModel`](bevy_unlag_core::MoveModel): one call simulates one move, without
//! a step of the physics engine, so a client can call it many times per frame to replay moves after a
//! server correction. Equal arguments give bit-identical results, in any spawn order and on all machines
//! with the same processor architecture that run the same build.
//!
//! * [`CapsuleConfig`] is the tuning, [`CapsuleInput`] the input of one tick, [`CapsuleState`] the
//!   predicted state and [`MoveEvent`] an event of a step.
//! * [`InputAccumulator`] turns per-frame input into one input per tick.
//! * [`CapsuleWith`] adds a game's own moves: see [`MoveAbility`] and the examples
//!   [`abilities::Teleport`] and [`abilities::Dash`].
//! * [`MovementBase`] marks a moving platform: one that follows a formula, one that moves on command
//!   ([`BaseSchedule`]), or one that physics or the game moves ([`RecordedBase`]).
//! * [`MoveVolume`] marks a region such as water or a jump pad, [`OneWayCollider`] a one-way platform.
//! * [`MoverWorld`] is the level as a step sees it: rapier colliders on fixed bodies or without a body.
//!   A new collider counts at once, without a step of rapier.
//! * [`MovementPlugin`] sets everything up; [`LocalMovesPlugin`] steps pawns without a network.
//!
//! # Features
//!
//! None is on by default.
//!
//! * `kart`: `KartModel`, a second model on the same sweeps, with throttle and steering; see `KartConfig`.
//!   It needs `KartPlugin`.
//! * `rapier_controller`: `MoverBackend` in `CapsuleConfig::backend`, which selects rapier's character
//!   controller for comparison.
//! * `gizmos`: `MoverGizmosPlugin`, a debug view of pawns.

pub mod abilities;
mod ability;
mod ability_hooks;
mod base;
mod base_motion;
mod body;
mod capsule_model;
mod config;
mod cue;
mod depenetration;
mod distance;
mod event;
mod falling;
mod floor;
mod floor_motion;
mod floor_slide;
mod frame;
mod free_movement;
#[cfg(feature = "gizmos")]
mod gizmos;
mod has_capsule;
mod input;
mod input_accumulator;
mod jumping;
#[cfg(feature = "kart")]
mod kart;
mod local_moves;
mod mode;
mod move_model;
mod mover;
mod part;
mod pawn_capsules;
mod pawn_classes;
mod pawn_collision;
mod planes;
mod plugin;
mod probe;
mod proxy_extrapolation;
#[cfg(feature = "rapier_controller")]
mod rapier_backend;
mod reflection;
mod scene;
mod server_queries;
mod simplified_step;
mod state;
mod step;
mod step_state;
mod step_up;
mod sweep;
mod system_sets;
mod velocity;
mod volume;
mod walking;
mod world;

pub use ability::{AbilityEvent, AbilityPair, CapsuleWith, MoveAbility};
pub use base::{
    BaseAnnouncement, BaseId, BaseSchedule, BaseScheduleConfig, BaseTrack, MovementBase, PoseHistory,
    RecordedBase, Shuttle, Turntable,
};
pub use capsule_model::CapsuleModel;
#[cfg(feature = "rapier_controller")]
pub use config::MoverBackend;
pub use config::{AccelerationModel, CapsuleConfig, InvalidConfig, PawnCollision, TooManyModes};
pub use cue::{HasMoveEvent, MoveCue};
pub use event::MoveEvent;
#[cfg(feature = "gizmos")]
pub use gizmos::{MoverGizmos, MoverGizmosPlugin};
pub use has_capsule::HasCapsule;
pub use input::{CapsuleInput, PITCH_LIMIT};
pub use input_accumulator::InputAccumulator;
#[cfg(feature = "kart")]
pub use kart::{
    KartCollisionPlugin, KartConfig, KartEvent, KartInput, KartModel, KartPlugin, KartPush, KartState,
};
pub use local_moves::LocalMovesPlugin;
pub use mode::{CustomMode, ModePhysics, MovementMode, Transitions};
pub use mover::{Mover, MoverHit};
pub use pawn_classes::TooManyClasses;
pub use pawn_collision::{PawnCollisionPlugin, PushesBodies};
pub use plugin::MovementPlugin;
pub use probe::{MoverProbe, ProbeFloor};
pub use scene::{MoverScene, PawnCapsule};
pub use server_queries::CapsulePush;
pub use state::CapsuleState;
pub use system_sets::MoverSceneSystems;
pub use volume::{GravityField, MoveVolume, OneWayCollider, VolumeId};
pub use world::MoverWorld;
