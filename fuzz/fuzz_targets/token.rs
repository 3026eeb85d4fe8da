//! Any bytes are a request to join, a token or a key, or an error. The first one says what they are to be: a script of
//! what is shown to a server, where whoever gets in has a token that our key has made, and that nobody has used; a
//! client's token; the text of a key.

#![no_main]

use core::{net::SocketAddr, time::Duration};
use std::{collections::HashSet, sync::OnceLock, time::SystemTime};

use lightyear_guard::{ConnectTokenRequest, KeyError, ServerAccess, ServerKey, TokenClient, TokenError, fuzzing::TokenProbe};
use libfuzzer_sys::fuzz_target;

const GAME: u64 = 9;
/// Of the four tokens so many are good; the next is for another game.
const GOOD: usize = 2;
/// So many are made by our key; the last one is not.
const OURS: usize = 3;

/// Stands still, so that tokens do not grow old; a little in the past, so that they are made after the server started.
fn clock() -> SystemTime {
    static CLOCK: OnceLock<SystemTime> = OnceLock::new();
    *CLOCK.get_or_init(|| SystemTime::now() - Duration::from_secs(10))
}

fn key(byte: u8) -> ServerKey {
    ServerKey::from_bytes([byte; 32]).expect("it is not zero")
}

/// The connection requests that netcode's client sends of the tokens.
fn requests() -> &'static [Vec<u8>; 4] {
    static REQUESTS: OnceLock<[Vec<u8>; 4]> = OnceLock::new();
    REQUESTS.get_or_init(|| {
        // Before the tokens are made.
        clock();
        let server = SocketAddr::from(([10, 0, 0, 7], 5_000));
        [(0, 9, GAME), (1, 9, GAME), (2, 9, GAME + 1), (3, 8, GAME)].map(|(client, byte, game)| {
            let token = ConnectTokenRequest::new(client, server, game).issue(&key(byte)).expect("a token");
            // Version and protocol; not the time of making; expiry, nonce and private part.
            [&[0][..], &token[..21], &token[29..29 + 8 + 24 + 1_024]].concat()
        })
    })
}

struct Run {
    probe: TokenProbe,
    /// What each link has shown last and was let through with, and whether it has joined.
    links: [(Option<usize>, bool); 2],
    used: HashSet<usize>,
    is_fresh: bool,
}

impl Run {
    fn start() -> Self {
        let probe = TokenProbe::new(&ServerAccess::new(key(9), GAME), clock);
        Self { probe, links: [(None, false); 2], used: HashSet::new(), is_fresh: true }
    }

    fn show(&mut self, link: usize, datagram: &[u8]) {
        let (passed, answers) = self.probe.show(link, datagram);
        if datagram.len() != 1_078 || !datagram.starts_with(b"\0NETCODE 1.02\0") {
            assert!(passed && answers.is_empty(), "what is no request is not the door's business");
            return;
        }
        // All of a request is sealed, or sealed with: whatever is changed of one is not ours.
        let token = requests()[..OURS].iter().position(|request| request == datagram);
        assert!(token.is_some() || !passed && answers.is_empty(), "a forged token");
        let Some(token) = token else { return };
        assert!(answers.len() <= 1 && !(passed && !answers.is_empty()));
        if passed {
            assert!(token < GOOD && !self.used.contains(&token), "token {token} is let in");
            assert!(!self.links[link].1, "somebody joins twice");
            self.links[link].0 = Some(token);
        }
        assert!(passed || !self.is_fresh || token >= GOOD, "a good token is refused");
        self.is_fresh = false;
    }

    fn join(&mut self, link: usize) {
        if let (Some(token), false) = self.links[link] {
            self.links[link].1 = true;
            self.used.insert(token);
            self.probe.join(link, token as u64);
        }
    }
}

/// So many bytes of a script.
fn take<'a>(script: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = script.split_at(count.min(script.len()));
    *script = rest;
    taken
}

fn door(mut script: &[u8]) {
    let mut run = Run::start();
    while let Some((first, rest)) = script.split_first() {
        script = rest;
        let (what, link) = (usize::from(first & 7), usize::from(first >> 3 & 1));
        match what {
            0..4 => {
                let mut datagram = requests()[what].clone();
                for _ in 0..first >> 4 & 3 {
                    let [high, low, change] = *take(&mut script, 3) else { break };
                    let at = usize::from(u16::from_be_bytes([high, low])) % datagram.len();
                    datagram[at] ^= change;
                }
                run.show(link, &datagram);
            }
            4 => {
                let length = take(&mut script, 2).iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
                let datagram = take(&mut script, length % 1_400);
                run.show(link, datagram);
            }
            5 | 6 => run.join(link),
            _ => {
                run.links[link] = (None, false);
                run.probe.leave(link);
            }
        }
    }
}

fn client(token: &[u8]) {
    match TokenClient::new(token) {
        Ok(client) => {
            assert!(token.len() == 2_048 && token.starts_with(b"NETCODE 1.02\0"));
            let _ = client.server();
        }
        Err(TokenError::Length(length)) => assert!(length == token.len() && length != 2_048),
        Err(TokenError::Malformed | TokenError::Expired) => assert_eq!(token.len(), 2_048),
        Err(TokenError::Request(why)) => panic!("nothing was to be made: {why}"),
    }
}

fn text(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    match text.parse::<ServerKey>() {
        Ok(key) => {
            assert_eq!(key.to_hex(), text.trim().to_ascii_lowercase());
            assert_eq!(key.to_hex().parse(), Ok(key));
        }
        Err(KeyError::Zero) => assert_eq!(text.trim(), "0".repeat(64)),
        Err(error) => assert_eq!(error, KeyError::Text),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((what, bytes)) = bytes.split_first() else { return };
    match what % 3 {
        0 => door(bytes),
        1 => client(bytes),
        _ => text(bytes),
    }
});
