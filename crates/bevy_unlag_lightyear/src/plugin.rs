//! Plugins of client and server.

use bevy::prelude::*;
use bevy_unlag_core::{SimulationRate, SimulationRatePlugin};

use crate::{
    bandwidth, diagnostics, lightyear_rollback, link, link::LightyearPings, messages, models, net_ids,
    protocol::UnlagProtocolPlugin, reflection,
};

/// Adds the plugins that client and server share, once; a listen server has both. `guest` says that
/// lightyear's plugins are the game's own, so it is a lightyear game to which the suite is added.
pub(crate) fn add_shared_plugins(app: &mut App, rate: SimulationRate, guest: bool) {
    if app.is_plugin_added::<UnlagProtocolPlugin>() {
        return;
    }
    if guest && !app.world().contains_resource::<LightyearPings>() {
        app.insert_resource(LightyearPings::ON);
    }
    bevy_unlag_core::require_plugin(app, SimulationRatePlugin(rate));
    reflection::register_types(app);
    app.add_plugins((UnlagProtocolPlugin, link::plugin, lightyear_rollback::plugin, bandwidth::plugin));
    app.add_plugins(diagnostics::plugin);
    app.add_plugins((net_ids::plugin, messages::plugin));
    app.add_observer(models::report_unknown_model);
}
