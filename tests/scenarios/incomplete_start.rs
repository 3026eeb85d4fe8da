//! Apps that neither listen nor connect: a line says so, without an error.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{core::SetupDiagnostics, prelude::*};
use bevy_unlag_testkit::{headless_app, join, listen};
use lightyear::prelude::Client;

use crate::captured_log::logged;

const TICK: Duration = Duration::from_nanos(15_625_000);

fn server() -> App {
    let mut app = headless_app();
    app.add_plugins(UnlagServerPlugins::default());
    app
}

fn client() -> App {
    let mut app = headless_app();
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
    app
}

/// Runs an app for some seconds. Returns the lines about what it lacks, and asserts that it reports no mistake.
fn reminders(mut app: App, seconds: u32) -> Vec<String> {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    bevy_unlag_testkit::finish(&mut app);
    let lines = logged(|| (0..seconds * 64).for_each(|_| app.update()));
    assert_eq!(app.world().resource::<SetupDiagnostics>().all(), [], "a game may start later");
    lines
        .into_iter()
        .filter(|line| line.starts_with("INFO bevy_unlag::setup: bevy_unlag: nothing "))
        .collect()
}

/// Asserts that there is one line, with this text.
fn assert_reminded(app: App, text: &str) {
    let lines = reminders(app, 25);
    assert!(lines.len() == 1 && lines[0].contains(text), "{text}: {lines:?}");
}

#[test]
fn server_that_does_not_listen_says_once_what_is_missing() {
    assert_reminded(server(), "nothing listens yet, so no client can join: spawn ServerAccess::server()");
    let mut not_started = server();
    not_started.world_mut().spawn(ServerAccess::development(1).server());
    assert_reminded(
        not_started,
        "nothing listens yet, so no client can join: trigger Start on the server entity",
    );
}

#[test]
fn client_that_does_not_connect_says_once_what_is_missing() {
    assert_reminded(client(), "nothing connects to a server yet: spawn Client");
    let mut not_connected = client();
    not_connected.world_mut().spawn(Client);
    assert_reminded(not_connected, "nothing connects to a server yet: trigger Connect on the client entity");
}

#[test]
fn app_that_starts_or_connects_or_has_just_begun_is_not_reminded() {
    assert_eq!(reminders(server(), 9), [""; 0], "a server that loads its level");
    assert_eq!(reminders(client(), 9), [""; 0], "a menu");
    let mut listening = server();
    listen(&mut listening, 1);
    assert_eq!(reminders(listening, 25), [""; 0], "a server that nobody joins");
    // It does not run, so the client gives up after three seconds: lightyear says so.
    let (mut silent, mut connecting) = (server(), client());
    let listener = listen(&mut silent, 1);
    bevy_unlag_testkit::finish(&mut silent);
    join(&mut silent, listener, &mut connecting, (1, 1), NetSim::new(1)).expect("a token");
    assert_eq!(reminders(connecting, 25), [""; 0], "a client that nobody answers");
    for mut app in [server(), client()] {
        app.world_mut().resource_mut::<SetupDiagnostics>().enabled = false;
        assert_eq!(reminders(app, 25), [""; 0], "switched off");
    }
}
