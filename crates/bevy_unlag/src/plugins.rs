//! Plugin groups and pawn bundles of the complete suite.

use core::time::Duration;

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{ExtendedState, LocalControl, NetId, NetRole, Sampler};
use bevy_unlag_lightyear::{
    ClientNetPlugins, HeldWeaponPlugin, ServerNetPlugins, networked_pawn, replicated_pawn,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, InputGather, MovementPlugin, PawnCollisionPlugin};
use bevy_unlag_prediction::{PredictionPlugin, host_pawn};
use bevy_unlag_rewind::{LimbNodesPlugin, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::{ProxySimulationPlugin, SmoothingPlugin};
use bevy_unlag_weapons::{Armed, ArmsState, HighPingPlugin, Loadout, Trigger, WeaponsPlugin};

/// Movement model of this crate's character: a capsule with weapons.
pub type Soldier = Armed<CapsuleModel>;

/// Predicted state of a [`Soldier`].
pub type SoldierState = ExtendedState<CapsuleState, ArmsState>;

/// All plugins that a client needs besides Bevy's own: lightyear's client, movement, prediction, smoothing
/// with simulated proxies, weapons and the messages between them.
#[derive(Clone, Copy, Debug)]
pub struct UnlagClientPlugins {
    /// Duration of a simulation tick; must match the server's. Default: 1/64 s.
    pub tick: Duration,
    /// Ticks between two snapshots of a pawn without an
    /// [`UpdateInterval`](bevy_unlag_lightyear::UpdateInterval); must match the server's. Default: 3.
    pub snapshot_ticks: u32,
}

/// All plugins that a server needs besides Bevy's own: lightyear's server, movement, authority over moves,
/// rewind, weapons and the messages between them.
#[derive(Clone, Copy, Debug)]
pub struct UnlagServerPlugins {
    /// Duration of a simulation tick. Default: 1/64 s. Lowering it increases CPU time and bandwidth in
    /// proportion.
    #[doc(alias = "tickrate")]
    pub tick: Duration,
    /// Ticks between two snapshots of a pawn without an
    /// [`UpdateInterval`](bevy_unlag_lightyear::UpdateInterval). Default: 3. Raising it saves downlink
    /// bandwidth and delays remote pawns accordingly.
    #[doc(alias = "cl_updaterate")]
    pub snapshot_ticks: u32,
}

const TICK: Duration = Duration::from_nanos(15_625_000);

impl Default for UnlagClientPlugins {
    fn default() -> Self {
        Self { tick: TICK, snapshot_ticks: 3 }
    }
}

impl Default for UnlagServerPlugins {
    fn default() -> Self {
        Self { tick: TICK, snapshot_ticks: 3 }
    }
}

impl PluginGroup for UnlagClientPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(ClientNetPlugins::<Soldier>::new(self.tick))
            .add(SamplingPlugin { tick: self.tick, snapshot_ticks: self.snapshot_ticks })
            .add(MovementPlugin { tick_seconds: self.tick.as_secs_f32() })
            .add(PawnCollisionPlugin::<Soldier>::default())
            .add(PredictionPlugin::<Soldier>::default())
            .add(SmoothingPlugin)
            .add(ProxySimulationPlugin::<Soldier>::default())
            .add(LimbNodesPlugin)
            .add(BodyPlugin)
            .add(WeaponsPlugin::<CapsuleModel>::default())
            .add(HeldWeaponPlugin)
            .add(HighPingPlugin)
    }
}

impl PluginGroup for UnlagServerPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(ServerNetPlugins::<Soldier>::new(self.tick, self.tick * self.snapshot_ticks))
            .add(SamplingPlugin { tick: self.tick, snapshot_ticks: self.snapshot_ticks })
            .add(MovementPlugin { tick_seconds: self.tick.as_secs_f32() })
            .add(PawnCollisionPlugin::<Soldier>::default())
            .add(PredictionPlugin::<Soldier>::default())
            .add(RewindPlugin::<Soldier>::default())
            .add(WeaponsPlugin::<CapsuleModel>::default())
            .add(HeldWeaponPlugin)
    }
}

/// Writes the suite's rates to the [`Sampler`].
struct SamplingPlugin {
    tick: Duration,
    snapshot_ticks: u32,
}

impl Plugin for SamplingPlugin {
    fn build(&self, app: &mut App) {
        let mut sampler = app.world_mut().get_resource_or_init::<Sampler>();
        sampler.tick_seconds = self.tick.as_secs_f32();
        sampler.snapshot_ticks = self.snapshot_ticks.clamp(1, 64).cast_signed();
    }
}

/// Inserts hit boxes and rig into every pawn that appears on a client.
struct BodyPlugin;

impl Plugin for BodyPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.entity(added.entity).insert_if_new((soldier_body(), Transform::default()));
        });
    }
}

/// Returns the components of a soldier on the server, standing at `position`, with the first weapon of the
/// [`Arsenal`](bevy_unlag_weapons::Arsenal); insert another [`Loadout`] for different weapons. Add
/// lightyear's `ControlledBy` with the owner's link.
#[must_use]
pub fn spawn_soldier(id: NetId, position: Vec3) -> impl Bundle {
    (
        networked_pawn::<Soldier>(id, soldier_at(position)),
        Loadout::default(),
        soldier_body(),
        Transform::from_translation(position),
    )
}

/// Returns the components of the soldier that the host of a listen server controls.
#[must_use]
pub fn spawn_host_soldier(id: NetId, position: Vec3) -> impl Bundle {
    (
        replicated_pawn(id),
        host_pawn::<Soldier>(soldier_at(position)),
        Loadout::default(),
        soldier_body(),
        Transform::from_translation(position),
    )
}

fn soldier_at(position: Vec3) -> SoldierState {
    SoldierState { body: CapsuleState::at(position), extension: ArmsState::default() }
}

/// Returns the hit boxes and the limb rig of a soldier, the same on every machine. The client plugins insert
/// them into pawns that appear without.
#[must_use]
pub fn soldier_body() -> impl Bundle {
    (humanoid_hit_boxes(), humanoid_rig())
}

pub(crate) fn equip(
    added: On<Add, LocalControl>,
    pawns: Query<(), Without<InputGather>>,
    mut commands: Commands,
) {
    if pawns.contains(added.entity) {
        commands.entity(added.entity).insert((InputGather::default(), Trigger::default()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_rates_are_written_to_the_sampler() {
        let mut app = App::new();
        app.add_plugins(SamplingPlugin { tick: Duration::from_millis(32), snapshot_ticks: 2 });
        let sampler = app.world().resource::<Sampler>();
        assert!((sampler.tick_seconds - 0.032).abs() < 1e-6);
        assert_eq!(sampler.snapshot_ticks, 2);
    }
}
