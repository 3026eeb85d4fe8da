//! Life cycle of a server process: from its start to a drain that its players know about.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_lightyear::{PlayerJoined, ServerStopped, Shutdown};
use derive_more::Display;
use lightyear::{
    connection::host::HostClient,
    prelude::{
        server::{ClientOf, Server, Started},
        *,
    },
};
use lightyear_guard::{Kick, KickReason, KickText};

/// State of a server process. Games and operators read it, and write `Allocated`, `Draining` and `Stopped`;
/// [`ServerLifeCyclePlugin`] writes the others. `Display` is its name in lower case.
#[doc(alias = "ServerLifeCycle")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Display, Reflect)]
#[reflect(Resource, Debug, Default)]
pub enum ServerState {
    /// The server does not listen yet.
    #[default]
    #[display("starting")]
    Starting,
    /// The server listens, and no match has been assigned to it. Written when it begins to listen.
    #[display("ready")]
    Ready,
    /// A match has been assigned to the server. Written by the game or the fleet; players may join in `Ready`,
    /// too.
    #[display("allocated")]
    Allocated,
    /// The server will stop: nobody new may join, and the players know why and how much time is left. Writing it
    /// starts a drain, see [`LifeCycleConfig`]. A drain cannot be taken back.
    #[display("draining")]
    Draining,
    /// The server stops now: the remaining players are disconnected with [`KickReason::Shutdown`]. Written when a
    /// drain is over. A game writes it to end a drain early, for instance when the last match has ended.
    #[display("stopped")]
    Stopped,
}

impl ServerState {
    /// Whether players may join or stay: neither draining nor stopped.
    #[must_use]
    pub fn is_running(self) -> bool {
        !matches!(self, Self::Draining | Self::Stopped)
    }
}

/// Duration of a drain, and its reason. May be changed until the drain begins. With nobody inside it ends at once, and
/// so it does when the last player has left.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct LifeCycleConfig {
    /// Time between the announcement to the players and their disconnection, unless the match may end first.
    /// Default 5 s. At most `drain_limit`.
    pub notice: Duration,
    /// Longest time of a drain. Default 20 s, below the 30 s after which Kubernetes kills a process; half a second
    /// for goodbyes comes on top. Raise both to let long matches end.
    pub drain_limit: Duration,
    /// Whether the match may end first: the announced time is `drain_limit`, and the game ends the drain by
    /// writing [`ServerState::Stopped`]. Default false.
    pub wait_for_match: bool,
    /// Reason that players read, at most 100 bytes. Default: empty, none. The admin command `drain REASON` writes it,
    /// and a [`Shutdown`] of the game's own has a reason of its own.
    pub reason: KickText,
}

impl Default for LifeCycleConfig {
    fn default() -> Self {
        Self {
            notice: Duration::from_secs(5),
            drain_limit: Duration::from_secs(20),
            wait_for_match: false,
            reason: KickText::default(),
        }
    }
}

impl LifeCycleConfig {
    /// Time that the players are given.
    fn time_left(&self) -> Duration {
        if self.wait_for_match { self.drain_limit } else { self.notice.min(self.drain_limit) }
    }
}

/// Keeps [`ServerState`], and drains the server when it becomes [`Draining`](ServerState::Draining): new players
/// are kicked with [`KickReason::Shutdown`] (one who comes back within the grace period may stay), the others are
/// informed by [`Shutdown`]. After the stop it writes `AppExit::Success`. A [`Shutdown`] of the game's own starts a
/// drain of that length. Add it after the server's plugins.
///
/// In the book: *Dedicated server plugins*, `book/src/reference/server.md`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerLifeCyclePlugin;

impl Plugin for ServerLifeCyclePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ServerState>()
            .init_resource::<LifeCycleConfig>()
            .init_resource::<AnnouncedStop>()
            .register_type::<ServerState>()
            .register_type::<LifeCycleConfig>()
            .add_observer(begin_drain)
            .add_observer(refuse_joiner)
            .add_observer(exit)
            .add_systems(First, advance);
    }
}

/// Announcement of the stop to the players, with the time that is left, if the server will stop.
#[derive(Resource, Default)]
struct AnnouncedStop(Option<Shutdown>);

/// Players that a drain waits for.
pub(crate) type Player = (With<ClientOf>, With<Connected>, Without<HostClient>);

fn advance(
    time: Res<Time<Real>>,
    mut state: ResMut<ServerState>,
    mut announced: ResMut<AnnouncedStop>,
    config: Res<LifeCycleConfig>,
    started: Query<(), (With<Server>, With<Started>)>,
    players: Query<(), Player>,
    mut commands: Commands,
) {
    if *state == ServerState::Starting && !started.is_empty() {
        *state = ServerState::Ready;
    }
    let known =
        announced.0.map(|known| Shutdown { after: known.after.saturating_sub(time.delta()), ..known });
    announced.0 = known;
    if known.is_some() && state.is_running() {
        *state = ServerState::Draining;
    }
    // When the time is over, the glue disconnects the players and stops the server.
    if state.is_running() || known.is_some_and(|known| known.after.is_zero()) {
        return;
    }
    let reason = known.map_or(config.reason, |known| known.reason);
    if *state == ServerState::Stopped || players.is_empty() {
        commands.trigger(Shutdown { after: Duration::ZERO, reason });
    } else if known.is_none() {
        commands.trigger(Shutdown { after: config.time_left(), reason });
    }
}

fn begin_drain(shutdown: On<Shutdown>, mut state: ResMut<ServerState>, mut announced: ResMut<AnnouncedStop>) {
    announced.0 = Some(*shutdown);
    if state.is_running() {
        *state = ServerState::Draining;
    }
}

fn refuse_joiner(joined: On<PlayerJoined>, state: Res<ServerState>, mut commands: Commands) {
    if !state.is_running() {
        commands.trigger(Kick { entity: joined.link, reason: KickReason::Shutdown });
    }
}

fn exit(
    _: On<ServerStopped>,
    mut state: ResMut<ServerState>,
    mut announced: ResMut<AnnouncedStop>,
    mut exits: MessageWriter<AppExit>,
) {
    *state = ServerState::Stopped;
    announced.0 = Some(Shutdown::default());
    exits.write(AppExit::Success);
}
