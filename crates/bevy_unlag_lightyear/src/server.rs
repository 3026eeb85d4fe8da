//! Server plugin: moves data between messages and mailboxes, enforces ownership, sends snapshots.

use bevy::prelude::*;
use bevy_unlag_core::{SimulationRate, VisualSystems};
use lightyear::prelude::{server::ServerPlugins, *};
use lightyear_guard::ServerGuardPlugin;

use crate::{
    base_schedules, budget, connection_reminder,
    link::{self, LightyearPings},
    messages, net_ids, packet_order,
    parking::ParkingPlugin,
    plugin_order::PluginOrder,
    replication_queue, session, spectators,
    system_sets::SendSystems,
    visibility,
};

/// Server side of the transport: exchanges mailboxes with the clients. It joins lightyear's `ServerPlugins`
/// if the app has them, and adds them otherwise; added after this plugin they panic. Each movement model also
/// needs a [`NetModelPlugin`](crate::NetModelPlugin).
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlagServerNetPlugin {
    /// Tick and snapshot rate; the tick must be the clients'.
    pub rate: SimulationRate,
}

impl Plugin for UnlagServerNetPlugin {
    fn build(&self, app: &mut App) {
        let guest = app.is_plugin_added::<lightyear_sync::server::ServerPlugin>();
        if !guest {
            let order = PluginOrder::of("Server", app);
            app.add_plugins((ServerPlugins { tick_duration: self.rate.tick }, order));
        }
        crate::plugin::add_shared_plugins(app, self.rate, guest);
        let rate = *app.world().resource::<SimulationRate>();
        app.insert_resource(ReplicationMetadata::new(rate.snapshot_interval()))
            .add_observer(|added: On<Add, LinkOf>, pings: Res<LightyearPings>, mut commands: Commands| {
                commands.entity(added.entity).insert((ReplicationSender, pings.manager()));
            })
            .configure_sets(
                PostUpdate,
                (SendSystems::Snapshots.before(VisualSystems::Draw), SendSystems::Acks, SendSystems::Shots)
                    .chain()
                    // In a fixed order, so that profiles tell the two apart.
                    .before(ReplicationSystems::Send)
                    .before(MessageSystems::Send),
            )
            .add_systems(PreUpdate, link::copy_rtt_to_pawns.after(link::publish_rtt));
        #[cfg(feature = "prediction")]
        crate::moves::server_plugin(app);
        #[cfg(feature = "prediction")]
        crate::possession::server_plugin(app);
        #[cfg(feature = "prediction")]
        crate::uncontrolled_pawns::server_plugin(app);
        app.add_plugins(ServerGuardPlugin);
        messages::server_plugin(app);
        connection_reminder::server_plugin(app);
        session::server_plugin(app);
        spectators::server_plugin(app);
        budget::server_plugin(app);
        packet_order::server_plugin(app);
        replication_queue::server_plugin(app);
        net_ids::server_plugin(app);
        base_schedules::server_plugin(app);
        app.add_plugins((visibility::plugin, ParkingPlugin));
        #[cfg(feature = "smoothing")]
        crate::pawn_state::server_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::out_of_sight::server_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::snapshots::server_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::clock::server_plugin(app);
        #[cfg(feature = "weapons")]
        crate::shot_effects::server_plugin(app);
        #[cfg(feature = "weapons")]
        crate::screen_rules::server_plugin(app);
    }
}
