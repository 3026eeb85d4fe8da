//! Sending game messages: from the game to its links.

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_unlag_core::{BitWriter, LocalControl, NetId, NetRole, Wire};
use lightyear::{
    connection::host::HostClient,
    link::Link,
    prelude::{server::ClientOf, *},
};

use lightyear_guard::{Kick, KickReason, RateLimiter};

use super::{
    Delivery, GameMessageStats, MAX_PAYLOAD, MessageDirection, MessageLimits, MessageSource,
    ReliableSendQueue, SENT_BURST, Side,
    inbox::Incoming,
    message_types::{GameMessageType, GameMessageTypes, MessageTypeIndex, write_envelope},
};
use crate::{
    bandwidth::Bandwidth,
    budget::{DownlinkBudget, LinkBudget, SnapshotSendQueue},
    hidden_pawns::HiddenPawns,
    message_class::MessageClass,
    parking::Published,
    protocol::{GameReliableChannel, GameReliableMessage, GameUnreliableChannel, GameUnreliableMessage},
    spectators::Spectator,
    visibility::ComponentFilters,
};

/// System parameter that sends messages of a type registered with
/// [`AddGameMessage::add_game_message`](super::AddGameMessage::add_game_message). They are sent in
/// [`NetSystems::SendMessages`](super::NetSystems::SendMessages), in order. Messages that cannot be sent are
/// counted in [`GameMessageStats`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::Wire;
/// use bevy_unlag_lightyear::{AddGameMessage, MessageRules, Outbox};
///
/// #[derive(Wire)]
/// struct RoundOver {
///     #[wire(range = 0..=99)]
///     goals: u8,
/// }
///
/// /// Client and server call it.
/// fn protocol(app: &mut App) {
///     app.add_game_message::<RoundOver>(MessageRules::to_everyone());
/// }
///
/// /// On the server.
/// fn announce(mut clients: Outbox<RoundOver>) {
///     clients.send(&RoundOver { goals: 3 });
/// }
/// ```
#[doc(alias = "RPC")]
#[doc(alias = "ServerRpc")]
#[doc(alias = "ClientRpc")]
#[derive(SystemParam)]
pub struct Outbox<'w, M: Send + Sync + 'static> {
    number: Res<'w, MessageTypeIndex<M>>,
    kinds: Res<'w, GameMessageTypes>,
    outgoing: ResMut<'w, Outgoing>,
}

impl<M: Wire + Send + Sync + 'static> Outbox<'_, M> {
    /// Sends a message about no pawn: to the server, or to every client. Not for
    /// [`MessageDirection::ToOwner`].
    pub fn send(&mut self, message: &M) {
        self.put(MessageTarget::All, message);
    }

    /// Sends a message about a pawn: to the server, to its owner, or to every client that may see it,
    /// depending on the rules of the type. A client that does not know the pawn yet queues the message until
    /// it spawns. The pawn may be spawned by commands of the same frame that are still to be applied.
    pub fn send_about(&mut self, pawn: Entity, message: &M) {
        self.put(MessageTarget::About(pawn), message);
    }

    /// Sends a message of [`MessageDirection::ToOwner`] about no pawn to one client, identified by the
    /// server's end of its link.
    pub fn send_to(&mut self, link: Entity, message: &M) {
        self.put(MessageTarget::Link(link), message);
    }

    fn put(&mut self, target: MessageTarget, message: &M) {
        let Some(kind) = self.kinds.all.get(self.number.0) else { return };
        let mut body = BitWriter::default();
        message.write(&mut body);
        let length = body.len_bits().div_ceil(8);
        if length > MAX_PAYLOAD {
            error_once!("a {} of {length} bytes cannot be sent: the maximum is {MAX_PAYLOAD}", kind.name);
            self.outgoing.unsent += 1;
        } else {
            self.outgoing.items.push(QueuedMessage { kind: self.number.0, target, body });
        }
    }
}

#[derive(Clone, Copy)]
enum MessageTarget {
    All,
    About(Entity),
    Link(Entity),
}

struct QueuedMessage {
    kind: usize,
    target: MessageTarget,
    body: BitWriter,
}

