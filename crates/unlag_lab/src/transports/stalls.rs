//! Relay of TCP streams with delay and stalls, as loss below TCP makes them.
//!
//! A lost segment is sent again after a round trip, and what follows waits for it. The relay holds each piece of at
//! most 1,400 bytes for the one-way delay, and a share of them, the loss, for a round trip more, in order.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread,
};

use super::{udp_relay::Path, *};

/// Relay in threads, which ends when this is dropped and its streams have ended.
pub struct TcpRelay {
    /// Address for clients.
    pub address: SocketAddr,
    listener: Option<TcpListener>,
    stop: Arc<AtomicBool>,
}

impl TcpRelay {
    /// Binds a port.
    ///
    /// # Errors
    /// Returns a message if the system gives none.
    pub fn bind() -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.map_err(|error| format!("cannot open the socket of the relay: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        Ok(Self { address, listener: Some(listener), stop: Arc::default() })
    }

    /// Starts to relay to a server.
    pub fn start(&mut self, server: SocketAddr, path: Path, seed: u64) {
        let Some(listener) = self.listener.take() else { return };
        let stop = self.stop.clone();
        thread::spawn(move || {
            for (number, client) in (0..).zip(listener.incoming()) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(client) = client else { continue };
                let Ok(upstream) = TcpStream::connect(server) else { continue };
                let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
                let _ = (client.set_nodelay(true), upstream.set_nodelay(true));
                if let (Ok(from), Ok(to)) = (client.try_clone(), upstream.try_clone()) {
                    carry(from, to, path, seed);
                }
                carry(upstream, client, path, !seed);
            }
        });
    }
}

impl Drop for TcpRelay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
    }
}

/// Carries one direction of a stream in two threads: one reads, the other waits and writes.
fn carry(mut from: TcpStream, mut to: TcpStream, path: Path, seed: u64) {
    let (pieces, arriving) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut room = [0; 1_400];
        while let Ok(length @ 1..) = from.read(&mut room) {
            let stall = if rng.random_bool(path.loss) { path.delay * 2 } else { Duration::ZERO };
            if pieces.send((Instant::now() + path.delay + stall, room[..length].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in arriving {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
