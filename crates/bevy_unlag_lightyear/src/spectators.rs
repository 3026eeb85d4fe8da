//! Spectators: clients without a pawn that watch the match by the stream of its recording.

#[cfg(feature = "record")]
mod client;
#[cfg(feature = "record")]
mod history;
#[cfg(feature = "record")]
mod server;

use core::time::Duration;

use bevy::prelude::*;
use lightyear::prelude::{server::ClientOf, *};
use lightyear_guard::{IngressRefusal, record_refusal};

#[cfg(feature = "record")]
pub use client::{SpectatorPlugin, SpectatorStream};
#[cfg(feature = "record")]
pub use server::{SpectatorConfig, SpectatorServerPlugin, SpectatorStats};

#[cfg(feature = "prediction")]
use crate::protocol::MoveMessage;
use crate::{
    protocol::{GameReliableMessage, GameUnreliableMessage},
    system_sets::NetSystems,
};

/// On the server's end of a link: its client watches the match and takes no part in it. Insert it instead of spawning
/// a pawn, when [`PlayerJoined`](crate::PlayerJoined) is triggered; the game decides who may, for instance by the
/// [`token_data`](lightyear_guard::token_data) of the client's token.
///
/// The client gets no snapshots, no replication, and no messages of the game to everyone. Its moves and messages are
/// dropped and counted as [`IngressRefusal::Spectator`]. With a `SpectatorServerPlugin` it is sent the stream of the
/// recording.
#[doc(alias = "SourceTV")]
#[doc(alias = "OnlySpectator")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct Spectator {
    /// Time in the match by which this spectator is behind at least. Default `None`: that of the server's
    /// `SpectatorConfig`. Lower it for a coach or a referee.
    pub delay: Option<Duration>,
}

pub(crate) fn server_plugin(app: &mut App) {
    app.add_observer(|added: On<Add, Spectator>, mut commands: Commands| {
        commands.entity(added.entity).try_remove::<ReplicationSender>();
    })
    .add_systems(
        PreUpdate,
        drop_messages
            .run_if(any_with_component::<Spectator>)
            .after(MessageSystems::Receive)
            .before(NetSystems::DeliverMessages),
    );
}

#[cfg(feature = "prediction")]
type Moves = Option<&'static mut MessageReceiver<MoveMessage>>;
#[cfg(not(feature = "prediction"))]
type Moves = ();

type Receivers = (
    Entity,
    Moves,
    Option<&'static mut MessageReceiver<GameReliableMessage>>,
    Option<&'static mut MessageReceiver<GameUnreliableMessage>>,
);

/// Drops what a spectator sends, before anything else reads it.
fn drop_messages(mut links: Query<Receivers, (With<ClientOf>, With<Spectator>)>, mut commands: Commands) {
    for (link, moves, ordered, loose) in &mut links {
        let mut dropped = ordered.map_or(0, |mut messages| messages.receive().count());
        dropped += loose.map_or(0, |mut messages| messages.receive().count());
        #[cfg(feature = "prediction")]
        {
            dropped += moves.map_or(0, |mut messages| messages.receive().count());
        }
        #[cfg(not(feature = "prediction"))]
        let () = moves;
        if dropped > 0 {
            commands.queue(move |world: &mut World| {
                (0..dropped).for_each(|_| record_refusal(world, link, IngressRefusal::Spectator));
            });
        }
    }
}
