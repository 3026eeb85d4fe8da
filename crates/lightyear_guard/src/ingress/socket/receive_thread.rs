//! Reader of a server's socket: the app in its frames, and a thread while the app stands still.

use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::{
    io::{self, ErrorKind},
    net::UdpSocket,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use bevy::prelude::*;

use super::{
    MAX_DATAGRAM,
    bound_socket::unmapped,
    receive_queue::{QueueBound, ReceiveQueue},
};
use crate::clock::{self, Instant};

/// Time without a frame of the app after which the thread reads in its place. A tick of 50 Hz is no longer, so the
/// thread of a server that updates once a tick only sleeps; in this time a flood of 10,000 datagrams a second fills
/// three quarters of the system's default buffer on Linux.
const LATE: Duration = Duration::from_millis(20);
/// Interval at which the thread reads while the app is late.
const INTERVAL: Duration = Duration::from_millis(10);
/// Datagrams that the thread reads before it lets the app have the queue.
const ROUND: usize = 256;

/// Longest datagram of UDP. Windows does not cut what is longer than the buffer, it fails.
const BUFFER: usize = 1 << 16;

/// Socket with the queue of what was read from it.
pub(super) struct SocketReader {
    pub socket: UdpSocket,
    state: Mutex<ReaderState>,
}

/// Queue and buffer of a [`SocketReader`].
pub(super) struct ReaderState {
    pub queue: ReceiveQueue,
    pub bound: QueueBound,
    buffer: Box<[u8]>,
    /// Time at which the app last read.
    app_read: Instant,
}

impl SocketReader {
    pub fn new(socket: UdpSocket, bound: QueueBound) -> Self {
        let state = ReaderState {
            queue: ReceiveQueue::default(),
            bound,
            buffer: vec![0; BUFFER].into(),
            app_read: clock::monotonic(),
        };
        Self { socket, state: Mutex::new(state) }
    }

    /// Returns the queue. A thread that panicked leaves at worst a datagram out.
    pub fn lock(&self) -> MutexGuard<'_, ReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves up to `most` datagrams from the system to the queue, and returns the queue to the app.
    pub fn read_in_app(&self, most: usize, bound: QueueBound) -> MutexGuard<'_, ReaderState> {
        let mut state = self.lock();
        (state.app_read, state.bound) = (clock::monotonic(), bound);
        state.read(&self.socket, most);
        state
    }

    /// Does the same in the thread, if the app is late. Returns the time until the thread must look again.
    fn read_in_thread(&self) -> Duration {
        let mut state = self.lock();
        let left = LATE.saturating_sub(state.app_read.elapsed());
        if !left.is_zero() {
            left
        } else if state.read(&self.socket, ROUND) {
            Duration::ZERO
        } else {
            INTERVAL
        }
    }
}

impl ReaderState {
    /// Moves datagrams from the system to the queue. Returns whether there may be more than `most`.
    fn read(&mut self, socket: &UdpSocket, most: usize) -> bool {
        for _ in 0..most {
            match socket.recv_from(&mut self.buffer) {
                Ok((length, address)) => {
                    let now = clock::monotonic();
                    let datagram = &self.buffer[..length.min(MAX_DATAGRAM)];
                    self.queue.push(unmapped(address), datagram, now, self.bound);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // Windows reports this when a previous peer has closed its port.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
                Err(error) => {
                    debug!("cannot receive: {error}");
                    return false;
                }
            }
        }
        true
    }
}

/// Thread that reads the socket while the app is late. Ends when it is dropped.
pub(super) struct ReceiveThread {
    stop: Arc<AtomicBool>,
    handle: Option<JoinHandle<()>>,
}

impl ReceiveThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's error if it allows no more threads.
    pub fn start(reader: Arc<SocketReader>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let run = move || {
            while !stopped.load(Ordering::Relaxed) {
                let pause = reader.read_in_thread();
                if pause.is_zero() {
                    thread::yield_now();
                } else {
                    thread::park_timeout(pause);
                }
            }
        };
        let handle = thread::Builder::new().name("udp receive".to_owned()).spawn(run)?;
        Ok(Self { stop, handle: Some(handle) })
    }

    /// Returns whether it has ended by itself, that is, panicked.
    pub fn has_failed(&self) -> bool {
        self.handle.as_ref().is_some_and(JoinHandle::is_finished)
    }
}

impl Drop for ReceiveThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(handle) = self.handle.take() {
            handle.thread().unpark();
            // It may have panicked, which `has_failed` reports.
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const BOUND: QueueBound = QueueBound { datagrams: 10_000, bytes: 1 << 20 };

    fn reader() -> (Arc<SocketReader>, UdpSocket) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        socket.set_nonblocking(true).expect("a non-blocking socket");
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        client.connect(socket.local_addr().expect("an address")).expect("it connects");
        (Arc::new(SocketReader::new(socket, BOUND)), client)
    }

    /// Sends more small datagrams than a system's buffer holds, no faster than the thread reads them.
    fn send_and_wait(reader: &SocketReader, client: &UdpSocket) -> usize {
        reader.lock().queue.link(client.local_addr().expect("an address"));
        for sent in 1..=300 {
            client.send(&[7; 64]).expect("it is sent");
            let patience = clock::monotonic();
            while reader.lock().queue.len() + 50 < sent && patience.elapsed() < Duration::from_secs(20) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let patience = clock::monotonic();
        while reader.lock().queue.len() < 300 && patience.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        reader.lock().queue.len()
    }

    #[test]
    fn thread_reads_while_the_app_stands_still_and_ends_when_dropped() {
        let (reader, client) = reader();
        let thread = ReceiveThread::start(reader.clone()).expect("a thread");
        assert_eq!(send_and_wait(&reader, &client), 300, "a share of 10,000 / 32 is 312");
        assert!(!thread.has_failed());
        drop(thread);
        assert_eq!(Arc::strong_count(&reader), 1, "the thread has ended");
        client.send(&[7; 64]).expect("it is sent");
        thread::sleep(LATE * 2);
        assert_eq!(reader.lock().queue.len(), 300, "nobody reads");
        assert_eq!(reader.read_in_app(usize::MAX, BOUND).queue.len(), 301, "the app reads by itself");
    }

    #[test]
    fn app_reads_no_more_than_it_asks_for() {
        let (reader, client) = reader();
        for _ in 0..20 {
            client.send(&[7; 64]).expect("it is sent");
        }
        for expected in [8, 16, 20, 20] {
            assert_eq!(reader.read_in_app(8, BOUND).queue.len(), expected);
        }
    }
}
