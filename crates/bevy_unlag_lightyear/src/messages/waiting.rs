//! Messages about pawns that are not here yet.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::NetId;

/// One of them.
pub(super) struct Late {
    pub about: NetId,
    pub bytes: Vec<u8>,
    pub reliable: bool,
    since: Duration,
}

/// All of them, the longest waiting first.
#[derive(Resource, Default)]
pub(super) struct Waiting(VecDeque<Late>);

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there is a place for one more, which it takes.
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
            self.0.push_back(Late { about, bytes, reliable, since: now });
        }
        room
    }

    /// Takes out, in their order, those whose pawn has come. How many have waited for too long and are gone.
    pub(super) fn take(
        &mut self,
        is_here: impl Fn(NetId) -> bool,
        now: Duration,
        longest: Duration,
        mut arrived: impl FnMut(Late),
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

    fn taken(waiting: &mut Waiting, here: u16, now: Duration) -> (Vec<u8>, u64) {
        let mut taken = Vec::new();
        let expired = waiting.take(|id| id == NetId(here), now, SECOND * 5, |late| taken.push(late.bytes[0]));
        (taken, expired)
    }

    #[test]
    fn they_wait_in_order_for_their_pawn_and_not_for_ever() {
        let mut waiting = Waiting::default();
        for (number, about) in (0..).zip([1, 2, 1, 1, 2, 3]) {
            assert!(waiting.push(NetId(about), vec![number], true, SECOND, 6));
        }
        assert!(!waiting.push(NetId(1), vec![9], true, SECOND, 6), "there is no more room");
        assert_eq!(taken(&mut waiting, 1, SECOND * 2), (vec![0, 2, 3], 0));
        assert!(waiting.push(NetId(2), vec![6], true, SECOND * 2, 6));
        assert_eq!(taken(&mut waiting, 2, SECOND * 6), (vec![1, 4, 6], 1), "the third pawn's is too old");
        assert_eq!(waiting.len(), 0);
    }
}
