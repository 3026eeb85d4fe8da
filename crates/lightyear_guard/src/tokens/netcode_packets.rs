//! netcode's encrypted packets and connect tokens. Decoded here so that a server knows a token before netcode
//! does, and encoded so that it can send the reason of a refusal.
//!
//! The layouts are those of netcode 1.02 as implemented by lightyear 0.30.1; the tests compare with it.

use core::net::{IpAddr, SocketAddr};

use bevy::ecs::prelude::Component;
use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit, XChaCha20Poly1305};

const VERSION: &[u8; 13] = b"NETCODE 1.02\0";
/// Length of the authentication tag at the end of encrypted data.
const TAG: usize = 16;
pub(super) const PRIVATE: usize = 1_024;
const REQUEST: usize = 1 + 13 + 8 + 8 + 24 + PRIVATE;
pub(super) const USER_DATA: usize = 256;
const MAX_SERVERS: u32 = 32;
/// Longest control packet: a denial with 255 bytes of text.
const SMALL: usize = 320;

/// netcode packet kinds.
pub(super) const DENIED: u8 = 1;
pub(super) const CHALLENGE: u8 = 2;
pub(super) const RESPONSE: u8 = 3;
pub(super) const DISCONNECT: u8 = 6;

/// Key of one direction of a session, with the protocol id that netcode authenticates.
#[derive(Component, Clone, PartialEq, Eq)]
pub(super) struct PacketKey {
    pub key: [u8; 32],
    pub protocol: u64,
}

/// Unencrypted part of a connection request.
pub(super) struct ConnectionRequest<'a> {
    pub protocol: u64,
    /// Seconds since 1970.
    pub expires: u64,
    pub nonce: &'a [u8; 24],
    pub private: &'a [u8; PRIVATE],
}

/// Server addresses of a token.
type ServerAddresses = [Option<SocketAddr>; MAX_SERVERS as usize];

/// Private part of a connect token, which only the server can decrypt.
pub(super) struct PrivateTokenData {
    pub client_id: u64,
    pub servers: ServerAddresses,
    pub to_server: [u8; 32],
    pub to_client: [u8; 32],
    pub user_data: [u8; USER_DATA],
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(array)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(|bytes| u64::from_be_bytes(*bytes))
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(|bytes| u32::from_be_bytes(*bytes))
    }

    fn servers(&mut self) -> Option<ServerAddresses> {
        let count = self.u32().filter(|count| (1..=MAX_SERVERS).contains(count))?;
        let mut list = [None; MAX_SERVERS as usize];
        for server in &mut list[..count as usize] {
            let ip = match self.array::<1>()? {
                [1] => IpAddr::from(*self.array::<4>()?),
                [2] => IpAddr::from(*self.array::<16>()?),
                _ => return None,
            };
            *server = Some(SocketAddr::new(ip, u16::from_be_bytes(*self.array()?)));
        }
        Some(list)
    }
}

/// Parses a datagram as a connection request.
pub(super) fn request(datagram: &[u8]) -> Option<ConnectionRequest<'_>> {
    if datagram.len() != REQUEST {
        return None;
    }
    let mut r = Reader(datagram);
    let (prefix, version) = (r.array::<1>()?, r.array::<13>()?);
    if prefix != &[0] || version != VERSION {
        return None;
    }
    Some(ConnectionRequest { protocol: r.u64()?, expires: r.u64()?, nonce: r.array()?, private: r.array()? })
}

