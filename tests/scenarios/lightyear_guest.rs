//! The suite beside lightyear's own plugins and timelines.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{link_conditioner::LinkPreset, net::LightyearPings, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::{client::ClientPlugins, server::ServerPlugins, *};

const TICK: Duration = Duration::from_nanos(15_625_000);

/// A server and a client that walks, with lightyear's plugins added by the game or by the suite.
fn play(pings: LightyearPings, own_plugins: bool) -> SteppedApps {
    let level = |mut commands: Commands| {
        commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    };
    let (mut server, mut client) = (headless_app(), headless_app());
    if own_plugins {
        server.add_plugins(ServerPlugins { tick_duration: TICK });
        client.add_plugins(ClientPlugins { tick_duration: TICK });
    }
    server
        .insert_resource(pings)
        .add_plugins(UnlagServerPlugins::default())
        .add_systems(Startup, level)
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        });
    client
        .insert_resource(pings)
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level)
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        });
    let mut game = SteppedApps::new(server);
    game.join(client, LinkPreset::find("Average (UE)").expect("a built-in preset")).expect("a token");
    game.run(Duration::from_secs(4));
    game
}

fn corrections(game: &mut SteppedApps) -> (u64, u64) {
    let world = game.clients[0].world_mut();
    let stats = world.query_filtered::<&PredictionStats, With<LocalControl>>();
    { stats }.single(world).map_or((0, 1), |stats| (stats.moves, stats.corrections))
}

#[test]
fn suite_joins_the_plugins_of_lightyear_that_the_game_has_added() {
    let mut game = play(LightyearPings::default(), true);
    let (moves, corrections) = corrections(&mut game);
    assert!(moves > 100 && corrections == 0, "{moves} moves, {corrections} corrections");
}

#[test]
fn timelines_of_lightyear_synchronise_if_its_pings_are_on() {
    for (interval, synced) in [(Some(Duration::from_millis(100)), true), (None, false)] {
        let mut game = play(LightyearPings { interval }, false);
        let sync = game.clients[0].world().resource::<LocalTimelineSync>();
        assert_eq!(sync.is_synced(), synced, "{interval:?}");
        let (moves, corrections) = corrections(&mut game);
        assert!(moves > 100 && corrections == 0, "{moves} moves, {corrections} corrections");
    }
}
