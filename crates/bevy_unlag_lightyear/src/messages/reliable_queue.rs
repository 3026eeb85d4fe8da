//! Send queue and bandwidth budget for the game messages of one link.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::prelude::*;
use lightyear::{link::Link, prelude::Transport};
use lightyear_transport::channel::ChannelKind;

use super::GameMessageStats;
use crate::{budget::SnapshotSendQueue, protocol::GameReliableChannel};

/// Maximum distance from the first unacknowledged message to the newest one in flight. A server's receive
/// window has 256.
const MAX_IN_FLIGHT: usize = 255;
/// Unused budget accumulates for this many seconds; more would only queue in front of the network.
const BUDGET_SECONDS: f32 = 0.25;

/// A message that was passed to lightyear.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    bytes: u16,
    left: bool,
    acked: bool,
}

/// Send state of the game messages of one link.
#[derive(Component, Default, Debug)]
pub(crate) struct ReliableSendQueue {
    /// Reliable messages that were not passed to lightyear yet.
    queue: VecDeque<Vec<u8>>,
    /// Reliable messages queued in this frame.
    new: usize,
    /// Reliable messages in flight, starting with the first unacknowledged one.
    in_flight: VecDeque<InFlight>,
    /// lightyear's id of the first message in flight.
    first: u16,
    bytes_in_flight: usize,
    /// Bytes that may be sent now: of reliable and of unreliable messages. One message may overdraw it.
    credit: [f32; 2],
    /// Whether the queue has overflowed: the connection is about to end.
    pub closed: bool,
}

