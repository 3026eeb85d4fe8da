//! A sidecar whose answers are wrong, endless or missing.

use bevy::prelude::*;
use bevy_unlag_server::ServerState;
use serde_json::json;

use super::{server::*, stand_in::Answers};

#[test]
fn server_survives_junk_and_endless_answers_and_follows_when_they_end() {
    for name in ["junk", "huge"] {
        let stand_in = start_stand_in();
        stand_in.set_answers(Answers::named(name).expect("a kind of answers"));
        let mut app = server(stand_in.address());
        write_state(&mut app, ServerState::Ready);
        update_until(&mut app, "some requests of every kind", |_| {
            let requests = stand_in.requests();
            let count = |start: &str| requests.iter().filter(|request| request.starts_with(start)).count();
            ["POST /ready", "GET /watch/", "GET /gameserver"].iter().all(|start| count(start) > 1)
        });
        assert_eq!(state(&app), ServerState::Ready, "{name}");
        assert!(told(&app).is_empty(), "{name}");

        let before = stand_in.set_answers(Answers::Normal);
        // Nobody allocates a game server that is not ready.
        update_until(&mut app, "ready", |_| {
            stand_in.requests()[before..].iter().any(|request| request.starts_with("POST /ready"))
        });
        stand_in.allocate(&json!({"annotations": {"after": name}}));
        update_until(&mut app, name, |app| !told(app).is_empty());
        assert_eq!(told(&app)[0].annotation("after"), Some(name));
    }
}

#[test]
fn updates_and_the_end_of_the_process_do_not_wait_for_a_silent_sidecar() {
    let stand_in = start_stand_in();
    stand_in.set_answers(Answers::named("silent").expect("a kind of answers"));
    let mut app = server(stand_in.address());
    write_state(&mut app, ServerState::Ready);
    wait_until("a request that is not answered", || stand_in.requests().len() > 1);
    // An answer would never come: each of these returns by itself.
    for _ in 0..1_000 {
        app.update();
    }
    app.world_mut().write_message(AppExit::Success);
    app.update();
    assert_eq!(app.should_exit(), Some(AppExit::Success));
}
