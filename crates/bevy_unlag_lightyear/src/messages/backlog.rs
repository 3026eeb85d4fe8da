//! What lightyear keeps of reliable messages until a client says that it has them: all of it comes again and again,
//! so a client that never says so would make the server keep and send more and more.

use bevy::{platform::collections::HashMap, prelude::*};
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};
use lightyear_transport::channel::ChannelKind;

use super::{GameOutlet, MessageLimits};
use crate::{Kick, KickReason};

/// One channel of one link.
#[derive(Clone, Copy, Default, Debug)]
struct Unheard {
    /// How many messages have left at least once. Their numbers wrap, this does not.
    sent: u64,
    /// How many of them have arrived.
    arrived: u64,
}

impl Unheard {
    /// A message of this number has left, again or for the first time. They leave almost in their order.
    fn left(&mut self, number: u16) {
        let ahead = number.wrapping_sub(self.sent as u16).cast_signed();
        if ahead >= 0 {
            self.sent += ahead.unsigned_abs() as u64 + 1;
        }
    }

    fn waiting(self) -> u64 {
        self.sent.saturating_sub(self.arrived)
    }
}

/// All channels of one link.
#[derive(Component, Default, Debug)]
pub(super) struct Backlog(HashMap<ChannelKind, Unheard>);

impl Backlog {
    /// The most that any channel waits for.
    fn most(&self) -> u64 {
        self.0.values().map(|unheard| unheard.waiting()).max().unwrap_or(0)
    }
}

/// Throws out who does not listen: the suite's own messages and replication's, on whatever reliable channel. Those of
/// the game have a queue of their own, [`GameOutlet`].
pub(super) fn bound(
    limits: Res<MessageLimits>,
    mut links: Query<
        (Entity, &Transport, &mut Backlog),
        (With<ClientOf>, With<GameOutlet>, Without<HostClient>),
    >,
    mut commands: Commands,
) {
    for (entity, transport, mut backlog) in &mut links {
        let mut changed = false;
        for (kind, channel) in transport.channel_sends() {
            let (sent, arrived) = (channel.messages_sent(), channel.message_acks());
            if !channel.mode().is_reliable() || sent.is_empty() && arrived.is_empty() {
                continue;
            }
            let unheard = backlog.0.entry(kind).or_default();
            sent.iter().for_each(|id| unheard.left(id.0));
            unheard.arrived += arrived.len() as u64;
            changed = true;
        }
        if changed && backlog.most() > limits.unacknowledged as u64 {
            commands.trigger(Kick { entity, reason: KickReason::QueueOverflow });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_again_counts_once_and_numbers_wrap() {
        let mut unheard = Unheard::default();
        for number in 0..70_000_u32 {
            unheard.left(number as u16);
            // Again, and one that is long past.
            unheard.left(number as u16);
            unheard.left(number.saturating_sub(200) as u16);
        }
        assert_eq!(unheard.sent, 70_000);
        unheard.arrived = 69_000;
        assert_eq!(unheard.waiting(), 1_000);
        // Out of order.
        unheard.left((70_003_u32) as u16);
        assert_eq!(unheard.waiting(), 1_004);
        unheard.left((70_001_u32) as u16);
        assert_eq!(unheard.waiting(), 1_004);
    }
}
