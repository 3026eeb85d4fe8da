//! Addresses that have asked to join and have not answered the server's challenge yet.

use core::time::Duration;
use std::net::{IpAddr, SocketAddr};

use bevy::platform::collections::HashMap;
use lightyear::link::RecvPayload;

use crate::{
    clock::SystemTime,
    ingress::{
        IngressLimits, IngressRefusal,
        datagram_filter::{DatagramForm, client_datagram_form},
        host,
        token_bucket::TokenBucket,
    },
    tokens::{AddressChallenge, AddressProof, TokenValidator},
};

/// An address that has sent a valid connection request.
struct Stranger {
    challenge: AddressChallenge,
    age: Duration,
    /// Budget of its datagrams.
    datagrams: TokenBucket,
}

/// Strangers of one socket: 1.6 kB each, [`IngressLimits::max_pending`] at most.
#[derive(Default)]
pub(super) struct Strangers {
    asked: HashMap<SocketAddr, Stranger>,
    /// Strangers and links without a connection by host, counted when the first request of a frame arrives.
    hosts: Option<HashMap<IpAddr, usize>>,
    /// Strangers that were forgotten to make room.
    displaced: u64,
}

/// Decision about a datagram of an unknown address.
pub(super) enum Admission<'a> {
    /// Sends this challenge.
    Challenge(&'a [u8]),
    /// Creates a link that receives this datagram first.
    Link(RecvPayload, Option<AddressProof>),
    /// Drops it.
    Refuse(IngressRefusal),
}

impl Strangers {
    /// Begins a frame: forgets those that are too old. Returns how many were forgotten since the last frame.
    pub fn age(&mut self, limits: &IngressLimits, counted: Duration, passed: Duration) -> u64 {
        let before = self.asked.len();
        self.asked.retain(|_, stranger| {
            stranger.age += counted;
            stranger.datagrams.fill(limits.pending_datagrams_per_second, limits.burst, passed);
            stranger.age <= limits.pending_timeout
        });
        self.hosts = None;
        (before - self.asked.len()) as u64 + core::mem::take(&mut self.displaced)
    }

    /// Returns the number of strangers.
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// Decides about a datagram. `requests` is the budget of new requests, `pending` the addresses of the links
    /// without a connection.
    pub fn admit(
        &mut self,
        address: SocketAddr,
        datagram: &[u8],
        (gate, wall): (Option<&mut TokenValidator>, SystemTime),
        limits: &IngressLimits,
        requests: &mut TokenBucket,
        pending: impl Iterator<Item = SocketAddr>,
    ) -> Admission<'_> {
        let refuse = Admission::Refuse;
        let Some(form) = client_datagram_form(datagram) else { return refuse(IngressRefusal::NotNetcode) };
        if let Some(stranger) = self.asked.get_mut(&address) {
            if !stranger.datagrams.take(1.0) {
                return refuse(IngressRefusal::Datagrams);
            }
            return match form {
                DatagramForm::Encrypted if stranger.challenge.is_answered_by(datagram) => {
                    self.asked.remove(&address).map_or(refuse(IngressRefusal::NotNetcode), |stranger| {
                        let (request, proof) = stranger.challenge.into_proof();
                        Admission::Link(request, Some(proof))
                    })
                }
                DatagramForm::Encrypted => refuse(IngressRefusal::NotNetcode),
                // A client repeats its request until it has the challenge. Of two requests the first one counts.
                DatagramForm::Request if stranger.challenge.is_repeated_by(datagram) => {
                    self.asked.get(&address).map_or(refuse(IngressRefusal::NotNetcode), |stranger| {
                        Admission::Challenge(stranger.challenge.packet())
                    })
                }
                DatagramForm::Request => refuse(IngressRefusal::ConnectionRequests),
            };
        }
        if form != DatagramForm::Request {
            return refuse(IngressRefusal::NotNetcode);
        }
        if gate.as_ref().is_some_and(|gate| !gate.may_open(datagram, wall)) {
            return refuse(IngressRefusal::ForeignToken);
        }
        // A token shown from forged addresses must not use up the table or the budget of the others.
        let of_token = self.asked.values().filter(|stranger| stranger.challenge.is_of_token_in(datagram));
        if of_token.count() >= limits.max_pending_per_host {
            return refuse(IngressRefusal::ConnectionRequests);
        }
        let hosts = self.hosts.get_or_insert_with(|| {
            let mut hosts = HashMap::default();
            for address in self.asked.keys().copied().chain(pending) {
                *hosts.entry(host(address)).or_default() += 1;
            }
            hosts
        });
        let of_host = hosts.entry(host(address)).or_default();
        // In this order: a host at its limit must not use up the shared budget.
        if *of_host >= limits.max_pending_per_host || !requests.take(1.0) {
            return refuse(IngressRefusal::ConnectionRequests);
        }
        *of_host += 1;
        let Some(gate) = gate else { return Admission::Link(RecvPayload::from(datagram), None) };
        let Some(challenge) = gate.challenge(datagram) else { return refuse(IngressRefusal::ForeignToken) };
        while self.asked.len() >= limits.max_pending.max(1) {
            self.displace_oldest();
        }
        let stranger = Stranger { challenge, age: Duration::ZERO, datagrams: TokenBucket::FULL };
        let stranger = self.asked.entry(address).or_insert(stranger);
        Admission::Challenge(stranger.challenge.packet())
    }

    fn displace_oldest(&mut self) {
        let oldest = self.asked.iter().max_by_key(|(_, stranger)| stranger.age);
        if let Some(oldest) = oldest.map(|(address, _)| *address) {
            self.asked.remove(&oldest);
            self.displaced += 1;
        }
    }
}
