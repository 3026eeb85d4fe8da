//! What a link still has to send of reliable messages, and how much of a line messages may take.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::prelude::*;
use lightyear::{link::Link, prelude::Transport};
use lightyear_transport::channel::ChannelKind;

use crate::{protocol::GameOrderedChannel, snapshots::Outlet};

/// How far the newest message on its way may be ahead of the first that is missing. A server keeps 256.
const SPAN: usize = 255;
/// A budget that was not used up is kept for this long: more at once would be a queue on the line.
const KEPT: f32 = 0.25;

/// A message that lightyear has.
#[derive(Clone, Copy, Debug)]
struct Flying {
    bytes: u16,
    left: bool,
    acked: bool,
}

/// The messages of one link.
#[derive(Component, Default, Debug)]
pub(crate) struct GameOutlet {
    /// Reliable ones that lightyear does not have yet.
    queue: VecDeque<Vec<u8>>,
    /// Those that it has, from the first that has not arrived on.
    flying: VecDeque<Flying>,
    /// What lightyear calls the first of them.
    first: u16,
    bytes_flying: usize,
    /// Bytes that may be sent now, of reliable and of unreliable ones. One message may overdraw it.
    credit: [f32; 2],
    /// Too many waited: the link is about to end.
    pub closed: bool,
}

impl GameOutlet {
    /// Queues a reliable message if there is room for it.
    pub(super) fn push(&mut self, bytes: Vec<u8>, most: usize) -> bool {
        let room = self.waiting() < most;
        if room {
            self.queue.push_back(bytes);
        }
        room
    }

