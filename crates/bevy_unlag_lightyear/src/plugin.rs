//! Plugins of client and server.

use bevy::prelude::*;
use bevy_unlag_core::{SimulationRate, SimulationRatePlugin};

use crate::{
    bandwidth, diagnostics, link, messages, models, net_ids, protocol::UnlagProtocolPlugin, reflection,
};

/// Adds what client and server share, unless the other one has, as on a listen server.
pub(crate) fn add_shared_plugins(app: &mut App, rate: SimulationRate) {
    if app.is_plugin_added::<UnlagProtocolPlugin>() {
        return;
    }
    if !app.is_plugin_added::<SimulationRatePlugin>() {
        app.add_plugins(SimulationRatePlugin(rate));
    }
    reflection::register_types(app);
    app.add_plugins((UnlagProtocolPlugin, link::plugin, bandwidth::plugin));
    app.add_plugins(diagnostics::plugin);
    app.add_plugins((net_ids::plugin, messages::plugin));
    app.add_observer(models::report_unknown_model);
}
