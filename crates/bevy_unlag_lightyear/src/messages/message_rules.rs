//! Message rules and limits.

use core::time::Duration;

use bevy::prelude::*;

/// Direction of a message type.
#[doc(alias = "NetMulticast")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageDirection {
    /// From a client, or the host of a listen server, to the server. About a pawn that the sender owns
    /// ([`ControlledBy`](lightyear::prelude::ControlledBy)), or about none. A payload may refer to other
    /// pawns; validating it is up to the game.
    ToServer,
    /// From the server to the owner of the pawn that the message is about, or to one client.
    ToOwner,
    /// From the server to every client that may see the pawn that the message is about, and to the server
    /// itself. To every client if the message is about no pawn.
    ToEveryone,
}

/// Reliability of a message type.
#[doc(alias = "ChannelMode")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Delivery {
    /// Each message arrives once, in order with all other reliable messages, across types. Messages in flight
    /// are lost if the connection is lost.
    Reliable,
    /// The message is sent in the same frame and may be lost or reordered. For data that is soon outdated.
    Unreliable,
}

/// Rules of a message type.
///
/// In the book: *Game messages*, `book/src/reference/messages.md`.
#[doc(alias = "RPC")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MessageRules {
    /// Direction.
    pub direction: MessageDirection,
    /// Reliability.
    pub delivery: Delivery,
    /// Maximum rate per client, in messages per second, of [`MessageDirection::ToServer`]; messages from the
    /// server are not limited. Default 30. One second's worth may be sent at once. Excess messages are
    /// dropped by the client, so that an honest one never exceeds the rate, and by the server. Raising it
    /// lets a client take more of the server's time.
    pub per_second: f32,
}

impl MessageRules {
    /// Rules for messages to the server: reliable, 30 per second.
    #[must_use]
    pub const fn to_server() -> Self {
        Self { direction: MessageDirection::ToServer, delivery: Delivery::Reliable, per_second: 30.0 }
    }

    /// Rules for messages to the owner of a pawn: reliable.
    #[must_use]
    pub const fn to_owner() -> Self {
        Self { direction: MessageDirection::ToOwner, ..Self::to_server() }
    }

    /// Rules for messages to every client: reliable.
    #[must_use]
    pub const fn to_everyone() -> Self {
        Self { direction: MessageDirection::ToEveryone, ..Self::to_server() }
    }

    /// Makes the messages unreliable.
    #[must_use]
    pub const fn unreliable(mut self) -> Self {
        self.delivery = Delivery::Unreliable;
        self
    }

    /// Sets the maximum rate per client, in messages per second.
    #[must_use]
    pub const fn per_second(mut self, messages: f32) -> Self {
        self.per_second = messages;
        self
    }
}

