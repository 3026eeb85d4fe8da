//! Ingress limits and the reasons for refusing a packet.

use core::time::Duration;

use bevy::prelude::*;

use crate::named_enum::named_enum;

/// Limits on what a server accepts from its links: from addresses without a connection, and from clients.
///
/// The defaults are several times what an honest client of a 128 Hz game sends at 300 ms round trip and 20 %
/// loss, and a whole [`burst`](Self::burst) may arrive at once after an outage or a stall of the server.
/// Excess packets are dropped and counted in [`LinkTraffic`](super::LinkTraffic). May be changed at any time.
///
/// ```
/// use bevy::prelude::*;
/// use lightyear_guard::IngressLimits;
///
/// // On a server behind a router that many players share.
/// App::new().insert_resource(IngressLimits { max_pending_per_host: 128, ..default() });
/// ```
///
/// In the book: *Guard*, `book/src/reference/guard.md`.
#[doc(alias = "DDoSDetection")]
#[derive(Resource, Clone, Debug, PartialEq, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct IngressLimits {
    /// Whether ingress is filtered at all. Clients obey it too; the other fields are for servers only.
    /// Default `true`. Without the filters, one packet from anybody who may join can stop a server, and one
    /// packet from anybody can stop a client. `false` is for measuring the cost of the filters and for tests
    /// of what they prevent.
    pub enabled: bool,
    /// Datagrams per second that are decrypted for one connected client. Anybody who knows a player's address
    /// can fake it and exhaust this budget, so it is generous. Default 4096. Raising it costs up to 2 µs per
    /// datagram.
    pub datagrams_per_second: f32,
    /// Datagrams per second from an address without a connection; a handshake sends ten. Default 64. Raising
    /// it costs one decryption per datagram and, for forged ones, a log line.
    pub pending_datagrams_per_second: f32,
    /// Datagrams that a [`ServerUdp`](super::ServerUdp) reads per frame and passes on; the rest waits. Default
    /// 4096. Raising it lets a flood delay a frame for longer, by a microsecond per datagram.
    pub datagrams_per_frame: usize,
    /// Datagrams of linked addresses that may wait in a [`ServerUdp`](super::ServerUdp) while the app stands still.
    /// One address may have a 32nd of it; strangers have an eighth as much beside it. Default 16,384: half a second
    /// of 64 clients at [`packets_per_second`](Self::packets_per_second). Raising it costs 100 bytes per datagram
    /// that waits, and the app more time after a stall.
    pub queued_datagrams: usize,
    /// Bytes of the datagrams that may wait there, with the same shares. Default 4 MiB: half a second of 64 clients
    /// at [`bytes_per_second`](Self::bytes_per_second). Raising it costs as much memory.
    pub queued_bytes: usize,
    /// Connection requests per second that a [`ServerUdp`](super::ServerUdp) accepts from unknown addresses.
    /// Default 256. Raising it costs 10 µs per request.
    pub connection_requests_per_second: f32,
    /// Addresses of one host (one IPv4 address or one IPv6 /64 network) that may be pending at a
    /// [`ServerUdp`](super::ServerUdp) at once, that is, without a connection. Default 32. Raising it lets
    /// more players behind one router join at the same moment, and one attacker occupy more of
    /// [`max_pending`](Self::max_pending).
    /// As many addresses may be pending with one connect token.
    pub max_pending_per_host: usize,
    /// Addresses that are remembered at once without having shown a valid connect token or, at a
    /// [`ServerUdp`](super::ServerUdp), without having answered its challenge; beyond that the oldest is forgotten.
    /// Default 256. Raising it costs 1.6 kB per address at a `ServerUdp`, and some 100 kB at another transport.
    pub max_pending: usize,
    /// Clients of one host that may be connected at once, over any transport that tells addresses. Hosts are those of
    /// [`max_pending_per_host`](Self::max_pending_per_host); the server's own machine (a loopback address) has no
    /// limit. Default 32. Raising it lets more players behind one router play, and one attacker occupy more places.
    pub max_clients_per_host: usize,
    /// Time that an address may stay without a connection. netcode's handshake takes two round trips. Default
    /// 5 s. Raising it keeps junk for longer.
    pub pending_timeout: Duration,
    /// Packets per second from one client. Default 512. Raising it lets one client take more of the server's
    /// time.
    pub packets_per_second: f32,
    /// Bytes per second from one client. Default 131,072. Raising it lets one client make the server store
    /// more.
    pub bytes_per_second: f32,
    /// Messages per second from one client, however they are packed: the cost of receiving is per message.
    /// Default 2048. Raising it lets one client take more of the server's time.
    pub messages_per_second: f32,
    /// lightyear's own pings, pongs and metadata per second from one client; the suite does without most of
    /// them. Default 64. Raising it lets one client make the server reply and log more often.
    pub service_messages_per_second: f32,
    /// Burst allowance of all rates above: the time over which unused budget accumulates. Default 2 s.
    /// Raising it tolerates longer outages, and lets a client send as much more in one frame.
    pub burst: Duration,
    /// Fragments per message of a client; 0 refuses every message that does not fit a packet. Default 8, a
    /// message of 9 kB. Raising it costs 1.2 kB per fragment, for four messages per link.
    pub max_fragments: u16,
    /// Strikes at which a client is kicked. A packet that no honest client sends counts 10 strikes, a second
    /// of exceeding the budgets above 40, a useless pong a quarter. Default 100. Raising it keeps hostile
    /// clients for longer.
    pub strikes: f32,
    /// Strikes forgiven per second. Default 5. Raising it lets a client do as much harm indefinitely.
    pub strikes_forgiven: f32,
    /// Time after joining during which no client is kicked for strikes, so that a client of another version
    /// receives an explanation instead. Default 3 s. Raising it gives a hostile client as much more time.
    pub grace: Duration,
    /// Time that the link of a kicked client stays open, so that it can receive the reason. Its packets are
    /// dropped. Default 500 ms.
    pub kick_delay: Duration,
}

