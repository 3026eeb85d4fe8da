//! Share of replication in the downlink budget of each client.
//!
//! Replicon writes its messages into [`ServerMessages`], and lightyear takes them from there. In between, those over
//! the budget are taken out: mutations are dropped, because replicon sends the newest value again until it is
//! acknowledged, and updates (spawns, insertions, removals, despawns) wait in their order.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_replicon::{
    bytes::Bytes,
    prelude::{ServerMessages, ServerSystems},
    shared::backend::channels::ServerChannel,
};
use lightyear_guard::{Kick, KickReason};

use crate::{
    bandwidth::Bandwidth,
    budget::SnapshotSendQueue,
    message_class::MessageClass,
    messages::MessageLimits,
    system_sets::{NetSystems, SendSystems},
};

/// Unused credit accumulates up to this share of the capacity of the whole budget.
const CAPACITY: f32 = 0.5;
/// Capacity of a small budget, in bytes.
const MIN_CAPACITY: f32 = 600.0;
/// Seconds of the whole budget after which the debt of a large message is forgiven.
const DEBT_SECONDS: f32 = 1.0;

/// Seconds for which more than the limit may wait, for example while a level is streamed.
const OVERFLOW_SECONDS: f32 = 5.0;

/// Replication of one client.
#[derive(Component, Default, Debug)]
pub(crate) struct ReplicationQueue {
    /// Bytes that may be sent now. One message may overdraw it.
    credit: f32,
    /// Maximum debt, in bytes.
    max_debt: f32,
    /// Updates that wait.
    updates: VecDeque<Bytes>,
    update_bytes: usize,
    /// Seconds for which more than the limit has waited.
    over: f32,
    /// Sizes of this frame's mutation messages, and how many of them have been looked at.
    sizes: Vec<usize>,
    seen: usize,
    /// First of the mutation messages that are sent in this frame, cyclically, and their number.
    first: usize,
    sent: usize,
    /// First message of the next frame, so that none is left out for ever.
    next: usize,
    /// Whether too many updates waited: the connection is about to end.
    closed: bool,
}

impl ReplicationQueue {
    /// Starts a frame. `share` is the rate that replication always gets, in bytes per second.
    fn refill(&mut self, budget: &mut SnapshotSendQueue, share: f32, seconds: f32) {
        self.sizes.clear();
        (self.seen, self.first, self.sent) = (0, 0, 0);
        self.max_debt = (budget.rate * DEBT_SECONDS).max(share);
        let capacity = (budget.capacity * CAPACITY).max(MIN_CAPACITY);
        let room = (capacity - self.credit).max(0.0);
        let own = (share * seconds).min(room);
        budget.charge(own);
        self.credit += own + budget.take_surplus(room - own);
    }

    fn spend(&mut self, bytes: usize) {
        self.credit = (self.credit - bytes as f32).max(-self.max_debt);
    }

    /// Returns whether an update may be sent now. Otherwise it waits.
    fn pass_update(&mut self, message: &Bytes) -> bool {
        if self.closed {
            return false;
        }
        let passes = self.updates.is_empty() && self.credit > 0.0;
        if passes {
            self.spend(message.len());
        } else {
            self.update_bytes += message.len();
            self.updates.push_back(message.clone());
        }
        passes
    }

    /// Returns the next waiting update that may be sent now.
    fn next_update(&mut self) -> Option<Bytes> {
        if self.credit <= 0.0 {
            return None;
        }
        let message = self.updates.pop_front()?;
        self.update_bytes -= message.len();
        self.spend(message.len());
        Some(message)
    }

    /// Returns whether more than `most` bytes have waited for too long. The first update does not count, however large
    /// it is.
    fn is_over(&mut self, most: usize, seconds: f32) -> bool {
        let is_more = self.updates.front().is_some_and(|first| self.update_bytes - first.len() > most);
        self.over = if is_more { self.over + seconds } else { 0.0 };
        self.over > OVERFLOW_SECONDS
    }

    fn close(&mut self) {
        *self = Self { closed: true, ..default() };
    }

    /// Returns whether the next mutation message of this frame may be sent.
    fn pass_mutation(&mut self) -> bool {
        if self.seen == 0 {
            self.choose_mutations();
        }
        let count = self.sizes.len().max(1);
        let place = (self.seen + count - self.first) % count;
        self.seen += 1;
        place < self.sent
    }

