//! A capsule character mover on rapier colliders as a pure, replayable step.
//!
//! [`CapsuleModel`] walks, falls, jumps, crouches, swims and flies, climbs steps, rides lifts and
//! slides along walls. It is a [`MoveModel`](bevy_unlag_core::MoveModel): one call is one move, the
//! physics engine does not step in it, so a client can call it many times a frame to replay what a
//! server corrected. Equal arguments give equal bits, in any spawn order and on every machine of one
//! kind of processor that runs the same build.
//!
//! * [`CapsuleConfig`] is the tuning, [`CapsuleInput`] what a player wants in one tick,
//!   [`CapsuleState`] all that is predicted, [`MoveEvent`] what happened.
//! * [`InputGather`] turns what happens in frames into one input per tick.
//! * [`CapsuleWith`] adds a game's own moves: see [`MoveAbility`] and, as examples,
//!   [`abilities::Teleport`] and [`abilities::Dash`].
//! * [`MovementBase`] makes a thing to ride on, [`MoveVolume`] a region to swim in or to be thrown
//!   by, [`OneWay`] a platform to jump up through.
//! * [`MoverWorld`] is what a step sees of the level: fixed and bodiless rapier colliders, as soon
//!   as they are spawned, without a step of rapier.
//! * [`MovementPlugin`] sets it all up; [`LocalMovesPlugin`] makes moves without a network.
//!
//! [`KartModel`] is a second model on the same sweeps: throttle and steering, see [`KartConfig`].
//! Add [`KartPlugin`] for it.

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
