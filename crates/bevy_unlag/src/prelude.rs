//! Types that most apps need: at most 60, none of which is also in the preludes of Bevy or lightyear.

pub use crate::{
    CharacterPawn, Characters, NpcControls, NpcPawn, PlayerControls, PlayerControlsPlugin, Soldier,
    SoldierPawn, SoldierState, SoldierWith, UnlagClientPlugins, UnlagServerPlugins,
};
pub use bevy_unlag_core::{
    CurrentTick, DrawnPose, LocalControl, MoveInput, MoveModel, MoveSystems, NetId, NetRole, ProxySmoothing,
    SimulationRate, VisualOf, VisualOffset,
};
pub use bevy_unlag_lightyear::{
    AddGameMessage, NetSim, Outbox, PlayerJoined, PlayerLeft, Possess, Received, UpdateInterval, player_pawn,
};
pub use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsulePush, CapsuleState, InputAccumulator,
};
pub use bevy_unlag_prediction::{PredictionConfig, PredictionStats, ScheduledPushes};
pub use bevy_unlag_rewind::{HitBoxes, HitGroup, RewindLimits};
pub use bevy_unlag_weapons::{
    Aim, Arsenal, Damage, Died, Health, Loadout, PlayerScore, ShotFired, ShotVerdict, Weapon, WeaponControls,
    WeaponId,
};
pub use lightyear_guard::{ServerAccess, ServerUdp, TokenClient};