impl ConnectionRequest<'_> {
    /// Returns the authentication tag, a unique id of the token: without the key nobody can make two tokens
    /// with one tag, or a token with the tag of another.
    pub fn name(&self) -> [u8; TAG] {
        let mut name = [0; TAG];
        name.copy_from_slice(&self.private[PRIVATE - TAG..]);
        name
    }

    /// Data that is authenticated with the private part.
    fn known(&self) -> [u8; 13 + 8 + 8] {
        let mut known = [0; 13 + 8 + 8];
        known[..13].copy_from_slice(VERSION);
        known[13..21].copy_from_slice(&self.protocol.to_be_bytes());
        known[21..].copy_from_slice(&self.expires.to_be_bytes());
        known
    }

    fn decrypt(&self, key: &[u8; 32]) -> Option<[u8; PRIVATE - TAG]> {
        let mut body = [0; PRIVATE - TAG];
        body.copy_from_slice(&self.private[..PRIVATE - TAG]);
        XChaCha20Poly1305::new(key.into())
            .decrypt_in_place_detached(self.nonce.into(), &self.known(), &mut body, &self.name().into())
            .ok()?;
        Some(body)
    }

    /// Returns the private part, encrypted with another key, if the token was issued with `key`.
    pub fn reseal(&self, key: &[u8; 32], other: &[u8; 32]) -> Option<[u8; PRIVATE]> {
        let mut body = self.decrypt(key)?;
        let tag = XChaCha20Poly1305::new(other.into())
            .encrypt_in_place_detached(self.nonce.into(), &self.known(), &mut body)
            .ok()?;
        let mut private = [0; PRIVATE];
        private[..PRIVATE - TAG].copy_from_slice(&body);
        private[PRIVATE - TAG..].copy_from_slice(&tag);
        Some(private)
    }

    /// Decrypts the private part, if the token was issued with this key.
    pub fn open(&self, key: &[u8; 32]) -> Option<PrivateTokenData> {
        let body = self.decrypt(key)?;
        let mut r = Reader(&body);
        let client_id = r.u64()?;
        let _timeout = r.u32()?;
        let servers = r.servers()?;
        let (to_server, to_client) = (*r.array()?, *r.array()?);
        Some(PrivateTokenData { client_id, servers, to_server, to_client, user_data: *r.array()? })
    }
}

/// Returns the key with which the server's packets to this client are encrypted, from a whole token.
pub(super) fn key_to_client(token: &[u8]) -> Option<PacketKey> {
    let mut r = Reader(token);
    let _version = r.array::<13>()?;
    let protocol = r.u64()?;
    let _times = r.array::<16>()?;
    let _nonce = r.array::<24>()?;
    let _private = r.array::<PRIVATE>()?;
    let _timeout = r.u32()?;
    r.servers()?;
    let _to_server = r.array::<32>()?;
    Some(PacketKey { key: *r.array()?, protocol })
}

/// Replaces the private part of a connection request.
pub(super) fn replace_private(request: &mut [u8], private: &[u8; PRIVATE]) {
    if let Some(old) = request.last_chunk_mut() {
        *old = *private;
    }
}

impl PacketKey {
    fn known(&self, prefix: u8) -> [u8; 22] {
        let mut known = [0; 22];
        known[..13].copy_from_slice(VERSION);
        known[13..21].copy_from_slice(&self.protocol.to_be_bytes());
        known[21] = prefix;
        known
    }

