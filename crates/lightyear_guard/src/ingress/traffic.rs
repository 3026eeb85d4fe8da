//! Counters of admitted and refused traffic.

use core::time::Duration;

use bevy::prelude::*;

use super::{limits::IngressRefusal, packet_filter::OFFENCE_STRIKES};

/// Number of refusals, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct RefusalCounts([u64; IngressRefusal::ALL.len()]);

impl RefusalCounts {
    /// Returns how often `refusal` was the reason.
    #[must_use]
    pub fn of(&self, refusal: IngressRefusal) -> u64 {
        self.0[refusal as usize]
    }

    /// Returns the total number of refusals.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the most frequent reason, if there was any.
    #[must_use]
    pub fn most(&self) -> Option<IngressRefusal> {
        let most = IngressRefusal::ALL.into_iter().max_by_key(|refusal| self.of(*refusal));
        most.filter(|refusal| self.of(*refusal) > 0)
    }

    pub(crate) fn count(&mut self, refusal: IngressRefusal) {
        self.count_many(refusal, 1);
    }

    pub(crate) fn count_many(&mut self, refusal: IngressRefusal, times: u64) {
        self.0[refusal as usize] += times;
    }
}

/// Traffic of one client since it connected; on the server's end of every connected link.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct LinkTraffic {
    /// Admitted packets.
    pub packets: u64,
    /// Bytes of the admitted packets.
    pub bytes: u64,
    /// Messages and fragments in the admitted packets.
    pub messages: u64,
    /// Refusals.
    pub refused: RefusalCounts,
    /// Current strikes; at [`IngressLimits::strikes`](super::IngressLimits::strikes) the client is kicked.
    pub strikes: f32,
    /// Time since the last datagram from its address; always 0 without netcode.
    pub silence: Duration,
}

/// Traffic of this server since it started, from all addresses.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct IngressStats {
    /// Admitted packets.
    pub packets: u64,
    /// Refusals.
    pub refused: RefusalCounts,
    /// Addresses that are remembered now without a connection.
    pub pending: usize,
    /// Addresses that were forgotten before they had a connection.
    pub forgotten: u64,
    /// Clients that were kicked.
    pub kicked: u64,
    /// Datagrams that wait in the sockets ([`ServerUdp`](super::ServerUdp)) after this frame.
    pub queued: usize,
    /// Longest time that one of this frame's datagrams has waited there.
    pub queue_wait: Duration,
}

/// Records the refusal of a message that passed the filters but violates the rules of its type.
pub fn record_refusal(world: &mut World, link: Entity, refusal: IngressRefusal) {
    if let Some(mut stats) = world.get_resource_mut::<IngressStats>() {
        stats.refused.count(refusal);
    }
    if let Some(mut traffic) = world.get_mut::<LinkTraffic>(link) {
        traffic.refused.count(refusal);
        traffic.strikes += match refusal {
            // A client may send about a pawn until it learns that it no longer owns it.
            IngressRefusal::Owner => 2.0,
            IngressRefusal::Rate => 1.0,
            refusal if refusal.is_offence() => OFFENCE_STRIKES,
            _ => 0.0,
        };
    }
}
