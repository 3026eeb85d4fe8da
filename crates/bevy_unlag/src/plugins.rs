//! Plugin groups and pawn bundles of the complete suite.

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{ExtendedState, LimbRig, LocalControl, NetRole, SimulationRate};
use bevy_unlag_lightyear::{
    ClientNetPlugins, HeldWeaponPlugin, NetworkedPawn, ReplicatedPawn, ServerNetPlugins,
};
use bevy_unlag_movement::{
    CapsuleModel, CapsuleState, InputAccumulator, MovementPlugin, PawnCollisionPlugin,
};
use bevy_unlag_prediction::{HostPawn, PredictionPlugin};
use bevy_unlag_rewind::{HitBoxes, LimbNodesPlugin, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::{ProxySimulationPlugin, SmoothingPlugin};
use bevy_unlag_weapons::{HighPingPlugin, Loadout, WeaponControls, WeaponState, WeaponsPlugin, WithWeapons};

use crate::reflection;

/// Movement model of this crate's character: a capsule with weapons.
pub type Soldier = WithWeapons<CapsuleModel>;

/// Predicted state of a [`Soldier`].
pub type SoldierState = ExtendedState<CapsuleState, WeaponState>;

/// All plugins that a client needs besides Bevy's own: lightyear's client, movement, prediction, smoothing
/// with simulated proxies, weapons and the messages between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlagClientPlugins {
    /// Tick and snapshot rate; must match the server's.
    pub rate: SimulationRate,
}

/// All plugins that a server needs besides Bevy's own: lightyear's server, movement, authority over moves,
/// rewind, weapons and the messages between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlagServerPlugins {
    /// Tick and snapshot rate; must match the clients'.
    pub rate: SimulationRate,
}

impl PluginGroup for UnlagClientPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(ClientNetPlugins::<Soldier>::new(self.rate))
            .add(MovementPlugin)
            .add(PawnCollisionPlugin::<Soldier>::default())
            .add(PredictionPlugin::<Soldier>::default())
            .add(SmoothingPlugin)
            .add(ProxySimulationPlugin::<Soldier>::default())
            .add(LimbNodesPlugin)
            .add(add_bodies)
            .add(WeaponsPlugin::<CapsuleModel>::default())
            .add(HeldWeaponPlugin)
            .add(HighPingPlugin)
            .add(reflection::register_types)
    }
}

impl PluginGroup for UnlagServerPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(ServerNetPlugins::<Soldier>::new(self.rate))
            .add(MovementPlugin)
            .add(PawnCollisionPlugin::<Soldier>::default())
            .add(PredictionPlugin::<Soldier>::default())
            .add(RewindPlugin::<Soldier>::default())
            .add(WeaponsPlugin::<CapsuleModel>::default())
            .add(HeldWeaponPlugin)
            .add(add_states)
            .add(reflection::register_types)
    }
}

/// Inserts hit boxes and rig into every pawn that appears on a client.
fn add_bodies(app: &mut App) {
    app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
        commands.entity(added.entity).insert_if_new(SoldierBody);
    });
}

/// A player's soldier on the server. Place it with a [`Transform`], or spawn it with a [`SoldierState`]; add a
/// [`NetId`](bevy_unlag_core::NetId) and [`player_pawn`](bevy_unlag_lightyear::player_pawn). It has the first
/// weapon of the [`Arsenal`](bevy_unlag_weapons::Arsenal), or those of its [`Loadout`].
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(NetworkedPawn<Soldier>, SoldierBody, Loadout)]
pub struct SoldierPawn;

/// The soldier that the host of a listen server controls. It is placed and armed like a [`SoldierPawn`].
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(ReplicatedPawn, HostPawn<Soldier>, SoldierBody, Loadout)]
pub struct HostSoldierPawn;

/// Hit boxes and limb rig of a soldier, the same on every machine. The client plugins insert it into pawns
/// that appear.
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(HitBoxes = humanoid_hit_boxes(), LimbRig = humanoid_rig(), Transform)]
pub struct SoldierBody;

/// Derives the state of a soldier that was spawned without one from its [`Transform`].
fn add_states(app: &mut App) {
    app.add_observer(
        |added: On<Add, (SoldierPawn, HostSoldierPawn)>,
         soldiers: Query<&Transform, Without<SoldierState>>,
         mut commands: Commands| {
            if let Ok(place) = soldiers.get(added.entity) {
                let state = SoldierState::new(CapsuleState::at(place.translation));
                commands.entity(added.entity).insert(state);
            }
        },
    );
}

pub(crate) fn equip(
    added: On<Add, LocalControl>,
    pawns: Query<(), Without<InputAccumulator>>,
    mut commands: Commands,
) {
    if pawns.contains(added.entity) {
        commands.entity(added.entity).insert((InputAccumulator::default(), WeaponControls::default()));
    }
}
