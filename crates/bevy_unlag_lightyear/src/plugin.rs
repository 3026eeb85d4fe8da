//! Plugins and system sets.

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{MoveModel, SimulationRate, SimulationRatePlugin};
use core::marker::PhantomData;

use crate::{
    bandwidth, client::UnlagClientNetPlugin, diagnostics, link, messages, pawn_names,
    protocol::UnlagProtocolPlugin, reflection, server::UnlagServerNetPlugin,
};

/// Adds what client and server share. Safe to call twice in one app, as on a listen server.
pub(crate) fn add_shared_plugins(app: &mut App) {
    if !app.is_plugin_added::<UnlagProtocolPlugin>() {
        reflection::register_types(app);
        diagnostics::expect_lightyear(app);
        app.add_plugins((UnlagProtocolPlugin, link::plugin, bandwidth::plugin));
        app.add_plugins(diagnostics::plugin);
        app.add_plugins((pawn_names::plugin, messages::plugin));
    }
}

/// lightyear's client plugins and [`UnlagClientNetPlugin`], in the required order.
#[derive(Debug)]
pub struct ClientNetPlugins<M> {
    rate: SimulationRate,
    model: PhantomData<fn() -> M>,
}

/// lightyear's server plugins and [`UnlagServerNetPlugin`], in the required order.
#[derive(Debug)]
pub struct ServerNetPlugins<M> {
    rate: SimulationRate,
    model: PhantomData<fn() -> M>,
}

impl<M> ClientNetPlugins<M> {
    /// Creates the plugin group.
    #[must_use]
    pub fn new(rate: SimulationRate) -> Self {
        Self { rate, model: PhantomData }
    }
}

impl<M> ServerNetPlugins<M> {
    /// Creates the plugin group.
    #[must_use]
    pub fn new(rate: SimulationRate) -> Self {
        Self { rate, model: PhantomData }
    }
}

impl<M: MoveModel> PluginGroup for ClientNetPlugins<M> {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(lightyear::prelude::client::ClientPlugins { tick_duration: self.rate.tick })
            .add(SimulationRatePlugin(self.rate))
            .add(UnlagClientNetPlugin::<M>::default())
    }
}

impl<M: MoveModel> PluginGroup for ServerNetPlugins<M> {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(lightyear::prelude::server::ServerPlugins { tick_duration: self.rate.tick })
            .add(SimulationRatePlugin(self.rate))
            .add(UnlagServerNetPlugin::<M>::default())
    }
}
