//! Sending game messages: from the game to its links.

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_replicon::{prelude::Replicated, server::visibility::client_visibility::ClientVisibility};
use bevy_unlag_core::{BitWriter, LocalControl, NetId, NetRole, Wire};
use lightyear::{
    connection::host::HostClient,
    link::Link,
    prelude::{server::ClientOf, *},
};

use lightyear_guard::{Allowance, Kick, KickReason};

use super::{
    Delivery, GameMessageStats, GameOutlet, LONGEST, MessageDirection, MessageLimits, MessageSource,
    SENT_BURST, Side,
    kinds::{Kind, Kinds, NumberOf, address},
    receive::Incoming,
};
use crate::{
    Bandwidth, ComponentFilters, DownlinkBudget, LinkBudget, MessageClass,
    budget::Outlet,
    protocol::{GameLooseChannel, GameLooseMessage, GameOrderedChannel, GameOrderedMessage},
};

/// System parameter that sends messages of a type registered with
/// [`AddGameMessage::add_game_message`](super::AddGameMessage::add_game_message). They are sent in
/// [`GameMessageSystems::Send`](super::GameMessageSystems::Send), in order. Messages that cannot be sent are
/// counted in [`GameMessageStats`].
#[doc(alias = "RPC")]
#[doc(alias = "ServerRpc")]
#[doc(alias = "ClientRpc")]
#[derive(SystemParam)]
pub struct Outbox<'w, M: Send + Sync + 'static> {
    number: Res<'w, NumberOf<M>>,
    kinds: Res<'w, Kinds>,
    outgoing: ResMut<'w, Outgoing>,
}

impl<M: Wire + Send + Sync + 'static> Outbox<'_, M> {
    /// Sends a message about no pawn: to the server, or to every client. Not for
    /// [`MessageDirection::ToOwner`].
    pub fn send(&mut self, message: &M) {
        self.put(Target::All, message);
    }

    /// Sends a message about a pawn: to the server, to its owner, or to every client that may see it,
    /// depending on the rules of the type. A client that does not know the pawn yet queues the message until
    /// it spawns. The pawn may be spawned by commands of the same frame that are still to be applied.
    pub fn send_about(&mut self, pawn: Entity, message: &M) {
        self.put(Target::About(pawn), message);
    }

    /// Sends a message of [`MessageDirection::ToOwner`] about no pawn to one client, identified by the
    /// server's end of its link.
    pub fn send_to(&mut self, link: Entity, message: &M) {
        self.put(Target::Link(link), message);
    }

    fn put(&mut self, target: Target, message: &M) {
        let Some(kind) = self.kinds.all.get(self.number.0) else { return };
        let mut body = BitWriter::default();
        message.write(&mut body);
        let length = body.len_bits().div_ceil(8);
        if length > LONGEST {
            error_once!("a {} of {length} bytes cannot be sent: the maximum is {LONGEST}", kind.name);
            self.outgoing.unsent += 1;
        } else {
            self.outgoing.items.push(Item { kind: self.number.0, target, body });
        }
    }
}

#[derive(Clone, Copy)]
enum Target {
    All,
    About(Entity),
    Link(Entity),
}

struct Item {
    kind: usize,
    target: Target,
    body: BitWriter,
}

/// Messages that were put into outboxes in this frame.
#[derive(Resource, Default)]
pub struct Outgoing {
    items: Vec<Item>,
    unsent: u64,
    /// Rate limiters for messages to the server, by message type.
    allowances: Vec<Allowance>,
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Line {
    link: Entity,
    outlet: &'static mut GameOutlet,
    ordered: &'static mut MessageSender<GameOrderedMessage>,
    loose: &'static mut MessageSender<GameLooseMessage>,
    io: &'static Link,
    snapshots: Option<&'static mut Outlet>,
    sees: Option<&'static ClientVisibility>,
    budget: Option<&'static LinkBudget>,
}

impl LineItem<'_, '_> {
    fn rate(&self, limits: &MessageLimits, everyone: Option<&DownlinkBudget>) -> f32 {
        let down = self.budget.map(|own| own.0).or(everyone.copied());
        down.map_or(limits.up_bytes_per_second as f32, |down| limits.down(down.bytes_per_second))
    }
}

/// Data for routing messages.
#[derive(SystemParam)]
pub(super) struct Routes<'w, 's> {
    side: Option<Res<'w, Side>>,
    filters: Option<Res<'w, ComponentFilters>>,
    names: Query<'w, 's, &'static NetId>,
    owners: Query<'w, 's, &'static ControlledBy>,
    own: Query<'w, 's, &'static NetRole, With<LocalControl>>,
    replicated: Query<'w, 's, (), (With<NetId>, With<Replicated>)>,
}

impl Routes<'_, '_> {
    /// Whether a pawn belongs to the host of this listen server.
    fn is_host_s(&self, pawn: Entity) -> bool {
        self.own.get(pawn).is_ok_and(|role| *role == NetRole::Authority)
    }

    fn owner(&self, pawn: Entity) -> Option<Entity> {
        self.owners.get(pawn).ok().map(|owner| owner.owner)
    }