impl ReliableSendQueue {
    /// Queues a reliable message unless `most` messages are waiting already. Returns whether it was queued.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, most: usize) -> bool {
        let room = self.waiting() < most;
        if room {
            self.queue.push_back(bytes);
            self.new += 1;
        }
        room
    }

    /// Returns how many of this frame's messages have to wait, and starts the next frame.
    pub(super) fn take_deferred(&mut self) -> usize {
        core::mem::take(&mut self.new).min(self.queue.len())
    }

    /// Returns the number of reliable messages that are queued, unacknowledged, or sent after an
    /// unacknowledged one.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.in_flight.len()
    }

    /// Whether a message was not passed to lightyear yet.
    #[cfg(feature = "record")]
    pub(crate) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn close(&mut self) {
        *self = Self { closed: true, ..default() };
    }

    pub(crate) fn refill(&mut self, rate: f32, passed: Duration) {
        for credit in &mut self.credit {
            *credit = (*credit + rate * passed.as_secs_f32()).min(rate * BUDGET_SECONDS);
        }
    }

    /// Returns the next reliable message that may be sent now. At most one round trip of the rate is in
    /// flight: each message is retransmitted until it is acknowledged, and during an outage nothing else
    /// would be sent.
    pub(crate) fn next(&mut self, rate: f32, round_trip: Duration) -> Option<Vec<u8>> {
        let window = rate * (round_trip.as_secs_f32() + BUDGET_SECONDS);
        let fits = self.in_flight.is_empty()
            || self.in_flight.len() < MAX_IN_FLIGHT && (self.bytes_in_flight as f32) < window;
        if self.credit[0] <= 0.0 || !fits {
            return None;
        }
        let bytes = self.queue.pop_front()?;
        self.credit[0] -= bytes.len() as f32;
        self.bytes_in_flight += bytes.len();
        self.in_flight.push_back(InFlight { bytes: bytes.len() as u16, left: false, acked: false });
        Some(bytes)
    }

    /// Whether the budget for unreliable messages is not overdrawn.
    pub(super) fn has_room(&self) -> bool {
        self.credit[1] > 0.0
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.credit[1] -= bytes as f32;
    }

    fn in_flight(&mut self, id: u16) -> Option<&mut InFlight> {
        self.in_flight.get_mut(usize::from(id.wrapping_sub(self.first)))
    }

    /// Records an acknowledgement.
    fn acked(&mut self, id: u16) {
        let Some(one) = self.in_flight(id).filter(|one| !one.acked) else { return };
        one.acked = true;
        self.bytes_in_flight -= usize::from(one.bytes);
        while self.in_flight.front().is_some_and(|one| one.acked) {
            self.in_flight.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Records that a message was sent. Returns its size if it was a retransmission, otherwise 0.
    fn left(&mut self, id: u16) -> usize {
        let Some(one) = self.in_flight(id) else { return 0 };
        let again = if one.left { usize::from(one.bytes) } else { 0 };
        one.left = true;
        self.credit[0] -= again as f32;
        again
    }
}

impl ReliableSendQueue {
    /// Takes over which messages lightyear has sent and which were acknowledged. `resent` gets the bytes of
    /// retransmissions.
    pub(crate) fn account(
        &mut self,
        sent: impl IntoIterator<Item = u16>,
        acked: impl IntoIterator<Item = u16>,
        mut resent: impl FnMut(usize),
    ) {
        if self.in_flight.is_empty() {
            return;
        }
        sent.into_iter().for_each(|id| resent(self.left(id)));
        acked.into_iter().for_each(|id| self.acked(id));
    }
}

/// Reads from lightyear which messages were sent and acknowledged, and counts those that wait.
pub(super) fn account(
    mut links: Query<(&Transport, &mut ReliableSendQueue, Option<&mut SnapshotSendQueue>), With<Link>>,
    mut stats: ResMut<GameMessageStats>,
) {
    stats.queued = links.iter().map(|(_, queue, _)| queue.waiting()).sum();
    for (transport, mut queue, mut snapshots) in &mut links {
        if queue.in_flight.is_empty() {
            continue;
        }
        let Some(channel) = transport.channel_send(ChannelKind::of::<GameReliableChannel>()) else {
            continue;
        };
        let (sent, acked) = (channel.messages_sent().iter(), channel.message_acks().iter());
        queue.account(sent.map(|id| id.0), acked.map(|id| id.0), |again| {
            if let Some(snapshots) = &mut snapshots {
                snapshots.spend(again);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(10);
    const RTT: Duration = Duration::from_millis(100);

    /// Simulates `count` frames of a link on which acknowledgements arrive `delay` frames later, or never.
    fn frames(queue: &mut ReliableSendQueue, count: usize, delay: Option<usize>, rate: f32) -> Vec<usize> {
        let (mut on_the_way, mut next) = (VecDeque::new(), queue.first);
        (0..count)
            .map(|frame| {
                queue.refill(rate, FRAME);
                let mut left = 0;
                while queue.next(rate, RTT).is_some() {
                    queue.left(next);
                    on_the_way.push_back((frame, next));
                    next = next.wrapping_add(1);
                    left += 1;
                }
                while let Some((_, id)) =
                    delay.and_then(|delay| on_the_way.pop_front_if(|(sent, _)| *sent + delay <= frame))
                {
                    queue.acked(id);
                }
                left
            })
            .collect()
    }

    #[test]
    fn few_messages_are_sent_immediately_and_a_flood_at_the_rate() {
        let mut queue = ReliableSendQueue { first: u16::MAX - 20, ..default() };
        queue.refill(8_000.0, Duration::from_secs(9));
        (0..3).for_each(|_| assert!(queue.push(vec![0; 40], 256)));
        assert_eq!(frames(&mut queue, 1, Some(10), 8_000.0), [3]);
        assert_eq!(queue.take_deferred(), 0);
        (0..3).for_each(|id| queue.acked((u16::MAX - 20).wrapping_add(id)));
        assert_eq!((queue.waiting(), queue.bytes_in_flight), (0, 0));

        (0..200).for_each(|_| assert!(queue.push(vec![0; 100], 256)));
        let left = frames(&mut queue, 100, Some(10), 8_000.0);
        assert_eq!((queue.take_deferred(), queue.take_deferred()), (queue.queue.len(), 0));
        let sum: usize = left.iter().sum();
        // A second's worth, plus the accumulated quarter of a second.
        assert!((78..=102).contains(&sum) && left[0] <= 21, "{left:?}");
        assert!(left[50..].iter().all(|left| *left <= 2), "{left:?}");
    }

    #[test]
    fn link_without_acknowledgements_gets_at_most_one_round_trip_of_messages() {
        let mut queue = ReliableSendQueue::default();
        let mut taken = 0;
        for _ in 0..400 {
            taken += usize::from(queue.push(vec![0; 100], 256));
        }
        assert_eq!(taken, 256, "the queue is bounded");
        let left: usize = frames(&mut queue, 1_000, None, 8_000.0).iter().sum();
        assert_eq!(left, 28, "8,000 bytes a second for 350 ms");
        assert_eq!(queue.waiting(), 256);
        // Retransmissions are charged, too.
        let credit = queue.credit[0];
        assert_eq!((queue.left(3), queue.credit[0]), (100, credit - 100.0));
        queue.close();
        assert!(queue.closed && queue.waiting() == 0);
    }

    #[test]
    fn unacknowledged_message_limits_how_far_later_ones_may_be_ahead() {
        let mut queue = ReliableSendQueue::default();
        for _ in 0..400 {
            let _ = queue.push(vec![0; 2], 1_000);
        }
        queue.refill(1e6, Duration::from_secs(1));
        assert_eq!(core::iter::from_fn(|| queue.next(1e6, RTT)).count(), 255);
        (1..255).for_each(|id| queue.acked(id));
        (1..300).for_each(|id| queue.acked(id));
        assert_eq!((queue.next(1e6, RTT), queue.waiting()), (None, 400), "the server would keep too much");
        assert_eq!(queue.bytes_in_flight, 2);
        queue.acked(0);
        assert_eq!((queue.waiting(), queue.bytes_in_flight, queue.first), (145, 0, 255));
        queue.acked(7);
        assert!(queue.next(1e6, RTT).is_some());
    }

    #[test]
    fn message_larger_than_the_budget_is_still_sent() {
        let mut queue = ReliableSendQueue::default();
        (0..5).for_each(|_| assert!(queue.push(vec![0; 1_000], 256)));
        let left: usize = frames(&mut queue, 600, Some(10), 1_000.0).iter().sum();
        assert_eq!(left, 5);
    }
}
