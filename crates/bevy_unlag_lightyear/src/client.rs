//! Client plugin: assigns network roles to replicated pawns and carries the mailboxes of the other crates.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_replicon::prelude::ClientReplicationStats;
use bevy_unlag_core::{MoveModel, NetId, NetRole, ServerLeft};
use lightyear::prelude::{client::Remote, *};
use lightyear_guard::ClientGuardPlugin;

use crate::{bandwidth, link, messages, net_sim::NetSimPlugin, session};

/// Client side of the transport: exchanges mailboxes with the server. Add it after lightyear's
/// `ClientPlugins`.
///
/// A client controls the one pawn that the server assigns to it in the update that spawns the pawn.
#[derive(Debug)]
pub struct UnlagClientNetPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for UnlagClientNetPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// Systems in [`PreUpdate`] that hand received messages to mailboxes, in this order.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ReceiveSystems {
    Roles,
    Moves,
    Snapshots,
    Shots,
}

impl<M: MoveModel> Plugin for UnlagClientNetPlugin<M> {
    fn build(&self, app: &mut App) {
        crate::plugin::add_shared_plugins(app);
        if !app.is_plugin_added::<NetSimPlugin>() {
            app.add_plugins(NetSimPlugin);
        }
        app.add_observer(|added: On<Add, Client>, mut commands: Commands| {
            commands.entity(added.entity).insert((ReplicationReceiver, link::disabled_pings()));
        })
        .add_observer(reset_on_disconnect)
        .configure_sets(
            PreUpdate,
            (ReceiveSystems::Roles, ReceiveSystems::Moves, ReceiveSystems::Snapshots, ReceiveSystems::Shots)
                .chain()
                .after(MessageSystems::Receive)
                .after(ReplicationSystems::Receive),
        )
        .add_systems(PreUpdate, assign_roles::<M>.in_set(ReceiveSystems::Roles))
        .init_resource::<ClientReplicationStats>()
        .add_systems(PreUpdate, bandwidth::count_replication.after(ReplicationSystems::Receive));
        #[cfg(feature = "prediction")]
        crate::moves::client_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::clock::client_plugin(app);
        app.add_plugins(ClientGuardPlugin);
        messages::client_plugin(app);
        session::client_plugin::<M>(app);
        #[cfg(feature = "smoothing")]
        crate::snapshots::client_plugin(app);
        #[cfg(feature = "weapons")]
        crate::shot_effects::client_plugin(app);
    }
}

/// Assigns the [`NetRole`] of each new pawn: autonomous proxy if the server marks it as controlled in the
/// same update that spawns it, otherwise simulated proxy.
fn assign_roles<M: MoveModel>(
    pawns: Query<(Entity, Has<Controlled>), (With<NetId>, With<Remote>, Without<NetRole>)>,
    mut commands: Commands,
) {
    for (entity, ours) in &pawns {
        let mut pawn = commands.entity(entity);
        if ours {
            #[cfg(not(feature = "prediction"))]
            pawn.insert(NetRole::AutonomousProxy);
            #[cfg(feature = "prediction")]
            pawn.insert(bevy_unlag_prediction::AutonomousPawn::<M>::default());
            #[cfg(feature = "smoothing")]
            pawn.remove::<bevy_unlag_smoothing::SnapshotInbox>();
        } else {
            pawn.insert(NetRole::SimulatedProxy);
            #[cfg(feature = "smoothing")]
            pawn.insert_if_new(bevy_unlag_smoothing::SnapshotInbox::default());
        }
    }
}

/// Resets everything that refers to the server's ticks: the next server counts its own.
fn reset_on_disconnect(ended: On<Remove, Connected>, links: Query<(), With<Client>>, mut commands: Commands) {
    if links.contains(ended.entity) {
        commands.trigger(ServerLeft);
    }
}
