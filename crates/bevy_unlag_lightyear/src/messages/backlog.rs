//! Bound on unacknowledged reliable messages. lightyear keeps and retransmits every reliable message until it
//! is acknowledged, so a client that never acknowledges would make the server store and send more and more.

use core::time::Duration;

use bevy::{platform::collections::HashMap, prelude::*};
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};
use lightyear_transport::channel::ChannelKind;

use super::{MessageLimits, ReliableSendQueue};
use lightyear_guard::{Kick, KickReason};

/// Acknowledgement state of one channel of one link.
#[derive(Clone, Copy, Default, Debug)]
struct ChannelBacklog {
    /// Messages sent at least once. Their ids wrap, this number does not.
    sent: u64,
    /// Messages acknowledged.
    acked: u64,
    /// Last time at which a message was acknowledged, or none was outstanding.
    last_ack: Duration,
}

impl ChannelBacklog {
    /// Records that the message `number` was sent, for the first time or again. Messages are sent nearly in
    /// order.
    fn left(&mut self, number: u16) {
        let ahead = number.wrapping_sub(self.sent as u16).cast_signed();
        if ahead >= 0 {
            self.sent += ahead.unsigned_abs() as u64 + 1;
        }
    }

    fn waiting(self) -> u64 {
        self.sent.saturating_sub(self.acked)
    }

    /// Whether the channel has too many outstanding messages. A short burst above the limit is no offence:
    /// the client must also have stopped acknowledging.
    fn is_too_much(self, limit: u64, now: Duration) -> bool {
        let waiting = self.waiting();
        waiting > limit && now.saturating_sub(self.last_ack) > ACK_TIMEOUT
            || waiting > limit.saturating_mul(HARD_LIMIT_FACTOR)
    }
}

/// Time without an acknowledgement after which the limit applies.
const ACK_TIMEOUT: Duration = Duration::from_secs(2);
/// Multiple of the limit that is always too much, even if the client acknowledges a message now and then.
const HARD_LIMIT_FACTOR: u64 = 8;

/// Acknowledgement state of all channels of one link.
#[derive(Component, Default, Debug)]
pub(super) struct LinkBacklog(HashMap<ChannelKind, ChannelBacklog>);

/// Kicks clients that do not acknowledge, on any reliable channel: the suite's, replication's or a game's
/// own. The suite's game messages also have a send queue of their own: [`ReliableSendQueue`].
pub(super) fn kick_unresponsive(
    time: Res<Time<Real>>,
    limits: Res<MessageLimits>,
    mut links: Query<
        (Entity, &Transport, &mut LinkBacklog),
        (With<ClientOf>, With<ReliableSendQueue>, Without<HostClient>),
    >,
    mut commands: Commands,
) {
    for (entity, transport, mut backlog) in &mut links {
        let (now, limit) = (time.elapsed(), limits.unacknowledged as u64);
        let mut is_deaf = false;
        for (kind, channel) in transport.channel_sends() {
            let (sent, acked) = (channel.messages_sent(), channel.message_acks());
            if !channel.mode().is_reliable() || sent.is_empty() && acked.is_empty() {
                continue;
            }
            let unheard = backlog.0.entry(kind).or_default();
            if !acked.is_empty() || unheard.waiting() == 0 {
                unheard.last_ack = now;
            }
            sent.iter().for_each(|id| unheard.left(id.0));
            unheard.acked += acked.len() as u64;
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
    fn retransmitted_messages_count_once_across_the_id_wrap() {
        let mut unheard = ChannelBacklog::default();
        for number in 0..70_000_u32 {
            unheard.left(number as u16);
            // Retransmissions: the same message, and one long acknowledged.
            unheard.left(number as u16);
            unheard.left(number.saturating_sub(200) as u16);
        }
        assert_eq!(unheard.sent, 70_000);
        unheard.acked = 69_000;
        assert_eq!(unheard.waiting(), 1_000);
        // Sent out of order.
        unheard.left((70_003_u32) as u16);
        assert_eq!(unheard.waiting(), 1_004);
        unheard.left((70_001_u32) as u16);
        assert_eq!(unheard.waiting(), 1_004);
    }

    #[test]
    fn burst_above_the_limit_is_tolerated_until_acknowledgements_stop() {
        let second = Duration::from_secs;
        let unheard = ChannelBacklog { sent: 1_500, acked: 100, last_ack: second(10) };
        assert!(!unheard.is_too_much(1_024, second(11)));
        assert!(unheard.is_too_much(1_024, second(13)));
        assert!(!unheard.is_too_much(1_400, second(60)));
        // A client that acknowledges one message now and then.
        assert!(unheard.is_too_much(170, second(10)));
    }
}
