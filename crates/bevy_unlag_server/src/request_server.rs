//! TCP server for short requests: one request and one answer a connection, bounded in number, size and time.
//!
//! It has no thread and never waits: its owner gives all connections their turn, and answers when it can.

use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    time::Instant,
};

use bevy::prelude::*;

/// Bounds of a [`RequestServer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestLimits {
    /// Maximum number of open connections. A further one replaces the oldest whose request is incomplete or whose
    /// answer has been sent; if there is none, it is closed.
    pub connections: usize,
    /// Maximum length of a request, in bytes. A connection that sends as much without a complete request is closed.
    pub request_bytes: usize,
    /// Time for sending a request, and for taking the answer. The time between the two is the owner's.
    pub time: Duration,
}

/// State of a request that is being received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestForm {
    /// The beginning of a request.
    Incomplete,
    /// A request.
    Complete,
    /// Not a request; contains the answer.
    Invalid(Vec<u8>),
}

/// A request that waits for its answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub struct RequestId(u64);

impl RequestId {
    /// Returns its number, unique for its server.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Server with its open connections. Dropping it closes them.
#[derive(Debug)]
pub struct RequestServer {
    listener: TcpListener,
    address: SocketAddr,
    limits: RequestLimits,
    /// Oldest first.
    connections: Vec<Connection>,
    next: u64,
}

impl RequestServer {
    /// Listens on an address; port 0 takes any free port.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub fn bind(address: SocketAddr, limits: RequestLimits) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, limits, connections: Vec::new(), next: 0 })
    }

    /// Returns the address that it listens on, with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether no connection is open.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.connections.is_empty()
    }

    /// Takes new connections and gives each one its turn. Returns the requests that have become complete; `form` says
    /// whether bytes are one.
    pub fn advance(
        &mut self,
        now: Instant,
        form: impl Fn(&[u8]) -> RequestForm,
    ) -> Vec<(RequestId, Vec<u8>)> {
        self.accept(now);
        let (limits, mut requests) = (self.limits, Vec::new());
        self.connections.retain_mut(|connection| {
            let is_late = now.saturating_duration_since(connection.since) >= limits.time;
            if is_late && !connection.waits() {
                return false;
            }
            let (is_open, request) = connection.advance(limits.request_bytes, &form);
            requests.extend(request.map(|request| (connection.id, request)));
            is_open
        });
        requests
    }

    /// Answers a request. The connection is closed when the peer has got all of it. Does nothing if the peer has gone.
    pub fn answer(&mut self, request: RequestId, answer: Vec<u8>, now: Instant) {
        let waiting = self.connections.iter_mut().find(|connection| connection.id == request);
        if let Some(connection) = waiting.filter(|connection| connection.waits()) {
            connection.state = State::Writes(answer, 0);
            connection.since = now;
        }
    }

    /// Whether the peer still waits for the answer. A peer that has closed its side has gone.
    #[must_use]
    pub fn is_waiting(&self, request: RequestId) -> bool {
        self.connections.iter().any(|connection| connection.id == request && connection.waits())
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..self.limits.connections {
            // Any error may pass: too many open files, or a peer that has already gone.
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.connections.len() >= self.limits.connections {
                let is_replaceable =
                    |connection: &Connection| matches!(connection.state, State::Reads(_) | State::Drains);
                let Some(oldest) = self.connections.iter().position(is_replaceable) else { continue };
                self.connections.remove(oldest);
            }
            let id = RequestId(self.next);
            self.next += 1;
            self.connections.push(Connection { id, stream, since: now, state: State::Reads(Vec::new()) });
        }
    }
}

#[derive(Debug)]
struct Connection {
    id: RequestId,
    stream: TcpStream,
    /// Time at which its request or its answer began.
    since: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The request so far.
    Reads(Vec<u8>),
    /// The owner has the request.
    Waits,
    /// The answer, and how much of it has been sent.
    Writes(Vec<u8>, usize),
    /// The answer has been sent. To close while bytes of the peer are unread would take it from the peer.
    Drains,
}

impl Connection {
    fn waits(&self) -> bool {
        matches!(self.state, State::Waits)
    }

