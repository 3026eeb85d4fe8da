//! Relay of UDP datagrams with delay and loss: below QUIC, which sees the loss as on a real path.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    collections::{BinaryHeap, HashMap, hash_map::Entry},
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::Arc,
    thread::{self, JoinHandle},
};

use super::*;

/// Conditions of a relay, the same both ways.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// One-way delay.
    pub delay: Duration,
    /// Share of the datagrams that are lost; over TCP, share of the segments that are sent again.
    pub loss: f64,
}

/// Relay in a thread, which ends when this is dropped.
pub struct UdpRelay {
    /// Address for clients.
    pub address: SocketAddr,
    listener: Option<UdpSocket>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl UdpRelay {
    /// Binds a port.
    ///
    /// # Errors
    /// Returns a message if the system gives none.
    pub fn bind() -> Result<Self, String> {
        let listener = socket()?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        Ok(Self { address, listener: Some(listener), stop: Arc::default(), thread: None })
    }

    /// Starts to relay to a server.
    pub fn start(&mut self, server: SocketAddr, path: Path, seed: u64) {
        let Some(listener) = self.listener.take() else { return };
        let stop = self.stop.clone();
        self.thread = Some(thread::spawn(move || {
            let mut relay = Running {
                listener,
                server,
                path,
                upstream: HashMap::new(),
                waiting: BinaryHeap::new(),
                rng: SmallRng::seed_from_u64(seed),
                count: 0,
            };
            while !stop.load(Ordering::Relaxed) {
                relay.turn();
                thread::sleep(Duration::from_micros(300));
            }
        }));
    }
}

impl Drop for UdpRelay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn socket() -> Result<UdpSocket, String> {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
        .map_err(|error| format!("cannot open a socket of the relay: {error}"))
}

/// A datagram on its way. The earliest is the greatest.
#[derive(PartialEq, Eq)]
struct Waiting {
    due: Instant,
    number: u64,
    client: SocketAddr,
    is_up: bool,
    bytes: Vec<u8>,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

struct Running {
    listener: UdpSocket,
    server: SocketAddr,
    path: Path,
    /// The relay's socket towards the server for each client.
    upstream: HashMap<SocketAddr, UdpSocket>,
    waiting: BinaryHeap<Waiting>,
    rng: SmallRng,
    count: u64,
}

impl Running {
    fn turn(&mut self) {
        let mut room = [0; 2_048];
        while let Ok((length, client)) = self.listener.recv_from(&mut room) {
            self.take(client, true, &room[..length]);
        }
        let clients: Vec<_> = self.upstream.keys().copied().collect();
        for client in clients {
            while let Some(length) = self.upstream.get(&client).and_then(|socket| socket.recv(&mut room).ok())
            {
                self.take(client, false, &room[..length]);
            }
        }
        let now = Instant::now();
        while self.waiting.peek().is_some_and(|next| next.due <= now) {
            let Some(next) = self.waiting.pop() else { break };
            let _ = if next.is_up {
                self.send_up(next.client, &next.bytes)
            } else {
                self.listener.send_to(&next.bytes, next.client).ok()
            };
        }
    }

    fn take(&mut self, client: SocketAddr, is_up: bool, bytes: &[u8]) {
        if self.rng.random_bool(self.path.loss) {
            return;
        }
        self.count += 1;
        let (due, number) = (Instant::now() + self.path.delay, self.count);
        self.waiting.push(Waiting { due, number, client, is_up, bytes: bytes.to_vec() });
    }

    fn send_up(&mut self, client: SocketAddr, bytes: &[u8]) -> Option<usize> {
        let upstream = match self.upstream.entry(client) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(socket().ok()?),
        };
        upstream.send_to(bytes, self.server).ok()
    }
}
