//! Reminder of an app that neither listens nor connects.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::SetupDiagnostics;
use lightyear::prelude::{
    Client, Connect,
    server::{Server, Start},
};

/// Time after which the reminder is logged.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time of a frame that counts: a game that loads its level is not late.
const MAX_FRAME: Duration = Duration::from_millis(100);

/// Time without a connection, until the app starts or connects for the first time. Games with a menu do so later, so
/// the reminder is a line of level info and no [`SetupIssue`](bevy_unlag_core::SetupIssue).
#[derive(Resource, Default)]
struct ConnectionReminder {
    waited: Duration,
    is_over: bool,
}

impl ConnectionReminder {
    /// Counts a frame. Returns once whether the reminder is due.
    fn is_due(&mut self, frame: Duration) -> bool {
        self.waited += frame.min(MAX_FRAME);
        self.is_over = self.waited > PATIENCE;
        self.is_over
    }
}

pub(crate) fn server_plugin(app: &mut App) {
    app.init_resource::<ConnectionReminder>()
        .add_observer(|_: On<Start>, mut reminder: ResMut<ConnectionReminder>| reminder.is_over = true)
        .add_systems(Last, remind_server.run_if(is_waiting));
}

/// For an app that is no server: the host of a listen server does not connect.
pub(crate) fn client_plugin(app: &mut App) {
    app.add_systems(Last, remind_client.run_if(is_waiting));
}

/// Notes that a client connects.
pub(crate) fn client_observer(app: &mut App) {
    app.init_resource::<ConnectionReminder>()
        .add_observer(|_: On<Connect>, mut reminder: ResMut<ConnectionReminder>| reminder.is_over = true);
}

fn is_waiting(reminder: Res<ConnectionReminder>, diagnostics: Res<SetupDiagnostics>) -> bool {
    !reminder.is_over && diagnostics.enabled
}

fn remind_server(
    time: Res<Time<Real>>,
    servers: Query<Entity, With<Server>>,
    mut reminder: ResMut<ConnectionReminder>,
) {
    if reminder.is_due(time.delta()) {
        let advice = match servers.iter().next() {
            Some(server) => format!("trigger Start on the server entity {server}"),
            None => "spawn ServerAccess::server() with a LocalAddr and ServerUdp, and trigger Start on it"
                .to_owned(),
        };
        info!(target: "bevy_unlag::setup", "bevy_unlag: nothing listens yet, so no client can join: {advice}");
    }
}

fn remind_client(
    time: Res<Time<Real>>,
    clients: Query<Entity, With<Client>>,
    mut reminder: ResMut<ConnectionReminder>,
) {
    if reminder.is_due(time.delta()) {
        let advice = match clients.iter().next() {
            Some(client) => format!("trigger Connect on the client entity {client}"),
            None => {
                "spawn Client with a TokenClient, UdpIo and a LocalAddr, and trigger Connect on it".to_owned()
            }
        };
        info!(target: "bevy_unlag::setup", "bevy_unlag: nothing connects to a server yet: {advice}");
    }
}
