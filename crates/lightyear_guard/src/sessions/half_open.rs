//! Table of sessions whose client has no connection yet. Bounded in number, in all and per host.

use core::{
    cmp::Reverse,
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{
    clock::{self, Instant},
    ingress::{IngressLimits, host},
};

/// Period over which handshakes are counted.
const SECOND: Duration = Duration::from_secs(1);

/// Half-open sessions of all listeners of a server, oldest first. 100 bytes each, beside what the session keeps.
#[derive(Clone, Default)]
pub(super) struct HalfOpenSessions(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    /// Hosts that have begun a handshake within the last second.
    recent: VecDeque<(Instant, IpAddr)>,
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
    /// Of one host; also the handshakes that it may begin in a second.
    pub per_host: usize,
    /// Handshakes in a second, of all hosts.
    pub per_second: usize,
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
            per_second: limits.connection_requests_per_second.max(1.0) as usize,
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

    /// Returns how many may be half-open.
    pub fn most(&self) -> usize {
        self.lock().bounds.most
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

    /// Takes a place for a session from `address`. A full table ends the oldest session of the host that has most, so
    /// that silent sessions lock nobody out. `None`: the host has as many as it may, or too many begin.
    pub fn admit(&self, address: SocketAddr) -> Option<HalfOpenPlace> {
        self.admit_at(address, clock::monotonic())
    }

    fn admit_at(&self, address: SocketAddr, now: Instant) -> Option<HalfOpenPlace> {
        let mut table = self.lock();
        let host = host(address);
        if !table.may_begin(host, now) || table.count(host) >= table.bounds.per_host {
            table.refused += 1;
            return None;
        }
        table.recent.push_back((now, host));
        while table.entries.len() >= table.bounds.most {
            let Some(oldest) = table.entry_to_displace() else { break };
            table.entries.remove(oldest).cut.notify_one();
            table.displaced += 1;
        }
        let (number, cut) = (table.next, Arc::new(Notify::new()));
        table.next += 1;
        table.entries.push(Entry { number, host, cut: cut.clone() });
        drop(table);
        Some(HalfOpenPlace { table: self.clone(), number, cut })
    }
}

impl Table {
    /// Returns whether a host may begin another handshake. They cost a millisecond each.
    fn may_begin(&mut self, host: IpAddr, now: Instant) -> bool {
        while self.recent.front().is_some_and(|(at, _)| now.duration_since(*at) >= SECOND) {
            self.recent.pop_front();
        }
        let of_host = self.recent.iter().filter(|(_, recent)| *recent == host).count();
        self.recent.len() < self.bounds.per_second && of_host < self.bounds.per_host
    }

    fn count(&self, host: IpAddr) -> usize {
        self.entries.iter().filter(|entry| entry.host == host).count()
    }

    /// Returns the oldest entry of the host that has most; of several, of the one whose oldest is oldest.
    fn entry_to_displace(&self) -> Option<usize> {
        let mut counts: HashMap<IpAddr, (usize, usize)> = HashMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            counts.entry(entry.host).or_insert((0, index)).0 += 1;
        }
        counts.into_values().max_by_key(|(count, first)| (*count, Reverse(*first))).map(|(_, first)| first)
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
        table.set_bounds(HalfOpenBounds {
            most,
            per_host,
            per_second: 1_000,
            timeout: Duration::from_secs(5),
        });
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
    fn full_table_displaces_a_session_of_the_host_that_has_most() {
        let table = table(5, 4);
        let honest = table.admit(address(9, 1)).expect("a place");
        let flood: Vec<_> = (0..4).map(|port| table.admit(address(1, port)).expect("a place")).collect();
        let newcomer = table.admit(address(2, 1)).expect("a place");
        assert!(!is_cut(&honest) && !is_cut(&newcomer), "the oldest of all stays");
        assert_eq!(flood.iter().map(is_cut).collect::<Vec<_>>(), [true, false, false, false]);
    }

    #[test]
    fn handshakes_in_a_second_are_bounded_in_all_and_for_a_host() {
        let table = table(100, 3);
        table.set_bounds(HalfOpenBounds { per_second: 5, ..table.lock().bounds });
        let began = clock::monotonic();
        // Each ends at once, as that of a peer who sends junk.
        let begin = |host, milliseconds| {
            table.admit_at(address(host, 1), began + Duration::from_millis(milliseconds)).is_some()
        };
        let flood: Vec<_> = (0..5).map(|after| begin(1, after)).collect();
        assert_eq!(flood, [true, true, true, false, false], "three of a host");
        assert!(begin(2, 10) && begin(3, 20) && !begin(4, 30), "five in all");
        assert!(begin(4, 1_001) && begin(1, 1_002), "a second later");
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
