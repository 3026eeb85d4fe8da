//! Receiving game messages: from links to the game.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, LocalControl, NetId, NetRole};
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};

use lightyear_guard::{IngressRefusal, Kick, KickReason, PendingKick, RateLimiter, record_refusal};

use super::{
    Delivery, GameMessageStats, MessageDirection, MessageLimits, MessageSource, MessageVerdict,
    RECEIVED_BURST, Side,
    deferred_messages::{DeferredMessage, DeferredMessages},
    message_types::{Envelope, GameMessageTypes, read_envelope_pawn},
};
use crate::{
    bandwidth::Bandwidth,
    message_class::MessageClass,
    net_ids::NetIdMap,
    protocol::{GameReliableMessage, GameUnreliableMessage},
};

/// Rate limiters of a client, one per message type.
#[derive(Component, Default)]
pub(super) struct ReceiveLimits(Vec<RateLimiter>);

impl ReceiveLimits {
    /// Whether the rate of a message type allows one more. `queue` is the number of messages that may have
    /// queued on the client and arrive at once.
    fn allows(&mut self, kind: usize, per_second: f32, queue: usize, now: Duration) -> bool {
        if self.0.len() <= kind {
            self.0.resize_with(kind + 1, RateLimiter::default);
        }
        let least = queue.max(4) as f32;
        self.0.get_mut(kind).is_some_and(|allowance| allowance.take(per_second, RECEIVED_BURST, least, now))
    }
}

struct Arrival {
    from: MessageSource,
    reliable: bool,
    bytes: Vec<u8>,
}

/// Messages that have arrived and were not processed yet.
#[derive(Resource, Default)]
pub(super) struct Incoming(Vec<Arrival>);

impl Incoming {
    /// Adds a message that the server sends to itself; it is processed like all others.
    pub(super) fn put(&mut self, from: MessageSource, delivery: Delivery, bytes: Vec<u8>) {
        self.0.push(Arrival { from, reliable: delivery == Delivery::Reliable, bytes });
    }
}

type Receivers = (
    Entity,
    Has<ClientOf>,
    Option<&'static mut MessageReceiver<GameReliableMessage>>,
    Option<&'static mut MessageReceiver<GameUnreliableMessage>>,
);

/// Takes messages out of the receivers: lightyear drops those that are not read in their frame.
pub(super) fn collect(
    mut links: Query<
        Receivers,
        (Or<(With<ClientOf>, With<Client>)>, Without<HostClient>, Without<PendingKick>),
    >,
    mut incoming: ResMut<Incoming>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (link, server, ordered, loose) in &mut links {
        let (from, class) = if server {
            (MessageSource::Client(link), MessageClass::GameUplink)
        } else {
            (MessageSource::Server, MessageClass::GameDownlink)
        };
        let mut put = |reliable, bytes: Vec<u8>| {
            bandwidth.count(class, bytes.len(), 1);
            incoming.0.push(Arrival { from, reliable, bytes });
        };
        ordered.into_iter().for_each(|mut messages| messages.receive().for_each(|m| put(true, m.0)));
        loose.into_iter().for_each(|mut messages| messages.receive().for_each(|m| put(false, m.0)));
    }
}

pub(super) fn has_work(incoming: Res<Incoming>, waiting: Res<DeferredMessages>) -> bool {
    !incoming.0.is_empty() || waiting.len() > 0
}

/// Reason for which a message is not delivered to the game.
enum Undelivered {
    Refused(IngressRefusal),
    /// There is no pawn with this id yet, or no longer.
    UnknownPawn(NetId),
    /// The validation system kicks the sender, with this number as the reason.
    Kick(u8),
}

impl From<IngressRefusal> for Undelivered {
    fn from(refusal: IngressRefusal) -> Self {
        Self::Refused(refusal)
    }
}

