//! What lightyear keeps of reliable messages until a client says that it has them: all of it comes again and again,
//! so a client that never says so would make the server keep and send more and more.

use core::time::Duration;

use bevy::{platform::collections::HashMap, prelude::*};
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};
use lightyear_transport::channel::ChannelKind;

use super::{GameOutlet, MessageLimits};
use lightyear_guard::{Kick, KickReason};

/// One channel of one link.
#[derive(Clone, Copy, Default, Debug)]
struct Unheard {
    /// How many messages have left at least once. Their numbers wrap, this does not.
    sent: u64,
    /// How many of them have arrived.
    arrived: u64,
    /// When the last of them was acknowledged, or there was nothing to acknowledge.
    heard: Duration,
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

    /// A lot at once is no offence: it has to be left lying, too.
    fn is_too_much(self, limit: u64, now: Duration) -> bool {
        let waiting = self.waiting();
        waiting > limit && now.saturating_sub(self.heard) > SILENCE || waiting > limit.saturating_mul(SPREE)
    }
}

/// So long without a word of a channel is silence.
const SILENCE: Duration = Duration::from_secs(2);
/// So many times the limit is too much, whatever is acknowledged of it now and then.
const SPREE: u64 = 8;

/// All channels of one link.
#[derive(Component, Default, Debug)]
pub(super) struct Backlog(HashMap<ChannelKind, Unheard>);

/// Throws out who does not listen, on whatever reliable channel: the suite's, replication's or a game's own. The suite's
/// game messages have a queue of their own, too: [`GameOutlet`].
pub(super) fn bound(
    time: Res<Time<Real>>,
    limits: Res<MessageLimits>,
    mut links: Query<
        (Entity, &Transport, &mut Backlog),
        (With<ClientOf>, With<GameOutlet>, Without<HostClient>),
    >,
    mut commands: Commands,
) {
    for (entity, transport, mut backlog) in &mut links {
        let (now, limit) = (time.elapsed(), limits.unacknowledged as u64);
        let mut is_deaf = false;
        for (kind, channel) in transport.channel_sends() {
            let (sent, arrived) = (channel.messages_sent(), channel.message_acks());
            if !channel.mode().is_reliable() || sent.is_empty() && arrived.is_empty() {
                continue;
            }
            let unheard = backlog.0.entry(kind).or_default();
            if !arrived.is_empty() || unheard.waiting() == 0 {
                unheard.heard = now;
            }
            sent.iter().for_each(|id| unheard.left(id.0));
            unheard.arrived += arrived.len() as u64;
            is_deaf |= unheard.is_too_much(limit, now);
        }
        if is_deaf {
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

    #[test]
    fn a_lot_at_once_is_no_offence_and_silence_is() {
        let second = Duration::from_secs;
        let unheard = Unheard { sent: 1_500, arrived: 100, heard: second(10) };
        assert!(!unheard.is_too_much(1_024, second(11)));
        assert!(unheard.is_too_much(1_024, second(13)));
        assert!(!unheard.is_too_much(1_400, second(60)));
        // Who acknowledges one of them now and then.
        assert!(unheard.is_too_much(170, second(10)));
    }
}
