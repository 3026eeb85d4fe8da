//! lightyear transport for the `bevy_unlag` suite.
//!
//! * [`UnlagClientNetPlugin`] and [`UnlagServerNetPlugin`] fill the suite's mailboxes in [`PreUpdate`] and
//!   drain them in [`PostUpdate`].
//! * [`UnlagProtocolPlugin`] registers channels, messages and replicated components.
//! * Ownership is lightyear's `ControlledBy`: a client moves the pawns that it owns and no others.
//! * Snapshots of pawns are messages of their own, sent at an [`UpdateInterval`] and prioritised by distance
//!   when the [`DownlinkBudget`] is short.
//! * [`ReplicateSmoothed`] replicates a game's own components with interpolation, [`ReplicatePredicted`]
//!   those that their owner predicts. [`HeldWeaponPlugin`] replicates the weapon that each pawn holds.
//! * Clock synchronisation: small ping and pong messages feed
//!   [`ServerClock`](bevy_unlag_smoothing::ServerClock).
//! * [`NetSim`] simulates bad network conditions on any link, both ways, at run time, from a seed.
//! * [`GameSpeed`] replaces lightyear's clock steering.
//! * [`IngressLimits`](lightyear_guard::IngressLimits) bounds what a server accepts from its links;
//!   [`Kick`](lightyear_guard::Kick) ends a connection with a reason.
//! * [`ServerAccess`](lightyear_guard::ServerAccess) and [`ServerKey`](lightyear_guard::ServerKey) control
//!   who may join; a matchmaker issues tokens with
//!   [`ConnectTokenRequest`](lightyear_guard::ConnectTokenRequest).
//! * [`SessionConfig`] is the reconnect policy; [`RestartMatch`] and [`Shutdown`] end matches and servers.
//! * [`AddGameMessage`] registers a game's own messages with enforced [`MessageRules`]; [`Outbox`] sends
//!   them, and [`Received`] delivers them.
//! * [`Bandwidth`] counts the traffic of each class of message.

mod bandwidth;
mod budget;
mod client;
#[cfg(feature = "smoothing")]
mod clock;
mod diagnostics;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "weapons")]
mod held_weapon;
mod link;
mod messages;
#[cfg(feature = "prediction")]
mod moves;
mod net_sim;
mod pawn_names;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
mod predicted_component;
mod protocol;
mod reflection;
mod server;
mod session;
#[cfg(feature = "weapons")]
mod shot_effects;
#[cfg(all(feature = "prediction", feature = "smoothing"))]
mod smoothed_component;
#[cfg(feature = "smoothing")]
mod snapshots;
mod visibility;

use core::marker::PhantomData;

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::{MoveModel, SimulationRate, SimulationRatePlugin};

pub use bandwidth::{Bandwidth, ClassTraffic, MessageClass};
pub use budget::{DownlinkBudget, LinkBudget};
pub use client::UnlagClientNetPlugin;
#[cfg(feature = "weapons")]
pub use held_weapon::HeldWeaponPlugin;
pub use link::GameSpeed;
pub use messages::{
    AddGameMessage, Delivery, GameMessageStats, GameMessageSystems, MessageDirection, MessageLimits,
    MessageRules, MessageSource, MessageVerdict, Outbox, Received,
};
pub use net_sim::{NetSim, NetSimPlugin, NetSimSystems};
#[cfg(all(feature = "prediction", feature = "smoothing"))]
pub use predicted_component::{PredictedSystems, ReplicatePredicted, ValueRequest};
pub use protocol::{PROTOCOL_VERSION, ProtocolVersion, UnlagProtocolPlugin};
pub use server::{UnlagServerNetPlugin, networked_pawn, replicated_pawn};
pub use session::{
    AwaitingReconnect, MatchRestarted, PlayerJoined, PlayerLeft, PlayerReturned, ProtocolMismatch,
    RestartMatch, ServerShutdown, ServerStopped, SessionConfig, SessionExpired, SessionOf, SetupMismatch,
    SetupRule, Shutdown, player_pawn,
};
#[cfg(all(feature = "prediction", feature = "smoothing"))]
pub use smoothed_component::ReplicateSmoothed;
#[cfg(feature = "smoothing")]
pub use snapshots::{DroppedSnapshots, UpdateInterval};
pub use visibility::ComponentFilters;

/// Adds what client and server share. Safe to call twice in one app, as on a listen server.
fn add_shared_plugins(app: &mut App) {
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
