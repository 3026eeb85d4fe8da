//! Datagram filter: checks the form and the rate of datagrams before netcode reads them. The sender may be
//! forged, so no client gets strikes for them. Clients filter too: lightyear's socket accepts datagrams from
//! any address.

use bevy::prelude::*;
use lightyear::{
    connection::{client_of::SkipNetcode, host::HostClient},
    link::Link,
    netcode::NetcodeClient,
    prelude::{Connected, Connecting, LinkOf, server::NetcodeServer},
};

use super::{IngressLimits, IngressStats, LinkTraffic, Refusal, bucket::Bucket, strangers::Stranger};

/// Decryption budget of a connected client.
#[derive(Component)]
pub(super) struct Datagrams(Bucket);

impl Default for Datagrams {
    fn default() -> Self {
        Self(Bucket::FULL)
    }
}

type Served = (With<LinkOf>, Without<HostClient>, Without<SkipNetcode>);

pub(super) fn drop_junk(
    time: Res<Time<Real>>,
    limits: Res<IngressLimits>,
    servers: Query<(), With<NetcodeServer>>,
    mut links: Query<
        (
            &mut Link,
            &LinkOf,
            Option<&mut Datagrams>,
            Option<&mut Stranger>,
            Option<&mut LinkTraffic>,
            (Has<Connected>, Has<Connecting>),
        ),
        Served,
    >,
    mut stats: ResMut<IngressStats>,
) {
    let passed = time.delta();
    for (mut link, of, datagrams, stranger, mut traffic, (connected, connecting)) in &mut links {
        if !servers.contains(of.server) {
            continue;
        }
        let mut fresh = Bucket::FULL;
        let (bucket, rate) = match (datagrams, stranger) {
            (Some(datagrams), _) if connected => (&mut datagrams.into_inner().0, limits.datagrams_per_second),
            (_, Some(stranger)) => {
                let stranger = stranger.into_inner();
                stranger.heard |= link.recv.len() > 0;
                (&mut stranger.datagrams, limits.stranger_datagrams_per_second)
            }
            _ => (&mut fresh, limits.stranger_datagrams_per_second),
        };
        bucket.fill(rate, limits.burst, passed);
        for _ in 0..link.recv.len() {
            let Some(datagram) = link.recv.pop() else { break };
            let is_known = connected || connecting;
            let refusal = match is_netcode(&datagram) {
                Some(Form::Request) => None,
                Some(Form::Encrypted) if is_known => None,
                _ => Some(Refusal::NotNetcode),
            };
            let refusal = refusal.or_else(|| (!bucket.take(1.0)).then_some(Refusal::Datagrams));
            match refusal {
                None => link.recv.push_raw(datagram),
                Some(refusal) => {
                    stats.refused.count(refusal);
                    if let Some(traffic) = &mut traffic {
                        traffic.refused.count(refusal);
                    }
                }
            }
        }
    }
}

/// Client-side datagram filter: drops datagrams that a netcode server does not send.
pub(super) fn drop_junk_of_others(
    mut links: Query<&mut Link, (With<NetcodeClient>, Without<LinkOf>, Without<HostClient>)>,
    mut stats: ResMut<IngressStats>,
) {
    for mut link in &mut links {
        for _ in 0..link.recv.len() {
            let Some(datagram) = link.recv.pop() else { break };
            if is_of_a_server(&datagram) {
                link.recv.push_raw(datagram);
            } else {
                stats.refused.count(Refusal::NotNetcode);
            }
        }
    }
}

/// Form of a datagram that a netcode client sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A connection request: the only unencrypted datagram, and of fixed length.
    Request,
    /// Any other kind, with a plausible prefix.
    Encrypted,
}

/// Returns the form of a datagram if a netcode client could have sent it.
pub(super) fn is_netcode(bytes: &[u8]) -> Option<Form> {
    /// Length of a connection request.
    const REQUEST: usize = 1_078;
    const VERSION: &[u8] = b"NETCODE 1.02\0";
    let (&prefix, rest) = bytes.split_first()?;
    if prefix == 0 {
        return (bytes.len() == REQUEST && rest.starts_with(VERSION)).then_some(Form::Request);
    }
    // Response, keep-alive, payload, disconnect. Client sequence numbers start at 0. Those from 2^62 on are a
    // server's, and ours when a server closes a session in a client's name.
    is_encrypted(bytes, |kind| (3..=6).contains(&kind), 0x40).then_some(Form::Encrypted)
}

