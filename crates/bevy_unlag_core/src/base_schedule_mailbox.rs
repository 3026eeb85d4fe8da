//! Mailbox of the schedules of movement bases, between the crate that moves the bases and the transport.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy::prelude::*;

/// Maximum number of received messages that wait; beyond it the oldest is dropped.
const MAX_RECEIVED: usize = 4_096;

/// Encoded schedules of movement bases that move on command, one message for each base. On a server the crate
/// that moves the bases publishes them, and the transport sends them reliably, in any order: the latest ones to
/// all clients, and all of them to a client that joins. On a client the transport delivers them.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct BaseScheduleMailbox {
    /// Whether a server decides where this app's bases move. The transport sets it on a client while that is
    /// connected; otherwise this app decides.
    pub follows_server: bool,
    /// Newest message of each base.
    #[reflect(ignore)]
    published: BTreeMap<u16, Vec<u8>>,
    /// Bases whose message goes to all clients in this frame.
    #[reflect(ignore)]
    due: BTreeSet<u16>,
    #[reflect(ignore)]
    received: VecDeque<Vec<u8>>,
}

impl BaseScheduleMailbox {
    /// Replaces the message of a base and queues it for all clients.
    pub fn publish(&mut self, base: u16, message: Vec<u8>) {
        self.published.insert(base, message);
        self.due.insert(base);
    }

    /// Returns the newest message of every base, for a client that joins.
    pub fn published(&self) -> impl Iterator<Item = &[u8]> {
        self.published.values().map(Vec::as_slice)
    }

    /// Returns whether there are messages for all clients.
    #[must_use]
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Removes the messages for all clients and returns them.
    pub fn take_due(&mut self) -> Vec<Vec<u8>> {
        let due = core::mem::take(&mut self.due);
        due.iter().filter_map(|base| self.published.get(base).cloned()).collect()
    }

    /// Adds a message from the server.
    pub fn deliver(&mut self, message: Vec<u8>) {
        if self.received.len() == MAX_RECEIVED {
            self.received.pop_front();
        }
        self.received.push_back(message);
    }

    /// Returns whether there are messages from the server.
    #[must_use]
    pub fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    /// Removes the messages from the server and returns them, oldest first.
    pub fn take_received(&mut self) -> VecDeque<Vec<u8>> {
        core::mem::take(&mut self.received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_client_gets_every_base_and_the_others_get_changes_once() {
        let mut mailbox = BaseScheduleMailbox::default();
        mailbox.publish(4, vec![1]);
        mailbox.publish(7, vec![2]);
        mailbox.publish(4, vec![3]);
        assert!(mailbox.has_due());
        assert_eq!(mailbox.take_due(), [vec![3_u8], vec![2_u8]]);
        assert!(!mailbox.has_due() && mailbox.take_due().is_empty());
        assert_eq!(mailbox.published().collect::<Vec<_>>(), [&[3_u8][..], &[2_u8][..]]);
    }

    #[test]
    fn flood_of_received_messages_is_bounded() {
        let mut mailbox = BaseScheduleMailbox::default();
        for number in 0..MAX_RECEIVED + 10 {
            mailbox.deliver(vec![number as u8]);
        }
        assert!(mailbox.has_received());
        assert_eq!(mailbox.take_received().len(), MAX_RECEIVED);
        assert!(!mailbox.has_received());
    }
}
