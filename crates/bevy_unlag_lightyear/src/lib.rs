//! lightyear carries the bytes of the `bevy_unlag` suite.
//!
//! * [`UnlagClientNetPlugin`] and [`UnlagServerNetPlugin`] fill the suite's mailboxes in
//!   [`PreUpdate`] and drain them in [`PostUpdate`].
//! * [`UnlagProtocolPlugin`] registers what travels.
//! * Ownership is lightyear's `ControlledBy`: a client moves that pawn and no other.
//! * Snapshots of pawns travel in messages of their own, at an [`UpdateInterval`], the nearest first when a
//!   [`DownlinkBudget`] is short.
//! * [`ReplicateSmoothed`] does the like for a game's own components, [`ReplicatePredicted`] for those that their
//!   owner changes at once. [`HeldWeaponPlugin`] shows everybody what is in whose hands.
//! * [`ServerClock`](bevy_unlag_smoothing::ServerClock) is fed by small exchanges.
//! * [`NetSim`] makes any link bad in any way, both ways, at run time, from a seed.
//! * [`GameSpeed`] replaces the clock steering that lightyear does.
//! * [`lightyear_guard`] filters what arrives, says who may join and who is kicked: its plugins are added here.
//! * [`SessionConfig`] is what becomes of players who go and come back; [`RestartMatch`] and [`Shutdown`] end matches
//!   and servers.
//! * [`AddGameMessage`] adds a game's own messages, by [`MessageRules`] that are kept; [`Outbox`] sends them, and
//!   [`Received`] arrives.
//! * [`Bandwidth`] counts what each kind of message costs.

mod bandwidth;
mod client;
mod clock;
mod diagnostics;
#[doc(hidden)]
pub mod fuzzing;
mod held;
mod link;
mod mail;
mod messages;
mod net_sim;
mod predicted;
mod protocol;
mod server;
mod session;
mod smoothed;
mod snapshots;

use core::{marker::PhantomData, time::Duration};

use bevy::{app::PluginGroupBuilder, prelude::*};
use bevy_unlag_core::MoveModel;

pub use bandwidth::{Bandwidth, MessageClass, Traffic};
pub use client::UnlagClientNetPlugin;
pub use held::HeldWeaponPlugin;
pub use link::GameSpeed;
pub use messages::{
    AddGameMessage, Delivery, GameMessageStats, GameMessageSystems, MessageDirection, MessageLimits,
    MessageRules, MessageSource, Outbox, Received, Verdict,
};
pub use net_sim::{NetSim, NetSimPlugin, NetSimSystems};
pub use predicted::{AskedValue, PredictedSystems, ReplicatePredicted};
pub use protocol::{PROTOCOL_VERSION, ProtocolVersion, UnlagProtocolPlugin};
pub use server::{UnlagServerNetPlugin, networked_pawn, replicated_pawn};
pub use session::{
    Absent, MatchRestarted, PlayerJoined, PlayerLeft, PlayerReturned, ProtocolMismatch, RestartMatch,
    ServerShutdown, ServerStopped, SessionConfig, SessionExpired, SessionOf, SetupMismatch, SetupRule,
    Shutdown, player_pawn,
};
pub use smoothed::ReplicateSmoothed;
pub use snapshots::{ComponentFilters, DownlinkBudget, LinkBudget, SnapshotsDropped, UpdateInterval};

/// What client and server both need, once.
fn shared(app: &mut App) {
    if !app.is_plugin_added::<UnlagProtocolPlugin>() {
        diagnostics::expect_lightyear(app);
        app.add_plugins((UnlagProtocolPlugin, link::plugin, bandwidth::plugin));
        app.add_plugins(diagnostics::plugin);
        app.add_plugins((snapshots::names, messages::plugin));
    }
}

/// lightyear's client and [`UnlagClientNetPlugin`], in the order that they need.
#[derive(Debug)]
pub struct ClientNetPlugins<M> {
    tick: Duration,
    model: PhantomData<fn() -> M>,
}

/// lightyear's server and [`UnlagServerNetPlugin`], in the order that they need.
#[derive(Debug)]
pub struct ServerNetPlugins<M> {
    tick: Duration,
    snapshot_interval: Duration,
    model: PhantomData<fn() -> M>,
}

impl<M> ClientNetPlugins<M> {
    /// With the time of one simulation tick.
    #[must_use]
    pub fn new(tick: Duration) -> Self {
        Self { tick, model: PhantomData }
    }
}

impl<M> ServerNetPlugins<M> {
    /// With the time of one simulation tick and the time between two snapshots of a pawn.
    #[must_use]
    pub fn new(tick: Duration, snapshot_interval: Duration) -> Self {
        Self { tick, snapshot_interval, model: PhantomData }
    }
}

impl<M: MoveModel> PluginGroup for ClientNetPlugins<M> {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(lightyear::prelude::client::ClientPlugins { tick_duration: self.tick })
            .add(UnlagClientNetPlugin::<M>::default())
    }
}

impl<M: MoveModel> PluginGroup for ServerNetPlugins<M> {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add_group(lightyear::prelude::server::ServerPlugins { tick_duration: self.tick })
            .add(UnlagServerNetPlugin::<M> {
                snapshot_interval: self.snapshot_interval,
                ..Default::default()
            })
    }
}
