//! Deterministic, replayable capsule movement on rapier colliders.
//!
//! [`CapsuleModel`] walks, falls, jumps, crouches, swims and flies, climbs steps, rides lifts and slides
//! along walls. It is a [`MoveModel`](bevy_unlag_core::MoveModel): one call simulates one move, without
//! a step of the physics engine, so a client can call it many times per frame to replay moves after a
//! server correction. Equal arguments give bit-identical results, in any spawn order and on all machines
//! with the same processor architecture that run the same build.
//!
//! ```text
//!  devices, scripts ─► InputAccumulator ─► CapsuleInput ─┐
//!                                                        ▼
//!             CapsuleConfig, MoveAbility ─► CapsuleModel::step ─► CapsuleState, MoveEvent
//!                                                        ▲              │
//!  rapier colliders, MovementBase, MoveVolume ─► MoverWorld             ▼
//!                                                           the state of the next tick
//! ```
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
//! # Example
//!
//! A pawn falls onto a floor and walks along it for a second:
//!
//! ```
//! use std::time::Duration;
//!
//! use bevy::{prelude::*, time::TimeUpdateStrategy};
//! use bevy_rapier3d::prelude::Collider;
//! use bevy_unlag_core::MoveInput;
//! use bevy_unlag_movement::{CapsuleInput, CapsuleModel, CapsuleState, LocalMovesPlugin, MovementPlugin};
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, TransformPlugin))
//!     .add_plugins((MovementPlugin, LocalMovesPlugin::<CapsuleModel>::default()))
//!     // Two frames a tick, whatever the real time.
//!     .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(7_812)));
//! let world = app.world_mut();
//! world.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
//! let forward = CapsuleInput { forward: 127, ..default() };
//! let pawn = world.spawn((CapsuleState::at(Vec3::Y * 0.2), MoveInput::<CapsuleModel>(forward))).id();
//!
//! app.finish();
//! app.cleanup();
//! for _ in 0..256 {
//!     app.update();
//! }
//! let state = app.world().get::<CapsuleState>(pawn).expect("the pawn");
//! // Forwards is -Z, and the top speed 6 m/s.
//! assert!(state.position.z < -5.0, "{state:?}");
//! assert!(state.position.y.abs() < 0.1, "{state:?}");
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `kart` | no | `KartModel`, a second model on the same sweeps, with throttle and steering; see `KartConfig`. It needs `KartPlugin`. |
//! | `gizmos` | no | `MoverGizmosPlugin`, a debug view of pawns. |
//! | `rapier_controller` | no | `MoverBackend` in `CapsuleConfig::backend`, which selects rapier's character controller for comparison. |
//!
//! # In the book
//!
//! In the repository, `book/src/reference/capsule.md` lists the tuning with units and defaults; `abilities.md`,
//! `bases_and_volumes.md` and `kart.md` beside it are about the rest of this crate.

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
