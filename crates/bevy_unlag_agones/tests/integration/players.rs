//! Players who join and leave over real netcode, as the sidecar counts them.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{link_conditioner::LinkPreset, prelude::*};
use bevy_unlag_agones::AgonesPlugin;
use bevy_unlag_server::ServerState;
use bevy_unlag_testkit::{SteppedApps, headless_app};

use super::server::*;

fn join(game: &mut SteppedApps) {
    let mut client = headless_app();
    client.add_plugins(UnlagClientPlugins::default());
    game.join(client, LinkPreset::find("Perfect").expect("a preset")).expect("a token");
}

#[test]
fn counter_and_list_follow_the_players_until_the_server_stops() {
    let stand_in = start_stand_in();
    let mut app = headless_app();
    app.add_plugins((UnlagServerPlugins::default(), AgonesPlugin))
        .insert_resource(config(stand_in.address()));
    let mut game = SteppedApps::new(app);
    let expect = |what: &str, expected: &[&str]| {
        wait_until(what, || commands(&stand_in).len() >= expected.len());
        assert_eq!(commands(&stand_in), expected, "{what}");
    };
    let mut expected = vec!["POST /ready {}"];
    game.run(Duration::from_millis(500));
    expect("ready", &expected);

    for (count, id) in [
        (
            r#"PATCH /v1beta1/counters/players {"count":"1"}"#,
            r#"POST /v1beta1/lists/players:addValue {"value":"1"}"#,
        ),
        (
            r#"PATCH /v1beta1/counters/players {"count":"2"}"#,
            r#"POST /v1beta1/lists/players:addValue {"value":"2"}"#,
        ),
    ] {
        join(&mut game);
        game.run(Duration::from_secs(2));
        expected.extend([count, id]);
        expect("a join", &expected);
    }
    game.power_off(0);
    game.run(Duration::from_secs(10));
    expected.extend([
        r#"PATCH /v1beta1/counters/players {"count":"1"}"#,
        r#"POST /v1beta1/lists/players:removeValue {"value":"1"}"#,
    ]);
    expect("a leave", &expected);

    *game.server.world_mut().resource_mut::<ServerState>() = ServerState::Draining;
    game.run(Duration::from_millis(500));
    expected.push(r#"POST /reserve {"seconds":"0"}"#);
    expect("a drain", &expected);
    game.run(Duration::from_secs(10));
    let last = commands(&stand_in);
    assert_eq!(last.last().map(String::as_str), Some("POST /shutdown {}"), "{last:?}");
    assert_eq!(last.iter().filter(|command| command.contains("/shutdown")).count(), 1);
}