    fn nonce(sequence: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&sequence.to_be_bytes());
        nonce
    }

    /// Encrypts a packet as netcode does. A `sequence` must not be used twice with the same key.
    pub fn seal(&self, kind: u8, sequence: u64, body: &[u8]) -> Option<Vec<u8>> {
        let prefix = 8 << 4 | kind;
        let mut body = body.to_vec();
        let tag = ChaCha20Poly1305::new((&self.key).into())
            .encrypt_in_place_detached(&Self::nonce(sequence).into(), &self.known(prefix), &mut body)
            .ok()?;
        Some([&[prefix][..], &sequence.to_le_bytes(), &body, &tag].concat())
    }

    /// Decrypts a control packet of one kind into `room`.
    pub fn open<'a>(&self, kind: u8, datagram: &[u8], room: &'a mut [u8; SMALL]) -> Option<&'a [u8]> {
        let (&prefix, rest) = datagram.split_first()?;
        let length = usize::from(prefix >> 4);
        if prefix & 15 != kind || !(1..=8).contains(&length) || rest.len() < length + TAG {
            return None;
        }
        let (number, rest) = rest.split_at(length);
        let mut sequence = [0; 8];
        sequence[..length].copy_from_slice(number);
        let (body, tag) = rest.split_at(rest.len() - TAG);
        let room = room.get_mut(..body.len())?;
        room.copy_from_slice(body);
        let tag: [u8; TAG] = tag.try_into().ok()?;
        ChaCha20Poly1305::new((&self.key).into())
            .decrypt_in_place_detached(
                &Self::nonce(u64::from_le_bytes(sequence)).into(),
                &self.known(prefix),
                room,
                &tag.into(),
            )
            .ok()?;
        Some(room)
    }

    pub fn room() -> [u8; SMALL] {
        [0; SMALL]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use lightyear::netcode::ConnectToken;

    use super::*;

    /// Returns the connection request that netcode's client sends for a token.
    pub fn request_of(token: &[u8]) -> Vec<u8> {
        // Version and protocol id, without the time of issue; expiry, nonce and private part.
        [&[0][..], &token[..21], &token[29..29 + 8 + 24 + PRIVATE]].concat()
    }

    #[test]
    fn netcode_token_is_decrypted_with_its_key_only() {
        let key = [9; 32];
        let address = SocketAddr::from(([10, 0, 0, 7], 4_242));
        let token = ConnectToken::build(address, 77, 5, key).user_data([6; 256]).generate().expect("a token");
        let expires = token.expire_timestamp();
        let bytes = token.try_into_bytes().expect("bytes");
        let datagram = request_of(&bytes);
        let request = request(&datagram).expect("a request");
        assert_eq!((request.protocol, request.expires), (77, expires));
        let private = request.open(&key).expect("its key");
        assert_eq!((private.client_id, private.user_data), (5, [6; 256]));
        assert_eq!(private.servers.into_iter().flatten().collect::<Vec<_>>(), [address]);
        assert_eq!(key_to_client(&bytes).map(|key| key.key), Some(private.to_client));
        assert!(request.open(&[8; 32]).is_none());
        for at in [14, 22, 30, 60, REQUEST - 1] {
            let mut other = datagram.clone();
            other[at] ^= 1;
            assert!(super::request(&other).is_none_or(|request| request.open(&key).is_none()), "byte {at}");
        }
        for cut in 0..datagram.len() {
            assert!(super::request(&datagram[..cut]).is_none());
        }
        for cut in 0..1_100 {
            assert!(key_to_client(&bytes[..cut]).is_none());
        }
    }

    #[test]
    fn resealed_token_is_decrypted_with_the_other_key_and_says_the_same() {
        let (key, other) = ([9; 32], [8; 32]);
        let address = SocketAddr::from(([10, 0, 0, 7], 4_242));
        let token = ConnectToken::build(address, 77, 5, key).user_data([6; 256]).generate().expect("a token");
        let mut datagram = request_of(&token.try_into_bytes().expect("bytes"));
        let before = request(&datagram).expect("a request");
        assert!(before.reseal(&other, &key).is_none(), "not the token's key");
        let private = before.reseal(&key, &other).expect("the token's key");
        replace_private(&mut datagram, &private);
        let after = request(&datagram).expect("a request");
        assert!(after.open(&key).is_none());
        let opened = after.open(&other).expect("the other key");
        assert_eq!((opened.client_id, opened.user_data, after.expires > 0), (5, [6; 256], true));
    }

    #[test]
    fn control_packets_are_decrypted_with_their_key_only() {
        let key = PacketKey { key: [3; 32], protocol: 1 };
        let packet = key.seal(DENIED, 1 << 61, b"no").expect("a packet");
        let mut room = PacketKey::room();
        assert_eq!(key.open(DENIED, &packet, &mut room), Some(&b"no"[..]));
        assert_eq!(key.open(DISCONNECT, &packet, &mut room), None);
        let other = PacketKey { protocol: 2, ..key.clone() };
        assert_eq!(other.open(DENIED, &packet, &mut room), None);
        for cut in 0..packet.len() {
            assert_eq!(key.open(DENIED, &packet[..cut], &mut room), None);
        }
        for length in 0..600 {
            for prefix in 0..=255 {
                let mut junk = vec![7; length];
                if let Some(first) = junk.first_mut() {
                    *first = prefix;
                }
                assert_eq!(key.open(prefix & 15, &junk, &mut room), None);
            }
        }
    }
}
