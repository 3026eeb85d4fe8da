//! Counters for whoever wants to see what is dropped.

use bevy::prelude::*;

use super::{gate::OFFENCE, limits::Refusal};

/// What was dropped, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refused([u64; Refusal::ALL.len()]);

impl Refused {
    /// How often for this reason.
    #[must_use]
    pub fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// How often at all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reason that was given most often, if any was.
    #[must_use]
    pub fn most(&self) -> Option<Refusal> {
        let most = Refusal::ALL.into_iter().max_by_key(|refusal| self.of(*refusal));
        most.filter(|refusal| self.of(*refusal) > 0)
    }

    pub(super) fn count(&mut self, refusal: Refusal) {
        self.0[refusal as usize] += 1;
    }
}

/// What has arrived from one client since it connected: on the server's end of every connected link.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkTraffic {
    /// Packets that were let in.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The messages and parts of messages in them.
    pub messages: u64,
    /// What was dropped.
    pub refused: Refused,
    /// Strikes now; at [`IngressLimits::strikes`](super::IngressLimits::strikes) the connection ends.
    pub strikes: f32,
}

/// What has arrived at this server since it started, from anybody.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct IngressStats {
    /// Packets that were let in.
    pub packets: u64,
    /// What was dropped.
    pub refused: Refused,
    /// Addresses that are remembered now without a connection.
    pub strangers: usize,
    /// Addresses that were forgotten because they never became a connection.
    pub forgotten: u64,
    /// Clients that were thrown out.
    pub kicked: u64,
}

/// Takes note of a message that a client was allowed to send, and that its type's rules refuse.
pub fn refuse(world: &mut World, link: Entity, refusal: Refusal) {
    if let Some(mut stats) = world.get_resource_mut::<IngressStats>() {
        stats.refused.count(refusal);
    }
    if let Some(mut traffic) = world.get_mut::<LinkTraffic>(link) {
        traffic.refused.count(refusal);
        traffic.strikes += match refusal {
            // Until a client knows that a pawn is no longer its own it may speak for it.
            Refusal::Owner => 2.0,
            Refusal::Rate => 1.0,
            refusal if refusal.is_offence() => OFFENCE,
            _ => 0.0,
        };
    }
}
