//! Metrics of a server in Prometheus' text format, and its health, over HTTP.
//!
//! The app publishes its counters about once a second, and a thread of its own serves them: no tick waits for a
//! request, and a stalled app still answers.

mod event_counts;
mod exposition;
mod histogram;
mod http_server;
mod kernel_drops;
mod move_counts;
mod pages;
mod resident_memory;
mod set_times;
mod snapshot;

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use std::{
    io,
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

use bevy::prelude::*;

use crate::{
    life_cycle::{ServerLifeCyclePlugin, ServerState},
    log_target::LOG,
    request_server::RequestServer,
    watchdog::{ServerHealth, WatchdogPlugin},
};
use pages::Pages;
use snapshot::Snapshot;

/// Interval at which the app publishes its counters; a change of [`ServerState`] is published at once.
const INTERVAL: Duration = Duration::from_secs(1);

/// Setting of the metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricsConfig {
    /// TCP address to serve. Default 127.0.0.1:9464, which only this machine reaches; port 0 takes any free one. At
    /// another address everybody who reaches it reads the metrics: there is neither a password nor encryption.
    pub address: SocketAddr,
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 9_464)) }
    }
}

/// Serves `/metrics` for Prometheus, `/healthz` and `/readyz` for monitors. Add it after the server's plugins; it adds
/// [`ServerLifeCyclePlugin`] and [`WatchdogPlugin`] if they are missing.
///
/// `/healthz` fails with status 503 while [`ServerHealth`] is not healthy, `/readyz` unless [`ServerState`] is `Ready`
/// or `Allocated`. Costs some 30 timestamps a frame and a copy of the counters a second; the text is made by the thread
/// that serves it.
#[derive(Debug)]
pub struct MetricsPlugin {
    /// Empty once the app has the plugin.
    server: Mutex<Option<RequestServer>>,
    address: SocketAddr,
}

impl MetricsPlugin {
    /// Creates the plugin and takes its port. Requests are answered once the app has the plugin.
    ///
    /// # Errors
    /// Returns the operating system's error if the port is taken or the address is none of this machine.
    pub fn bind(config: MetricsConfig) -> io::Result<Self> {
        let server = RequestServer::bind(config.address, http_server::LIMITS)?;
        let address = server.address();
        Ok(Self { server: Mutex::new(Some(server)), address })
    }

    /// Returns the address with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Measures the system sets, also for the watchdog.
pub(crate) fn measure_sets(app: &mut App, health: &ServerHealth) {
    set_times::plugin(app);
    health.name_sections(set_times::section_names);
}

impl Plugin for MetricsPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<ServerLifeCyclePlugin>() {
            app.add_plugins(ServerLifeCyclePlugin);
        }
        if !app.is_plugin_added::<WatchdogPlugin>() {
            app.add_plugins(WatchdogPlugin);
        }
        event_counts::plugin(app);
        move_counts::plugin(app);
        let health = app.world().resource::<ServerHealth>().clone();
        let pages = Arc::new(Pages::new(health));
        let served = Arc::downgrade(&pages);
        app.insert_resource(Publisher { pages, last: None }).add_systems(Last, publish.run_if(is_due));
        let Some(server) = self.server.lock().ok().and_then(|mut server| server.take()) else { return };
        let thread = thread::Builder::new().name("metrics".to_owned());
        match thread.spawn(move || http_server::serve(server, &served)) {
            Ok(_) => info!(target: LOG, address = %self.address, "serving metrics over HTTP"),
            Err(error) => {
                error!(target: LOG, %error, "the metrics' thread cannot start: nothing serves them");
            }
        }
    }
}

/// The app's end of the pages. The thread ends when it is dropped.
#[derive(Resource)]
struct Publisher {
    pages: Arc<Pages>,
    /// Time and state of the last publication.
    last: Option<(Instant, ServerState)>,
}

fn is_due(publisher: Res<Publisher>, state: Res<ServerState>) -> bool {
    publisher.last.is_none_or(|(at, published)| at.elapsed() >= INTERVAL || published != *state)
}

fn publish(world: &mut World) {
    let snapshot = Snapshot::take(world);
    let state = snapshot.state;
    let mut publisher = world.resource_mut::<Publisher>();
    // Otherwise the next frame tries again.
    if publisher.pages.publish(snapshot) {
        publisher.last = Some((Instant::now(), state));
    }
}
