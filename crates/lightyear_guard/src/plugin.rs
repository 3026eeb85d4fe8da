//! Plugins of both ends, and where their systems run.

use bevy::prelude::*;
use lightyear::{connection::ConnectionSystems, link::LinkSystems};
use lightyear_transport::plugin::TransportSystems;

use crate::{ingress, protocol, reflection, system_sets::GuardSystems, tokens};

/// Guards a server: add it after lightyear's `ServerPlugins`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerGuardPlugin;

/// Guards a client: add it after lightyear's `ClientPlugins`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientGuardPlugin;

impl Plugin for ServerGuardPlugin {
    fn build(&self, app: &mut App) {
        add_shared_plugins(app);
        ingress::plugin(app);
        #[cfg(all(feature = "sessions", not(target_family = "wasm")))]
        crate::sessions::server_plugin(app);
        app.add_systems(Last, tokens::log_full_server);
    }
}

impl Plugin for ClientGuardPlugin {
    fn build(&self, app: &mut App) {
        add_shared_plugins(app);
        ingress::client_plugin(app);
        #[cfg(feature = "sessions")]
        crate::sessions::client_plugin(app);
    }
}

/// Message, order and tokens: both ends have them, and an app that is both has them once.
fn add_shared_plugins(app: &mut App) {
    #[derive(Resource)]
    struct Added;

    if app.world().contains_resource::<Added>() {
        return;
    }
    app.insert_resource(Added);
    reflection::register_types(app);
    order(app);
    protocol::plugin(app);
    tokens::plugin(app);
}

pub(crate) fn order(app: &mut App) {
    app.configure_sets(
        PreUpdate,
        (
            (GuardSystems::Datagrams, GuardSystems::Tokens)
                .chain()
                .after(LinkSystems::Receive)
                .before(ConnectionSystems::Receive),
            GuardSystems::Packets.after(ConnectionSystems::Receive).before(TransportSystems::Receive),
        ),
    )
    .configure_sets(
        PostUpdate,
        GuardSystems::Answer.after(ConnectionSystems::Send).before(LinkSystems::Send),
    );
}
