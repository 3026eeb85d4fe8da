//! A server app with the plugin under test, and a stand-in for its sidecar.

use core::{net::SocketAddr, time::Duration};
use std::{thread, time::Instant};

use bevy::prelude::*;
use bevy_unlag_agones::{AgonesAllocation, AgonesConfig, AgonesPlugin};
use bevy_unlag_server::ServerState;

use super::stand_in::StandIn;

/// Time after which a test gives up waiting.
const PATIENCE: Duration = Duration::from_secs(30);

/// Allocations that the app has been told of.
#[derive(Resource, Default)]
pub(crate) struct Told(pub(crate) Vec<AgonesAllocation>);

/// Starts a stand-in on a free port.
pub(crate) fn start_stand_in() -> StandIn {
    StandIn::start(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port")
}

/// Short intervals, for a sidecar at this address.
pub(crate) fn config(address: SocketAddr) -> AgonesConfig {
    AgonesConfig {
        address: Some(address),
        health_interval: Duration::from_millis(20),
        retry_limit: Duration::from_millis(100),
        ..AgonesConfig::default()
    }
}

/// Returns a server app without a network, for a sidecar at this address.
pub(crate) fn server(address: SocketAddr) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, AgonesPlugin)).insert_resource(config(address));
    remember_allocations(&mut app);
    app.update();
    app
}

pub(crate) fn remember_allocations(app: &mut App) {
    app.init_resource::<Told>().add_observer(|allocation: On<AgonesAllocation>, mut told: ResMut<Told>| {
        told.0.push(allocation.clone());
    });
}

pub(crate) fn state(app: &App) -> ServerState {
    *app.world().resource::<ServerState>()
}

pub(crate) fn write_state(app: &mut App, state: ServerState) {
    *app.world_mut().resource_mut::<ServerState>() = state;
    app.update();
}

pub(crate) fn told(app: &App) -> &[AgonesAllocation] {
    &app.world().resource::<Told>().0
}

/// Returns the requests so far, without pings and the stream.
pub(crate) fn commands(stand_in: &StandIn) -> Vec<String> {
    let mut requests = stand_in.requests();
    requests.retain(|request| !request.contains("/health") && !request.starts_with("GET "));
    requests
}

/// Returns the number of pings so far.
pub(crate) fn pings(stand_in: &StandIn) -> usize {
    stand_in.requests().iter().filter(|request| *request == "POST /health {}").count()
}

/// Updates the app until `done`.
pub(crate) fn update_until(app: &mut App, what: &str, mut done: impl FnMut(&App) -> bool) {
    wait_until(what, || {
        app.update();
        done(app)
    });
}

pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
