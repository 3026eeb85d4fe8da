//! Networked shooters on Bevy: predicted movement without input delay, smooth remote players, and
//! lag-compensated shots.
//!
//! This crate assembles the suite over lightyear. [`UnlagClientPlugins`] and [`UnlagServerPlugins`] are all that
//! an app needs: by default for a [`Soldier`], a capsule character with weapons, otherwise for any list of
//! [`Characters`]. [`prelude`] exports the common types; [`PlayerControls`] converts leafwing's actions to
//! input.
//!
//! Three optional settings control replication: [`ProxySmoothing`](core::ProxySmoothing) is how a remote
//! pawn is drawn, [`UpdateInterval`](net::UpdateInterval) how often it is sent, and
//! [`DownlinkBudget`](net::DownlinkBudget) limits what a client is sent.
//!
//! A game needs no other crate than Bevy and this one: [`lightyear`] and [`rapier`] are the versions that the suite
//! uses, for the connection and for colliders.
//!
//! For another transport use the underlying crates directly: [`core`], [`movement`], [`prediction`],
//! [`smoothing`], [`rewind`], [`weapons`], [`net`].

mod character;
mod controls;
mod npc;
mod plugins;
pub mod prelude;
mod reflection;

pub use bevy_unlag_core as core;
pub use bevy_unlag_lightyear as net;
pub use bevy_unlag_movement as movement;
pub use bevy_unlag_prediction as prediction;
#[cfg(feature = "record")]
pub use bevy_unlag_record as record;
pub use bevy_unlag_rewind as rewind;
pub use bevy_unlag_smoothing as smoothing;
pub use bevy_unlag_weapons as weapons;
pub use lightyear_guard as guard;
pub use link_conditioner;

/// Physics of the level: the version of `bevy_rapier3d` that the suite uses.
pub use bevy_rapier3d as rapier;
/// The transport: the version of lightyear that the suite uses.
pub use lightyear;

pub use character::{Character, CharacterPawn, Characters, ClassBodies, HostCharacterPawn, NpcPawn, Side};
pub use controls::{ControlSystems, PadButton, PadStick, PlayerAction, PlayerControls, PlayerControlsPlugin};
pub use npc::NpcControls;
pub use plugins::{
    HostSoldierPawn, Soldier, SoldierBody, SoldierPawn, SoldierState, SoldierWith, UnlagClientPlugins,
    UnlagServerPlugins,
};
