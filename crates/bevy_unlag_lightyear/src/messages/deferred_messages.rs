//! Queue for messages about pawns that have not spawned on this client yet.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::NetId;

/// A queued message.
pub(super) struct DeferredMessage {
    pub about: NetId,
    pub bytes: Vec<u8>,
    pub reliable: bool,
    since: Duration,
}

/// All queued messages, oldest first.
#[derive(Resource, Default)]
pub(super) struct DeferredMessages(VecDeque<DeferredMessage>);

impl DeferredMessages {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Queues a message unless `most` are queued already. Returns whether it was queued.
    pub(super) fn push(
        &mut self,
        about: NetId,
        bytes: Vec<u8>,
        reliable: bool,
        now: Duration,
        most: usize,
    ) -> bool {
        let room = self.0.len() < most;
        if room {
            self.0.push_back(DeferredMessage { about, bytes, reliable, since: now });
        }
        room
    }

    /// Takes out, in order, the messages whose pawn has spawned. Returns how many were dropped because they
    /// waited too long.
    pub(super) fn take(
        &mut self,
        is_here: impl Fn(NetId) -> bool,
        now: Duration,
        longest: Duration,
        mut arrived: impl FnMut(DeferredMessage),
    ) -> u64 {
        let mut expired = 0;
        for _ in 0..self.0.len() {
            let Some(late) = self.0.pop_front() else { break };
            if is_here(late.about) {
                arrived(late);
            } else if now.saturating_sub(late.since) >= longest {
                expired += 1;
            } else {
                self.0.push_back(late);
            }
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn taken(waiting: &mut DeferredMessages, here: u16, now: Duration) -> (Vec<u8>, u64) {
        let mut taken = Vec::new();
        let expired = waiting.take(|id| id == NetId(here), now, SECOND * 5, |late| taken.push(late.bytes[0]));
        (taken, expired)
    }

    #[test]
    fn messages_wait_in_order_for_their_pawn_and_expire() {
        let mut waiting = DeferredMessages::default();
        for (number, about) in (0..).zip([1, 2, 1, 1, 2, 3]) {
            assert!(waiting.push(NetId(about), vec![number], true, SECOND, 6));
        }
        assert!(!waiting.push(NetId(1), vec![9], true, SECOND, 6), "the queue is full");
        assert_eq!(taken(&mut waiting, 1, SECOND * 2), (vec![0, 2, 3], 0));
        assert!(waiting.push(NetId(2), vec![6], true, SECOND * 2, 6));
        assert_eq!(
            taken(&mut waiting, 2, SECOND * 6),
            (vec![1, 4, 6], 1),
            "the message about the third pawn has expired"
        );
        assert_eq!(waiting.len(), 0);
    }
}
