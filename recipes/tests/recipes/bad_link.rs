//! A match over a bad link, by the name of a preset. The link may change while the match runs.

use unlag_recipes::{component, floor, own, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{link_conditioner::LinkPreset, prelude::*};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers));
}

/// A client whose player walks for four seconds.
fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor)).add_systems(
        PreUpdate,
        |time: Res<Time>, mut input: Single<&mut InputAccumulator>| {
            input.axes(if time.elapsed_secs() < 4.0 { Vec2::Y } else { Vec2::ZERO });
        },
    );
}

/// Simulates a link, on the client's end of it; in a game for tests, and behind a key of a debug build. A
/// `LinkPresets` reads presets of one's own from a file.
fn set_link(client: &mut App, preset: &str) {
    let preset = LinkPreset::find(preset).expect("a built-in preset");
    let world = client.world_mut();
    world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.apply(preset));
}
// ANCHOR_END: game

/// Returns the round trip of a player's moves, in milliseconds.
fn round_trip(client: &mut App) -> u128 {
    let id = own(client).expect("the player has a pawn");
    component::<PredictionStats>(client, id).map_or(0, |stats| stats.rtt.as_millis())
}

#[test]
fn walker_stays_where_the_server_has_it_on_a_bad_link() {
    play(server, &[client], |game| {
        let before = round_trip(&mut game.clients[0]);
        set_link(&mut game.clients[0], "Bad (UE)");
        game.run(2.0);
        // 150 ms each way in place of 50 ms, ± 50 ms, and 5 % of the packets are lost.
        let after = round_trip(&mut game.clients[0]);
        assert!(after > before + 120, "{before} ms, then {after} ms");
        game.run(2.0);
        let [shown, real] = [&mut game.clients[0], &mut game.server].map(|app| position(app, NetId(1)));
        assert!(real.z < -15.0 && shown.distance(real) < 0.05, "drawn at {shown}, and is at {real}");
    });
}