    fn choose_mutations(&mut self) {
        let count = self.sizes.len().max(1);
        self.first = self.next % count;
        // Clients cannot apply mutations before the updates that were written before them.
        while self.sent < count && self.credit > 0.0 && self.updates.is_empty() && !self.closed {
            let size = self.sizes.get((self.first + self.sent) % count);
            self.spend(size.copied().unwrap_or(0));
            self.sent += 1;
        }
        self.next = self.first + self.sent;
    }

    /// Number of this frame's mutation messages over the budget.
    fn dropped_mutations(&self) -> usize {
        self.sizes.len().saturating_sub(self.sent)
    }
}

pub(crate) fn server_plugin(app: &mut App) {
    app.register_required_components::<SnapshotSendQueue, ReplicationQueue>().add_systems(
        PostUpdate,
        limit
            .after(SendSystems::Shots)
            .after(NetSystems::SendMessages)
            .after(ServerSystems::Send)
            .before(ServerSystems::SendPackets),
    );
}

/// Takes out of replicon's messages what is over the budget of their clients.
fn limit(
    time: Res<Time<Real>>,
    limits: Res<MessageLimits>,
    mut messages: ResMut<ServerMessages>,
    mut links: Query<(Entity, &mut SnapshotSendQueue, &mut ReplicationQueue)>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    let (updates, mutations) = (usize::from(ServerChannel::Updates), usize::from(ServerChannel::Mutations));
    for (_, mut budget, mut queue) in &mut links {
        let share = limits.replication(budget.rate);
        queue.refill(&mut budget, share, time.delta_secs());
    }
    for (client, channel, message) in messages.iter_sent() {
        if channel == mutations
            && let Ok((_, _, mut queue)) = links.get_mut(client)
        {
            queue.sizes.push(message.len());
        }
    }
    messages.retain_sent(|(client, channel, message)| {
        let Ok((_, _, mut queue)) = links.get_mut(*client) else { return true };
        let passes = if *channel == updates {
            queue.pass_update(message)
        } else if *channel == mutations {
            queue.pass_mutation()
        } else {
            return true;
        };
        if passes {
            bandwidth.count(MessageClass::Replication, message.len(), 1);
        } else {
            bandwidth.defer(MessageClass::Replication, 1);
        }
        passes
    });
    let mut kicked = (0_usize, 0);
    for (entity, _, mut queue) in &mut links {
        while let Some(message) = queue.next_update() {
            bandwidth.count(MessageClass::Replication, message.len(), 1);
            messages.send(entity, ServerChannel::Updates, message);
        }
        if queue.is_over(limits.replication_queue, time.delta_secs()) {
            let waiting = queue.update_bytes;
            kicked = (kicked.0 + 1, kicked.1.max(waiting));
            queue.close();
            commands.trigger(Kick { entity, reason: KickReason::QueueOverflow });
        }
        let dropped = queue.dropped_mutations();
        if dropped > 0 {
            let due: usize = queue.sizes.iter().sum();
            warn_once!(
                "the game's replicated components are over the downlink budget of a client: {due} bytes are due at \
                 once, and {dropped} of {} messages wait. Clients get some of the changes only. Change components less \
                 often, or raise DownlinkBudget",
                queue.sizes.len()
            );
        }
    }
    let (clients, waiting) = kicked;
    if clients > 0 {
        error!(
            "for {OVERFLOW_SECONDS} s, up to {waiting} bytes of replicated spawns, insertions and removals wait \
             for each of {clients} clients, more than MessageLimits::replication_queue: disconnecting them. Insert and \
             remove replicated components less often, or raise DownlinkBudget"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::DownlinkBudget;

    const FRAME: f32 = 0.05;
    const RATE: u32 = 64_000;
    const SHARE: f32 = 6_400.0;

    fn message(bytes: usize) -> Bytes {
        Bytes::from(vec![0; bytes])
    }

    /// Runs frames in which `count` mutation messages of 1,000 bytes are due. Returns how often each was sent.
    fn flood(queue: &mut ReplicationQueue, frames: usize, count: usize, is_deferring: bool) -> Vec<usize> {
        let mut budget = SnapshotSendQueue { is_deferring, ..default() };
        let mut sent = vec![0; count];
        for _ in 0..frames {
            budget.refill(DownlinkBudget { bytes_per_second: RATE }, FRAME);
            queue.refill(&mut budget, SHARE, FRAME);
            queue.sizes.extend((0..count).map(|_| 1_000));
            sent.iter_mut().for_each(|sent| *sent += usize::from(queue.pass_mutation()));
        }
        sent
    }

    #[test]
    fn flood_of_mutations_gets_the_surplus_and_every_message_its_turn() {
        let mut queue = ReplicationQueue::default();
        let sent = flood(&mut queue, 400, 100, false);
        let bytes = sent.iter().sum::<usize>() * 1_000;
        // 20 seconds, and the capacity that stays for other classes.
        assert!((1_240_000..=1_300_000).contains(&bytes), "{bytes} bytes");
        let (least, most) = (sent.iter().min(), sent.iter().max());
        assert!(least.is_some_and(|least| *least >= 11) && most.is_some_and(|most| *most <= 14), "{sent:?}");
    }

    #[test]
    fn deferred_snapshots_leave_replication_its_share() {
        let mut queue = ReplicationQueue::default();
        let sent = flood(&mut queue, 400, 100, true);
        let bytes = sent.iter().sum::<usize>() * 1_000;
        assert!((127_000..=130_000).contains(&bytes), "{bytes} bytes in 20 s of 6,400 each");
        assert!(sent.iter().all(|sent| *sent > 0), "{sent:?}");
    }

    #[test]
    fn updates_keep_their_order_and_precede_mutations() {
        let mut queue = ReplicationQueue::default();
        let mut budget = SnapshotSendQueue { is_deferring: true, ..default() };
        let mut refill = |queue: &mut ReplicationQueue| {
            budget.refill(DownlinkBudget { bytes_per_second: RATE }, FRAME);
            queue.refill(&mut budget, SHARE, FRAME);
        };
        refill(&mut queue);
        assert!(queue.pass_update(&message(1_000)), "one message may overdraw the credit");
        assert!(!queue.pass_update(&message(7)) && !queue.pass_update(&message(8)));
        queue.sizes.push(10);
        assert!(!queue.pass_mutation(), "it would wait on the client");
        assert_eq!((queue.next_update(), queue.dropped_mutations()), (None, 1));
        (0..4).for_each(|_| refill(&mut queue));
        assert!(!queue.pass_update(&message(9)), "others wait before it");
        let order: Vec<_> =
            core::iter::from_fn(|| queue.next_update()).map(|message| message.len()).collect();
        assert_eq!((order, queue.update_bytes), (vec![7, 8, 9], 0));
    }

    #[test]
    fn waiting_updates_are_bounded_but_for_the_first() {
        let mut queue = ReplicationQueue::default();
        assert!(!queue.pass_update(&message(10_000)));
        let is_over = |queue: &mut ReplicationQueue| (0..6).any(|_| queue.is_over(1_000, 1.0));
        assert!(!is_over(&mut queue), "a large world must reach a client that joins");
        assert!(
            !queue.pass_update(&message(1_001)) && !queue.is_over(1_000, OVERFLOW_SECONDS),
            "a level may be large"
        );
        assert!(is_over(&mut queue));
        queue.close();
        assert!(!queue.pass_update(&message(1)) && queue.update_bytes == 0 && !is_over(&mut queue));
    }

    #[test]
    fn debt_of_a_large_message_is_bounded() {
        let mut queue = ReplicationQueue::default();
        let mut budget = SnapshotSendQueue::default();
        budget.refill(DownlinkBudget { bytes_per_second: RATE }, FRAME);
        queue.refill(&mut budget, SHARE, FRAME);
        assert!(queue.pass_update(&message(10_000_000)));
        assert_eq!(queue.credit, -64_000.0);
        let frames = (1..100).find(|_| {
            budget.refill(DownlinkBudget { bytes_per_second: RATE }, FRAME);
            queue.refill(&mut budget, SHARE, FRAME);
            queue.credit > 0.0
        });
        assert!(frames.is_some_and(|frames| frames <= 25), "{frames:?}: more than a second and a quarter");
    }
}