pub(super) fn deliver(world: &mut World) {
    let now = world.resource::<Time<Real>>().elapsed();
    let limits = *world.resource::<MessageLimits>();
    let mut waiting = core::mem::take(&mut *world.resource_mut::<DeferredMessages>());
    let mut arrivals = core::mem::take(&mut world.resource_mut::<Incoming>().0);
    let mut stats = *world.resource::<GameMessageStats>();
    let mut leaving: Option<Entity> = None;

    let names = world.resource::<NetIdMap>();
    let is_here = |id| names.get(id).is_some();
    // Messages that waited for a pawn go first.
    let mut ready = Vec::new();
    stats.expired +=
        waiting.take(is_here, now, limits.waiting_time, |DeferredMessage { bytes, reliable, .. }| {
            ready.push(Arrival { from: MessageSource::Server, reliable, bytes });
        });
    for Arrival { from, reliable, bytes } in ready.into_iter().chain(arrivals.drain(..)) {
        let link = match from {
            MessageSource::Client(link) => Some(link),
            MessageSource::Server | MessageSource::Host => None,
        };
        if link.is_some() && link == leaving {
            stats.refused += 1;
            continue;
        }
        let kept = match open(world, from, reliable, &bytes, now) {
            Ok(()) => {
                stats.received += 1;
                continue;
            }
            Err(kept) => kept,
        };
        match kept {
            // Clients wait for the pawn to spawn; on a server all pawns exist.
            Undelivered::UnknownPawn(id) if *world.resource::<Side>() == Side::Client => {
                let waits = waiting.push(id, bytes, reliable, now, limits.waiting);
                stats.expired += u64::from(!waits);
                continue;
            }
            _ => stats.refused += 1,
        }
        let Some(link) = link else { continue };
        match kept {
            Undelivered::Refused(refusal) => record_refusal(world, link, refusal),
            Undelivered::UnknownPawn(_) => record_refusal(world, link, IngressRefusal::UnknownPawn),
            Undelivered::Kick(number) => {
                record_refusal(world, link, IngressRefusal::Rejected);
                // The sender's remaining messages of this frame are refused.
                leaving = Some(link);
                world.trigger(Kick { entity: link, reason: KickReason::Game(number) });
            }
        }
    }
    stats.waiting = waiting.len();
    // Reuses the allocation.
    world.resource_mut::<Incoming>().0.append(&mut arrivals);
    *world.resource_mut::<DeferredMessages>() = waiting;
    *world.resource_mut::<GameMessageStats>() = stats;
}

/// Checks a message against the rules of its type and delivers it to the game.
fn open(
    world: &mut World,
    from: MessageSource,
    reliable: bool,
    bytes: &[u8],
    now: Duration,
) -> Result<(), Undelivered> {
    let mut body = BitReader::new(bytes);
    let key = body.bits(16).map_err(|_| IngressRefusal::Content)?;
    let (number, kind) =
        world.resource::<GameMessageTypes>().by_key(key as u16).ok_or(IngressRefusal::Message)?;
    let (rules, up) = (kind.rules, kind.rules.direction == MessageDirection::ToServer);
    if up != (from != MessageSource::Server) {
        return Err(IngressRefusal::Message.into());
    }
    if reliable != (rules.delivery == Delivery::Reliable) {
        return Err(IngressRefusal::Channel.into());
    }
    let queue = if reliable { world.resource::<MessageLimits>().reliable_queue } else { 0 };
    if let MessageSource::Client(link) = from
        && let Some(mut limits) = world.get_mut::<ReceiveLimits>(link)
        && !limits.allows(number, rules.per_second, queue, now)
    {
        return Err(IngressRefusal::Rate.into());
    }
    let about = match read_envelope_pawn(&mut body).map_err(|_| IngressRefusal::Content)? {
        Some(id) => {
            let pawn = world.resource::<NetIdMap>().get(id).ok_or(Undelivered::UnknownPawn(id))?;
            if !owns(world, from, pawn) {
                return Err(IngressRefusal::Owner.into());
            }
            Some(pawn)
        }
        None => None,
    };
    let envelope = Envelope { from, about, body, bytes: bytes.len() };
    match (kind.deliver_message)(world, envelope).map_err(|_| IngressRefusal::Content)? {
        MessageVerdict::Accept => Ok(()),
        MessageVerdict::Reject => Err(IngressRefusal::Rejected.into()),
        MessageVerdict::Kick(number) => Err(Undelivered::Kick(number)),
    }
}

/// Whether the sender owns a pawn and may send messages about it.
fn owns(world: &World, from: MessageSource, pawn: Entity) -> bool {
    match from {
        MessageSource::Server => true,
        MessageSource::Client(link) => {
            world.get::<ControlledBy>(pawn).is_some_and(|owner| owner.owner == link)
        }
        MessageSource::Host => {
            let authority = world.get::<NetRole>(pawn) == Some(&NetRole::Authority);
            authority && world.entity(pawn).contains::<LocalControl>()
        }
    }
}
