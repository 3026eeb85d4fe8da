//! The first filter: datagrams, before netcode reads them. Anybody may have sent them, in anybody's name, so
//! nobody is blamed for them. A client has it too: lightyear's socket takes what anybody sends to its port.

use bevy::prelude::*;
use lightyear::{
    connection::{client_of::SkipNetcode, host::HostClient},
    link::Link,
    netcode::NetcodeClient,
    prelude::{Connected, Connecting, LinkOf, server::NetcodeServer},
};

use super::{IngressLimits, IngressStats, LinkTraffic, Refusal, bucket::Bucket, strangers::Stranger};

/// What may still be decrypted for a connected client.
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

/// The same at a client's end.
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

/// What a netcode client sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// The first word, of its one fixed length and the only one that is not encrypted.
    Request,
    /// Anything else, with a sane prefix.
    Encrypted,
}

/// The form of a datagram that a netcode client sends.
pub(super) fn is_netcode(bytes: &[u8]) -> Option<Form> {
    /// The length of a connection request.
    const REQUEST: usize = 1_078;
    const VERSION: &[u8] = b"NETCODE 1.02\0";
    let (&prefix, rest) = bytes.split_first()?;
    if prefix == 0 {
        return (bytes.len() == REQUEST && rest.starts_with(VERSION)).then_some(Form::Request);
    }
    // Response, keep-alive, payload, disconnect. A client's numbers begin at 0: those from 2^62 on are a server's,
    // and our own when we hang up in its name.
    is_encrypted(bytes, |kind| (3..=6).contains(&kind), 0x40).then_some(Form::Encrypted)
}

/// Whether a datagram has the form of one that a netcode server sends.
pub(super) fn is_of_a_server(bytes: &[u8]) -> bool {
    // Denied, challenge, keep-alive, payload, disconnect.
    is_encrypted(bytes, |kind| matches!(kind, 1 | 2 | 4..=6), 0x80)
}

/// netcode 0.30 panics on other forms, before it decrypts: on sequences of more than eight bytes, and, in builds that
/// check for overflow, on unknown kinds and on numbers close to 2^64. `beyond` is the highest byte of the first number
/// that is too high.
fn is_encrypted(bytes: &[u8], is_kind: impl Fn(u8) -> bool, beyond: u8) -> bool {
    /// The authentication tag at the end.
    const TAG: usize = 16;
    /// Longer ones netcode does not read.
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
    fn only_the_forms_that_a_client_sends_pass() {
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
        assert_eq!(is_netcode(&packet(0x10)), None, "a request in disguise passes for a checked one");
        assert_eq!(is_netcode(&packet(0x11)), None, "a denial comes from servers only, and is unreachable");
        assert_eq!(
            is_netcode(&packet(0x12)),
            None,
            "a challenge comes from servers only, and is unreachable"
        );
        assert_eq!(is_netcode(&[]), None);
        assert_eq!(is_netcode(&packet(0x15)[..17]), None, "no tag");
        assert_eq!(is_netcode(&[7; 1_400]), None);
        let mut last = packet(0x85);
        assert_eq!(is_netcode(&last), Some(Form::Encrypted));
        last[8] = 0x40;
        assert_eq!(is_netcode(&last), None, "a server's number: it would outrun our own goodbye in its name");
        last[8] = 0xFF;
        assert_eq!(is_netcode(&last), None, "256 more than this overflow");
    }

    #[test]
    fn only_the_forms_that_a_server_sends_pass_to_a_client() {
        for kind in 0..16 {
            assert_eq!(is_of_a_server(&packet(0x80 | kind)), matches!(kind, 1 | 2 | 4..=6), "kind {kind}");
        }
        assert!(!is_of_a_server(&packet(0x95)), "nine sequence bytes panic netcode 0.30");
        assert!(!is_of_a_server(&packet(0x05)) && !is_of_a_server(&[]) && !is_of_a_server(&[7; 1_400]));
        let mut number = packet(0x85);
        number[8] = 0x40;
        assert!(is_of_a_server(&number), "a server's numbers begin at 2^62");
        number[8] = 0x80;
        assert!(!is_of_a_server(&number));
    }

    #[test]
    fn no_bytes_panic() {
        for prefix in 0..=255 {
            for length in 0..40 {
                let _ = is_netcode(&packet(prefix)[..length]);
                let _ = is_of_a_server(&packet(prefix)[..length]);
            }
        }
    }
}