    /// Whether a client may know the pawn that a message is about.
    fn sees(&self, client: Option<&ClientVisibility>, target: Target) -> bool {
        let Target::About(pawn) = target else { return true };
        let shown = client.zip(self.filters.as_deref()).is_none_or(|(sees, by)| by.shows(sees, pawn));
        shown && self.replicated.contains(pawn)
    }
}

/// Passes messages to links and counts them.
struct Post<'a, 'w, 's> {
    limits: &'a MessageLimits,
    stats: &'a mut GameMessageStats,
    bandwidth: &'a mut Bandwidth,
    commands: &'a mut Commands<'w, 's>,
    server: bool,
}

impl Post<'_, '_, '_> {
    fn class(&self) -> MessageClass {
        if self.server { MessageClass::GameDown } else { MessageClass::GameUp }
    }

    fn give(&mut self, kind: &Kind, line: &mut LineItem<'_, '_>, bytes: Vec<u8>) {
        let length = bytes.len();
        if line.outlet.closed {
            self.stats.unsent += 1;
        } else if kind.rules.delivery == Delivery::Unreliable {
            let snapshots = &mut line.snapshots;
            let fits =
                line.outlet.has_room() && snapshots.as_mut().is_none_or(|snapshots| snapshots.spare(length));
            if fits {
                line.outlet.spend(length);
                line.loose.send::<GameLooseChannel>(GameLooseMessage(bytes));
                self.bandwidth.count(self.class(), length, 1);
                self.stats.sent += 1;
            } else {
                self.stats.crowded_out += 1;
            }
        } else if line.outlet.push(bytes, self.limits.reliable_queue) {
            self.stats.sent += 1;
        } else {
            line.outlet.close();
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
    fn pump(&mut self, line: &mut LineItem<'_, '_>, rate: f32) {
        while let Some(bytes) = line.outlet.next(rate, line.io.stats.rtt) {
            if let Some(snapshots) = &mut line.snapshots {
                snapshots.spend(bytes.len());
            }
            self.bandwidth.count(self.class(), bytes.len(), 1);
            line.ordered.send::<GameOrderedChannel>(GameOrderedMessage(bytes));
        }
    }
}

pub(super) fn send(
    (time, limits, everyone): (Res<Time<Real>>, Res<MessageLimits>, Option<Res<DownlinkBudget>>),
    (kinds, routes): (Res<Kinds>, Routes),
    mut outgoing: ResMut<Outgoing>,
    mut incoming: ResMut<Incoming>,
    mut links: Query<Line, (With<Connected>, Or<(With<Client>, With<ClientOf>)>, Without<HostClient>)>,
    (mut stats, mut bandwidth): (ResMut<GameMessageStats>, ResMut<Bandwidth>),
    mut commands: Commands,
) {
    let server = routes.side.as_deref() == Some(&Side::Server);
    let everyone = everyone.as_deref().filter(|_| server);
    let (stats, bandwidth, commands) = (&mut *stats, &mut *bandwidth, &mut commands);
    let mut post = Post { limits: &limits, stats, bandwidth, commands, server };
    for mut line in &mut links {
        let rate = line.rate(&limits, everyone);
        line.outlet.refill(rate, time.delta());
    }
    let Outgoing { items, unsent, allowances } = &mut *outgoing;
    post.stats.unsent += core::mem::take(unsent);
    allowances.resize_with(kinds.all.len(), Allowance::default);
    for Item { kind: number, target, body } in items.drain(..) {
        let Some(kind) = kinds.all.get(number) else { continue };
        let delivery = kind.rules.delivery;
        let about = match target {
            Target::All | Target::Link(_) => None,
            Target::About(pawn) => match routes.names.get(pawn) {
                Ok(name) => Some(*name),
                Err(_) => {
                    error_once!(
                        "cannot send a {} about {pawn}: the entity has no NetId or is despawned",
                        kind.name
                    );
                    post.stats.unsent += 1;
                    continue;
                }
            },
        };
        let mut w = address(kind.key, about);
        w.append(&body);
        let bytes = w.finish();
        let routed = match (kind.rules.direction, target) {
            (MessageDirection::ToServer, Target::All | Target::About(_)) => {
                if !allowances[number].take(kind.rules.per_second, SENT_BURST, 1.0, time.elapsed()) {
                    post.stats.limited += 1;
                    continue;
                }
                if server {
                    incoming.put(MessageSource::Host, delivery, bytes);
                    post.stats.sent += 1;
                    continue;
                }
                links.iter_mut().next().map(|mut line| post.give(kind, &mut line, bytes))
            }
            (MessageDirection::ToOwner, Target::About(pawn)) if server => {
                if routes.is_host_s(pawn) {
                    incoming.put(MessageSource::Server, delivery, bytes);
                    post.stats.sent += 1;
                    continue;
                }
                let line = routes.owner(pawn).and_then(|owner| links.get_mut(owner).ok());
                line.map(|mut line| post.give(kind, &mut line, bytes))
            }
            (MessageDirection::ToOwner, Target::Link(link)) if server => {
                links.get_mut(link).ok().map(|mut line| post.give(kind, &mut line, bytes))
            }
            (MessageDirection::ToEveryone, Target::All | Target::About(_)) if server => {
                for mut line in &mut links {
                    if routes.sees(line.sees, target) {
                        post.give(kind, &mut line, bytes.clone());
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
        post.stats.unsent += u64::from(routed.is_none());
    }
    for mut line in &mut links {
        let rate = line.rate(&limits, everyone);
        post.pump(&mut line, rate);
    }
}
