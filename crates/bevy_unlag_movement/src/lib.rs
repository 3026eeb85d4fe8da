//! A capsule character mover on rapier colliders as a pure, replayable step.
//!
//! [`CapsuleModel`] walks, falls, jumps, slides along walls, climbs steps and crouches. It is a
//! [`MoveModel`](bevy_unlag_core::MoveModel): one call is one move, the physics engine does not
//! step in it, so a client can call it many times a frame to replay what a server corrected.
//!
//! * [`CapsuleConfig`] is the tuning, [`CapsuleInput`] what a player wants in one tick,
//!   [`CapsuleState`] all that is predicted.
//! * [`InputGather`] turns what happens in frames into one input per tick.
//! * [`MoverWorld`] is what a step sees of the level: fixed and bodiless rapier colliders.
//! * [`MovementPlugin`] sets up rapier in the fixed schedule.
//!
//! A collider can be seen only after rapier's first step with it: run one fixed tick between
//! spawning a level and moving in it.

mod config;
mod distance;
mod event;
mod fall;
mod floor;
mod gather;
mod input;
mod part;
mod planes;
mod plugin;
mod state;
mod step;
mod step_up;
mod sweep;
mod walk;
mod world;

#[cfg(test)]
mod tests;

pub use config::CapsuleConfig;
pub use event::MoveEvent;
pub use gather::InputGather;
pub use input::{CapsuleInput, PITCH_LIMIT};
pub use plugin::MovementPlugin;
pub use state::{CapsuleState, MovementMode};
pub use step::CapsuleModel;
pub use world::MoverWorld;
