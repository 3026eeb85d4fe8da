//! Tests of the matchmaker over real sockets, on stepped time.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bevy_unlag::prelude::TokenClient;

use super::{
    allocator::{AllocationEvent, GameServer},
    *,
};
use crate::matchmaking::MatchPlaces;

/// Time after which a test gives up.
const PATIENCE: Duration = Duration::from_secs(20);
const FILL_TIME: Duration = Duration::from_secs(10);

/// Servers that the test makes ready.
#[derive(Clone, Default)]
struct HandServers(Arc<Mutex<(Vec<String>, Vec<(String, AllocationEvent)>)>>, Arc<AtomicUsize>);

impl Allocator for HandServers {
    fn allocate(&mut self, match_id: &str) -> Result<(), String> {
        let mut servers = self.0.lock().expect("no panic");
        if servers.0.len() == 3 {
            return Err("all servers are taken".to_owned());
        }
        servers.0.push(match_id.to_owned());
        Ok(())
    }

    fn poll(&mut self) -> Vec<(String, AllocationEvent)> {
        core::mem::take(&mut self.0.lock().expect("no panic").1)
    }

    fn drain(&mut self) -> usize {
        self.1.load(Ordering::Relaxed)
    }
}

impl HandServers {
    fn asked(&self) -> Vec<String> {
        self.0.lock().expect("no panic").0.clone()
    }

    fn event(&self, number: usize, event: AllocationEvent) {
        let match_id = self.asked()[number].clone();
        self.0.lock().expect("no panic").1.push((match_id, event));
    }

    fn ready(&self, number: usize) {
        let address = SocketAddr::from(([127, 0, 0, 1], 5_000 + number as u16));
        self.event(number, AllocationEvent::Ready(GameServer { server_id: format!("s{number}"), address }));
    }
}

/// A matchmaker for matches of four, on stepped time.
struct Site {
    service: Service,
    servers: HandServers,
    now: Instant,
}

impl Site {
    fn new() -> Self {
        let servers = HandServers::default();
        let rules = FillRules { players: 4, fill_time: FILL_TIME };
        let fleet = ServerKey::random().expect("random bytes").into();
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let service = Service::bind(listen, rules, fleet, Box::new(servers.clone())).expect("a free port");
        Self { service, servers, now: Instant::now() }
    }

    fn send(&self, request: &str) -> TcpStream {
        let mut peer = TcpStream::connect(self.service.server.address()).expect("a connection");
        peer.write_all(request.as_bytes()).expect("room");
        peer.set_nonblocking(true).expect("a stream that does not block");
        peer
    }

    /// Asks for a match for so many players, and waits until the matchmaker has the request.
    fn ask(&mut self, players: usize) -> TcpStream {
        let before = self.service.matches.counts().2;
        let json = format!("{{\"players\":{players}}}");
        let peer =
            self.send(&format!("POST /match HTTP/1.1\r\nContent-Length: {}\r\n\r\n{json}", json.len()));
        self.serve_until(|site| site.service.matches.counts().2 == before + players);
        peer
    }

    fn serve_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let began = Instant::now();
        while !done(self) {
            assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}");
            self.service.turn(self.now);
            thread::yield_now();
        }
    }

    /// Returns the status and the body that a peer gets.
    fn answer(&mut self, peer: &mut TcpStream) -> (String, String) {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4_096]);
        self.serve_until(|_| match peer.read(&mut chunk) {
            Ok(0) => true,
            Ok(length) => {
                bytes.extend_from_slice(&chunk[..length]);
                false
            }
            Err(_) => false,
        });
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a header");
        (head.split(' ').nth(1).expect("a status").to_owned(), body.to_owned())
    }

    fn places(&mut self, peer: &mut TcpStream) -> MatchPlaces {
        let (status, body) = self.answer(peer);
        assert_eq!(status, "200", "{body}");
        serde_json::from_str(&body).expect("places")
    }
}

