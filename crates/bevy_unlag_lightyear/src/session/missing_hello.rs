//! Report of a server that is not understood: its hello is missing, is not readable, or tells of other
//! registrations.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{SetupDiagnostics, SetupIssue};
use lightyear::{
    connection::host::HostClient,
    prelude::{Client, Connected},
};

/// Time after which the hello of a connected server is missing. A server sends it at once and repeats it until
/// it has arrived. For [`IngressLimits::grace`](lightyear_guard::IngressLimits::grace), 3 s by default, it does
/// not kick a client that it does not understand.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest time of a frame that counts: what arrives during a hitch is read after it.
const MAX_FRAME: Duration = Duration::from_millis(100);

/// On a client's link: the server's hello matches. Replication is not received before, because
/// `bevy_replicon` panics on components that are not registered here.
#[derive(Component)]
pub(super) struct HelloAccepted;

pub(super) fn client_plugin(app: &mut App) {
    app.add_systems(PostUpdate, report_missing_hello);
}

type UnacceptedLink = (With<Client>, With<Connected>, Without<HelloAccepted>, Without<HostClient>);

/// Detects a hello that was read as another message: lightyear numbers messages and channels in the order of
/// their registration.
fn report_missing_hello(
    time: Res<Time<Real>>,
    links: Query<(), UnacceptedLink>,
    mut waited: Local<Duration>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    if links.is_empty() {
        *waited = Duration::ZERO;
        return;
    }
    *waited += time.delta().min(MAX_FRAME);
    if *waited > PATIENCE && !diagnostics.has(SetupIssue::Registrations) {
        report(&mut diagnostics);
    }
}

/// Reports registrations that differ from those of the server.
pub(super) fn report(diagnostics: &mut SetupDiagnostics) {
    diagnostics.report(SetupIssue::Registrations, || {
        "client and server have registered different components, messages or channels, or in another order, \
         so the client cannot join: build both from the same source, and register those of the game on both \
         sides before the suite's plugins, or on both sides after them"
            .to_owned()
    });
}
