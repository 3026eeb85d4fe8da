//! The suite, put together.

use core::time::Duration;

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{ExtendedState, LocalControl, NetId};
use bevy_unlag_lightyear::{ClientNetPlugins, ServerNetPlugins, networked_pawn, replicated_pawn};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, InputGather, MovementPlugin};
use bevy_unlag_prediction::{PredictionPlugin, host_pawn};
use bevy_unlag_rewind::{RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::SmoothingPlugin;
use bevy_unlag_weapons::{Armed, RifleState, Trigger, WeaponsPlugin};

/// The character of this crate: a capsule that carries a rifle.
pub type Soldier = Armed<CapsuleModel>;

/// What is predicted of a [`Soldier`].
pub type SoldierState = ExtendedState<CapsuleState, RifleState>;

/// Everything that a client needs beside Bevy's own plugins: lightyear's client, the mover,
/// prediction, smoothing, the rifle and the mailboxes between them.
#[derive(Clone, Copy, Debug)]
pub struct UnlagClientPlugins {
    /// The time of one simulation tick, the server's. Default 1/64 s.
    pub tick: Duration,
}

/// Everything that a server needs beside Bevy's own plugins: lightyear's server, the mover, the
/// authority over moves, rewind, the rifle and the mailboxes between them.
#[derive(Clone, Copy, Debug)]
pub struct UnlagServerPlugins {
    /// The time of one simulation tick. Default 1/64 s. Lowering it costs CPU and bytes in
    /// proportion.
    pub tick: Duration,
    /// Ticks between two snapshots of a pawn. Default 3. Raising it saves downstream bytes and
    /// shows everyone that much later.
    pub snapshot_ticks: u32,
}

const TICK: Duration = Duration::from_nanos(15_625_000);

impl Default for UnlagClientPlugins {
    fn default() -> Self {
        Self { tick: TICK }
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
            .add(MovementPlugin { tick_seconds: self.tick.as_secs_f32() })
            .add(PredictionPlugin::<Soldier>::default())
            .add(SmoothingPlugin)
            .add(WeaponsPlugin::<CapsuleModel>::default())
    }
}

impl PluginGroup for UnlagServerPlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(ServerNetPlugins::<Soldier>::new(self.tick, self.tick * self.snapshot_ticks))
            .add(MovementPlugin { tick_seconds: self.tick.as_secs_f32() })
            .add(PredictionPlugin::<Soldier>::default())
            .add(RewindPlugin::<Soldier>::default())
            .add(WeaponsPlugin::<CapsuleModel>::default())
    }
}

/// The components of a soldier on the server, standing at `position`. Add lightyear's
/// `ControlledBy` with the owner's link.
#[must_use]
pub fn spawn_soldier(id: NetId, position: Vec3) -> impl Bundle {
    (
        networked_pawn::<Soldier>(id, soldier_at(position)),
        soldier_body(),
        Transform::from_translation(position),
    )
}

/// The components of the soldier that the host of a listen server steers itself.
#[must_use]
pub fn spawn_host_soldier(id: NetId, position: Vec3) -> impl Bundle {
    (
        replicated_pawn(id),
        host_pawn::<Soldier>(soldier_at(position)),
        soldier_body(),
        Transform::from_translation(position),
    )
}

fn soldier_at(position: Vec3) -> SoldierState {
    SoldierState { body: CapsuleState::at(position), extension: RifleState::default() }
}

/// What can be seen and hit of a soldier, the same on every machine. Clients add it to pawns that
/// appear; a pawn that this app's player steers also gets its controls.
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