    /// Goes on as far as the peer allows. Returns whether the connection is still needed, and its request once that is
    /// complete.
    fn advance(&mut self, limit: usize, form: &impl Fn(&[u8]) -> RequestForm) -> (bool, Option<Vec<u8>>) {
        let mut request = None;
        let is_open = self
            .try_advance(limit, form, &mut request)
            .unwrap_or_else(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted));
        (is_open, request)
    }

    fn try_advance(
        &mut self,
        limit: usize,
        form: &impl Fn(&[u8]) -> RequestForm,
        request: &mut Option<Vec<u8>>,
    ) -> io::Result<bool> {
        let mut chunk = [0; 1_024];
        while let State::Reads(bytes) = &mut self.state {
            let room = limit.saturating_sub(bytes.len()).min(chunk.len());
            let length = self.stream.read(&mut chunk[..room])?;
            if length == 0 {
                return Ok(false);
            }
            bytes.extend_from_slice(&chunk[..length]);
            match form(bytes.as_slice()) {
                RequestForm::Incomplete if bytes.len() >= limit => return Ok(false),
                RequestForm::Incomplete => {}
                RequestForm::Complete => {
                    *request = Some(core::mem::take(bytes));
                    self.state = State::Waits;
                    return Ok(true);
                }
                RequestForm::Invalid(answer) => self.state = State::Writes(answer, 0),
            }
        }
        if let State::Writes(answer, sent) = &mut self.state {
            while *sent < answer.len() {
                let length = self.stream.write(&answer[*sent..])?;
                if length == 0 {
                    return Ok(false);
                }
                *sent += length;
            }
            self.stream.shutdown(Shutdown::Write)?;
            self.state = State::Drains;
        }
        // A chunk a turn: a peer that sends without end gets nowhere.
        Ok(self.stream.read(&mut chunk)? > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LIMITS: RequestLimits =
        RequestLimits { connections: 4, request_bytes: 64, time: Duration::from_secs(2) };
    /// Time after which a test gives up.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// A server of lines, on stepped time.
    struct Site {
        server: RequestServer,
        now: Instant,
        requests: Vec<(RequestId, Vec<u8>)>,
    }

    fn line(bytes: &[u8]) -> RequestForm {
        match bytes {
            [b'!', ..] => RequestForm::Invalid(b"no".to_vec()),
            [.., b'\n'] => RequestForm::Complete,
            _ => RequestForm::Incomplete,
        }
    }

    impl Site {
        fn new() -> Self {
            let server =
                RequestServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), LIMITS).expect("a free port");
            Self { server, now: Instant::now(), requests: Vec::new() }
        }

        fn connect(&self, bytes: &[u8]) -> TcpStream {
            let mut peer = TcpStream::connect(self.server.address()).expect("a connection");
            peer.set_nonblocking(true).expect("a stream that does not block");
            peer.write_all(bytes).expect("room for a request");
            peer
        }

        /// Serves until `done`.
        fn serve_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
            let began = Instant::now();
            while !done(self) {
                assert!(began.elapsed() < PATIENCE, "{:?}", self.server.connections);
                self.requests.extend(self.server.advance(self.now, line));
                assert!(self.server.connections.len() <= LIMITS.connections);
                thread::yield_now();
            }
        }

        fn await_open(&mut self, count: usize) {
            self.serve_until(|site| site.server.connections.len() == count);
        }

        /// Serves until the connection is closed. Returns what the peer has got.
        fn received(&mut self, peer: &mut TcpStream) -> Vec<u8> {
            let (mut bytes, mut chunk) = (Vec::new(), [0; 64]);
            self.serve_until(|_| match peer.read(&mut chunk) {
                Ok(0) => true,
                Ok(length) => {
                    bytes.extend_from_slice(&chunk[..length]);
                    false
                }
                Err(error) => error.kind() != ErrorKind::WouldBlock,
            });
            bytes
        }
    }

    #[test]
    fn request_in_parts_waits_for_its_answer_as_long_as_its_owner_needs() {
        let mut site = Site::new();
        let mut peer = site.connect(b"hel");
        site.await_open(1);
        peer.write_all(b"lo\n").expect("room");
        site.serve_until(|site| !site.requests.is_empty());
        let (id, request) = site.requests.remove(0);
        assert_eq!(request, b"hello\n");
        site.now += LIMITS.time * 10;
        site.requests.extend(site.server.advance(site.now, line));
        assert!(site.server.is_waiting(id) && site.requests.is_empty());
        site.server.answer(id, b"welcome".to_vec(), site.now);
        assert!(!site.server.is_waiting(id));
        assert_eq!(site.received(&mut peer), b"welcome");
        drop(peer);
        site.await_open(0);
        assert!(site.server.is_idle());
    }

    #[test]
    fn invalid_request_gets_its_answer_and_one_without_an_end_is_closed() {
        let mut site = Site::new();
        let mut peer = site.connect(b"!");
        assert_eq!(site.received(&mut peer), b"no");
        let mut endless = site.connect(&[b'a'; 64]);
        assert_eq!(site.received(&mut endless), b"");
        let mut long = site.connect(&[&[b'a'; 64][..], b"\n"].concat());
        assert_eq!(site.received(&mut long), b"", "a byte more than the limit");
        assert_eq!(site.requests, []);
    }

    #[test]
    fn slow_peer_is_closed_after_the_time_limit() {
        let mut site = Site::new();
        let mut silent = site.connect(b"");
        let mut slow = site.connect(b"hel");
        site.await_open(2);
        site.now += LIMITS.time - Duration::from_millis(1);
        site.requests.extend(site.server.advance(site.now, line));
        assert_eq!(site.server.connections.len(), 2);
        site.now += Duration::from_millis(1);
        site.requests.extend(site.server.advance(site.now, line));
        assert!(site.server.is_idle());
        assert_eq!((site.received(&mut silent), site.received(&mut slow)), (vec![], vec![]));
    }

    #[test]
    fn peer_that_goes_is_no_longer_waited_for() {
        let mut site = Site::new();
        let peer = site.connect(b"a\n");
        site.serve_until(|site| !site.requests.is_empty());
        let (id, _) = site.requests[0];
        drop(peer);
        site.serve_until(|site| !site.server.is_waiting(id));
        site.server.answer(id, b"late".to_vec(), site.now);
        assert!(site.server.is_idle());
    }

    #[test]
    fn flood_of_connections_replaces_silent_ones_and_takes_none_from_those_that_wait() {
        let mut site = Site::new();
        let mut waiting = site.connect(b"first\n");
        site.serve_until(|site| site.requests.len() == 1);
        let mut silent = Vec::new();
        for _ in 0..20 {
            silent.push(site.connect(b"x"));
            site.await_open((silent.len() + 1).min(LIMITS.connections));
        }
        let _last = site.connect(b"last\n");
        site.serve_until(|site| site.requests.len() == 2);
        let (id, _) = site.requests[0];
        site.server.answer(id, b"done".to_vec(), site.now);
        assert_eq!(site.received(&mut waiting), b"done");
    }
}
