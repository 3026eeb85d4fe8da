//! Bounded pipe between an app and the task of one session.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bevy::log::debug;
use bytes::Bytes;
use lightyear::link::{Link, RecvPayload};
use tokio::sync::{Notify, mpsc};

use crate::ingress::IngressLimits;

/// Longest packet that is received; netcode reads no longer ones.
pub(super) const MAX_PACKET: usize = 1_300;
/// Packets that wait to be sent. Further ones are lost, as on a link that is too slow.
const OUTGOING: usize = 64;
/// Share of the server's queue that one session may fill, as for an address at a `ServerUdp`.
const SESSION_SHARE: usize = 32;
/// Dropped packets without a frame of the app, as a multiple of the bound, after which a session is cut.
const FLOOD: u64 = 8;

/// Bound on the received packets that wait for the app.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PipeBound {
    pub packets: usize,
    pub bytes: usize,
}

impl PipeBound {
    /// Of a session that has not shown a connect token: a client repeats its request until it has an answer.
    pub const STRANGER: Self = Self { packets: 4, bytes: 4 * MAX_PACKET };
}

impl From<&IngressLimits> for PipeBound {
    fn from(limits: &IngressLimits) -> Self {
        Self {
            packets: (limits.queued_datagrams / SESSION_SHARE).max(1),
            bytes: (limits.queued_bytes / SESSION_SHARE).max(MAX_PACKET),
        }
    }
}

struct Incoming {
    packets: VecDeque<RecvPayload>,
    bytes: usize,
    bound: PipeBound,
    dropped: u64,
}

struct Shared {
    incoming: Mutex<Incoming>,
    ended: AtomicBool,
    cut: Arc<Notify>,
}

impl Shared {
    fn incoming(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// End of the app. When it is dropped, the session sends what waits and ends.
pub(super) struct AppEnd {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<Bytes>,
}

/// End of the session's task. When it is dropped, the app sees that the session has ended.
pub(super) struct TaskEnd {
    shared: Arc<Shared>,
    /// Packets to send; `None` once the app has dropped its end.
    pub outgoing: mpsc::Receiver<Bytes>,
}

/// Creates a pipe. Notifying `cut` ends the session at once.
pub(super) fn pipe(bound: PipeBound, cut: Arc<Notify>) -> (AppEnd, TaskEnd) {
    let incoming = Incoming { packets: VecDeque::new(), bytes: 0, bound, dropped: 0 };
    let shared = Arc::new(Shared { incoming: Mutex::new(incoming), ended: AtomicBool::new(false), cut });
    let (sender, outgoing) = mpsc::channel(OUTGOING);
    (AppEnd { shared: shared.clone(), outgoing: sender }, TaskEnd { shared, outgoing })
}

impl AppEnd {
    /// Returns whether a received packet waits.
    pub fn has_packet(&self) -> bool {
        !self.shared.incoming().packets.is_empty()
    }

    /// Returns the oldest received packet.
    pub fn pop(&self) -> Option<RecvPayload> {
        let mut incoming = self.shared.incoming();
        let packet = incoming.packets.pop_front()?;
        incoming.bytes -= packet.len();
        Some(packet)
    }

    /// Takes all received packets. Returns how many were dropped since the last call.
    pub fn take(&self, bound: PipeBound, mut receive: impl FnMut(RecvPayload)) -> u64 {
        let mut incoming = self.shared.incoming();
        (incoming.bytes, incoming.bound) = (0, bound);
        incoming.packets.drain(..).for_each(&mut receive);
        core::mem::take(&mut incoming.dropped)
    }

    /// Sends a packet. Returns whether there was room for it.
    fn send(&self, packet: Bytes) -> bool {
        self.outgoing.try_send(packet).is_ok()
    }

    /// Sends all packets of a link. Those without room are lost.
    pub fn send_from(&self, link: &mut Link) {
        for packet in link.send.drain() {
            if !self.send(packet) {
                debug!("a session takes no more packets: one is lost");
            }
        }
    }

    /// Returns whether the session has ended.
    pub fn has_ended(&self) -> bool {
        self.shared.ended.load(Ordering::Acquire)
    }

    /// Ends the session at once.
    pub fn cut(&self) {
        self.shared.cut.notify_one();
    }
}

impl TaskEnd {
    /// Passes a received packet to the app, or drops it. Returns whether the session may go on: a peer that floods an
    /// app that stands still may not.
    pub fn receive(&self, packet: &[u8]) -> bool {
        let mut incoming = self.shared.incoming();
        let bound = incoming.bound;
        let has_room = incoming.packets.len() < bound.packets && incoming.bytes + packet.len() <= bound.bytes;
        if has_room && packet.len() <= MAX_PACKET {
            incoming.bytes += packet.len();
            incoming.packets.push_back(RecvPayload::from(packet));
            return true;
        }
        incoming.dropped += 1;
        incoming.dropped <= FLOOD * bound.packets as u64
    }

    /// Returns what is notified when the session must end at once.
    pub fn cut(&self) -> Arc<Notify> {
        self.shared.cut.clone()
    }
}

impl Drop for TaskEnd {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: PipeBound = PipeBound { packets: 10, bytes: 1_000 };

    #[test]
    fn received_packets_are_bounded_in_number_and_bytes_and_a_flood_ends_the_session() {
        let (app, task) = pipe(BOUND, Arc::default());
        assert!((0..20).all(|_| task.receive(&[7; 10])));
        let mut taken = Vec::new();
        assert_eq!(app.take(BOUND, |packet| taken.push(packet.len())), 10);
        assert_eq!(taken, [10; 10]);
        assert!((0..8).all(|_| task.receive(&[7; 300])));
        assert_eq!(core::iter::from_fn(|| app.pop()).count(), 3, "three times 300 bytes");
        assert_eq!(app.take(BOUND, drop), 5);
        assert!(task.receive(&[7; MAX_PACKET + 1]));
        assert_eq!((app.pop(), app.take(BOUND, drop)), (None, 1), "too long for netcode");

        let passed = (0..1_000).take_while(|_| task.receive(&[7; 10])).count();
        assert_eq!(passed, 90, "ten fit, and eighty are dropped");
        assert!(!app.has_ended());
        drop(task);
        assert!(app.has_ended());
    }

    #[test]
    fn packets_to_send_are_bounded_and_end_with_the_app() {
        let (app, mut task) = pipe(BOUND, Arc::default());
        let sent = (0..1_000).filter(|_| app.send(Bytes::from_static(b"packet"))).count();
        assert_eq!(sent, OUTGOING);
        drop(app);
        let waiting = core::iter::from_fn(|| task.outgoing.try_recv().ok()).count();
        assert_eq!(waiting, OUTGOING, "what waits is still sent");
        assert_eq!(task.outgoing.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
    }
}
