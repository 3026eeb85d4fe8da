//! What a type of message may do, and what all of them may use.

use core::time::Duration;

use bevy::prelude::*;

/// Which way messages of a type go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageDirection {
    /// From a client to the server; from the host of a listen server, too. About a pawn that the sender owns
    /// ([`ControlledBy`](lightyear::prelude::ControlledBy)), or about none. Others it may name inside of the
    /// message, and then it is for the game to judge.
    ToServer,
    /// From the server to the owner of the pawn that it is about, or to one client.
    ToOwner,
    /// From the server to every client that may see the pawn that it is about, and to the server itself. About none:
    /// to every client.
    ToEveryone,
}

/// Whether messages of a type must arrive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Delivery {
    /// Each arrives once, and after all reliable ones that were sent before it, of whatever type. What was
    /// sent on a line that then fails for good is lost with the connection.
    Reliable,
    /// It leaves with the frame and may be lost, or overtaken by a later one. For what is soon out of date.
    Unreliable,
}

/// The rules of a type of message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MessageRules {
    /// Which way it goes.
    pub direction: MessageDirection,
    /// Whether it must arrive.
    pub delivery: Delivery,
    /// How many a client may send in a second, of [`MessageDirection::ToServer`]; the server is not limited. A
    /// second's worth may be sent at once. Default 30. What is beyond is dropped: by the client, so that an honest
    /// one never sends too many, and by the server. Raising it lets a client take more of the server's time.
    pub per_second: f32,
}

impl MessageRules {
    /// Messages to the server: reliable, 30 a second.
    #[must_use]
    pub const fn to_server() -> Self {
        Self { direction: MessageDirection::ToServer, delivery: Delivery::Reliable, per_second: 30.0 }
    }

    /// Messages to an owner: reliable.
    #[must_use]
    pub const fn to_owner() -> Self {
        Self { direction: MessageDirection::ToOwner, ..Self::to_server() }
    }

    /// Messages to everyone: reliable.
    #[must_use]
    pub const fn to_everyone() -> Self {
        Self { direction: MessageDirection::ToEveryone, ..Self::to_server() }
    }

    /// They may be lost.
    #[must_use]
    pub const fn unreliable(mut self) -> Self {
        self.delivery = Delivery::Unreliable;
        self
    }

    /// A client may send so many in a second.
    #[must_use]
    pub const fn per_second(mut self, messages: f32) -> Self {
        self.per_second = messages;
        self
    }
}

/// What reliable messages and a game's own may use of a link, each way, and of memory. May be changed at any time.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct MessageLimits {
    /// Reliable messages of one link that may be on their way or wait to be; one more ends the connection. The
    /// server throws the client out ([`KickReason::QueueOverflow`](crate::KickReason::QueueOverflow)), a client
    /// leaves, and an error names the type that was too much. Default 256, as Unreal's. Raising it costs up to a
    /// kilobyte each and lets a line that cannot keep up fall behind by more.
    pub reliable_queue: usize,
    /// Messages of one reliable channel, whosever it is, that a client may leave unacknowledged for more than two
    /// seconds; one more, or eight times as many at all, ends its connection as above. Default 1,024: eight seconds of
    /// a silent line in a fight of 64 with rockets. Raising it lets a client that does not listen make the server keep and repeat as much more.
    pub unacknowledged: usize,
    /// Bytes a second that a client sends of them: as much of reliable and of unreliable ones. Reliable ones
    /// beyond wait, in their order; unreliable ones are dropped. Default 4,000. Raising it lets a flood of them
    /// delay moves on a slow line.
    pub up_bytes_per_second: u32,
    /// The share of a client's [`DownlinkBudget`](crate::DownlinkBudget) that they may take, from 0 to 1, of
    /// reliable and of unreliable ones; always 1,000 bytes a second. Unreliable ones take only what no pawn waits
    /// for. Default 0.25. Raising it lets a flood of them make pawns wait.
    pub down_share: f32,
    /// Messages about pawns that are not here yet that may wait on a client; one more is dropped. Default 256.
    /// Raising it costs up to a kilobyte each.
    pub waiting: usize,
    /// For how long they wait. Default 5 s. Raising it lets what is about a pawn that is gone take the place of
    /// others for longer.
    pub waiting_time: Duration,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            reliable_queue: 256,
            unacknowledged: 1_024,
            up_bytes_per_second: 4_000,
            down_share: 0.25,
            waiting: 256,
            waiting_time: Duration::from_secs(5),
        }
    }
}

impl MessageLimits {
    /// What a client with this budget is sent.
    pub(super) fn down(&self, budget: u32) -> f32 {
        // A NaN is the least.
        (budget as f32 * self.down_share.clamp(0.0, 1.0)).max(1_000.0)
    }
}

/// What became of the messages of this app; counters only grow. What clients sent and was refused is counted by
/// reason, too: in [`LinkTraffic`](crate::LinkTraffic) and [`IngressStats`](crate::IngressStats).
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GameMessageStats {
    /// Given to a link, once for each.
    pub sent: u64,
    /// Handed to the game.
    pub received: u64,
    /// Arrived and not handed to the game.
    pub refused: u64,
    /// Not sent, because there is nobody to send it to: no connection, no owner, no such pawn, the wrong side, or
    /// longer than 1,000 bytes.
    pub unsent: u64,
    /// Not sent, because there were more than [`MessageRules::per_second`].
    pub limited: u64,
    /// Unreliable ones that were not sent, because the line has no room for them.
    pub crowded_out: u64,
    /// Waiting now for a pawn that is not here yet.
    pub waiting: usize,
    /// Waited in vain, or found no place to wait.
    pub expired: u64,
    /// Links that ended because too many reliable ones waited.
    pub overflowed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_share_and_never_nothing() {
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