    /// Reliable messages that have not arrived, or come after one that has not.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.flying.len()
    }

    pub(super) fn close(&mut self) {
        *self = Self { closed: true, ..default() };
    }

    pub(super) fn refill(&mut self, rate: f32, passed: Duration) {
        for credit in &mut self.credit {
            *credit = (*credit + rate * passed.as_secs_f32()).min(rate * KEPT);
        }
    }

    /// The next reliable message that may leave now. No more is on its way than the line carries in a round trip:
    /// each comes again until it is acknowledged, and on a line that is down that is all that comes.
    pub(super) fn next(&mut self, rate: f32, round_trip: Duration) -> Option<Vec<u8>> {
        let window = rate * (round_trip.as_secs_f32() + KEPT);
        let fits = self.flying.is_empty() || self.flying.len() < SPAN && (self.bytes_flying as f32) < window;
        if self.credit[0] <= 0.0 || !fits {
            return None;
        }
        let bytes = self.queue.pop_front()?;
        self.credit[0] -= bytes.len() as f32;
        self.bytes_flying += bytes.len();
        self.flying.push_back(Flying { bytes: bytes.len() as u16, left: false, acked: false });
        Some(bytes)
    }

    /// Whether an unreliable message of this length may leave now.
    pub(super) fn has_room(&self) -> bool {
        self.credit[1] > 0.0
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.credit[1] -= bytes as f32;
    }

    fn flying(&mut self, id: u16) -> Option<&mut Flying> {
        self.flying.get_mut(usize::from(id.wrapping_sub(self.first)))
    }

    /// A message has arrived.
    fn acked(&mut self, id: u16) {
        let Some(one) = self.flying(id).filter(|one| !one.acked) else { return };
        one.acked = true;
        self.bytes_flying -= usize::from(one.bytes);
        while self.flying.front().is_some_and(|one| one.acked) {
            self.flying.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// A message has left. Its bytes, if it has left before.
    fn left(&mut self, id: u16) -> usize {
        let Some(one) = self.flying(id) else { return 0 };
        let again = if one.left { usize::from(one.bytes) } else { 0 };
        one.left = true;
        self.credit[0] -= again as f32;
        again
    }
}

/// Learns from lightyear what has left and what has arrived.
pub(super) fn account(mut links: Query<(&Transport, &mut GameOutlet, Option<&mut Outlet>), With<Link>>) {
    for (transport, mut outlet, mut snapshots) in &mut links {
        if outlet.flying.is_empty() {
            continue;
        }
        let Some(channel) = transport.channel_send(ChannelKind::of::<GameOrderedChannel>()) else { continue };
        for id in channel.messages_sent() {
            let again = outlet.left(id.0);
            if let Some(snapshots) = &mut snapshots {
                snapshots.spend(again);
            }
        }
        for id in channel.message_acks() {
            outlet.acked(id.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(10);
    const RTT: Duration = Duration::from_millis(100);

    /// Frames of a line on which everything arrives this many frames later, or nothing ever does.
    fn frames(outlet: &mut GameOutlet, count: usize, delay: Option<usize>, rate: f32) -> Vec<usize> {
        let (mut on_the_way, mut next) = (VecDeque::new(), outlet.first);
        (0..count)
            .map(|frame| {
                outlet.refill(rate, FRAME);
                let mut left = 0;
                while outlet.next(rate, RTT).is_some() {
                    outlet.left(next);
                    on_the_way.push_back((frame, next));
                    next = next.wrapping_add(1);
                    left += 1;
                }
                while let Some((_, id)) =
                    delay.and_then(|delay| on_the_way.pop_front_if(|(sent, _)| *sent + delay <= frame))
                {
                    outlet.acked(id);
                }
                left
            })
            .collect()
    }

    #[test]
    fn a_few_leave_at_once_and_a_flood_leaves_at_its_rate() {
        let mut outlet = GameOutlet { first: u16::MAX - 20, ..default() };
        outlet.refill(8_000.0, Duration::from_secs(9));
        (0..3).for_each(|_| assert!(outlet.push(vec![0; 40], 256)));
        assert_eq!(frames(&mut outlet, 1, Some(10), 8_000.0), [3]);
        (0..3).for_each(|id| outlet.acked((u16::MAX - 20).wrapping_add(id)));
        assert_eq!((outlet.waiting(), outlet.bytes_flying), (0, 0));

        (0..200).for_each(|_| assert!(outlet.push(vec![0; 100], 256)));
        let left = frames(&mut outlet, 100, Some(10), 8_000.0);
        let sum: usize = left.iter().sum();
        // A second's worth, and the quarter of one that was saved.
        assert!((78..=102).contains(&sum) && left[0] <= 21, "{left:?}");
        assert!(left[50..].iter().all(|left| *left <= 2), "{left:?}");
    }

    #[test]
    fn a_line_that_is_down_gets_no_more_than_a_round_trip_s_worth() {
        let mut outlet = GameOutlet::default();
        let mut taken = 0;
        for _ in 0..400 {
            taken += usize::from(outlet.push(vec![0; 100], 256));
        }
        assert_eq!(taken, 256, "the queue has an end");
        let left: usize = frames(&mut outlet, 1_000, None, 8_000.0).iter().sum();
        assert_eq!(left, 28, "8,000 bytes a second for 350 ms");
        assert_eq!(outlet.waiting(), 256);
        // What comes again counts as well.
        let credit = outlet.credit[0];
        assert_eq!((outlet.left(3), outlet.credit[0]), (100, credit - 100.0));
        outlet.close();
        assert!(outlet.closed && outlet.waiting() == 0);
    }

    #[test]
    fn what_is_missing_holds_back_what_comes_after_it() {
        let mut outlet = GameOutlet::default();
        for _ in 0..400 {
            let _ = outlet.push(vec![0; 2], 1_000);
        }
        outlet.refill(1e6, Duration::from_secs(1));
        assert_eq!(core::iter::from_fn(|| outlet.next(1e6, RTT)).count(), 255);
        (1..255).for_each(|id| outlet.acked(id));
        (1..300).for_each(|id| outlet.acked(id));
        assert_eq!((outlet.next(1e6, RTT), outlet.waiting()), (None, 400), "the server would keep too much");
        assert_eq!(outlet.bytes_flying, 2);
        outlet.acked(0);
        assert_eq!((outlet.waiting(), outlet.bytes_flying, outlet.first), (145, 0, 255));
        outlet.acked(7);
        assert!(outlet.next(1e6, RTT).is_some());
    }

    #[test]
    fn a_large_message_passes_a_small_budget() {
        let mut outlet = GameOutlet::default();
        (0..5).for_each(|_| assert!(outlet.push(vec![0; 1_000], 256)));
        let left: usize = frames(&mut outlet, 600, Some(10), 1_000.0).iter().sum();
        assert_eq!(left, 5);
    }
}
