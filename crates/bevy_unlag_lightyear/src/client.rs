//! Client plugin: assigns network roles to replicated pawns and carries the mailboxes of the other crates.

use bevy::prelude::*;
use bevy_replicon::prelude::ClientReplicationStats;
#[cfg(feature = "smoothing")]
use bevy_unlag_core::LocalControl;
use bevy_unlag_core::{NetId, NetRole, ServerLeft, SimulationRate};
use lightyear::prelude::{
    client::{ClientPlugins, Remote},
    *,
};
use lightyear_guard::ClientGuardPlugin;

use crate::{
    bandwidth, base_schedules, client_spawned_pawns, connection_reminder, diagnostics, link::LightyearPings,
    messages, model_index::ModelIndex, models::NetModels, net_sim::NetSimPlugin, plugin_order::PluginOrder,
    server::UnlagServerNetPlugin, session, system_sets::ReceiveSystems,
};

/// Client side of the transport: exchanges mailboxes with the server. It joins lightyear's `ClientPlugins` if
/// the app has them, and adds them otherwise; added after this plugin they panic. Each movement model also
/// needs a [`NetModelPlugin`](crate::NetModelPlugin).
///
/// A client controls at most one pawn: the one that appears with lightyear's `Controlled`, until
/// `Possess` on the server gives it another one or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlagClientNetPlugin {
    /// Tick and snapshot rate; the tick must be the server's.
    pub rate: SimulationRate,
}

impl Plugin for UnlagClientNetPlugin {
    fn build(&self, app: &mut App) {
        let guest = app.is_plugin_added::<lightyear_sync::client::ClientPlugin>();
        if !guest {
            let order = PluginOrder::of("Client", app);
            app.add_plugins((ClientPlugins { tick_duration: self.rate.tick }, order));
        }
        crate::plugin::add_shared_plugins(app, self.rate, guest);
        bevy_unlag_core::require_plugin(app, NetSimPlugin);
        app.add_observer(|added: On<Add, Client>, pings: Res<LightyearPings>, mut commands: Commands| {
            commands.entity(added.entity).insert((ReplicationReceiver, pings.manager()));
        })
        .add_observer(reset_on_disconnect)
        .configure_sets(
            PreUpdate,
            (
                ReceiveSystems::Roles,
                ReceiveSystems::States,
                ReceiveSystems::Moves,
                ReceiveSystems::Snapshots,
                ReceiveSystems::Shots,
            )
                .chain()
                .after(MessageSystems::Receive)
                .after(ReplicationSystems::Receive),
        )
        .add_systems(PreUpdate, assign_roles.in_set(ReceiveSystems::Roles))
        .init_resource::<ClientReplicationStats>()
        .add_systems(PreUpdate, bandwidth::count_replication.after(ReplicationSystems::Receive));
        #[cfg(feature = "prediction")]
        crate::moves::client_plugin(app);
        #[cfg(feature = "prediction")]
        crate::possession::client_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::clock::client_plugin(app);
        app.add_plugins(ClientGuardPlugin);
        messages::client_plugin(app);
        connection_reminder::client_observer(app);
        session::client_plugin(app);
        base_schedules::client_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::out_of_sight::client_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::snapshots::client_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::pawn_state::client_plugin(app);
        #[cfg(feature = "smoothing")]
        app.add_observer(smooth_former_pawn);
        #[cfg(feature = "weapons")]
        crate::shot_effects::client_plugin(app);
        #[cfg(feature = "weapons")]
        crate::screen_rules::client_plugin(app);
    }

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<UnlagServerNetPlugin>() {
            app.add_systems(Startup, diagnostics::check_pings)
                .add_systems(Update, client_spawned_pawns::report_client_spawned_pawns);
            connection_reminder::client_plugin(app);
        }
    }
}

/// Assigns the [`NetRole`] of each new pawn: autonomous proxy if the server marks it as controlled in the
/// same update that spawns it, otherwise simulated proxy.
fn assign_roles(
    models: Option<Res<NetModels>>,
    pawns: Query<(Entity, &NetId, Option<&ModelIndex>, Has<Controlled>), (With<Remote>, Without<NetRole>)>,
    mut commands: Commands,
) {
    for (entity, id, index, owned) in &pawns {
        let mut pawn = commands.entity(entity);
        let known = models.as_ref().is_some_and(|models| models.insert(index, owned, &mut pawn));
        if owned && known {
            continue;
        }
        if owned {
            warn_once!("{id:?} is this client's, but its movement model is missing: add its NetModelPlugin");
        }
        pawn.insert(NetRole::SimulatedProxy);
        #[cfg(feature = "smoothing")]
        pawn.insert_if_new(bevy_unlag_smoothing::SnapshotInbox::default());
    }
}

/// Smooths a pawn that this client no longer controls.
#[cfg(feature = "smoothing")]
fn smooth_former_pawn(
    lost: On<Remove, LocalControl>,
    pawns: Query<(), (With<Remote>, With<NetId>)>,
    mut commands: Commands,
) {
    if pawns.contains(lost.entity) {
        commands.entity(lost.entity).try_insert_if_new(bevy_unlag_smoothing::SnapshotInbox::default());
    }
}

/// Resets everything that refers to the server's ticks: the next server counts its own.
fn reset_on_disconnect(ended: On<Remove, Connected>, links: Query<(), With<Client>>, mut commands: Commands) {
    if links.contains(ended.entity) {
        commands.trigger(ServerLeft);
    }
}
