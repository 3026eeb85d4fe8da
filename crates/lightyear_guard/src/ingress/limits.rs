//! How much a link may send, and what happens beyond.

use core::time::Duration;

use bevy::prelude::*;

/// How much a server takes from its links: from addresses that have not proven anything yet, and from clients.
///
/// The defaults are several times what an honest client of a 128 Hz game sends at 300 ms of round trip with 20 %
/// loss, and a whole [`burst`](Self::burst) may come at once after an outage or a stall of the server. What is
/// beyond is dropped and counted in [`LinkTraffic`](super::LinkTraffic). May be changed at any time.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct IngressLimits {
    /// Whether anything is filtered at all, at clients too, which look at nothing else here. Default `true`. Without
    /// it a server can be stopped by one packet of anybody who may join, and a client by one of anybody; `false` is
    /// for measuring what the filters cost and for proving what they hold off.
    pub enabled: bool,
    /// Datagrams a second that are decrypted for one connected client. Anybody who knows a player's address
    /// can fake it and use this up, so it is generous. Default 4096. Raising it costs up to 2 µs for each.
    pub datagrams_per_second: f32,
    /// Datagrams a second from an address without a connection; a handshake sends ten. Default 64. Raising it
    /// costs a decryption and, from a liar, a line in the log for each.
    pub stranger_datagrams_per_second: f32,
    /// Datagrams that one frame of a [`ServerUdp`](super::ServerUdp) reads; the others wait in the operating
    /// system's queue. Default 4096. Raising it lets a flood hold up a frame for longer, a microsecond each.
    pub datagrams_per_frame: usize,
    /// Connection requests a second that a [`ServerUdp`](super::ServerUdp) takes from addresses that it does not
    /// know. Default 256. Raising it costs 50 µs each.
    pub newcomers_per_second: f32,
    /// Addresses of one host (one IPv4 address, one IPv6 network of 64 bits) that may be without a connection at once
    /// at a [`ServerUdp`](super::ServerUdp). Default 32. Raising it lets more players behind one router join in one
    /// moment, and one liar use up more of [`strangers`](Self::strangers).
    pub strangers_per_host: usize,
    /// Addresses that may be remembered at once without having shown a valid connect token; when there are
    /// more, the longest known of them is forgotten. Default 256. Raising it costs some kilobytes each.
    pub strangers: usize,
    /// How long an address may stay without a connection. netcode's own handshake takes two round trips.
    /// Default 5 s. Raising it keeps junk for longer.
    pub stranger_time: Duration,
    /// Packets a second from one client. Default 512. Raising it lets one client take more of the server's time.
    pub packets_per_second: f32,
    /// Bytes a second from one client. Default 131,072. Raising it lets one client make the server keep more.
    pub bytes_per_second: f32,
    /// Messages a second from one client, whatever packets they come in: what receiving costs is by the message.
    /// Default 2048. Raising it lets one client take more of the server's time.
    pub messages_per_second: f32,
    /// lightyear's own pings, pongs and metadata from one client a second; the suite does without most of them.
    /// Default 64. Raising it lets one client make the server answer, and log, more often.
    pub services_per_second: f32,
    /// How much of the above may come at once: what was not used for this long. Default 2 s. Raising it forgives
    /// longer outages, and lets a client send as much more in one frame.
    pub burst: Duration,
    /// Fragments that one message of a client may have; 0 refuses every message that does not fit a packet.
    /// Default 8, a message of 9 kB. Raising it costs 1.2 kB each, for four messages a link.
    pub max_fragments: u16,
    /// Strikes that end a connection. A packet that no honest client sends is 10 strikes, a second of sending
    /// more than the budgets above 40, a pong that was of no use a quarter. Default 100. Raising it keeps hostile
    /// clients for longer.
    pub strikes: f32,
    /// Strikes that are forgiven a second. Default 5. Raising it lets a client do as much harm for ever.
    pub strikes_forgiven: f32,
    /// How long after joining nobody is disconnected for strikes, so that a client of another version hears
    /// what is wrong instead. Default 3 s. Raising it gives a hostile client as much more.
    pub grace: Duration,
    /// How long a client that is thrown out stays, unheard, so that it can be told why. Default 500 ms.
    pub goodbye: Duration,
}