/// Limits on reliable messages and game messages, in bandwidth per link and direction and in memory. May be
/// changed at any time.
#[doc(alias = "RELIABLE_BUFFER")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct MessageLimits {
    /// Reliable messages of one link that may be queued or unacknowledged. One more ends the connection: a
    /// server kicks the client ([`KickReason::QueueOverflow`](lightyear_guard::KickReason::QueueOverflow)), a
    /// client disconnects, and a log line names the message type. Default 256, as in Unreal. Raising it costs
    /// up to a kilobyte per message and lets a slow link fall further behind.
    pub reliable_queue: usize,
    /// Messages of one reliable channel, including lightyear's and `bevy_replicon`'s, that a client may leave
    /// unacknowledged for more than two seconds. One more, or eight times as many at any time, ends its
    /// connection as above. Default 1,024: eight seconds without acknowledgements in a fight of 64 players
    /// with rockets. Raising it lets a client that does not acknowledge make the server store and retransmit
    /// as much more.
    pub unacknowledged: usize,
    /// Bytes per second of game messages that a client sends: for reliable and for unreliable ones each.
    /// Excess reliable messages are queued, excess unreliable ones dropped. Default 4,000. Raising it lets a
    /// flood of messages delay moves on a slow link.
    pub up_bytes_per_second: u32,
    /// Share of a client's [`DownlinkBudget`](crate::DownlinkBudget) for game messages, from 0 to 1: for
    /// reliable and for unreliable ones each, and at least 1,000 bytes per second. Unreliable messages use
    /// only what snapshots leave. Default 0.25. Raising it lets a flood of messages delay snapshots.
    pub down_share: f32,
    /// Share of a client's [`DownlinkBudget`](crate::DownlinkBudget) that replication gets even while snapshots are
    /// deferred, from 0 to 1, and at least 1,000 bytes per second; otherwise it gets all that the other classes
    /// leave. Default 0.1. Raising it lets the game's own components delay snapshots.
    pub replication_share: f32,
    /// Bytes of replicated spawns, despawns, insertions and removals that may wait for one client. More for longer than
    /// 5 s end its connection as above; one message always may wait. Default 1 MiB, 16 s of the default budget. Raising
    /// it costs as much memory per client, and lets spawns come as much later.
    pub replication_queue: usize,
    /// Messages on a client that may wait for a pawn to spawn; further ones are dropped. Default 256. Raising
    /// it costs up to a kilobyte per message.
    pub waiting: usize,
    /// Time that such a message may wait. Default 5 s. Raising it lets messages about despawned pawns block
    /// the queue for longer.
    pub waiting_time: Duration,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            reliable_queue: 256,
            unacknowledged: 1_024,
            up_bytes_per_second: 4_000,
            down_share: 0.25,
            replication_share: 0.1,
            replication_queue: 1 << 20,
            waiting: 256,
            waiting_time: Duration::from_secs(5),
        }
    }
}

impl MessageLimits {
    /// Returns the rate for messages to a client with this budget, in bytes per second.
    pub(super) fn down(&self, budget: u32) -> f32 {
        // NaN becomes the minimum.
        (budget as f32 * self.down_share.clamp(0.0, 1.0)).max(1_000.0)
    }

    /// Returns the least rate of replication to a client with this budget, in bytes per second.
    pub(crate) fn replication(&self, budget: f32) -> f32 {
        (budget * self.replication_share.clamp(0.0, 1.0)).max(1_000.0)
    }
}

/// Counters of the game messages of this app; all but `queued` and `waiting` only grow. Refused messages of clients are
/// also counted by reason: in [`LinkTraffic`](lightyear_guard::LinkTraffic) and
/// [`IngressStats`](lightyear_guard::IngressStats).
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct GameMessageStats {
    /// Messages passed to a link, once per link.
    pub sent: u64,
    /// Messages delivered to the game.
    pub received: u64,
    /// Messages that arrived and were not delivered.
    pub refused: u64,
    /// Messages not sent because there is no receiver (no connection, no owner, no such pawn), because this
    /// side may not send them, or because they exceed 1,000 bytes.
    pub unsent: u64,
    /// Messages not sent because of [`MessageRules::per_second`].
    pub limited: u64,
    /// Unreliable messages not sent because of the bandwidth budget.
    pub dropped_for_budget: u64,
    /// Reliable messages that are queued or unacknowledged now, of all links together.
    pub queued: usize,
    /// Messages that are waiting for a pawn now.
    pub waiting: usize,
    /// Messages that waited too long for a pawn, or found the queue full.
    pub expired: u64,
    /// Links that ended because too many reliable messages were queued.
    pub overflowed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downlink_share_is_clamped_and_never_below_the_minimum() {
        let share = |down_share| MessageLimits { down_share, ..default() };
        assert_eq!(share(0.25).down(64_000), 16_000.0);
        assert_eq!(share(7.0).down(64_000), 64_000.0);
        for nothing in [0.0, -1.0, f32::NEG_INFINITY] {
            assert_eq!(share(nothing).down(64_000), 1_000.0);
        }
        assert_eq!(share(f32::NAN).down(64_000), 1_000.0);
        assert_eq!(share(0.25).down(0), 1_000.0);
    }
}
