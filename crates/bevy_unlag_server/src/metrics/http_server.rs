//! HTTP server for monitors, on a thread of its own: few connections, short requests, little time.

use core::time::Duration;
use std::{sync::Weak, thread, time::Instant};

use super::pages::Pages;
use crate::{
    http::{HttpRequest, HttpResponse},
    request_server::{RequestLimits, RequestServer},
};

/// Bounds of the server.
pub(super) const LIMITS: RequestLimits =
    RequestLimits { connections: 16, request_bytes: HttpRequest::MAX_BYTES, time: Duration::from_secs(2) };

/// Interval at which the thread looks for new connections.
const IDLE_INTERVAL: Duration = Duration::from_millis(50);
/// Interval of the turns while connections are open.
const BUSY_INTERVAL: Duration = Duration::from_millis(5);

/// Serves pages until they are dropped.
pub(super) fn serve(mut server: RequestServer, pages: &Weak<Pages>) {
    while let Some(pages) = pages.upgrade() {
        take_turn(&mut server, Instant::now(), |path| pages.page(path));
        drop(pages);
        thread::sleep(if server.is_idle() { IDLE_INTERVAL } else { BUSY_INTERVAL });
    }
}

/// Takes the requests that have arrived and answers them, without waiting for any peer.
fn take_turn(server: &mut RequestServer, now: Instant, page: impl Fn(&str) -> HttpResponse) {
    for (id, request) in server.advance(now, HttpRequest::form) {
        let response = match HttpRequest::parse(&request) {
            Some(HttpRequest { method: "GET", path, .. }) => page(path),
            Some(_) => HttpResponse::wrong_method("GET"),
            None => HttpResponse::text("400 Bad Request", "expected a request of HTTP/1.1"),
        };
        server.answer(id, response.to_bytes(), now);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        io::{ErrorKind, Read, Write},
        net::{SocketAddr, TcpStream},
    };

    use super::*;

    /// Time after which a test gives up.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// A server on stepped time, whose pages are their paths.
    struct Site {
        server: RequestServer,
        now: Instant,
    }

    impl Site {
        fn new() -> Self {
            let server =
                RequestServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), LIMITS).expect("a free port");
            Self { server, now: Instant::now() }
        }

        fn connect(&self, request: &[u8]) -> TcpStream {
            let mut peer = TcpStream::connect(self.server.address()).expect("a connection");
            peer.set_nonblocking(true).expect("a stream that does not block");
            peer.write_all(request).expect("room for a request");
            peer
        }

        fn take_turn(&mut self) {
            take_turn(&mut self.server, self.now, |path| HttpResponse::text("200 OK", path));
        }

        /// Serves until the connection of `peer` is closed. Returns what the peer has got.
        fn answer(&mut self, peer: &mut TcpStream) -> String {
            let (began, mut bytes) = (Instant::now(), Vec::new());
            while read(peer, &mut bytes) {
                assert!(began.elapsed() < PATIENCE, "the connection is still open");
                self.take_turn();
                thread::yield_now();
            }
            String::from_utf8(bytes).expect("text")
        }
    }

    /// Reads what has arrived. Returns whether the connection is still open.
    fn read(peer: &mut TcpStream, bytes: &mut Vec<u8>) -> bool {
        let mut chunk = [0; 1_024];
        loop {
            match peer.read(&mut chunk) {
                Ok(0) => return false,
                Ok(length) => bytes.extend_from_slice(&chunk[..length]),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }

    #[test]
    fn get_request_in_two_parts_gets_its_page() {
        let mut site = Site::new();
        let mut peer = site.connect(b"GET /metrics?a=1 HTTP/1.1\r\n");
        site.take_turn();
        peer.write_all(b"Host: a\r\n\r\n").expect("room");
        let answer = site.answer(&mut peer);
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n/metrics\n"),
            "{answer}"
        );
    }

    #[test]
    fn wrong_method_is_answered_although_a_body_follows() {
        let mut site = Site::new();
        let header = b"POST /metrics HTTP/1.1\r\nContent-Length: 3000\r\n\r\n";
        let mut peer = site.connect(&[&header[..], &[b'a'; 3_000]].concat());
        assert!(site.answer(&mut peer).starts_with("HTTP/1.1 405 "));
    }

    #[test]
    fn endless_header_is_refused_and_closed_after_the_time_limit() {
        let mut site = Site::new();
        let mut peer = site.connect(b"GET /metrics HTTP/1.1\r\n");
        let (began, mut answer) = (Instant::now(), Vec::new());
        while answer.is_empty() {
            assert!(began.elapsed() < PATIENCE, "no answer");
            let _ = peer.write_all(b"X-Endless: 1\r\n");
            site.take_turn();
            read(&mut peer, &mut answer);
        }
        assert!(answer.starts_with(b"HTTP/1.1 431 "));
        assert!(!site.server.is_idle(), "the control: it goes on sending");
        site.now += LIMITS.time;
        let _ = peer.write_all(b"X-Endless: 1\r\n");
        site.take_turn();
        assert!(site.server.is_idle());
    }

    #[test]
    fn connection_without_a_request_is_closed_after_the_time_limit() {
        for request in [&b""[..], b"GET /met"] {
            let mut site = Site::new();
            let mut peer = site.connect(request);
            let began = Instant::now();
            while site.server.is_idle() {
                assert!(began.elapsed() < PATIENCE, "no connection");
                site.take_turn();
            }
            site.now += LIMITS.time - Duration::from_millis(1);
            site.take_turn();
            assert!(!site.server.is_idle(), "the control");
            site.now += Duration::from_millis(1);
            assert_eq!(site.answer(&mut peer), "");
            assert!(site.server.is_idle());
        }
    }

    #[test]
    fn a_thousand_connections_stay_within_the_limit_and_lock_out_no_monitor() {
        // Peers that send nothing, too little, or a request whose answer they do not read.
        for request in [&b""[..], b"GET /", b"GET /metrics HTTP/1.1\r\n\r\n"] {
            let mut site = Site::new();
            // Not all of them at once, because this process holds their ends, too.
            let mut peers = VecDeque::new();
            for _ in 0..1_000 {
                peers.push_back(site.connect(request));
                if peers.len() > 100 {
                    peers.pop_front();
                }
                site.take_turn();
            }
            let mut monitor = site.connect(b"GET /healthz HTTP/1.1\r\n\r\n");
            assert!(site.answer(&mut monitor).ends_with("/healthz\n"));
            let is_open = |peer: &mut TcpStream| read(peer, &mut Vec::new());
            let open = peers.iter_mut().map(is_open).filter(|is_open| *is_open).count();
            assert!(open <= LIMITS.connections, "{open} of the last 100 are open");
        }
    }
}
