//! Thread of a listener, with a runtime of its own.

use core::{future::Future, net::SocketAddr, time::Duration};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use tokio::{runtime::Builder, sync::Notify};

use super::{
    ServerCertificate,
    half_open::{HalfOpenPlace, HalfOpenSessions},
    pipe::{AppEnd, PipeBound, TaskEnd, pipe},
};

/// Interval at which certificate files are looked at.
const CERTIFICATE_INTERVAL: Duration = Duration::from_secs(10);

/// A session that has finished its handshake.
pub(super) struct NewSession {
    pub address: SocketAddr,
    pub pipe: AppEnd,
    pub place: HalfOpenPlace,
    /// Largest packet of its link, if it is not lightyear's default.
    pub mtu: Option<usize>,
}

/// State that the listeners of a server share with the app.
#[derive(Clone, Default)]
pub(super) struct ListenerShared {
    pub half_open: HalfOpenSessions,
    new: Arc<Mutex<Vec<NewSession>>>,
}

impl ListenerShared {
    /// Passes a session to the app. No more wait than may be half-open, also while the app stands still.
    fn pass(&self, session: NewSession) {
        let most = self.half_open.most();
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        new.retain(|waiting| !waiting.pipe.has_ended());
        if new.len() < most {
            new.push(session);
        }
    }

    /// Waits for a handshake, within its time and as long as its place is not displaced. Then passes the session to the
    /// app, and returns it with its end of the pipe.
    pub async fn welcome<S>(
        &self,
        (address, mtu): (SocketAddr, Option<usize>),
        place: HalfOpenPlace,
        handshake: impl Future<Output = Option<S>>,
    ) -> Option<(S, TaskEnd)> {
        let cut = place.cut.clone();
        let session = tokio::select! {
            session = tokio::time::timeout(self.half_open.timeout(), handshake) => session.ok().flatten(),
            () = cut.notified() => None,
        }?;
        let (app, task) = pipe(PipeBound::STRANGER, cut);
        self.pass(NewSession { address, pipe: app, place, mtu });
        Some((session, task))
    }

    /// Takes the sessions that have finished their handshake.
    pub fn take(&self) -> Vec<NewSession> {
        core::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Thread of a listener. Its sessions and its socket end when it is dropped.
pub(super) struct ListenerThread {
    stop: Arc<Notify>,
    handle: Option<JoinHandle<()>>,
}

impl ListenerThread {
    /// Starts a thread. `open` opens the listener within the runtime, and its future runs until the notification.
    ///
    /// # Errors
    /// The system's error if it allows no more threads, or that of `open`.
    pub fn start<F: Future<Output = ()> + Send + 'static>(
        name: &str,
        certificate: Option<ServerCertificate>,
        open: impl FnOnce(Arc<Notify>) -> io::Result<F>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let stop = Arc::new(Notify::new());
        let listener = {
            let _within = runtime.enter();
            open(stop.clone())?
        };
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(watch(certificate));
                listener.await;
            });
            runtime.shutdown_background();
        };
        let handle = thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { stop, handle: Some(handle) })
    }

    /// Returns whether it has ended by itself, that is, panicked.
    pub fn has_failed(&self) -> bool {
        self.handle.as_ref().is_some_and(JoinHandle::is_finished)
    }
}

impl Drop for ListenerThread {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(handle) = self.handle.take() {
            // It may have panicked, which `has_failed` reports.
            let _ = handle.join();
        }
    }
}

/// Replaces a certificate when its files have changed, or it expires soon.
async fn watch(certificate: Option<ServerCertificate>) {
    let Some(certificate) = certificate else { return };
    loop {
        tokio::time::sleep(CERTIFICATE_INTERVAL).await;
        if certificate.should_be_replaced() {
            certificate.reload_and_log();
        }
    }
}
