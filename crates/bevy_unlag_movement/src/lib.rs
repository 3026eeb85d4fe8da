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
//! * [`InputGather`] turns per-frame input into one input per tick.
//! * [`CapsuleWith`] adds a game's own moves: see [`MoveAbility`] and the examples
//!   [`abilities::Teleport`] and [`abilities::Dash`].
//! * [`MovementBase`] marks a moving platform, [`MoveVolume`] a region such as water or a jump pad,
//!   [`OneWay`] a one-way platform.
//! * [`MoverWorld`] is the level as a step sees it: rapier colliders on fixed bodies or without a body.
//!   A new collider counts at once, without a step of rapier.
//! * [`MovementPlugin`] sets everything up; [`LocalMovesPlugin`] steps pawns without a network.
//!
//! [`KartModel`] is a second model on the same sweeps, with throttle and steering; see [`KartConfig`].
//! It needs [`KartPlugin`].

pub mod abilities;
mod ability;
mod authority;
mod base;
mod cheap;
mod config;
#[cfg(feature = "gizmos")]
mod debug;
mod distance;
mod escape;
mod event;
mod fall;
mod floor;
mod follow;
mod frame;
mod free;
mod gather;
mod glide;
mod input;
mod jump;
mod kart;
mod kcc;
mod local;
mod mode;
mod mover;
mod part;
mod placing;
mod planes;
mod plugin;
mod probe;
mod proxy;
mod push;
mod scene;
mod slice;
mod state;
mod step;
mod step_up;
mod sweep;
mod velocity;
mod volume;
mod walk;
mod world;

pub use ability::{AbilityEvent, AbilityPair, CapsuleWith, MoveAbility};
pub use authority::CapsulePush;
pub use base::{BaseId, MovementBase, PoseHistory, Shuttle, Track, Turntable};
pub use config::{
    AccelerationModel, CapsuleConfig, InvalidConfig, MoverBackend, PawnCollision, TooManyModes,
};
#[cfg(feature = "gizmos")]
pub use debug::{MoverGizmos, MoverGizmosPlugin};
pub use event::MoveEvent;
pub use gather::InputGather;
pub use input::{CapsuleInput, PITCH_LIMIT};
pub use kart::{KartConfig, KartEvent, KartInput, KartModel, KartPlugin, KartPush, KartState};
pub use local::LocalMovesPlugin;
pub use mode::{CustomMode, ModePhysics, MovementMode, Transitions};
pub use mover::{Mover, MoverHit};
pub use plugin::MovementPlugin;
pub use probe::{MoverProbe, ProbeFloor, ProbeHit};
pub use push::{HasCapsule, PawnCollisionPlugin, PushesBodies};
pub use scene::{MoverScene, MoverSceneSystems, PawnCapsule};
pub use state::CapsuleState;
pub use step::CapsuleModel;
pub use volume::{GravityField, MoveVolume, OneWay, VolumeId};
pub use world::MoverWorld;
