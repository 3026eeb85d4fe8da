//! Datagram filter: checks the form and the rate of datagrams before netcode reads them. The sender may be
//! forged, so no client gets strikes for them. Clients filter too: lightyear's socket accepts datagrams from
//! any address.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::{
    connection::{client_of::SkipNetcode, host::HostClient},
    link::Link,
    netcode::NetcodeClient,
    prelude::{Connected, Connecting, LinkOf, server::NetcodeServer},
};

use super::{
    IngressLimits, IngressRefusal, IngressStats, LinkTraffic, pending_links::PendingLink, retain_received,
    token_bucket::TokenBucket,
};
use crate::tokens::AddressProof;

/// Decryption budget of a connected client.
#[derive(Component, Default)]
pub(super) struct DecryptionBudget(TokenBucket);

type Served = (With<LinkOf>, Without<HostClient>, Without<SkipNetcode>);

pub(super) fn filter_datagrams(
    time: Res<Time<Real>>,
    limits: Res<IngressLimits>,
    servers: Query<(), With<NetcodeServer>>,
    mut links: Query<
        (
            &mut Link,
            &LinkOf,
            Option<&mut DecryptionBudget>,
            Option<&mut PendingLink>,
            Option<&mut LinkTraffic>,
            (Has<Connected>, Has<Connecting>, Has<AddressProof>),
        ),
        Served,
    >,
    mut stats: ResMut<IngressStats>,
) {
    let passed = time.delta();
    for (mut link, of, datagrams, stranger, mut traffic, (connected, connecting, proven)) in &mut links {
        if !servers.contains(of.server) {
            continue;
        }
        let mut fresh = TokenBucket::FULL;
        let (bucket, rate) = match (datagrams, stranger) {
            (Some(datagrams), _) if connected => (&mut datagrams.into_inner().0, limits.datagrams_per_second),
            (_, Some(stranger)) => {
                let stranger = stranger.into_inner();
                stranger.has_sent |= link.recv.len() > 0;
                (&mut stranger.datagrams, limits.pending_datagrams_per_second)
            }
            _ => (&mut fresh, limits.pending_datagrams_per_second),
        };
        bucket.fill(rate, limits.burst, passed);
        retain_received(&mut link, |datagram| {
            let is_known = connected || connecting || proven;
            let refusal = match client_datagram_form(datagram) {
                Some(DatagramForm::Request) => None,
                Some(DatagramForm::Encrypted) if is_known => None,
                _ => Some(IngressRefusal::NotNetcode),
            };
            let refusal = refusal.or_else(|| (!bucket.take(1.0)).then_some(IngressRefusal::Datagrams));
            if let Some(refusal) = refusal {
                stats.refused.count(refusal);
                if let Some(traffic) = &mut traffic {
                    traffic.refused.count(refusal);
                }
            }
            refusal.is_none()
        });
        if let Some(traffic) = &mut traffic {
            traffic.silence = if link.recv.len() > 0 { Duration::ZERO } else { traffic.silence + passed };
        }
    }
}

/// Client-side datagram filter: drops datagrams that a netcode server does not send.
pub(super) fn filter_server_datagrams(
    mut links: Query<&mut Link, (With<NetcodeClient>, Without<LinkOf>, Without<HostClient>)>,
    mut stats: ResMut<IngressStats>,
) {
    for mut link in &mut links {
        retain_received(&mut link, |datagram| {
            let is_kept = is_server_datagram(datagram);
            if !is_kept {
                stats.refused.count(IngressRefusal::NotNetcode);
            }
            is_kept
        });
    }
}

/// Form of a datagram that a netcode client sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DatagramForm {
    /// A connection request: the only unencrypted datagram, and of fixed length.
    Request,
    /// Any other kind, with a plausible prefix.
    Encrypted,
}

