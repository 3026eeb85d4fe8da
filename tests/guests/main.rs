//! lightyear's own inputs, prediction and interpolation beside the suite.

mod inputs;
mod prediction;

use core::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{link_conditioner::LinkConditions, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::{client::ClientPlugins, server::ServerPlugins, *};

const TICK: Duration = Duration::from_nanos(15_625_000);

/// A server and a client with lightyear's plugins, a game's protocol and then the suite. The client's soldier
/// walks.
fn apps(protocol: fn(&mut App)) -> (App, App) {
    let (mut server, mut client) = (headless_app(), headless_app());
    server.add_plugins((ServerPlugins { tick_duration: TICK }, protocol, UnlagServerPlugins::default()));
    client.add_plugins((ClientPlugins { tick_duration: TICK }, protocol));
    client.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
    // lightyear measures round trips by the wall clock, which stepped time does not follow. A margin in ticks
    // takes their place.
    let sync = SyncConfig { jitter_margin: 16.0, ..default() };
    client.insert_resource(InputTimelineConfig::default().with_sync_config(sync)).add_systems(
        PreUpdate,
        |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        },
    );
    for app in [&mut server, &mut client] {
        app.add_systems(Startup, |mut commands: Commands| {
            commands.spawn((Collider::cuboid(99.0, 0.5, 99.0), Transform::from_xyz(0.0, -0.5, 0.0)));
        });
    }
    server.add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
        commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
    });
    (server, client)
}

/// Joins the client over a link of 80 ms with 1 % loss.
fn join(server: App, client: App) -> SteppedApps {
    let mut game = SteppedApps::new(server);
    let mut sim = NetSim::new(1);
    sim.set(LinkConditions { latency: Duration::from_millis(40), loss: 0.01, ..LinkConditions::PERFECT });
    game.join_over(client, sim).expect("a token");
    game
}

fn assert_no_corrections(game: &mut SteppedApps) {
    let world = game.clients[0].world_mut();
    let mut own = world.query_filtered::<&PredictionStats, With<LocalControl>>();
    let stats = own.single(world).expect("the client has a soldier");
    assert!(stats.moves > 200 && stats.corrections == 0, "{stats:?}");
}