/// Messages that were put into outboxes in this frame.
#[derive(Resource, Default)]
pub struct Outgoing {
    items: Vec<QueuedMessage>,
    unsent: u64,
    /// Rate limiters for messages to the server, by message type.
    allowances: Vec<RateLimiter>,
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct LinkQuery {
    link: Entity,
    queue: &'static mut ReliableSendQueue,
    ordered: &'static mut MessageSender<GameReliableMessage>,
    loose: &'static mut MessageSender<GameUnreliableMessage>,
    io: &'static Link,
    snapshots: Option<&'static mut SnapshotSendQueue>,
    sees: Option<&'static ClientVisibility>,
    hidden: Option<&'static HiddenPawns>,
    budget: Option<&'static LinkBudget>,
    is_spectator: Has<Spectator>,
}

impl LinkQueryItem<'_, '_> {
    fn rate(&self, limits: &MessageLimits, everyone: Option<&DownlinkBudget>) -> f32 {
        let down = self.budget.map(|own| own.0).or(everyone.copied());
        down.map_or(limits.up_bytes_per_second as f32, |down| limits.down(down.bytes_per_second))
    }
}

/// Data for routing messages.
#[derive(SystemParam)]
pub(super) struct MessageRouter<'w, 's> {
    side: Option<Res<'w, Side>>,
    filters: Option<Res<'w, ComponentFilters>>,
    names: Query<'w, 's, &'static NetId>,
    owners: Query<'w, 's, &'static ControlledBy>,
    own: Query<'w, 's, &'static NetRole, With<LocalControl>>,
    replicated: Query<'w, 's, (), (With<NetId>, Published)>,
}

impl MessageRouter<'_, '_> {
    /// Whether a pawn belongs to the host of this listen server.
    fn is_host_s(&self, pawn: Entity) -> bool {
        self.own.get(pawn).is_ok_and(|role| *role == NetRole::Authority)
    }

    fn owner(&self, pawn: Entity) -> Option<Entity> {
        self.owners.get(pawn).ok().map(|owner| owner.owner)
    }

    /// Whether a client may know the pawn that a message is about.
    fn sees(
        &self,
        client: Option<&ClientVisibility>,
        hidden: Option<&HiddenPawns>,
        target: MessageTarget,
    ) -> bool {
        let MessageTarget::About(pawn) = target else { return true };
        let shown = client.zip(self.filters.as_deref()).is_none_or(|(sees, by)| by.shows(sees, pawn));
        shown && HiddenPawns::allow(hidden, pawn) && self.replicated.contains(pawn)
    }
}

/// Passes messages to links and counts them.
struct Sender<'a, 'w, 's> {
    limits: &'a MessageLimits,
    stats: &'a mut GameMessageStats,
    bandwidth: &'a mut Bandwidth,
    commands: &'a mut Commands<'w, 's>,
    server: bool,
}

impl Sender<'_, '_, '_> {
    fn class(&self) -> MessageClass {
        if self.server { MessageClass::GameDownlink } else { MessageClass::GameUplink }
    }

    fn give(&mut self, kind: &GameMessageType, line: &mut LinkQueryItem<'_, '_>, bytes: Vec<u8>) {
        let length = bytes.len();
        if line.queue.closed {
            self.stats.unsent += 1;
        } else if kind.rules.delivery == Delivery::Unreliable {
            let snapshots = &mut line.snapshots;
            let fits = line.queue.has_room()
                && snapshots.as_mut().is_none_or(|snapshots| snapshots.spend_on_game(length));
            if fits {
                line.queue.spend(length);
                line.loose.send::<GameUnreliableChannel>(GameUnreliableMessage(bytes));
                self.bandwidth.count(self.class(), length, 1);
                self.stats.sent += 1;
            } else {
                self.stats.dropped_for_budget += 1;
                self.bandwidth.defer(self.class(), 1);
            }
        } else if line.queue.push(bytes, self.limits.reliable_queue) {
            self.stats.sent += 1;
        } else {
            line.queue.close();
            self.stats.overflowed += 1;
            self.stats.unsent += 1;
            let (most, entity) = (self.limits.reliable_queue, line.link);
            error!("{most} reliable messages are queued, no room for another {}: disconnecting", kind.name);
            if self.server {
                self.commands.trigger(Kick { entity, reason: KickReason::QueueOverflow });
            } else {
                self.commands.trigger(Disconnect { entity });
            }
        }
    }

    /// Passes queued reliable messages to lightyear, as far as the budget allows.
    fn pump(&mut self, line: &mut LinkQueryItem<'_, '_>, rate: f32) {
        while let Some(bytes) = line.queue.next(rate, line.io.stats.rtt) {
            if let Some(snapshots) = &mut line.snapshots {
                snapshots.spend(bytes.len());
            }
            self.bandwidth.count(self.class(), bytes.len(), 1);
            line.ordered.send::<GameReliableChannel>(GameReliableMessage(bytes));
        }
        self.bandwidth.defer(self.class(), line.queue.take_deferred());
    }
}

