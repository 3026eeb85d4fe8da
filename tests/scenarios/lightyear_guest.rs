//! The suite in a lightyear game: beside lightyear's own plugins, timelines, components and messages. Its
//! inputs, prediction and interpolation are in `tests/guests`, which builds lightyear with those features.

mod components_and_messages;
mod plugin_order;
mod rollback;

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{guard::LinkTraffic, link_conditioner::LinkPreset, net::LightyearPings, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::{client::ClientPlugins, server::ServerPlugins, *};

const TICK: Duration = Duration::from_nanos(15_625_000);

/// Server and client apps with lightyear's plugins of the game's own.
fn lightyear_apps() -> (App, App) {
    let (mut server, mut client) = (headless_app(), headless_app());
    server.add_plugins(ServerPlugins { tick_duration: TICK });
    client.add_plugins(ClientPlugins { tick_duration: TICK });
    (server, client)
}

/// Adds the suite: a server whose players get a soldier, and a client that walks.
fn add_suite(server: &mut App, client: &mut App) {
    let level = |mut commands: Commands| {
        commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    };
    server.add_plugins(UnlagServerPlugins::default()).add_systems(Startup, level).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        },
    );
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level)
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        });
}

/// Joins the client over an average link and runs for four seconds.
fn run_four_seconds(server: App, client: App) -> SteppedApps {
    let mut game = SteppedApps::new(server);
    game.join(client, LinkPreset::find("Average (UE)").expect("a built-in preset")).expect("a token");
    game.run(Duration::from_secs(4));
    game
}

/// A game with lightyear's plugins of its own, or with those that the suite adds.
fn play(pings: Option<LightyearPings>, own_plugins: bool) -> SteppedApps {
    let (mut server, mut client) =
        if own_plugins { lightyear_apps() } else { (headless_app(), headless_app()) };
    if let Some(pings) = pings {
        server.insert_resource(pings);
        client.insert_resource(pings);
    }
    add_suite(&mut server, &mut client);
    run_four_seconds(server, client)
}

/// Moves and corrections of the client's soldier.
fn corrections(game: &mut SteppedApps) -> (u64, u64) {
    let world = game.clients[0].world_mut();
    let stats = world.query_filtered::<&PredictionStats, With<LocalControl>>();
    { stats }.single(world).map_or((0, 1), |stats| (stats.moves, stats.corrections))
}

fn assert_no_corrections(game: &mut SteppedApps) {
    let (moves, corrections) = corrections(game);
    assert!(moves > 100 && corrections == 0, "{moves} moves, {corrections} corrections");
}

fn is_synced(game: &SteppedApps) -> bool {
    game.clients[0].world().resource::<LocalTimelineSync>().is_synced()
}

/// Bytes that the server has received from the client.
fn bytes_up(game: &mut SteppedApps) -> u64 {
    let world = game.server.world_mut();
    world.query::<&LinkTraffic>().iter(world).map(|traffic| traffic.bytes).sum()
}

#[test]
fn pings_are_on_in_a_game_that_has_lightyears_plugins() {
    for own_plugins in [true, false] {
        let mut game = play(None, own_plugins);
        assert_eq!(is_synced(&game), own_plugins);
        assert_no_corrections(&mut game);
    }
}

#[test]
fn timelines_of_lightyear_synchronise_if_its_pings_are_on() {
    let [mut with, mut without] = [LightyearPings::ON, LightyearPings { interval: None }].map(|pings| {
        let mut game = play(Some(pings), true);
        assert_eq!(is_synced(&game), pings.interval.is_some(), "{pings:?}");
        assert_no_corrections(&mut game);
        game
    });
    // Price stated in book/src/migration/lightyear.md.
    let cost = (bytes_up(&mut with) as f64 - bytes_up(&mut without) as f64) / 4.0;
    println!("pings cost {cost:.0} bytes per second");
    assert!(cost < 300.0, "{cost} bytes per second");
}
