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
    CharacterPawn,
    Characters,
    CurrentTick,
    Damage,
    Died,
    DrawnPose,
    Health,
    HitBoxes,
    HitGroup,
    InputAccumulator,
    Loadout,
    LocalControl,
    MoveInput,
    MoveModel,
    MoveSystems,
    NetId,
    NetRole,
    NetSim,
    NpcControls,
    NpcPawn,
    Outbox,
    PlayerControls,
    PlayerControlsPlugin,
    PlayerJoined,
    PlayerLeft,
    PlayerScore,
    Possess,
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
    SoldierPawn,
    SoldierState,
    SoldierWith,
    TokenClient,
    UnlagClientPlugins,
    UnlagServerPlugins,
    UpdateInterval,
    VisualOf,
    VisualOffset,
    Weapon,
    WeaponControls,
    WeaponId,
    player_pawn
);

/// Returns the names that the prelude exports, from its source.
fn exported() -> BTreeSet<&'static str> {
    let source = include_str!("../../crates/bevy_unlag/src/prelude.rs");
    let lists = source.split("pub use ").skip(1).map(|text| {
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
