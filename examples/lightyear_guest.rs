//! A lightyear game to which the suite is added: its own component, native input and message work beside
//! soldiers.
//!
//! `cargo run --release --manifest-path tests/guests/Cargo.toml`: a server and a client in one process, on
//! stepped time, over a link of 80 ms. Prints what it promises, and exits with 1 if a promise does not hold.
//! With `-- --no-pings` the client sends none of lightyear's pings: the control, in which no input leaves it.

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{link_conditioner::LinkConditions, net::LightyearPings, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::{
    client::{ClientPlugins, input::InputSystems},
    input::native::{ActionState, InputMarker, InputPlugin},
    server::{ClientOf, ServerPlugins},
    *,
};
use serde::{Deserialize, Serialize};
use std::{process::ExitCode, time::Duration};

/// Both lightyear's plugins and the suite's are given this rate.
const TICK: Duration = Duration::from_nanos(15_625_000);

// The lightyear game, as it was before: a crane that the player turns, and a chat.

/// Angle of the crane in radians.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Crane(f32);

/// Input of the player: how fast the crane turns, in radians per second.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug, Default, Reflect)]
struct Turn(f32);

impl MapEntities for Turn {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Chat(String);

struct ChatChannel;

fn protocol(app: &mut App) {
    app.component::<Crane>().replicate();
    let mode = ChannelMode::OrderedReliable(ReliableSettings::default());
    app.add_channel::<ChatChannel>(ChannelSettings { mode, ..default() })
        .add_direction(NetworkDirection::ClientToServer);
    app.register_message::<Chat>().add_direction(NetworkDirection::ClientToServer);
    app.add_plugins(InputPlugin::<Turn>::default());
}

#[derive(Resource, Default)]
struct ChatLog(Vec<String>);

fn game_server(app: &mut App) {
    app.add_plugins((ServerPlugins { tick_duration: TICK }, protocol))
        .init_resource::<ChatLog>()
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((Crane(0.0), Replicate::to_clients(NetworkTarget::All)));
        })
        .add_systems(FixedUpdate, |mut cranes: Query<(&mut Crane, &ActionState<Turn>)>| {
            for (mut crane, turn) in &mut cranes {
                // Bytes from a client: bounded here.
                crane.0 += turn.0.0.clamp(-1.0, 1.0) * TICK.as_secs_f32();
            }
        })
        .add_systems(
            Update,
            |mut links: Query<&mut MessageReceiver<Chat>, With<ClientOf>>, mut log: ResMut<ChatLog>| {
                links.iter_mut().for_each(|mut link| log.0.extend(link.receive().map(|chat| chat.0)));
            },
        );
}

fn game_client(app: &mut App) {
    app.add_plugins((ClientPlugins { tick_duration: TICK }, protocol))
        .add_observer(|crane: On<Add, Crane>, mut commands: Commands| {
            commands.entity(crane.entity).insert(InputMarker::<Turn>::default());
        })
        .add_observer(|_: On<Add, Crane>, mut links: Query<&mut MessageSender<Chat>, With<Client>>| {
            links
                .iter_mut()
                .for_each(|mut link| link.send::<ChatChannel>(Chat("I see the crane".to_owned())));
        })
        .add_systems(
            FixedPreUpdate,
            (|mut turns: Query<&mut ActionState<Turn>, With<InputMarker<Turn>>>| {
                turns.iter_mut().for_each(|mut turn| turn.0 = Turn(0.5));
            })
            .in_set(InputSystems::WriteClientInputs),
        );
}

// ANCHOR: suite
// The suite, added to it: after lightyear's plugins.

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(100.0, 0.5, 100.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server() -> App {
    let mut app = headless_app();
    app.add_plugins((game_server, UnlagServerPlugins::default())).add_systems(Startup, level).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        },
    );
    app
}

fn client(pings: bool) -> App {
    let mut app = headless_app();
    app.add_plugins((game_client, UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level)
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        });
    if !pings {
        app.insert_resource(LightyearPings { interval: None });
    }
    // Only because time is stepped: lightyear measures round trips by the wall clock, so a margin in ticks
    // takes their place.
    let sync = SyncConfig { jitter_margin: 16.0, ..default() };
    app.insert_resource(InputTimelineConfig::default().with_sync_config(sync));
    app
}
// ANCHOR_END: suite

fn main() -> ExitCode {
    let pings = !std::env::args().any(|argument| argument == "--no-pings");
    let mut game = SteppedApps::new(server());
    let mut sim = NetSim::new(1);
    sim.set(LinkConditions { latency: Duration::from_millis(40), loss: 0.01, ..LinkConditions::PERFECT });
    game.join_over(client(pings), sim).expect("a client can join");
    game.run(Duration::from_secs(10));

    let crane = |app: &mut App| {
        let world = app.world_mut();
        world.query::<&Crane>().iter(world).map(|crane| crane.0).next().unwrap_or(f32::NAN)
    };
    let (turned, seen) = (crane(&mut game.server), crane(&mut game.clients[0]));
    let chats = game.server.world().resource::<ChatLog>().0.len();
    let synced = game.clients[0].world().resource::<LocalTimelineSync>().is_synced();
    let world = game.server.world_mut();
    let mut soldiers = world.query::<&SoldierState>();
    let walked = soldiers.iter(world).map(|state| Soldier::position(state).length()).next().unwrap_or(0.0);
    let world = game.clients[0].world_mut();
    let corrections: u64 = world.query::<&PredictionStats>().iter(world).map(|own| own.corrections).sum();

    let promises = [
        ("lightyear's timeline is synchronised", f32::from(u8::from(synced)), synced),
        ("lightyear's inputs turned the crane by, radians", turned, turned > 4.0 && turned < 5.0),
        ("the client sees the crane behind by, radians", turned - seen, (turned - seen).abs() < 0.1),
        ("chats that arrived", chats as f32, chats == 1),
        ("the soldier walked, metres", walked, walked > 20.0),
        ("corrections of the soldier", corrections as f32, corrections == 0),
    ];
    let mut kept = true;
    for (what, value, holds) in promises {
        println!("{} {what}: {value:.2}", if holds { "ok  " } else { "FAIL" });
        kept &= holds;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
