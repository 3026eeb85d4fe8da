//! Drains of a server over real netcode, on stepped time.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    guard::{KickReason, KickText, KickedByServer},
    link_conditioner::LinkPreset,
    net::{ServerShutdown, Shutdown},
    prelude::*,
};
use bevy_unlag_server::{LifeCycleConfig, ServerLifeCyclePlugin, ServerState};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::{Client, Disconnect};

/// Exits that a server app has asked for.
#[derive(Resource, Default)]
struct Exits(Vec<AppExit>);

/// Messages that a client has received.
#[derive(Resource, Default)]
struct Told {
    shutdown: Vec<Duration>,
    reasons: Vec<KickText>,
    kicked: Vec<KickReason>,
}

/// A server with this configuration and so many players inside.
fn start(config: LifeCycleConfig, players: usize) -> SteppedApps {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), ServerLifeCyclePlugin))
        .insert_resource(config)
        .init_resource::<Exits>()
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        })
        .add_systems(Last, |mut written: MessageReader<AppExit>, mut exits: ResMut<Exits>| {
            exits.0.extend(written.read().cloned());
        });
    let mut game = SteppedApps::new(server);
    assert_eq!(state(&game), ServerState::Starting);
    (0..players).for_each(|_| join(&mut game));
    assert!(game.run_until(seconds(5.0), |game| pawns(game) == players), "the players are inside");
    game.run(seconds(0.2));
    assert_eq!(state(&game), ServerState::Ready);
    game
}

fn join(game: &mut SteppedApps) {
    let mut client = headless_app();
    client.add_plugins(UnlagClientPlugins::default()).init_resource::<Told>().add_systems(
        Last,
        |mut shutdown: MessageReader<ServerShutdown>,
         mut kicked: MessageReader<KickedByServer>,
         mut told: ResMut<Told>| {
            for ServerShutdown { left, reason } in shutdown.read() {
                told.shutdown.push(*left);
                told.reasons.push(*reason);
            }
            told.kicked.extend(kicked.read().map(|kicked| kicked.0));
        },
    );
    game.join(client, LinkPreset::find("Perfect").expect("a preset")).expect("a token");
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn state(game: &SteppedApps) -> ServerState {
    *game.server.world().resource::<ServerState>()
}

fn write_state(game: &mut SteppedApps, state: ServerState) {
    *game.server.world_mut().resource_mut::<ServerState>() = state;
}

fn pawns(game: &mut SteppedApps) -> usize {
    let world = game.server.world_mut();
    world.query_filtered::<(), With<SoldierState>>().iter(world).count()
}

fn told(game: &SteppedApps, client: usize) -> &Told {
    game.clients[client].world().resource::<Told>()
}

/// Runs until the server has stopped. Returns the time that it took.
fn expect_stop(game: &mut SteppedApps, limit: f64) -> Duration {
    let began = game.now();
    let has_ended = |game: &mut SteppedApps| !game.server.world().resource::<Exits>().0.is_empty();
    assert!(game.run_until(seconds(limit), has_ended), "still {} after {limit} s", state(game));
    let took = game.now() - began;
    game.run(seconds(1.0));
    assert_eq!(state(game), ServerState::Stopped);
    assert_eq!(game.server.world().resource::<Exits>().0, [AppExit::Success], "once, with code 0");
    took
}

/// The match may end first, within the default 20 s.
fn waiting() -> LifeCycleConfig {
    LifeCycleConfig { wait_for_match: true, ..LifeCycleConfig::default() }
}

#[test]
fn drain_of_an_empty_server_ends_at_once() {
    let mut game = start(waiting(), 0);
    write_state(&mut game, ServerState::Draining);
    expect_stop(&mut game, 0.5);
}

#[test]
fn drain_tells_the_players_and_ends_after_the_notice() {
    let mut game = start(LifeCycleConfig::default(), 2);
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(4.0));
    assert_eq!(state(&game), ServerState::Draining);
    for client in 0..2 {
        assert_eq!(told(&game, client).shutdown, [seconds(5.0)]);
        assert!(told(&game, client).kicked.is_empty());
    }
    expect_stop(&mut game, 3.0);
    for client in 0..2 {
        assert_eq!(told(&game, client).kicked, [KickReason::Shutdown]);
    }
}