impl Default for IngressLimits {
    fn default() -> Self {
        Self {
            enabled: true,
            datagrams_per_second: 4_096.0,
            pending_datagrams_per_second: 64.0,
            datagrams_per_frame: 4_096,
            queued_datagrams: 16_384,
            queued_bytes: 4 << 20,
            connection_requests_per_second: 256.0,
            max_pending_per_host: 32,
            max_pending: 256,
            max_clients_per_host: 32,
            pending_timeout: Duration::from_secs(5),
            packets_per_second: 512.0,
            bytes_per_second: 131_072.0,
            messages_per_second: 2_048.0,
            service_messages_per_second: 64.0,
            burst: Duration::from_secs(2),
            max_fragments: 8,
            strikes: 100.0,
            strikes_forgiven: 5.0,
            grace: Duration::from_secs(3),
            kick_delay: Duration::from_millis(500),
        }
    }
}

named_enum! {
    /// Reason for which a packet or message was dropped.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
    pub enum IngressRefusal {
        /// Not a datagram that a netcode peer writes; the sender may be forged.
        NotNetcode => "not netcode",
        /// More datagrams than the decryption budget allows; the sender may be forged.
        Datagrams => "too many datagrams",
        /// Too many connection requests, in total or from one host.
        ConnectionRequests => "too many newcomers",
        /// The receive queue of a [`ServerUdp`](super::ServerUdp) is full, or the sender's share of it:
        /// [`IngressLimits::queued_datagrams`]. The sender may be forged.
        Queue => "receive queue full",
        /// The same of an address without a link.
        StrangerQueue => "queue of strangers full",
        /// A connection request whose token was not issued with the server's key; the sender may be forged.
        ForeignToken => "somebody else's token",
        /// Larger than a packet of this link can be, or shorter than its header.
        Size => "size",
        /// A packet kind that clients do not send: compressed, or unknown.
        PacketKind => "kind of packet",
        /// Inconsistent counts or lengths.
        Malformed => "malformed",
        /// A channel on which clients do not send.
        Channel => "channel",
        /// A message type that clients do not send, or not on that channel.
        Message => "message",
        /// A value that no honest client sends.
        Content => "content",
        /// Too many fragments, or fragments that do not fit together.
        Fragments => "fragments",
        /// A reliable or fragmented message too far ahead of a missing one; it is retransmitted. No offence.
        BeyondWindow => "too far ahead",
        /// Exceeds [`IngressLimits::packets_per_second`].
        Packets => "too many packets",
        /// Exceeds [`IngressLimits::bytes_per_second`].
        Bytes => "too many bytes",
        /// Exceeds [`IngressLimits::messages_per_second`].
        Messages => "too many messages",
        /// Exceeds [`IngressLimits::service_messages_per_second`].
        ServiceMessages => "too many pings",
        /// From a client that has been kicked.
        PendingKick => "leaving",
        /// A game message about a pawn that the sender does not own. Two strikes: a client may send about a
        /// pawn until it learns that it no longer owns it.
        Owner => "about somebody else's pawn",
        /// A game message about a pawn that does not exist, or no longer. No offence.
        UnknownPawn => "about a pawn that is not there",
        /// More game messages of a type than `MessageRules::per_second` of `bevy_unlag_lightyear`. One
        /// strike: honest clients limit themselves.
        Rate => "too many of a type",
        /// A game message that the game's own system rejected. No offence.
        Rejected => "rejected by the game",
        /// A move or a game message of a spectator, which takes no part in the match. No offence.
        Spectator => "from a spectator",
    }
}

impl IngressRefusal {
    /// Whether an honest client never causes this, however bad its network is.
    pub(super) fn is_offence(self) -> bool {
        matches!(
            self,
            Self::Size
                | Self::PacketKind
                | Self::Malformed
                | Self::Channel
                | Self::Message
                | Self::Content
                | Self::Fragments
        )
    }

    /// Whether the packet was refused for its rate and not for its content.
    pub(super) fn is_excess(self) -> bool {
        matches!(self, Self::Packets | Self::Bytes | Self::Messages | Self::ServiceMessages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_matches_its_place_in_all_and_has_a_unique_name() {
        for (index, refusal) in IngressRefusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index);
            assert_eq!(
                IngressRefusal::ALL.into_iter().filter(|other| other.name() == refusal.name()).count(),
                1
            );
            assert!(!(refusal.is_offence() && refusal.is_excess()));
        }
    }
}
