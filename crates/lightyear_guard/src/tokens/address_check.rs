//! Address check of joining clients, before netcode and lightyear know them.
//!
//! netcode keeps more than two kilobytes for each client id that has asked to join and never did, for ever, and
//! lightyear an entity for each address. So a client first answers a challenge of this crate's. A client of netcode
//! answers one challenge only; netcode's own is then answered in its name.

use bevy::prelude::*;
use lightyear::{
    link::{Link, RecvPayload},
    netcode::try_generate_key,
    prelude::Connected,
};

use super::{
    netcode_packets::{self, CHALLENGE, PacketKey, RESPONSE},
    server_access::TokenValidator,
    session_close::SessionKeys,
};
use crate::ingress::retain_received;

/// Length of a challenge: a sequence number and a challenge token.
const BODY: usize = 8 + 300;
/// Random bytes of a challenge.
const SECRET: usize = 16;
/// Sequence number of the response in a client's name. It does not leave the server, and netcode checks no response
/// for repetition.
const RESPONSE_SEQUENCE: u64 = 1 << 61;

/// Challenge to an address that has sent a valid connection request.
pub(crate) struct AddressChallenge {
    request: Box<[u8]>,
    /// Name of the request's token.
    token: [u8; 16],
    to_server: PacketKey,
    secret: [u8; SECRET],
    packet: Box<[u8]>,
}

/// On a link: its client has proven its address.
#[derive(Component)]
pub(crate) struct AddressProof {
    /// The client's connection request, until it is connected.
    request: Box<[u8]>,
    /// Response to netcode's challenge that netcode gets in the next frame.
    response: Option<Vec<u8>>,
}

/// Returns the content of a challenge. Only its sender reads it, so it is of the right length and otherwise random.
fn body(secret: &[u8; SECRET]) -> [u8; BODY] {
    let mut body = [0; BODY];
    body[8..8 + SECRET].copy_from_slice(secret);
    body
}

impl AddressChallenge {
    /// Returns the packet for the client.
    pub fn packet(&self) -> &[u8] {
        &self.packet
    }

    /// Whether a datagram repeats the request.
    pub fn is_repeated_by(&self, datagram: &[u8]) -> bool {
        *self.request == *datagram
    }

    /// Whether a connection request shows the same token: the token's name is at its end.
    pub fn is_of_token_in(&self, request: &[u8]) -> bool {
        request.last_chunk() == Some(&self.token)
    }

    /// Whether a datagram answers the challenge.
    pub fn is_answered_by(&self, datagram: &[u8]) -> bool {
        let mut room = PacketKey::room();
        self.to_server.open(RESPONSE, datagram, &mut room) == Some(&body(&self.secret)[..])
    }

    /// Returns the request, which netcode gets now, and the proof for the new link.
    pub fn into_proof(self) -> (RecvPayload, AddressProof) {
        (RecvPayload::from(&self.request[..]), AddressProof { request: self.request, response: None })
    }
}

impl TokenValidator {
    /// Creates the challenge for a connection request that [`may_open`](Self::may_open) a link. `None` if the system
    /// provides no random bytes.
    pub(crate) fn challenge(&mut self, datagram: &[u8]) -> Option<AddressChallenge> {
        let request = netcode_packets::request(datagram)?;
        let private = self.access.keys.iter().find_map(|key| request.open(&key.bytes()))?;
        let keys = SessionKeys::new(request.protocol, &private);
        let mut secret = [0; SECRET];
        secret.copy_from_slice(&try_generate_key().ok()?[..SECRET]);
        self.sequence += 1;
        let packet = keys.to_client.seal(CHALLENGE, self.sequence, &body(&secret))?;
        Some(AddressChallenge {
            request: datagram.into(),
            token: request.name(),
            to_server: keys.to_server,
            secret,
            packet: packet.into(),
        })
    }
}

/// Gives netcode its response, and until it has a challenge the client's request in place of the client's responses,
/// which are meant for [`AddressChallenge`].
pub(super) fn replace_responses(mut links: Query<(&mut Link, &mut AddressProof, Has<Connected>)>) {
    for (mut link, mut proof, is_connected) in &mut links {
        let mut asks = false;
        retain_received(&mut link, |datagram| {
            let is_response = datagram.first().is_some_and(|prefix| prefix & 15 == RESPONSE);
            asks |= is_response;
            !is_response
        });
        if is_connected {
            if !proof.request.is_empty() {
                proof.request = Box::default();
            }
        } else if let Some(response) = proof.response.take() {
            link.recv.push_raw(RecvPayload::from(&response[..]));
        } else if asks {
            link.recv.push_raw(RecvPayload::from(&proof.request[..]));
        }
    }
}

/// Takes netcode's challenges from the links, for [`replace_responses`]. Runs after netcode has written.
pub(super) fn take_challenges(
    mut links: Query<(&mut Link, &SessionKeys, &mut AddressProof), Without<Connected>>,
) {
    for (mut link, keys, mut proof) in &mut links {
        for _ in 0..link.send.len() {
            let Some(packet) = link.send.pop() else { break };
            let mut room = PacketKey::room();
            match keys.to_client.open(CHALLENGE, &packet, &mut room) {
                Some(challenge) => {
                    proof.response = keys.to_server.seal(RESPONSE, RESPONSE_SEQUENCE, challenge);
                }
                None => link.send.push(packet),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::net::SocketAddr;

    use super::*;
    use crate::tokens::{
        ConnectTokenRequest, ServerAccess, ServerKey,
        netcode_packets::{DISCONNECT, key_to_client, tests::request_of},
    };

    #[test]
    fn challenge_is_answered_with_its_content_and_the_clients_key_alone() {
        let key = ServerKey::random().expect("random bytes");
        let mut world = World::new();
        let server = world.spawn(ServerAccess::new(key.clone(), 3).server()).id();
        let mut gate = world.get_mut::<TokenValidator>(server).expect("a server");
        let address = SocketAddr::from(([127, 0, 0, 1], 7));
        let token = ConnectTokenRequest::new(1, address, 3).issue(&key).expect("a token");
        let datagram = request_of(&token);
        let mut challenge = || gate.challenge(&datagram).expect("a challenge");
        let (challenge, other) = (challenge(), challenge());

        let to_client = key_to_client(&token).expect("a key");
        let mut room = PacketKey::room();
        let body = to_client.open(CHALLENGE, challenge.packet(), &mut room).expect("for the client").to_vec();
        let private = netcode_packets::request(&datagram).and_then(|request| request.open(&key.bytes()));
        let to_server = PacketKey { key: private.expect("the server's key").to_server, protocol: 3 };
        let answer = |key: &PacketKey, kind, body: &[u8]| key.seal(kind, 5, body).expect("a packet");

        let right = answer(&to_server, RESPONSE, &body);
        assert!(challenge.is_answered_by(&right) && challenge.is_repeated_by(&datagram));
        assert!(!other.is_answered_by(&right), "each challenge has its own content");
        assert!(!challenge.is_answered_by(&answer(&to_client, RESPONSE, &body)), "another key");
        assert!(!challenge.is_answered_by(&answer(&to_server, DISCONNECT, &body)), "another kind");
        assert!(!challenge.is_answered_by(&answer(&to_server, RESPONSE, &body[1..])), "another length");
        assert!(!challenge.is_answered_by(challenge.packet()) && !challenge.is_answered_by(&datagram));
        for cut in 0..right.len() {
            assert!(!challenge.is_answered_by(&right[..cut]));
        }
        let (first, proof) = challenge.into_proof();
        assert!(first[..] == datagram[..] && proof.request[..] == datagram[..] && proof.response.is_none());
    }
}