/// Returns the form of a datagram if a netcode client could have sent it.
pub(crate) fn client_datagram_form(bytes: &[u8]) -> Option<DatagramForm> {
    /// Length of a connection request.
    const REQUEST: usize = 1_078;
    const VERSION: &[u8] = b"NETCODE 1.02\0";
    let (&prefix, rest) = bytes.split_first()?;
    if prefix == 0 {
        return (bytes.len() == REQUEST && rest.starts_with(VERSION)).then_some(DatagramForm::Request);
    }
    // Response, keep-alive, payload, disconnect. Client sequence numbers start at 0. Those from 2^62 on are a
    // server's, and ours when a server closes a session in a client's name.
    is_encrypted(bytes, |kind| (3..=6).contains(&kind), 0x40).then_some(DatagramForm::Encrypted)
}

/// Whether a netcode server could have sent a datagram of this form.
pub(super) fn is_server_datagram(bytes: &[u8]) -> bool {
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
    const MAX_DATAGRAM: usize = 1_300;
    let Some((&prefix, rest)) = bytes.split_first() else { return false };
    let (kind, sequence) = (prefix & 15, usize::from(prefix >> 4));
    is_kind(kind)
        && (1..=8).contains(&sequence)
        && (sequence + TAG..MAX_DATAGRAM).contains(&rest.len())
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
        assert_eq!(client_datagram_form(&request), Some(DatagramForm::Request));
        assert_eq!(client_datagram_form(&request[..1_077]), None);
        request[3] = 0;
        assert_eq!(client_datagram_form(&request), None, "another protocol");
        for kind in 3..=6 {
            assert_eq!(client_datagram_form(&packet(0x10 | kind)), Some(DatagramForm::Encrypted));
        }
        assert_eq!(client_datagram_form(&packet(0x95)), None, "nine sequence bytes panic netcode 0.30");
        assert_eq!(client_datagram_form(&packet(0x05)), None, "no sequence byte");
        assert_eq!(
            client_datagram_form(&packet(0x10)),
            None,
            "netcode would treat it as a request that was checked"
        );
        assert_eq!(
            client_datagram_form(&packet(0x11)),
            None,
            "only servers send denials; netcode panics on it"
        );
        assert_eq!(
            client_datagram_form(&packet(0x12)),
            None,
            "only servers send challenges; netcode panics on it"
        );
        assert_eq!(client_datagram_form(&[]), None);
        assert_eq!(client_datagram_form(&packet(0x15)[..17]), None, "no tag");
        assert_eq!(client_datagram_form(&[7; 1_400]), None);
        let mut last = packet(0x85);
        assert_eq!(client_datagram_form(&last), Some(DatagramForm::Encrypted));
        last[8] = 0x40;
        assert_eq!(
            client_datagram_form(&last),
            None,
            "it would turn our own disconnect in its name into a replay"
        );
        last[8] = 0xFF;
        assert_eq!(client_datagram_form(&last), None, "netcode adds 256 to it, which overflows");
    }

    #[test]
    fn client_accepts_only_datagrams_that_a_netcode_server_sends() {
        for kind in 0..16 {
            assert_eq!(
                is_server_datagram(&packet(0x80 | kind)),
                matches!(kind, 1 | 2 | 4..=6),
                "kind {kind}"
            );
        }
        assert!(!is_server_datagram(&packet(0x95)), "nine sequence bytes panic netcode 0.30");
        assert!(
            !is_server_datagram(&packet(0x05))
                && !is_server_datagram(&[])
                && !is_server_datagram(&[7; 1_400])
        );
        let mut number = packet(0x85);
        number[8] = 0x40;
        assert!(is_server_datagram(&number), "a server's sequence numbers start at 2^62");
        number[8] = 0x80;
        assert!(!is_server_datagram(&number));
    }

    #[test]
    fn no_prefix_or_length_panics_the_datagram_filter() {
        // A panic fails the test.
        for prefix in 0..=255 {
            for length in 0..40 {
                let _ = client_datagram_form(&packet(prefix)[..length]);
                let _ = is_server_datagram(&packet(prefix)[..length]);
            }
        }
    }
}
