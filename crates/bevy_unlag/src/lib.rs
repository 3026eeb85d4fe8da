//! Networked shooters on Bevy: players who move the instant they press a key, remote players who
//! glide, and shots that hit what was on the screen.
//!
//! This crate puts the suite together for the usual case: a capsule character with a rifle over
//! lightyear. [`UnlagClientPlugins`] and [`UnlagServerPlugins`] are all that an app needs;
//! [`prelude`] holds the names; [`PlayerControls`] turns leafwing's actions into input.
//!
//! For another character, another weapon or another transport take the crates below by
//! themselves: [`core`], [`movement`], [`prediction`], [`smoothing`], [`rewind`], [`weapons`],
//! [`net`].

mod controls;
mod plugins;

pub use bevy_unlag_core as core;
pub use bevy_unlag_lightyear as net;
pub use bevy_unlag_movement as movement;
pub use bevy_unlag_prediction as prediction;
pub use bevy_unlag_rewind as rewind;
pub use bevy_unlag_smoothing as smoothing;
pub use bevy_unlag_weapons as weapons;

pub use controls::{ControlSystems, PlayerAction, PlayerControls, PlayerControlsPlugin};
pub use plugins::{
    Soldier, SoldierState, UnlagClientPlugins, UnlagServerPlugins, soldier_body, spawn_host_soldier,
    spawn_soldier,
};

/// The names that most apps need.
pub mod prelude {
    pub use crate::{
        PlayerAction, PlayerControls, PlayerControlsPlugin, Soldier, SoldierState, UnlagClientPlugins,
        UnlagServerPlugins, soldier_body, spawn_host_soldier, spawn_soldier,
    };
    pub use bevy_unlag_core::{
        CurrentTick, DrawnEye, DrawnPose, DrawnViewTime, Interpolation, LimbRig, LocalControl, MoveInput,
        MoveModel, MoveSystems, NetId, NetRole, Sampler, Snapshot, Tick, ViewStamp, ViewTime, VisualOf,
        VisualOffset, Visuals,
    };
    pub use bevy_unlag_lightyear::{
        Bandwidth, GameSpeed, LinkConditions, LinkPreset, MessageClass, Mismatch, NetSim, PRESETS,
        ProtocolMismatch, SetupMismatch,
    };
    pub use bevy_unlag_movement::{
        BaseId, CapsuleConfig, CapsuleInput, CapsuleModel, CapsulePush, CapsuleState, CapsuleWith,
        InputGather, MoveAbility, MoveEvent, MoveVolume, MovementBase, MovementMode, Mover, OneWay,
        PawnCollision, Track, VolumeId,
    };
    pub use bevy_unlag_prediction::{
        Correction, CorrectionCause, MoveOutcome, MoveTrace, PredictionConfig, PredictionDebug,
        PredictionDiagnosticsPlugin, PredictionStats, ScheduledPushes, SendRate, ServerCorrection,
        TimeDiscrepancy, TimeDiscrepancyConfig, TimeDiscrepancyDetected,
    };
    #[cfg(feature = "gizmos")]
    pub use bevy_unlag_prediction::{CorrectionView, CorrectionViewPlugin};
    pub use bevy_unlag_rewind::{FrameHistory, HitBoxes, HitGroup, RewindLimits, RewindMode, RewindQuery};
    pub use bevy_unlag_weapons::{
        Aim, Damage, DamageTable, RifleConfig, ShotFired, ShotRefusal, ShotResult, ShotVerdict, Tracer,
        Trigger,
    };
}
