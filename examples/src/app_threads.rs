//! Apps in threads: each runs its frames in real time, until all of them are stopped together.

use core::time::Duration;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use bevy_unlag_server::run_by_ticks;

use crate::{connection, transport};

/// Frame time of a headless client.
pub(crate) const CLIENT_FRAME: Duration = Duration::from_millis(10);

/// Threads that run apps. They end when this is dropped.
#[derive(Debug, Default)]
pub struct AppThreads {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl AppThreads {
    /// Starts a thread. It must end once its parameter returns false.
    pub fn spawn(&mut self, run: impl FnOnce(&dyn Fn() -> bool) + Send + 'static) {
        let stop = self.stop.clone();
        self.threads.push(thread::spawn(move || run(&|| !stop.load(Ordering::Relaxed))));
    }

    /// Starts the thread of a server, which must pass its UDP port to its second parameter. Returns its
    /// address.
    ///
    /// # Errors
    /// Returns the error of the server.
    pub fn spawn_server(
        &mut self,
        serve: impl FnOnce(&dyn Fn() -> bool, &dyn Fn(u16)) -> Result<(), String> + Send + 'static,
    ) -> Result<SocketAddr, String> {
        let (tell, told) = mpsc::channel();
        self.spawn(move |more| {
            let ready = |port| {
                let _ = tell.send(Ok(port));
            };
            if let Err(line) = serve(more, &ready) {
                let _ = tell.send(Err(line));
            }
        });
        let port =
            told.recv().unwrap_or_else(|_| Err("the server's thread ended unexpectedly".to_owned()))?;
        Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }
}

impl Drop for AppThreads {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                error!("an app's thread panicked");
            }
        }
    }
}

/// Runs an app frame by frame, at intervals of `frame`, until `more` returns false.
pub fn run(app: &mut App, frame: Duration, mut more: impl FnMut(&mut App) -> bool) {
    let mut due = Instant::now();
    while more(app) {
        app.update();
        due += frame;
        let now = Instant::now();
        if due > now {
            thread::sleep(due - now);
        } else if now - due > Duration::from_millis(250) {
            // Do not try to catch up after a long stall.
            due = now;
        }
    }
}

/// Runs a server app on `port` until `more` returns false, and passes the bound port to `ready`. Its listeners beside
/// UDP are open by then.
///
/// # Errors
/// Returns one line when the port, or that of another listener, is taken.
pub fn serve(
    app: &mut App,
    port: u16,
    access: &ServerAccess,
    ready: impl FnOnce(&mut World, u16),
    more: impl FnMut(&mut App) -> bool,
) -> Result<(), String> {
    connection::check_port_is_free(port)?;
    connection::listen_udp_with_access(app, port, access);
    bevy_unlag_testkit::finish(app);
    app.update();
    // Another process may have taken the port in the meantime.
    transport::open_listeners(app.world_mut())?;
    let bound = connection::bound_port(app.world_mut())
        .ok_or_else(|| format!("cannot listen on UDP port {port}; choose another one with --port"))?;
    ready(app.world_mut(), bound);
    run_by_ticks(app, more);
    Ok(())
}