/// Whether a netcode server could have sent a datagram of this form.
pub(super) fn is_of_a_server(bytes: &[u8]) -> bool {
    // Denial, challenge, keep-alive, payload, disconnect.
    is_encrypted(bytes, |kind| matches!(kind, 1 | 2 | 4..=6), 0x80)
}

/// Whether a datagram has a form that netcode 0.30 can read. On other forms it panics before decryption: on
/// sequences of more than eight bytes and, in builds with overflow checks, on unknown kinds and on sequence
/// numbers close to 2^64. `beyond` is the highest byte of the first sequence number that is too large.
fn is_encrypted(bytes: &[u8], is_kind: impl Fn(u8) -> bool, beyond: u8) -> bool {
    /// Length of the authentication tag at the end.
    const TAG: usize = 16;
    /// netcode does not read datagrams of this length or more.
    const LONGEST: usize = 1_300;
    let Some((&prefix, rest)) = bytes.split_first() else { return false };
    let (kind, sequence) = (prefix & 15, usize::from(prefix >> 4));
    is_kind(kind)
        && (1..=8).contains(&sequence)
        && (sequence + TAG..LONGEST).contains(&rest.len())
        // Little-endian: the last byte is the highest.
        && (sequence < 8 || rest[7] < beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(prefix: u8) -> Vec<u8> {
        [&[prefix][..], &[7; 40]].concat()
    }

    #[test]
    fn server_accepts_only_datagrams_that_a_netcode_client_sends() {
        let mut request = [&[0][..], b"NETCODE 1.02\0", &[9; 1_064]].concat();
        assert_eq!(is_netcode(&request), Some(Form::Request));
        assert_eq!(is_netcode(&request[..1_077]), None);
        request[3] = 0;
        assert_eq!(is_netcode(&request), None, "another protocol");
        for kind in 3..=6 {
            assert_eq!(is_netcode(&packet(0x10 | kind)), Some(Form::Encrypted));
        }
        assert_eq!(is_netcode(&packet(0x95)), None, "nine sequence bytes panic netcode 0.30");
        assert_eq!(is_netcode(&packet(0x05)), None, "no sequence byte");
        assert_eq!(is_netcode(&packet(0x10)), None, "netcode would treat it as a request that was checked");
        assert_eq!(is_netcode(&packet(0x11)), None, "only servers send denials; netcode panics on it");
        assert_eq!(is_netcode(&packet(0x12)), None, "only servers send challenges; netcode panics on it");
        assert_eq!(is_netcode(&[]), None);
        assert_eq!(is_netcode(&packet(0x15)[..17]), None, "no tag");
        assert_eq!(is_netcode(&[7; 1_400]), None);
        let mut last = packet(0x85);
        assert_eq!(is_netcode(&last), Some(Form::Encrypted));
        last[8] = 0x40;
        assert_eq!(is_netcode(&last), None, "it would turn our own disconnect in its name into a replay");
        last[8] = 0xFF;
        assert_eq!(is_netcode(&last), None, "netcode adds 256 to it, which overflows");
    }

    #[test]
    fn client_accepts_only_datagrams_that_a_netcode_server_sends() {
        for kind in 0..16 {
            assert_eq!(is_of_a_server(&packet(0x80 | kind)), matches!(kind, 1 | 2 | 4..=6), "kind {kind}");
        }
        assert!(!is_of_a_server(&packet(0x95)), "nine sequence bytes panic netcode 0.30");
        assert!(!is_of_a_server(&packet(0x05)) && !is_of_a_server(&[]) && !is_of_a_server(&[7; 1_400]));
        let mut number = packet(0x85);
        number[8] = 0x40;
        assert!(is_of_a_server(&number), "a server's sequence numbers start at 2^62");
        number[8] = 0x80;
        assert!(!is_of_a_server(&number));
    }

    #[test]
    fn no_prefix_or_length_panics_the_datagram_filter() {
        for prefix in 0..=255 {
            for length in 0..40 {
                let _ = is_netcode(&packet(prefix)[..length]);
                let _ = is_of_a_server(&packet(prefix)[..length]);
            }
        }
    }
}
