//! Networked shooters on Bevy: predicted movement without input delay, smooth remote players, and
//! lag-compensated shots.
//!
//! This crate assembles the suite for the usual case: a capsule character with weapons over lightyear.
//! [`UnlagClientPlugins`] and [`UnlagServerPlugins`] are all that an app needs; [`prelude`] exports the
//! common types; [`PlayerControls`] converts leafwing's actions to input.
//!
//! Three optional settings control replication: [`ProxySmoothing`](core::ProxySmoothing) is how a remote
//! pawn is drawn, [`UpdateInterval`](net::UpdateInterval) how often it is sent, and
//! [`DownlinkBudget`](net::DownlinkBudget) limits what a client is sent.
//!
//! For another character, another weapon or another transport use the underlying crates directly: [`core`],
//! [`movement`], [`prediction`], [`smoothing`], [`rewind`], [`weapons`], [`net`].

mod controls;
mod plugins;
mod reflection;

pub use bevy_unlag_core as core;
pub use bevy_unlag_lightyear as net;
pub use bevy_unlag_movement as movement;
pub use bevy_unlag_prediction as prediction;
pub use bevy_unlag_rewind as rewind;
pub use bevy_unlag_smoothing as smoothing;
pub use bevy_unlag_weapons as weapons;
pub use lightyear_guard as guard;
pub use link_conditioner;

pub use controls::{ControlSystems, PlayerAction, PlayerControls, PlayerControlsPlugin};
pub use plugins::{
    Soldier, SoldierState, UnlagClientPlugins, UnlagServerPlugins, host_soldier_bundle, soldier_bundle,
    soldier_hit_boxes_and_rig,
};

/// Types that most apps need.
pub mod prelude {
    pub use crate::{
        PlayerAction, PlayerControls, PlayerControlsPlugin, Soldier, SoldierState, UnlagClientPlugins,
        UnlagServerPlugins, host_soldier_bundle, soldier_bundle, soldier_hit_boxes_and_rig,
    };
    pub use bevy_unlag_core::{
        CurrentTick, DrawnEye, DrawnPose, DrawnViewTime, Interpolate, Interpolation, InterpolationSpan,
        LimbRig, LocalControl, MoveInput, MoveModel, MoveSystems, NetId, NetRole, PathKnotConfig,
        PoseSampler, ProxySmoothing, SetupDiagnostics, SetupIssue, SimulationRate, Snapshot, Tick, ViewStamp,
        ViewTime, VisualOf, VisualOffset, Visuals,
    };
    pub use bevy_unlag_lightyear::{
        AddGameMessage, AwaitingReconnect, Bandwidth, Delivery, DownlinkBudget, DroppedSnapshots,
        GameMessageStats, GameSpeed, LinkBudget, MatchRestarted, MessageClass, MessageDirection,
        MessageLimits, MessageRules, MessageSource, MessageVerdict, NetSim, Outbox, PlayerJoined, PlayerLeft,
        PlayerReturned, PredictedSystems, ProtocolMismatch, Received, ReplicatePredicted, ReplicateSmoothed,
        RestartMatch, ServerShutdown, ServerStopped, SessionConfig, SessionExpired, SessionOf, SetupMismatch,
        SetupRule, Shutdown, UpdateInterval, ValueRequest, player_pawn,
    };
    pub use bevy_unlag_movement::{
        BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleModel, CapsulePush, CapsuleState, CapsuleWith,
        InputAccumulator, MoveAbility, MoveEvent, MoveVolume, MovementBase, MovementMode, Mover,
        OneWayCollider, PawnCollision, VolumeId,
    };
    pub use bevy_unlag_prediction::{
        Correction, CorrectionCause, MoveOutcome, MovePredictionDiagnosticsPlugin, MoveTrace, PredictedCount,
        PredictedValue, PredictionConfig, PredictionDebug, PredictionStats, ScheduledPushes, SendRate,
        ServerCorrection, TimeDiscrepancy, TimeDiscrepancyConfig, TimeDiscrepancyDetected,
    };
    #[cfg(feature = "gizmos")]
    pub use bevy_unlag_prediction::{CorrectionView, CorrectionViewPlugin};
    #[cfg(feature = "gizmos")]
    pub use bevy_unlag_rewind::RewindView;
    pub use bevy_unlag_rewind::{
        BodyBounds, CoverProtection, DrawnQuery, FrameHistory, HighPing, HitBox, HitBoxAsset, HitBoxBones,
        HitBoxFile, HitBoxes, HitGroup, HitLayers, LimbNodes, LimbRecordInterval, Miss, Occluder,
        RewindFilter, RewindLimits, RewindMode, RewindQuery, RewindTime, RewindTimeSource, TargetHit, Team,
        View,
    };
    pub use bevy_unlag_smoothing::RecordTransform;
    pub use bevy_unlag_smoothing::{
        BlendConfig, PlayoutClocks, PlayoutConfig, ProxySimulationPlugin, ProxyTime, ServerClock,
        SmoothedComponentPlugin, SmoothingStats,
    };
    #[cfg(feature = "gizmos")]
    pub use bevy_unlag_weapons::ShotViewPlugin;
    pub use bevy_unlag_weapons::{
        Aim, Arsenal, ArsenalAsset, Damage, Died, DrawnProjectile, FireMode, FireRules, Health, HealthPlugin,
        HeldWeapon, HideHighPing, HighPingWarning, HitClaims, HitList, Loadout, PlayerScore,
        ProjectileAppeared, ProjectileDisappeared, RefusedShots, Respawn, RespawnDue, RespawnRules, Shot,
        ShotFired, ShotRefusal, ShotResult, ShotVerdict, ShowHighPing, SpawnProtection, Tracer, TracerPath,
        Weapon, WeaponControls, WeaponEvent, WeaponId, WeaponState,
    };
    pub use lightyear_guard::{
        ConnectTokenRequest, IngressLimits, IngressStats, JoinRefusal, JoinRefused, Kick, KickReason, Kicked,
        KickedByServer, LinkTraffic, ServerAccess, ServerKey, ServerUdp, SetupDifference, TokenClient,
    };
    pub use link_conditioner::{LinkConditions, LinkPreset, LinkPresets, PRESETS, RonFile};
}