#[test]
fn drain_that_waits_for_the_match_ends_at_its_limit() {
    let mut game = start(LifeCycleConfig { drain_limit: seconds(8.0), ..waiting() }, 1);
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(7.5));
    assert_eq!(told(&game, 0).shutdown, [seconds(8.0)]);
    assert_eq!(state(&game), ServerState::Draining);
    expect_stop(&mut game, 2.0);
    assert_eq!(told(&game, 0).kicked, [KickReason::Shutdown]);
}

#[test]
fn notice_is_at_most_the_limit_of_a_drain() {
    let mut game = start(LifeCycleConfig { drain_limit: seconds(2.0), ..LifeCycleConfig::default() }, 1);
    write_state(&mut game, ServerState::Draining);
    expect_stop(&mut game, 4.0);
    assert_eq!(told(&game, 0).shutdown, [seconds(2.0)]);
}

#[test]
fn game_that_ends_its_match_ends_the_drain() {
    let mut game = start(waiting(), 1);
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(3.0));
    assert_eq!(state(&game), ServerState::Draining);
    write_state(&mut game, ServerState::Stopped);
    expect_stop(&mut game, 2.0);
    assert_eq!(told(&game, 0).kicked, [KickReason::Shutdown]);
}

#[test]
fn drain_ends_when_the_last_player_has_left() {
    let mut game = start(waiting(), 1);
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(1.0));
    let world = game.clients[0].world_mut();
    let link = world.query_filtered::<Entity, With<Client>>().single(world).expect("a link");
    world.trigger(Disconnect { entity: link });
    world.flush();
    expect_stop(&mut game, 3.0);
}

#[test]
fn joiner_is_refused_while_draining_and_those_inside_stay() {
    let mut game = start(waiting(), 1);
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(0.5));
    join(&mut game);
    assert!(game.run_until(seconds(5.0), |game| told(game, 1).kicked == [KickReason::Shutdown]));
    game.run(seconds(1.0));
    assert!(told(&game, 0).kicked.is_empty());
    assert_eq!(pawns(&mut game), 1, "the joiner's pawn is gone");
    assert_eq!(state(&game), ServerState::Draining);
}

#[test]
fn drain_cannot_be_taken_back() {
    let mut game = start(waiting(), 1);
    write_state(&mut game, ServerState::Allocated);
    game.run(seconds(0.5));
    assert_eq!(state(&game), ServerState::Allocated, "the control: other states stay as they are written");
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(0.5));
    write_state(&mut game, ServerState::Ready);
    game.run(seconds(0.5));
    assert_eq!(state(&game), ServerState::Draining);
}

#[test]
fn shutdown_of_the_games_own_is_a_drain() {
    let mut game = start(LifeCycleConfig::default(), 1);
    game.server.world_mut().trigger(Shutdown { after: seconds(2.0), ..Shutdown::default() });
    game.run(seconds(1.5));
    assert_eq!(state(&game), ServerState::Draining);
    assert_eq!(told(&game, 0).shutdown, [seconds(2.0)]);
    expect_stop(&mut game, 2.0);
}

#[test]
fn players_of_a_drain_read_its_reason() {
    let reason = KickText::new("maintenance until six");
    let mut game = start(LifeCycleConfig { reason, ..waiting() }, 2);
    write_state(&mut game, ServerState::Draining);
    game.run(seconds(1.0));
    for client in 0..2 {
        assert_eq!(told(&game, client).reasons, [reason], "client {client}");
    }
}

#[test]
fn reason_of_the_games_own_shutdown_stays_when_it_ends_early() {
    let reason = KickText::new("the match is over");
    let config = LifeCycleConfig { reason: KickText::new("maintenance"), ..LifeCycleConfig::default() };
    let mut game = start(config, 1);
    game.server.world_mut().trigger(Shutdown { after: seconds(10.0), reason });
    game.run(seconds(1.0));
    write_state(&mut game, ServerState::Stopped);
    expect_stop(&mut game, 2.0);
    let reasons = &told(&game, 0).reasons;
    assert!(!reasons.is_empty() && reasons.iter().all(|told| *told == reason), "{reasons:?}");
}
