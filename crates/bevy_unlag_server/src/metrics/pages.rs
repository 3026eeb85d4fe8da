//! Pages of the HTTP server.

use std::sync::{Mutex, PoisonError};

use super::snapshot::Snapshot;
use crate::{http::HttpResponse, life_cycle::ServerState, watchdog::ServerHealth};

/// Type of Prometheus' text format.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OK: &str = "200 OK";
const NOT_FOUND: &str = "404 Not Found";
const UNAVAILABLE: &str = "503 Service Unavailable";

/// Data of the pages: the newest counters of the app, and its health, which is known without the app.
pub(super) struct Pages {
    newest: Mutex<Snapshot>,
    health: ServerHealth,
}

impl Pages {
    /// Creates the pages of an app that has not published anything.
    pub fn new(health: ServerHealth) -> Self {
        Self { newest: Mutex::default(), health }
    }

    /// Replaces the counters. Returns false, without waiting, if they are being read at this moment.
    pub fn publish(&self, snapshot: Snapshot) -> bool {
        let Ok(mut newest) = self.newest.try_lock() else { return false };
        *newest = snapshot;
        true
    }

    /// Returns the response to a request for a path.
    pub fn page(&self, path: &str) -> HttpResponse {
        match path {
            "/metrics" => HttpResponse {
                status: OK,
                content_type: METRICS,
                body: self.snapshot().text(self.health.is_healthy()),
            },
            "/healthz" => match self.health.stalled_in() {
                None => HttpResponse::text(OK, "ok"),
                Some(place) => {
                    let words = |before: &str, set: Option<&str>| {
                        set.map_or(String::new(), |set| format!("{before} {set}"))
                    };
                    let set = words(":", self.health.stalled_set());
                    let after = words(" after", self.health.stalled_after());
                    HttpResponse::text(UNAVAILABLE, &format!("stalled in {place}{set}{after}"))
                }
            },
            "/readyz" => {
                let state = self.snapshot().state;
                let is_ready = matches!(state, ServerState::Ready | ServerState::Allocated);
                let status = if is_ready { OK } else { UNAVAILABLE };
                HttpResponse::text(status, &state.to_string())
            }
            _ => HttpResponse::text(NOT_FOUND, "try /metrics, /healthz or /readyz"),
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_ready_while_players_may_join() {
        let pages = Pages::new(ServerHealth::default());
        let ready = |state| {
            let mut snapshot = Snapshot::default();
            snapshot.state = state;
            assert!(pages.publish(snapshot));
            pages.page("/readyz")
        };
        for (state, status, name) in [
            (ServerState::Starting, UNAVAILABLE, "starting"),
            (ServerState::Ready, OK, "ready"),
            (ServerState::Allocated, OK, "allocated"),
            (ServerState::Draining, UNAVAILABLE, "draining"),
            (ServerState::Stopped, UNAVAILABLE, "stopped"),
        ] {
            assert_eq!(ready(state), HttpResponse::text(status, name));
        }
    }

    #[test]
    fn unknown_path_names_the_known_ones() {
        let pages = Pages::new(ServerHealth::default());
        assert_eq!(pages.page("/healthz").status, OK);
        assert_eq!(pages.page("/metrics").status, OK);
        for path in ["/", "", "/metrics/", "*", "http://a/metrics"] {
            assert_eq!(pages.page(path).status, NOT_FOUND, "{path}");
        }
    }

    #[test]
    fn app_does_not_wait_for_a_reader() {
        let pages = Pages::new(ServerHealth::default());
        let reader = pages.newest.lock().expect("an unpoisoned lock");
        assert!(!pages.publish(Snapshot::default()));
        drop(reader);
        assert!(pages.publish(Snapshot::default()));
    }
}
