//! Server and client apps of the kart race, built from the suite's generic plugins. They are the
//! counterparts of `UnlagServerPlugins` and `UnlagClientPlugins` for another pawn.

use bevy::prelude::*;
use bevy_unlag::{
    movement::{KartConfig, KartModel, KartPlugin, KartState, MovementPlugin, PawnCollision},
    net::{NetModelPlugin, NetworkedPawn, UnlagClientNetPlugin, UnlagServerNetPlugin},
    prediction::PredictionPlugin,
    prelude::*,
    rewind::RewindPlugin,
    smoothing::{ProxySimulationPlugin, SmoothingPlugin},
};
use bevy_unlag_testkit::headless_app;
use lightyear::prelude::{
    Connected, ControlledBy, Lifetime,
    server::{ClientOf, Server},
};

use super::{
    copies, driver, ground_truth, owner_overwrite, race_settings, race_settings::RaceSettings, track,
};

/// Adds the plugins that server and client share.
fn add_shared(app: &mut App) {
    app.add_plugins((MovementPlugin, KartPlugin, PredictionPlugin::<KartModel>::default()))
        // Karts pass through each other: a collision with a remote kart would be one with its past position.
        .insert_resource(KartConfig { pawns: PawnCollision::Ignore, ..default() })
        .add_systems(Startup, track::spawn);
    owner_overwrite::protocol(app);
}

/// Creates a server without a window.
pub fn server(switches: RaceSettings, truth: ground_truth::GroundTruth) -> App {
    let mut app = headless_app();
    app.add_plugins((
        UnlagServerNetPlugin::default(),
        NetModelPlugin::<KartModel>::default(),
        RewindPlugin::<KartModel>::default(),
    ));
    add_shared(&mut app);
    owner_overwrite::server(&mut app);
    ground_truth::record(&mut app, truth);
    app.insert_resource(switches)
        .init_resource::<NextKart>()
        .add_observer(spawn_kart)
        .add_systems(First, race_settings::apply_race_settings);
    app
}

/// Adds the client's plugins and the game. The app must already have its Bevy plugins.
pub fn add_client(app: &mut App, switches: RaceSettings) {
    app.add_plugins((
        UnlagClientNetPlugin::default(),
        NetModelPlugin::<KartModel>::default(),
        SmoothingPlugin,
        ProxySimulationPlugin::<KartModel>::default(),
    ));
    add_shared(app);
    owner_overwrite::client(app);
    copies::add(app);
    app.insert_resource(switches);
}

/// Creates a client without a window whose kart is driven by a script.
pub fn driving_client(switches: RaceSettings) -> App {
    let mut app = headless_app();
    add_client(&mut app, switches);
    app.add_plugins(driver::plugin);
    app
}

/// Net id of the last kart.
#[derive(Resource, Default)]
struct NextKart(u16);

/// Spawns a kart for each client that connects.
fn spawn_kart(
    connected: On<Add, Connected>,
    clients: Query<(), With<ClientOf>>,
    servers: Query<(), With<Server>>,
    mut next: ResMut<NextKart>,
    mut commands: Commands,
) {
    if !clients.contains(connected.entity) || servers.is_empty() {
        return;
    }
    let (place, yaw) = track::STARTS[usize::from(next.0) % track::STARTS.len()];
    // 0 means "nobody".
    next.0 = next.0.checked_add(1).unwrap_or(1);
    commands.spawn((
        NetworkedPawn::<KartModel>::default(),
        NetId(next.0),
        KartState::at(place, yaw),
        Transform::from_translation(place),
        ControlledBy { owner: connected.entity, lifetime: Lifetime::SessionBased },
    ));
}
