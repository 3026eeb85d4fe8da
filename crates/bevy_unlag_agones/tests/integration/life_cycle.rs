//! The server's states, as the sidecar learns them.

use core::{net::SocketAddr, time::Duration};
use std::{net::TcpListener, thread};

use bevy::prelude::*;
use bevy_unlag_agones::{Agones, AgonesConfig, AgonesPlugin};
use bevy_unlag_server::ServerState;

use super::{server::*, stand_in::StandIn};

#[test]
fn ready_allocation_by_the_game_and_exit_are_told_in_order() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    assert!(app.world().resource::<Agones>().is_on());
    update_until(&mut app, "a ping", |_| pings(&stand_in) > 0);
    assert_eq!(commands(&stand_in), [""; 0], "a server that starts is not ready");

    write_state(&mut app, ServerState::Ready);
    update_until(&mut app, "ready", |_| commands(&stand_in).len() == 1);
    write_state(&mut app, ServerState::Allocated);
    update_until(&mut app, "allocated", |_| commands(&stand_in).len() == 2);
    let pings_before = pings(&stand_in);
    update_until(&mut app, "pings go on", |_| pings(&stand_in) > pings_before);
    app.world_mut().write_message(AppExit::Success);
    app.update();
    assert_eq!(commands(&stand_in), ["POST /ready {}", "POST /allocate {}", "POST /shutdown {}"]);
}

#[test]
fn drain_of_a_server_without_a_match_reserves_it() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    write_state(&mut app, ServerState::Ready);
    update_until(&mut app, "ready", |_| commands(&stand_in).len() == 1);
    write_state(&mut app, ServerState::Draining);
    wait_until("reserved", || commands(&stand_in).len() == 2);
    assert_eq!(commands(&stand_in)[1], r#"POST /reserve {"seconds":"0"}"#);
}

#[test]
fn drain_of_an_allocated_server_leaves_it_allocated() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    stand_in.allocate(&serde_json::Value::Null);
    update_until(&mut app, "allocated", |app| state(app) == ServerState::Allocated);
    write_state(&mut app, ServerState::Draining);
    app.world_mut().write_message(AppExit::Success);
    app.update();
    assert_eq!(commands(&stand_in), ["POST /shutdown {}"]);
}

#[test]
fn server_goes_back_to_ready_for_the_next_match() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    write_state(&mut app, ServerState::Ready);
    for number in 1..=2 {
        update_until(&mut app, "ready", |_| commands(&stand_in).len() == number);
        stand_in.allocate(&serde_json::Value::Null);
        update_until(&mut app, "allocated", |app| told(app).len() == number);
        assert_eq!(state(&app), ServerState::Allocated);
        write_state(&mut app, ServerState::Ready);
    }
    update_until(&mut app, "ready", |_| commands(&stand_in).len() == 3);
    assert_eq!(commands(&stand_in), ["POST /ready {}"; 3]);
}

#[test]
fn sidecar_that_starts_later_gets_everything_in_order() {
    // A port on which nobody listens yet.
    let port =
        TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).and_then(|socket| socket.local_addr());
    let address = port.expect("a free port");
    let mut app = server(address);
    write_state(&mut app, ServerState::Ready);
    let agones = app.world().resource::<Agones>().clone();
    agones.set_label("map", "docks");
    agones.set_annotation("rules", "any text: {\"a\": 1}");
    // Some attempts fail.
    for _ in 0..30 {
        app.update();
        thread::sleep(Duration::from_millis(10));
    }
    let stand_in = StandIn::start(address).expect("the same port");
    update_until(&mut app, "all commands", |_| commands(&stand_in).len() == 3);
    assert_eq!(
        commands(&stand_in),
        [
            "POST /ready {}",
            r#"PUT /metadata/label {"key":"map","value":"docks"}"#,
            r#"PUT /metadata/annotation {"key":"rules","value":"any text: {\"a\": 1}"}"#,
        ]
    );
    update_until(&mut app, "a ping", |_| pings(&stand_in) > 0);
}

#[test]
fn refused_label_does_not_hold_up_the_next_command() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    let agones = app.world().resource::<Agones>().clone();
    agones.set_label("no label: /", "x");
    agones.set_label("long", "x".repeat(1 << 20));
    agones.set_label("map", "docks");
    update_until(&mut app, "two requests", |_| commands(&stand_in).len() == 2);
    assert!(commands(&stand_in)[1].contains("docks"), "{:?}", commands(&stand_in));
    assert!(commands(&stand_in)[0].len() < 100, "the long one is not sent");
}

#[test]
fn without_a_sidecar_the_plugin_does_nothing() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, AgonesPlugin))
        .insert_resource(AgonesConfig { address: None, ..AgonesConfig::default() });
    app.update();
    let agones = app.world().resource::<Agones>().clone();
    assert!(!agones.is_on());
    agones.set_label("map", "docks");
    for state in [ServerState::Ready, ServerState::Allocated] {
        write_state(&mut app, state);
    }
    app.world_mut().write_message(AppExit::Success);
    app.update();
    assert_eq!(state(&app), ServerState::Allocated);
}
