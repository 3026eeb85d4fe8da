//! Plugin groups and pawn bundles of the complete suite.

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{ExtendedState, LocalControl, NetId, NetRole, SimulationRate};
use bevy_unlag_lightyear::{
    ClientNetPlugins, HeldWeaponPlugin, ServerNetPlugins, networked_pawn, replicated_pawn,
};
use bevy_unlag_movement::{
    CapsuleModel, CapsuleState, InputAccumulator, MovementPlugin, PawnCollisionPlugin,
};
use bevy_unlag_prediction::{PredictionPlugin, host_pawn};
use bevy_unlag_rewind::{LimbNodesPlugin, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
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
            .add(BodyPlugin)
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
            .add(reflection::register_types)
    }
}

/// Inserts hit boxes and rig into every pawn that appears on a client.
struct BodyPlugin;

impl Plugin for BodyPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.entity(added.entity).insert_if_new((soldier_hit_boxes_and_rig(), Transform::default()));
        });
    }
}

/// Returns the components of a soldier on the server, standing at `position`, with the first weapon of the
/// [`Arsenal`](bevy_unlag_weapons::Arsenal); insert another [`Loadout`] for different weapons. Add
/// lightyear's `ControlledBy` with the owner's link.
#[must_use]
pub fn soldier_bundle(id: NetId, position: Vec3) -> impl Bundle {
    (
        networked_pawn::<Soldier>(id, soldier_at(position)),
        Loadout::default(),
        soldier_hit_boxes_and_rig(),
        Transform::from_translation(position),
    )
}

/// Returns the components of the soldier that the host of a listen server controls.
#[must_use]
pub fn host_soldier_bundle(id: NetId, position: Vec3) -> impl Bundle {
    (
        replicated_pawn(id),
        host_pawn::<Soldier>(soldier_at(position)),
        Loadout::default(),
        soldier_hit_boxes_and_rig(),
        Transform::from_translation(position),
    )
}

fn soldier_at(position: Vec3) -> SoldierState {
    SoldierState { body: CapsuleState::at(position), extension: WeaponState::default() }
}

/// Returns the hit boxes and the limb rig of a soldier, the same on every machine. The client plugins insert
/// them into pawns that appear without.
#[must_use]
pub fn soldier_hit_boxes_and_rig() -> impl Bundle {
    (humanoid_hit_boxes(), humanoid_rig())
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
