//! Table of sessions whose client has no connection yet. Bounded in number, in all and per host.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::ingress::{IngressLimits, host};

/// Half-open sessions of all listeners of a server, oldest first. 100 bytes each, beside what the session keeps.
#[derive(Clone, Default)]
pub(super) struct HalfOpenSessions(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    bounds: HalfOpenBounds,
    next: u64,
    refused: u64,
    displaced: u64,
}

struct Entry {
    number: u64,
    host: IpAddr,
    cut: Arc<Notify>,
}

/// Bounds on half-open sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HalfOpenBounds {
    pub most: usize,
    pub per_host: usize,
    /// Time for the handshake, and as much again for the connect token.
    pub timeout: Duration,
}

impl Default for HalfOpenBounds {
    fn default() -> Self {
        (&IngressLimits::default()).into()
    }
}

impl From<&IngressLimits> for HalfOpenBounds {
    fn from(limits: &IngressLimits) -> Self {
        Self {
            most: limits.max_pending.max(1),
            per_host: limits.max_pending_per_host,
            timeout: limits.pending_timeout,
        }
    }
}

/// Place of a half-open session; dropping it leaves the place.
pub(super) struct HalfOpenPlace {
    table: HalfOpenSessions,
    number: u64,
    /// Notified when the session must end.
    pub cut: Arc<Notify>,
}

impl HalfOpenSessions {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the bounds, for the sessions to come.
    pub fn set_bounds(&self, bounds: HalfOpenBounds) {
        self.lock().bounds = bounds;
    }

    /// Returns the time that a session has for its handshake.
    pub fn timeout(&self) -> Duration {
        self.lock().bounds.timeout
    }

    /// Returns the number of half-open sessions.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Returns how many sessions were refused, and how many ended for a newer one, since the last call.
    pub fn take_counts(&self) -> (u64, u64) {
        let mut table = self.lock();
        (core::mem::take(&mut table.refused), core::mem::take(&mut table.displaced))
    }

    /// Takes a place for a session from `address`. A full table ends its oldest session, so that silent sessions lock
    /// nobody out. `None`: the host has as many as it may.
    pub fn admit(&self, address: SocketAddr) -> Option<HalfOpenPlace> {
        let mut table = self.lock();
        let host = host(address);
        if table.entries.iter().filter(|entry| entry.host == host).count() >= table.bounds.per_host {
            table.refused += 1;
            return None;
        }
        while table.entries.len() >= table.bounds.most {
            table.entries.remove(0).cut.notify_one();
            table.displaced += 1;
        }
        let (number, cut) = (table.next, Arc::new(Notify::new()));
        table.next += 1;
        table.entries.push(Entry { number, host, cut: cut.clone() });
        drop(table);
        Some(HalfOpenPlace { table: self.clone(), number, cut })
    }
}

impl Drop for HalfOpenPlace {
    fn drop(&mut self) {
        self.table.lock().entries.retain(|entry| entry.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use core::future::Future;
    use core::task::{Context, Waker};
    use std::pin::pin;

    use super::*;

    fn address(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([203, 0, 113, host], port))
    }

    fn is_cut(place: &HalfOpenPlace) -> bool {
        pin!(place.cut.notified()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn table(most: usize, per_host: usize) -> HalfOpenSessions {
        let table = HalfOpenSessions::default();
        table.set_bounds(HalfOpenBounds { most, per_host, timeout: Duration::from_secs(5) });
        table
    }

    #[test]
    fn host_gets_its_share_and_a_full_table_ends_its_oldest_session() {
        let table = table(4, 2);
        let mut places: Vec<_> = (0..3).map(|port| table.admit(address(1, port))).collect();
        assert!(places.pop().flatten().is_none(), "two per host");
        let others: Vec<_> = (2..5).map(|host| table.admit(address(host, 1)).expect("a place")).collect();
        assert_eq!((table.len(), table.take_counts()), (4, (1, 1)));
        let cut: Vec<_> = places.iter().flatten().map(is_cut).collect();
        assert_eq!(cut, [true, false], "the oldest");
        assert!(others.iter().all(|place| !is_cut(place)));
        places.clear();
        assert_eq!((table.len(), table.take_counts()), (3, (0, 0)));
        drop(others);
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn place_that_was_displaced_frees_no_other() {
        let table = table(1, 8);
        let first = table.admit(address(1, 1)).expect("a place");
        let second = table.admit(address(2, 1)).expect("a place");
        drop(first);
        assert_eq!(table.len(), 1);
        drop(second);
        assert_eq!(table.len(), 0);
    }
}