#[test]
fn full_match_gets_a_server_of_its_own_and_a_token_for_each_player() {
    let mut site = Site::new();
    let mut peers = [site.ask(1), site.ask(2), site.ask(1), site.ask(3)];
    assert_eq!(site.servers.asked().len(), 2, "the last party needs another match");
    site.servers.ready(1);
    site.servers.ready(0);
    let places: Vec<_> = peers[..3].iter_mut().map(|peer| site.places(peer)).collect();
    let matches = site.servers.asked();
    assert!(places.iter().all(|places| places.match_id == matches[0]));
    assert_eq!(places.iter().map(|places| places.players.len()).collect::<Vec<_>>(), [1, 2, 1]);
    for place in places.iter().flat_map(|places| &places.players) {
        let client = TokenClient::new(&place.token().expect("a token")).expect("a token");
        assert_eq!((client.server().port(), place.address.as_str()), (5_000, "127.0.0.1:5000"));
    }
    assert_eq!(site.service.matches.counts(), (1, 4, 3));
    site.now += FILL_TIME;
    let last = site.places(&mut peers[3]);
    assert_eq!((last.match_id, last.players.len()), (matches[1].clone(), 3), "it begins without a fourth");
}

#[test]
fn party_that_goes_leaves_its_places_to_others() {
    let mut site = Site::new();
    let gone = site.ask(3);
    let mut stays = site.ask(1);
    drop(gone);
    site.serve_until(|site| site.service.matches.counts().2 == 1);
    let mut other = site.ask(3);
    site.servers.ready(0);
    assert_eq!(site.places(&mut stays).match_id, site.places(&mut other).match_id);
    assert_eq!(site.servers.asked().len(), 1);
}

#[test]
fn party_without_a_server_is_told_why() {
    let mut site = Site::new();
    let mut peers = [site.ask(4), site.ask(4), site.ask(4)];
    let request = "POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":4}";
    let mut peer = site.send(request);
    assert_eq!(site.answer(&mut peer), ("503".to_owned(), "all servers are taken\n".to_owned()));
    site.servers.event(1, AllocationEvent::Failed("it burns".to_owned()));
    assert_eq!(site.answer(&mut peers[1]), ("503".to_owned(), "it burns\n".to_owned()));
    site.servers.event(2, AllocationEvent::Ended);
    assert_eq!(site.answer(&mut peers[2]).0, "503");
    site.servers.ready(0);
    assert_eq!(site.places(&mut peers[0]).players.len(), 4);
}

#[test]
fn stop_refuses_all_parties_and_lasts_until_the_servers_have_ended() {
    let mut site = Site::new();
    let mut waiting = site.ask(3);
    site.servers.1.store(2, Ordering::Relaxed);
    let began = site.now;
    assert!(!site.service.stop(began, site.now));
    let refusal = ("503".to_owned(), format!("{STOPPING}\n"));
    assert_eq!(site.answer(&mut waiting), refusal);
    let request = "POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":1}";
    for request in [request, "GET /healthz HTTP/1.1\r\n\r\n"] {
        let mut late = site.send(request);
        assert_eq!(site.answer(&mut late), refusal, "{request}");
    }
    site.now += GOODBYE;
    assert!(!site.service.stop(began, site.now), "servers still run");
    site.servers.1.store(0, Ordering::Relaxed);
    assert!(site.service.stop(began, site.now));
    assert_eq!(site.servers.asked().len(), 1, "no server for those who come late");
}

#[test]
fn request_that_is_not_understood_gets_an_answer_and_allocates_nothing() {
    let mut site = Site::new();
    for (request, status) in [
        ("POST /match HTTP/1.1\r\n\r\n", "400"),
        ("POST /match HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "400"),
        ("POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":0}", "400"),
        ("POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":5}", "400"),
        ("GET /match HTTP/1.1\r\n\r\n", "405"),
        ("POST /status HTTP/1.1\r\n\r\n", "405"),
        ("GET /healthz HTTP/1.1\r\n\r\n", "200"),
        ("GET /status HTTP/1.1\r\n\r\n", "200"),
        ("GET /../etc HTTP/1.1\r\n\r\n", "404"),
        ("hello\r\n\r\n", "400"),
    ] {
        let mut peer = site.send(request);
        assert_eq!(site.answer(&mut peer).0, status, "{request}");
    }
    assert!(site.servers.asked().is_empty());
}

#[test]
fn empty_match_is_offered_no_longer_than_its_server_waits() {
    let mut site = Site::new();
    drop(site.ask(1));
    site.serve_until(|site| site.service.matches.counts().2 == 0);
    site.servers.ready(0);
    site.now += Duration::from_secs(19);
    drop(site.ask(1));
    assert_eq!(site.servers.asked().len(), 1, "the server of the one who left");
    site.serve_until(|site| site.service.matches.counts().2 == 0);
    site.now += Duration::from_secs(1);
    site.service.turn(site.now);
    let _peer = site.ask(1);
    assert_eq!(site.servers.asked().len(), 2);
}
