//! Allocations from outside, and what the app learns of them.

use core::time::Duration;
use std::thread;

use bevy_unlag_agones::Agones;
use bevy_unlag_server::ServerState;
use serde_json::json;

use super::{server::*, stand_in::Answers};

#[test]
fn allocation_reaches_the_app_with_its_labels_and_annotations() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    write_state(&mut app, ServerState::Ready);
    update_until(&mut app, "ready", |_| commands(&stand_in).len() == 1);
    assert!(told(&app).is_empty());

    stand_in.allocate(&json!({
        "labels": {"mode": "duel"}, "annotations": {"example.org/frags": "7", "example.org/text": "ä\n\u{1b}[2J"}
    }));
    update_until(&mut app, "an allocation", |app| !told(app).is_empty());
    assert_eq!(state(&app), ServerState::Allocated);
    let [allocation] = told(&app) else { panic!("once: {:?}", told(&app)) };
    assert_eq!(allocation.game_server, "stand-in");
    assert_eq!(allocation.labels["mode"], "duel");
    assert_eq!(allocation.annotation("example.org/frags"), Some("7"));
    assert_eq!(allocation.annotation("example.org/text"), Some("ä\n\u{1b}[2J"));
    assert_eq!(allocation.annotation("example.org/other"), None);

    // Changes that are no allocation, and one that is.
    app.world().resource::<Agones>().set_annotation("players", "0");
    update_until(&mut app, "an annotation", |_| commands(&stand_in).len() == 2);
    stand_in.allocate(&json!({"annotations": {"example.org/frags": "9"}}));
    update_until(&mut app, "another allocation", |app| told(app).len() > 1);
    assert_eq!(told(&app).len(), 2);
    assert_eq!(told(&app)[1].annotation("example.org/frags"), Some("9"));
    assert!(
        !commands(&stand_in).contains(&"POST /allocate {}".to_owned()),
        "what comes from Agones does not go back: {:?}",
        commands(&stand_in)
    );
}

#[test]
fn allocation_by_the_game_is_not_told_as_one_from_outside() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    write_state(&mut app, ServerState::Allocated);
    update_until(&mut app, "allocated", |_| commands(&stand_in) == ["POST /allocate {}"]);
    // The first of these may be seen together with the game's own one, and belong to it.
    update_until(&mut app, "an allocation", |app| {
        stand_in.allocate(&json!({"annotations": {"number": "2"}}));
        !told(app).is_empty()
    });
    assert!(told(&app).iter().all(|allocation| allocation.annotation("number") == Some("2")));
}

#[test]
fn allocation_is_noticed_without_the_stream_of_changes() {
    let stand_in = start_stand_in();
    stand_in.set_answers(Answers::NoStream);
    let mut app = server(stand_in.address());
    write_state(&mut app, ServerState::Ready);
    update_until(&mut app, "ready", |_| commands(&stand_in).len() == 1);
    stand_in.allocate(&json!({"annotations": {"number": "1"}}));
    update_until(&mut app, "an allocation", |app| !told(app).is_empty());
    assert_eq!(told(&app)[0].annotation("number"), Some("1"));
    assert!(stand_in.requests().iter().any(|request| request.starts_with("GET /gameserver")));
}

#[test]
fn server_that_drains_is_not_allocated() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    // The drain of an app without a network is over at once; its state stays.
    write_state(&mut app, ServerState::Draining);
    update_until(&mut app, "reserved", |_| commands(&stand_in).len() == 1);
    stand_in.allocate(&json!({"labels": {"late": "yes"}}));
    for _ in 0..50 {
        app.update();
        thread::sleep(Duration::from_millis(5));
    }
    assert!(told(&app).is_empty());
    assert_eq!(state(&app), ServerState::Draining);
}
