//! Server plugin: moves data between messages and mailboxes, enforces ownership, sends snapshots.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, SimulationRate, VisualSystems};
use lightyear::prelude::*;
use lightyear_guard::ServerGuardPlugin;

use crate::{budget, link, messages, session, visibility};

/// Systems in [`PostUpdate`] that send mailboxes, in this order.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SendSystems {
    /// First: tracers use what snapshots leave of the budget.
    Snapshots,
    Acks,
    Shots,
}

/// Server side of the transport: exchanges mailboxes with the clients. Add it after lightyear's
/// `ServerPlugins`.
#[derive(Debug)]
pub struct UnlagServerNetPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for UnlagServerNetPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for UnlagServerNetPlugin<M> {
    fn build(&self, app: &mut App) {
        crate::plugin::add_shared_plugins(app);
        let rate = *app.world_mut().get_resource_or_init::<SimulationRate>();
        app.insert_resource(ReplicationMetadata::new(rate.snapshot_interval()))
            .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
                commands.entity(added.entity).insert((ReplicationSender, link::disabled_pings()));
            })
            .configure_sets(
                PostUpdate,
                (SendSystems::Snapshots.before(VisualSystems::Draw), SendSystems::Acks, SendSystems::Shots)
                    .chain()
                    .before(MessageSystems::Send),
            )
            .add_systems(PreUpdate, link::copy_rtt_to_pawns.after(link::publish_rtt));
        #[cfg(feature = "prediction")]
        crate::moves::server_plugin(app);
        app.add_plugins(ServerGuardPlugin);
        messages::server_plugin(app);
        session::server_plugin::<M>(app);
        budget::server_plugin(app);
        app.add_plugins(visibility::plugin);
        #[cfg(feature = "smoothing")]
        crate::snapshots::server_plugin(app);
        #[cfg(feature = "smoothing")]
        crate::clock::server_plugin(app);
        #[cfg(feature = "weapons")]
        crate::shot_effects::server_plugin(app);
    }

    /// Adds the recording of paths, without which no pawn would be published, unless the app or rewind has.
    #[cfg(feature = "smoothing")]
    fn finish(&self, app: &mut App) {
        use bevy_unlag_smoothing::PathRecordingPlugin;

        if !app.is_plugin_added::<PathRecordingPlugin<M>>() {
            app.add_plugins(PathRecordingPlugin::<M>::default());
        }
    }
}