impl Default for IngressLimits {
    fn default() -> Self {
        Self {
            enabled: true,
            datagrams_per_second: 4_096.0,
            stranger_datagrams_per_second: 64.0,
            datagrams_per_frame: 4_096,
            newcomers_per_second: 256.0,
            strangers_per_host: 32,
            strangers: 256,
            stranger_time: Duration::from_secs(5),
            packets_per_second: 512.0,
            bytes_per_second: 131_072.0,
            messages_per_second: 2_048.0,
            services_per_second: 64.0,
            burst: Duration::from_secs(2),
            max_fragments: 8,
            strikes: 100.0,
            strikes_forgiven: 5.0,
            grace: Duration::from_secs(3),
            goodbye: Duration::from_millis(500),
        }
    }
}

/// Why something that arrived was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// Not a datagram that a netcode client writes; anybody may have sent it.
    NotNetcode,
    /// More datagrams than are decrypted; anybody may have sent them.
    Datagrams,
    /// More requests to connect than are taken, in all or from one host.
    Newcomers,
    /// A request to connect with a token that the server's key has not made; anybody may have sent it.
    Foreign,
    /// Longer than a packet of this link can be, or shorter than its header.
    Size,
    /// A kind of packet that clients do not send: a compressed one, or none at all.
    PacketKind,
    /// Counts or lengths that do not fit together.
    Malformed,
    /// A channel on which clients send nothing.
    Channel,
    /// A message that clients do not send, or not on that channel.
    Message,
    /// A value that no honest client can have.
    Content,
    /// A message in more parts than allowed, or with parts that do not fit together.
    Fragments,
    /// A reliable or large message too far ahead of what is missing; it comes again. No offence.
    Ahead,
    /// Over [`IngressLimits::packets_per_second`].
    Packets,
    /// Over [`IngressLimits::bytes_per_second`].
    Bytes,
    /// Over [`IngressLimits::messages_per_second`].
    Messages,
    /// Over [`IngressLimits::services_per_second`].
    Services,
    /// From a client that is being thrown out.
    Leaving,
    /// A game's message about a pawn of somebody else. Two strikes: until a client hears that a pawn is no longer
    /// its own it may speak for it.
    Owner,
    /// A game's message about a pawn that is not there, or no more. No offence.
    Absent,
    /// More of a type of a game's messages than [`MessageRules::per_second`](crate::MessageRules::per_second). One
    /// strike: honest clients count themselves.
    Rate,
    /// A game's message that the game rejects. No offence.
    Rejected,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::NotNetcode,
        Self::Datagrams,
        Self::Newcomers,
        Self::Foreign,
        Self::Size,
        Self::PacketKind,
        Self::Malformed,
        Self::Channel,
        Self::Message,
        Self::Content,
        Self::Fragments,
        Self::Ahead,
        Self::Packets,
        Self::Bytes,
        Self::Messages,
        Self::Services,
        Self::Leaving,
        Self::Owner,
        Self::Absent,
        Self::Rate,
        Self::Rejected,
    ];

    /// What to call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotNetcode => "not netcode",
            Self::Datagrams => "too many datagrams",
            Self::Newcomers => "too many newcomers",
            Self::Foreign => "somebody else's token",
            Self::Size => "size",
            Self::PacketKind => "kind of packet",
            Self::Malformed => "malformed",
            Self::Channel => "channel",
            Self::Message => "message",
            Self::Content => "content",
            Self::Fragments => "fragments",
            Self::Ahead => "too far ahead",
            Self::Packets => "too many packets",
            Self::Bytes => "too many bytes",
            Self::Messages => "too many messages",
            Self::Services => "too many pings",
            Self::Leaving => "leaving",
            Self::Owner => "about somebody else's pawn",
            Self::Absent => "about a pawn that is not there",
            Self::Rate => "too many of a type",
            Self::Rejected => "rejected by the game",
        }
    }

    /// Whether an honest client never sends such a thing, however bad its network is.
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

    /// Whether it is too much rather than wrong.
    pub(super) fn is_excess(self) -> bool {
        matches!(self, Self::Packets | Self::Bytes | Self::Messages | Self::Services)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_in_its_place_and_has_its_own_name() {
        for (index, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index);
            assert_eq!(Refusal::ALL.into_iter().filter(|other| other.name() == refusal.name()).count(), 1);
            assert!(!(refusal.is_offence() && refusal.is_excess()));
        }
    }
}
