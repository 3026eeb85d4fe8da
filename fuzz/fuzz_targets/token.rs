//! Connection requests, connect tokens and server keys. The first byte selects one of three: a script of
//! datagrams sent to a server, which admits only unused tokens issued with its key; a client's token; the
//! text of a key.

#![no_main]

use core::{net::SocketAddr, time::Duration};
use std::{collections::HashSet, sync::OnceLock, time::SystemTime};

use libfuzzer_sys::fuzz_target;
use lightyear_guard::{
    ConnectTokenRequest, KeyError, ServerAccess, ServerKey, TokenClient, TokenError, fuzzing::TokenProbe,
};

const GAME: u64 = 9;
/// Number of good tokens among the four; the next one is for another game.
const GOOD_TOKENS: usize = 2;
/// Number of tokens issued with the server's key; the last one is not.
const OUR_TOKENS: usize = 3;

/// Constant clock, so that tokens do not expire; slightly in the past, so that tokens are issued after the
/// server's start.
fn clock() -> SystemTime {
    static CLOCK: OnceLock<SystemTime> = OnceLock::new();
    *CLOCK.get_or_init(|| SystemTime::now() - Duration::from_secs(10))
}

fn key(byte: u8) -> ServerKey {
    ServerKey::from_bytes([byte; 32]).expect("the key is not zero")
}

/// Connection requests that netcode's client sends for the tokens.
fn requests() -> &'static [Vec<u8>; 4] {
    static REQUESTS: OnceLock<[Vec<u8>; 4]> = OnceLock::new();
    REQUESTS.get_or_init(|| {
        // The clock must start before the tokens are issued.
        clock();
        let server = SocketAddr::from(([10, 0, 0, 7], 5_000));
        [(0, 9, GAME), (1, 9, GAME), (2, 9, GAME + 1), (3, 8, GAME)].map(|(client, byte, game)| {
            let token = ConnectTokenRequest::new(client, server, game).issue(&key(byte)).expect("a token");
            // Version and protocol; without the time of creation; expiry, nonce and private part.
            [&[0][..], &token[..21], &token[29..29 + 8 + 24 + 1_024]].concat()
        })
    })
}

struct Run {
    probe: TokenProbe,
    /// Per link: the last token that passed, and whether the client has joined.
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
            assert!(passed && answers.is_empty(), "datagrams that are no connection request must pass");
            return;
        }
        // A request is encrypted or authenticated as a whole: any change makes it a forgery.
        let token = requests()[..OUR_TOKENS].iter().position(|request| request == datagram);
        assert!(token.is_some() || !passed && answers.is_empty(), "a forged token passed");
        let Some(token) = token else { return };
        assert!(answers.len() <= 1 && (!passed || answers.is_empty()));
        if passed {
            assert!(token < GOOD_TOKENS && !self.used.contains(&token), "token {token} must not pass");
            assert!(!self.links[link].1, "a joined link passes another token");
            self.links[link].0 = Some(token);
        }
        assert!(passed || !self.is_fresh || token >= GOOD_TOKENS, "a good token is refused");
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

/// Splits a number of bytes off a script.
fn take<'a>(script: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = script.split_at(count.min(script.len()));
    *script = rest;
    taken
}

fn connection_script(mut script: &[u8]) {
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
        Err(TokenError::Request(why)) => panic!("reading a token reports an error of issuing: {why}"),
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
        0 => connection_script(bytes),
        1 => client(bytes),
        _ => text(bytes),
    }
});
