//! Bounded queue of datagrams between a server's socket and its app.

use std::{collections::VecDeque, net::SocketAddr};

use bevy::platform::collections::HashMap;
use lightyear::link::RecvPayload;

use crate::{clock::Instant, ingress::IngressLimits};

/// Share of the queue that one linked address may fill.
const ADDRESS_SHARE: usize = 32;
/// Size of the queue of strangers, as a share of that of linked addresses.
const STRANGER_SHARE: usize = 8;

/// Bound on a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct QueueBound {
    pub datagrams: usize,
    pub bytes: usize,
}

impl From<&IngressLimits> for QueueBound {
    fn from(limits: &IngressLimits) -> Self {
        Self { datagrams: limits.queued_datagrams, bytes: limits.queued_bytes }
    }
}

impl QueueBound {
    /// Returns a share of this bound in which one connection request fits.
    fn share(self, of: usize) -> Self {
        Self { datagrams: (self.datagrams / of).max(1), bytes: (self.bytes / of).max(super::MAX_DATAGRAM) }
    }
}

/// Queued datagrams and bytes, of one address or of all.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    datagrams: usize,
    bytes: usize,
}

impl Load {
    fn has_room(self, bytes: usize, bound: QueueBound) -> bool {
        self.datagrams < bound.datagrams && self.bytes + bytes <= bound.bytes
    }

    fn add(&mut self, bytes: usize) {
        self.datagrams += 1;
        self.bytes += bytes;
    }

