//! Bans: clients and hosts that may not join for some time.

use core::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
    time::Duration,
};

use bevy::{platform::collections::HashMap, prelude::*};

use crate::{
    clock::{self, Instant},
    ingress::host,
};

/// Party that is banned. It is written as the number of a client or as an address, and parsed in the same form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
#[reflect(opaque)]
#[reflect(Debug, PartialEq, Hash)]
pub enum BanTarget {
    /// A netcode client, by the id in its connect token.
    Client(u64),
    /// All clients of a host. An IPv6 address stands for its /64 network, which usually is one customer's.
    Host(IpAddr),
}

impl BanTarget {
    /// The form in which targets are compared.
    fn canonical(self) -> Self {
        match self {
            Self::Host(ip) => Self::Host(host(SocketAddr::new(ip.to_canonical(), 0))),
            client @ Self::Client(_) => client,
        }
    }
}

impl fmt::Display for BanTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(id) => fmt::Display::fmt(id, f),
            Self::Host(ip) => fmt::Display::fmt(ip, f),
        }
    }
}

/// The text is neither the number of a client nor an IP address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidBanTarget;

impl fmt::Display for InvalidBanTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("neither the number of a client nor an IP address")
    }
}

impl core::error::Error for InvalidBanTarget {}

impl FromStr for BanTarget {
    type Err = InvalidBanTarget;

    fn from_str(text: &str) -> Result<Self, InvalidBanTarget> {
        let client = text.parse().map(Self::Client).ok();
        client.or_else(|| text.parse().map(Self::Host).ok()).ok_or(InvalidBanTarget)
    }
}

/// Clients and hosts that may not join: they are refused with [`JoinRefusal::Banned`](crate::JoinRefusal::Banned)
/// before the game sees them, in development mode too. Only servers read it. A ban ends no connection; see
/// [`Kick`](crate::Kick). It lasts for this run of the server: bans that should last longer belong to the matchmaker,
/// which issues no more tokens then.
#[doc(alias = "banid")]
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct BanList {
    // Instants have no values to show.
    #[reflect(ignore)]
    ends: HashMap<BanTarget, Instant>,
}

impl BanList {
    /// Maximum number of bans at a time.
    pub const MAX: usize = 4_096;
    /// Longest duration of a ban: ten years.
    const LONGEST: Duration = Duration::from_secs(315_360_000);

    /// Bans a client or a host from now on; a ban that it has already ends at the new time. Returns false if the list
    /// is full, and then changes nothing.
    #[must_use]
    pub fn ban(&mut self, target: BanTarget, duration: Duration) -> bool {
        let now = clock::monotonic();
        self.ends.retain(|_, end| *end > now);
        let target = target.canonical();
        if self.ends.len() >= Self::MAX && !self.ends.contains_key(&target) {
            return false;
        }
        self.ends.insert(target, now + duration.min(Self::LONGEST));
        true
    }

    /// Ends a ban. Returns whether there was one.
    pub fn unban(&mut self, target: BanTarget) -> bool {
        let end = self.ends.remove(&target.canonical());
        end.is_some_and(|end| end > clock::monotonic())
    }

    /// Whether this client may not join from this host.
    #[must_use]
    pub fn is_banned(&self, client: u64, host: Option<IpAddr>) -> bool {
        // Nearly always.
        if self.ends.is_empty() {
            return false;
        }
        let now = clock::monotonic();
        let targets = [Some(BanTarget::Client(client)), host.map(BanTarget::Host)];
        let mut ends = targets.into_iter().flatten().filter_map(|target| self.ends.get(&target.canonical()));
        ends.any(|end| *end > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn ban_holds_for_its_client_or_host_until_it_ends() {
        let mut bans = BanList::default();
        assert!(
            bans.ban(BanTarget::Client(7), HOUR)
                && bans.ban(BanTarget::Host(ip("2001:db8::1")), Duration::MAX)
        );
        assert!(bans.ban(BanTarget::Host(ip("10.0.0.1")), HOUR));
        for (client, host, is_banned) in [
            (7, None, true),
            (8, None, false),
            (8, Some("10.0.0.1"), true),
            (8, Some("::ffff:10.0.0.1"), true),
            (8, Some("10.0.0.2"), false),
            (8, Some("2001:db8::ffff"), true),
            (8, Some("2001:db8:0:1::1"), false),
        ] {
            assert_eq!(bans.is_banned(client, host.map(ip)), is_banned, "{client} at {host:?}");
        }
        assert!(bans.unban(BanTarget::Client(7)) && !bans.unban(BanTarget::Client(7)));
        assert!(!bans.is_banned(7, None));
        assert!(bans.ban(BanTarget::Client(9), Duration::ZERO) && !bans.is_banned(9, None), "it is over");
        assert!(!bans.unban(BanTarget::Client(9)));
    }

    #[test]
    fn full_list_takes_no_more_bans_and_forgets_none() {
        let mut bans = BanList::default();
        for client in 0..BanList::MAX as u64 {
            assert!(bans.ban(BanTarget::Client(client), HOUR));
        }
        assert!(!bans.ban(BanTarget::Client(u64::MAX), HOUR) && !bans.is_banned(u64::MAX, None));
        assert!(bans.ban(BanTarget::Client(0), Duration::ZERO), "a known client's ban is replaced");
        assert!(bans.ban(BanTarget::Client(u64::MAX), HOUR), "the ban that is over makes room");
        assert!(bans.is_banned(1, None) && bans.is_banned(u64::MAX, None));
    }

    #[test]
    fn target_survives_its_text_and_junk_is_an_error() {
        for target in
            [BanTarget::Client(u64::MAX), BanTarget::Host(ip("10.0.0.1")), BanTarget::Host(ip("::1"))]
        {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        for text in ["", "-1", "18446744073709551616", "10.0.0", "10.0.0.1:5000", "player"] {
            assert_eq!(text.parse::<BanTarget>(), Err(InvalidBanTarget), "{text}");
        }
    }
}
