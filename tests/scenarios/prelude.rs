//! Size of the prelude, and its names beside those of Bevy and lightyear.

use std::collections::BTreeSet;

#[expect(unused_imports, reason = "a name that two of them export is an error in `each_name`")]
use bevy::prelude::*;
#[expect(unused_imports, reason = "a name that two of them export is an error in `each_name`")]
use lightyear::prelude::*;

use bevy_unlag::prelude::*;

/// Imports each name from the glob imports above, which fails to compile for an ambiguous one.
macro_rules! import_each {
    ($($name:ident),* $(,)?) => {
        mod each_name {
            #[expect(unused_imports, reason = "the import itself is the test")]
            use super::{$($name),*};

            pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        }
    };
}

import_each!(
    AddGameMessage,
    Aim,
    Arsenal,
    CapsuleConfig,
    CapsuleInput,
    CapsuleModel,
    CapsulePush,
    CapsuleState,
    CurrentTick,
    Damage,
    Died,
    DrawnPose,
    Health,
    HitBoxes,
    HitGroup,
    HostSoldierPawn,
    InputAccumulator,
    Loadout,
    LocalControl,
    MoveInput,
    MoveModel,
    MoveSystems,
    Mover,
    NetId,
    NetRole,
    NetSim,
    Outbox,
    PlayerAction,
    PlayerControls,
    PlayerControlsPlugin,
    PlayerJoined,
    PlayerLeft,
    PlayerScore,
    PredictionConfig,
    PredictionStats,
    ProxySmoothing,
    Received,
    RewindLimits,
    ScheduledPushes,
    ServerAccess,
    ServerUdp,
    ShotFired,
    ShotVerdict,
    SimulationRate,
    Soldier,
    SoldierBody,
    SoldierPawn,
    SoldierState,
    TokenClient,
    UnlagClientPlugins,
    UnlagServerPlugins,
    UpdateInterval,
    VisualOf,
    VisualOffset,
    Visuals,
    Weapon,
    WeaponControls,
    WeaponId,
    player_pawn
);

/// Returns the names that the prelude exports, from its source.
fn exported() -> BTreeSet<&'static str> {
    let source = include_str!("../../crates/bevy_unlag/src/lib.rs");
    let (_, prelude) = source.split_once("pub mod prelude").expect("a prelude");
    let lists = prelude.split("pub use ").skip(1).map(|text| {
        let (list, _) = text.split_once(';').expect("a semicolon");
        list.split_once("::").expect("a path").1
    });
    lists
        .flat_map(|list| list.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn prelude_has_at_most_60_names() {
    assert!(exported().len() <= 60, "{} names", exported().len());
}

#[test]
fn every_name_of_the_prelude_is_unambiguous_beside_those_of_bevy_and_lightyear() {
    let imported: BTreeSet<_> = each_name::NAMES.iter().copied().collect();
    assert_eq!(exported(), imported, "names of the prelude that are not imported here may be ambiguous");
}