    fn remove(&mut self, bytes: usize) {
        self.datagrams = self.datagrams.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// A received datagram.
pub(super) struct Datagram {
    pub address: SocketAddr,
    pub bytes: RecvPayload,
    /// Time at which it was taken from the system.
    pub arrived: Instant,
}

/// Datagrams in their order. Linked addresses have a queue of their own, in which each has a share: strangers cannot
/// fill it, and a faked address harms one player alone. Datagrams that do not fit are dropped.
#[derive(Default)]
pub(super) struct ReceiveQueue {
    linked: VecDeque<Datagram>,
    strangers: VecDeque<Datagram>,
    linked_load: Load,
    stranger_load: Load,
    /// Linked addresses, with the load of their waiting datagrams.
    addresses: HashMap<SocketAddr, Load>,
    /// Dropped datagrams of linked addresses and of strangers since they were last taken.
    dropped: (u64, u64),
}

impl ReceiveQueue {
    /// Makes an address a linked one.
    pub fn link(&mut self, address: SocketAddr) {
        self.addresses.entry(address).or_default();
    }

    /// Makes an address a stranger's again. Its waiting datagrams stay.
    pub fn unlink(&mut self, address: &SocketAddr) {
        self.addresses.remove(address);
    }

    /// Appends a datagram, if it fits.
    pub fn push(&mut self, address: SocketAddr, bytes: &[u8], arrived: Instant, bound: QueueBound) {
        let length = bytes.len();
        let datagram = || Datagram { address, bytes: RecvPayload::from(bytes), arrived };
        if let Some(load) = self.addresses.get_mut(&address) {
            if load.has_room(length, bound.share(ADDRESS_SHARE)) && self.linked_load.has_room(length, bound) {
                load.add(length);
                self.linked_load.add(length);
                self.linked.push_back(datagram());
            } else {
                self.dropped.0 += 1;
            }
        } else if self.stranger_load.has_room(length, bound.share(STRANGER_SHARE)) {
            self.stranger_load.add(length);
            self.strangers.push_back(datagram());
        } else {
            self.dropped.1 += 1;
        }
    }

    /// Moves up to `most` datagrams to `batch`, those of linked addresses first.
    pub fn take(&mut self, most: usize, batch: &mut Vec<Datagram>) {
        for _ in 0..most {
            let Some(datagram) = self.pop() else { return };
            batch.push(datagram);
        }
    }

    fn pop(&mut self) -> Option<Datagram> {
        if let Some(datagram) = self.linked.pop_front() {
            let length = datagram.bytes.len();
            self.linked_load.remove(length);
            // An address that is linked again has a new load; the old link's datagrams then count as its own.
            if let Some(load) = self.addresses.get_mut(&datagram.address) {
                load.remove(length);
            }
            return Some(datagram);
        }
        let datagram = self.strangers.pop_front()?;
        self.stranger_load.remove(datagram.bytes.len());
        Some(datagram)
    }

    /// Returns the number of datagrams that wait.
    pub fn len(&self) -> usize {
        self.linked.len() + self.strangers.len()
    }

    /// Returns the number of dropped datagrams, of linked addresses and of strangers, since the last call.
    pub fn take_dropped(&mut self) -> (u64, u64) {
        core::mem::take(&mut self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn address(number: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, (number / 250) as u8, (number % 250) as u8], 5_000))
    }

    fn push(queue: &mut ReceiveQueue, from: SocketAddr, bytes: usize, bound: QueueBound) {
        queue.push(from, &vec![7; bytes], clock::monotonic(), bound);
    }

    fn taken(queue: &mut ReceiveQueue) -> Vec<SocketAddr> {
        let mut batch = Vec::new();
        queue.take(usize::MAX, &mut batch);
        batch.into_iter().map(|datagram| datagram.address).collect()
    }

    #[test]
    fn half_a_second_of_64_players_at_their_limits_fits_beside_a_flood() {
        let limits = IngressLimits::default();
        let bound = QueueBound { datagrams: limits.queued_datagrams, bytes: limits.queued_bytes };
        let players: Vec<_> = (0..64).map(address).collect();
        let mut queue = ReceiveQueue::default();
        players.iter().for_each(|player| queue.link(*player));
        let packets = limits.packets_per_second as usize / 2;
        let bytes = limits.bytes_per_second as usize / 2 / packets;
        for round in 0..packets {
            for player in &players {
                push(&mut queue, *player, bytes, bound);
                // Four times as much of strangers.
                (0..4).for_each(|port| push(&mut queue, address(1_000 + round * 4 + port), 1_078, bound));
            }
        }
        let dropped = queue.take_dropped();
        assert!(dropped.0 == 0 && dropped.1 > 60_000, "{dropped:?}");
        assert_eq!(queue.take_dropped(), (0, 0));
        let taken = taken(&mut queue);
        assert_eq!(taken.iter().filter(|from| players.contains(from)).count(), 64 * packets);
        assert!(players.contains(&taken[0]) && taken.len() <= limits.queued_datagrams * 9 / 8);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn address_gets_its_share_and_leaves_the_rest_to_others() {
        let bound = QueueBound { datagrams: 320, bytes: 320_000 };
        let mut queue = ReceiveQueue::default();
        queue.link(address(1));
        queue.link(address(2));
        (0..1_000).for_each(|_| push(&mut queue, address(1), 100, bound));
        (0..10).for_each(|_| push(&mut queue, address(2), 1_400, bound));
        assert_eq!(queue.take_dropped(), (990 + 3, 0), "10 datagrams and 10,000 bytes each");
        assert_eq!(taken(&mut queue).len(), 17);
        push(&mut queue, address(1), 100, bound);
        assert_eq!(taken(&mut queue), [address(1)], "its share is free again");
    }

    #[test]
    fn linked_addresses_are_taken_first_and_one_without_a_link_is_a_stranger() {
        let bound = QueueBound { datagrams: 64, bytes: 64_000 };
        let mut queue = ReceiveQueue::default();
        queue.link(address(2));
        for number in [1, 2, 1, 2] {
            push(&mut queue, address(number), 100, bound);
        }
        let mut batch = Vec::new();
        queue.take(3, &mut batch);
        let first: Vec<_> = batch.iter().map(|datagram| datagram.address).collect();
        assert_eq!((first, queue.len()), (vec![address(2), address(2), address(1)], 1));
        queue.unlink(&address(2));
        (0..100).for_each(|_| push(&mut queue, address(2), 100, bound));
        assert_eq!(queue.take_dropped(), (0, 93), "strangers have an eighth");
        // Datagrams that a stranger has waiting do not count against its link.
        queue.link(address(2));
        assert_eq!(taken(&mut queue).len(), 8);
        (0..3).for_each(|_| push(&mut queue, address(2), 100, bound));
        assert_eq!((taken(&mut queue).len(), queue.take_dropped()), (2, (1, 0)));
        // Nor do waiting datagrams of a link that has gone.
        for _ in 0..2 {
            queue.unlink(&address(2));
            queue.link(address(2));
            (0..2).for_each(|_| push(&mut queue, address(2), 100, bound));
        }
        assert_eq!((taken(&mut queue).len(), queue.take_dropped()), (4, (0, 0)));
        (0..3).for_each(|_| push(&mut queue, address(2), 100, bound));
        assert_eq!((taken(&mut queue).len(), queue.take_dropped()), (2, (1, 0)));
    }

    #[test]
    fn queue_without_room_drops_everything_and_keeps_nothing() {
        let mut queue = ReceiveQueue::default();
        queue.link(address(1));
        (0..10).for_each(|_| push(&mut queue, address(1), 100, QueueBound::default()));
        assert_eq!((queue.len(), queue.take_dropped()), (0, (10, 0)));
    }
}
