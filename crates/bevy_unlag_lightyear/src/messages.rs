//! A game's own typed messages with enforced rules, comparable to RPCs in Unreal.
//!
//! * A message type is a [`Wire`](bevy_unlag_core::Wire) type with [`MessageRules`]: direction, reliability,
//!   and how often a client may send it. Registered with [`AddGameMessage`].
//! * [`Outbox`] sends messages, about a pawn or about none; [`Received`] contains those that arrive. On the
//!   server, a system of the game may validate each message before the game reads it and returns a
//!   [`MessageVerdict`].
//! * [`MessageLimits`] bounds the messages that wait: for bandwidth, and for pawns that have not spawned yet.
//!
//! All types share one envelope and two lightyear channels. So one panic-free decoder reads all messages,
//! refuses invalid ones without a log line, and delivers the rest in the order in which they were sent,
//! across types.

mod backlog;
mod deferred_messages;
mod inbox;
mod message_rules;
mod message_types;
mod outbox;
mod reliable_queue;

use core::{marker::PhantomData, time::Duration};

use bevy::{
    ecs::{
        message::Message,
        system::{IntoSystem, SystemId},
    },
    prelude::*,
};
use bevy_unlag_core::Wire;
use lightyear::prelude::*;

pub use message_rules::{Delivery, GameMessageStats, MessageDirection, MessageLimits, MessageRules};
pub(crate) use message_types::GameMessageTypes;
use message_types::{MessageTypeIndex, MessageValidator};
pub use outbox::Outbox;
pub(crate) use reliable_queue::ReliableSendQueue;

use crate::system_sets::{NetSystems, ReceiveSystems, SendSystems};

/// A game message that has arrived and complies with the rules of its type. Read it with Bevy's
/// [`MessageReader`], after [`NetSystems::DeliverMessages`].
#[doc(alias = "RPC")]
#[derive(Message, Clone, PartialEq, Debug, Reflect)]
#[reflect(Message)]
pub struct Received<M: Send + Sync + 'static> {
    /// The sender.
    pub from: MessageSource,
    /// The pawn that the message is about, if any; it exists. On the server it is a pawn of the sender.
    pub about: Option<Entity>,
    /// The message.
    pub message: M,
}

/// Sender of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub enum MessageSource {
    /// The server.
    Server,
    /// A client, identified by the server's end of its link.
    Client(Entity),
    /// The host of a listen server, which has no link.
    Host,
}

/// Decision of a validation system about a message to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageVerdict {
    /// The game receives the message.
    Accept,
    /// The message is dropped and counted as
    /// [`IngressRefusal::Rejected`](lightyear_guard::IngressRefusal::Rejected). No offence: the client may
    /// have had valid reasons when it sent the message.
    Reject,
    /// The message is dropped, and its sender is kicked with
    /// [`KickReason::Game`](lightyear_guard::KickReason::Game) and this number. For messages that no honest
    /// client sends.
    Kick(u8),
}

/// Registration of a game's own messages.
#[doc(alias = "RPC")]
pub trait AddGameMessage {
    /// Registers a message type. Both sides call it, in any order, at any time before they connect. The
    /// payload is what [`Wire`] writes, at most 1,000 bytes.
    ///
    /// On the wire, a type is identified by a hash of its full name and its rules. A client and a server with
    /// different message types or rules refuse each other: [`ProtocolMismatch`](crate::ProtocolMismatch).
    fn add_game_message<M: Wire + Send + Sync + 'static>(&mut self, rules: MessageRules) -> &mut Self;

    /// Registers a validation system for a message type. It runs on the server for each message of that type,
    /// including the host's own, in [`NetSystems::DeliverMessages`], in the order of arrival and before the
    /// game can read the message. Its input is [`InRef<Received<M>>`](bevy::prelude::InRef), and it may have
    /// any other system parameters. If it cannot run, the message is rejected. A later registration for the
    /// same type replaces it.
    fn validate_game_message<M: Wire + Send + Sync + 'static, Marker>(
        &mut self,
        validator: impl IntoSystem<InRef<'static, Received<M>>, MessageVerdict, Marker> + 'static,
    ) -> &mut Self;
}

impl AddGameMessage for App {
    fn add_game_message<M: Wire + Send + Sync + 'static>(&mut self, rules: MessageRules) -> &mut Self {
        self.add_message::<Received<M>>();
        let number = self.world_mut().get_resource_or_init::<GameMessageTypes>().add::<M>(rules);
        self.insert_resource(MessageTypeIndex::<M>(number, PhantomData))
    }

    fn validate_game_message<M: Wire + Send + Sync + 'static, Marker>(
        &mut self,
        validator: impl IntoSystem<InRef<'static, Received<M>>, MessageVerdict, Marker> + 'static,
    ) -> &mut Self {
        let id: SystemId<InRef<'static, Received<M>>, MessageVerdict> =
            self.world_mut().register_system(validator);
        self.insert_resource(MessageValidator(id))
    }
}

/// Role of this app; a listen server is a server.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Client,
    Server,
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<GameMessageTypes>()
        .init_resource::<MessageLimits>()
        .init_resource::<GameMessageStats>()
        .init_resource::<outbox::Outgoing>()
        .init_resource::<inbox::Incoming>()
        .init_resource::<deferred_messages::DeferredMessages>()
        .add_observer(|added: On<Add, Connected>, mut commands: Commands| {
            let state = (
                ReliableSendQueue::default(),
                inbox::ReceiveLimits::default(),
                backlog::LinkBacklog::default(),
            );
            commands.entity(added.entity).insert(state);
        })
        .add_observer(forget)
        .add_systems(
            PreUpdate,
            (inbox::collect, inbox::deliver.run_if(inbox::has_work))
                .chain()
                .in_set(NetSystems::DeliverMessages)
                .after(MessageSystems::Receive)
                .after(ReplicationSystems::Receive)
                // By then pawns have their roles, and their snapshots.
                .after(ReceiveSystems::Snapshots),
        )
        .add_systems(
            PostUpdate,
            // Reliable messages are queued before unreliable ones.
            outbox::send
                .in_set(NetSystems::SendMessages)
                .before(SendSystems::Shots)
                .before(MessageSystems::Send),
        )
        .add_systems(Last, (reliable_queue::account, backlog::kick_unresponsive));
}

pub(crate) fn client_plugin(app: &mut App) {
    // An app that is both is a server.
    app.world_mut().get_resource_or_insert_with(|| Side::Client);
}

pub(crate) fn server_plugin(app: &mut App) {
    app.insert_resource(Side::Server);
}

/// Drops everything that waits when a session ends.
fn forget(
    ended: On<Remove, Connected>,
    mut queues: Query<&mut ReliableSendQueue>,
    clients: Query<(), With<Client>>,
    mut waiting: ResMut<deferred_messages::DeferredMessages>,
) {
    if let Ok(mut queue) = queues.get_mut(ended.entity) {
        *queue = ReliableSendQueue::default();
    }
    if clients.contains(ended.entity) {
        waiting.clear();
    }
}

/// Maximum length of a message without its envelope, in bytes.
const MAX_PAYLOAD: usize = 1_000;
/// Burst allowance of received messages: a client's budget of 10 s, at least four messages or as many
/// reliable ones as may have queued during an outage.
const RECEIVED_BURST: Duration = Duration::from_secs(10);
/// Burst allowance of sent messages.
const SENT_BURST: Duration = Duration::from_secs(1);
