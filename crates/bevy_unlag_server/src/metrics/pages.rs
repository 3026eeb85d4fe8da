//! Pages of the HTTP server.

use std::sync::{Mutex, PoisonError};

use super::{
    http_message::{Response, Status},
    snapshot::Snapshot,
};
use crate::{life_cycle::ServerState, watchdog::ServerHealth};

/// What the server's thread reads: the newest counters of the app, and its health, which is known without the app.
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
    pub fn page(&self, path: &str) -> Response {
        match path {
            "/metrics" => Response::metrics(self.snapshot().text(self.health.is_healthy())),
            "/healthz" => match self.health.stalled_in() {
                None => Response::line(Status::Ok, "ok"),
                Some(place) => Response::line(Status::Unavailable, &format!("stalled in {place}")),
            },
            "/readyz" => {
                let state = self.snapshot().state;
                let is_ready = matches!(state, ServerState::Ready | ServerState::Allocated);
                let status = if is_ready { Status::Ok } else { Status::Unavailable };
                Response::line(status, &state.to_string())
            }
            _ => Response::line(Status::NotFound, "try /metrics, /healthz or /readyz"),
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
            (ServerState::Starting, Status::Unavailable, "starting"),
            (ServerState::Ready, Status::Ok, "ready"),
            (ServerState::Allocated, Status::Ok, "allocated"),
            (ServerState::Draining, Status::Unavailable, "draining"),
            (ServerState::Stopped, Status::Unavailable, "stopped"),
        ] {
            assert_eq!(ready(state), Response::line(status, name));
        }
    }

    #[test]
    fn unknown_path_names_the_known_ones() {
        let pages = Pages::new(ServerHealth::default());
        assert_eq!(pages.page("/healthz").status, Status::Ok);
        assert_eq!(pages.page("/metrics").status, Status::Ok);
        for path in ["/", "", "/metrics/", "*", "http://a/metrics"] {
            assert_eq!(pages.page(path).status, Status::NotFound, "{path}");
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