pub(super) fn send(
    (time, limits, everyone): (Res<Time<Real>>, Res<MessageLimits>, Option<Res<DownlinkBudget>>),
    (kinds, routes): (Res<GameMessageTypes>, MessageRouter),
    mut outgoing: ResMut<Outgoing>,
    mut incoming: ResMut<Incoming>,
    mut links: Query<LinkQuery, (With<Connected>, Or<(With<Client>, With<ClientOf>)>, Without<HostClient>)>,
    (mut stats, mut bandwidth): (ResMut<GameMessageStats>, ResMut<Bandwidth>),
    mut commands: Commands,
) {
    let server = routes.side.as_deref() == Some(&Side::Server);
    let everyone = everyone.as_deref().filter(|_| server);
    let (stats, bandwidth, commands) = (&mut *stats, &mut *bandwidth, &mut commands);
    let mut sender = Sender { limits: &limits, stats, bandwidth, commands, server };
    for mut line in &mut links {
        let rate = line.rate(&limits, everyone);
        line.queue.refill(rate, time.delta());
    }
    let Outgoing { items, unsent, allowances } = &mut *outgoing;
    sender.stats.unsent += core::mem::take(unsent);
    allowances.resize_with(kinds.all.len(), RateLimiter::default);
    for QueuedMessage { kind: number, target, body } in items.drain(..) {
        let Some(kind) = kinds.all.get(number) else { continue };
        let delivery = kind.rules.delivery;
        let about = match target {
            MessageTarget::All | MessageTarget::Link(_) => None,
            MessageTarget::About(pawn) => match routes.names.get(pawn) {
                Ok(name) => Some(*name),
                Err(_) => {
                    error_once!(
                        "cannot send a {} about {pawn}: the entity has no NetId or is despawned",
                        kind.name
                    );
                    sender.stats.unsent += 1;
                    continue;
                }
            },
        };
        let mut w = write_envelope(kind.key, about);
        w.append(&body);
        let bytes = w.finish();
        let routed = match (kind.rules.direction, target) {
            (MessageDirection::ToServer, MessageTarget::All | MessageTarget::About(_)) => {
                if !allowances[number].take(kind.rules.per_second, SENT_BURST, 1.0, time.elapsed()) {
                    sender.stats.limited += 1;
                    continue;
                }
                if server {
                    incoming.put(MessageSource::Host, delivery, bytes);
                    sender.stats.sent += 1;
                    continue;
                }
                links.iter_mut().next().map(|mut line| sender.give(kind, &mut line, bytes))
            }
            (MessageDirection::ToOwner, MessageTarget::About(pawn)) if server => {
                if routes.is_host_s(pawn) {
                    incoming.put(MessageSource::Server, delivery, bytes);
                    sender.stats.sent += 1;
                    continue;
                }
                let line = routes.owner(pawn).and_then(|owner| links.get_mut(owner).ok());
                line.map(|mut line| sender.give(kind, &mut line, bytes))
            }
            (MessageDirection::ToOwner, MessageTarget::Link(link)) if server => {
                links.get_mut(link).ok().map(|mut line| sender.give(kind, &mut line, bytes))
            }
            (MessageDirection::ToEveryone, MessageTarget::All | MessageTarget::About(_)) if server => {
                for mut line in &mut links {
                    // A spectator is behind the match.
                    if !line.is_spectator && routes.sees(line.sees, line.hidden, target) {
                        sender.give(kind, &mut line, bytes.clone());
                    }
                }
                incoming.put(MessageSource::Server, delivery, bytes);
                continue;
            }
            _ => {
                error_once!(
                    "cannot send a {}: its direction does not allow this side or this receiver",
                    kind.name
                );
                None
            }
        };
        sender.stats.unsent += u64::from(routed.is_none());
    }
    for mut line in &mut links {
        let rate = line.rate(&limits, everyone);
        sender.pump(&mut line, rate);
    }
}
