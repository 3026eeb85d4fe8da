//! Promises of each chapter, played without a window. Not in the book.

use bevy::{
    input::{
        ButtonState, InputPlugin,
        keyboard::{Key, KeyboardInput},
    },
    prelude::*,
};
use bevy_unlag::{
    ControlSystems,
    guard::{JoinRefused, ServerKey},
    lightyear::prelude::Connected,
    link_conditioner::LinkPreset,
    prelude::*,
    rewind::RewindMode,
};
use bevy_unlag_testkit::{SteppedApps, finish, headless_app};
use std::{
    fs,
    net::{SocketAddr, UdpSocket},
    process, thread,
    time::{Duration, Instant},
};

use crate::{
    level,
    network::{self, GAME},
    others, pawn, tokens,
    weapons::{self, Hits},
};

/// Measured values, and whether the promise holds.
type Promise = Result<(String, bool)>;

const CHAPTERS: [fn() -> Promise; 6] = [
    client_connects,
    pawn_moves_at_once,
    others_move_smoothly,
    drawn_hits_are_hits,
    players_fight_over_a_bad_link,
    token_admits_once,
];

/// Checks some chapters by their numbers, or all of them.
pub fn run(numbers: &[&str]) -> AppExit {
    let mut exit = AppExit::Success;
    for (number, check) in (1..).zip(CHAPTERS) {
        if numbers.is_empty() || numbers.contains(&number.to_string().as_str()) {
            let (text, holds) = check().unwrap_or_else(|error| (error.to_string(), false));
            println!("{} chapter {number}: {text}", if holds { "ok  " } else { "FAIL" });
            if !holds {
                exit = AppExit::error();
            }
        }
    }
    exit
}

// The game as of some chapters.

fn server_1(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), level::colliders));
}

fn client_1(app: &mut App) {
    app.add_plugins((InputPlugin, UnlagClientPlugins::default(), level::colliders));
}

fn server_2(app: &mut App) {
    app.add_plugins((server_1, pawn::server));
}

fn client_2(app: &mut App) {
    app.add_plugins((client_1, pawn::client));
}

fn server_4(app: &mut App) {
    app.add_plugins((server_2, others::server, weapons::server));
}

fn client_4(app: &mut App) {
    app.add_plugins((client_2, weapons::client));
}

fn app(game: fn(&mut App)) -> App {
    let mut app = headless_app();
    app.add_plugins(game);
    app
}

/// Starts a server and joins clients over links of this preset, and plays a second.
fn play(server: fn(&mut App), clients: &[fn(&mut App)], preset: &str) -> Result<SteppedApps> {
    let mut game = SteppedApps::new(app(server));
    for client in clients {
        game.join(app(*client), LinkPreset::find(preset)?)?;
    }
    game.run(Duration::from_secs(1));
    Ok(game)
}

fn run_seconds(game: &mut SteppedApps, seconds: f32) {
    game.run(Duration::from_secs_f32(seconds));
}

fn set_key(app: &mut App, key_code: KeyCode, state: ButtonState) {
    let (logical_key, window) = (Key::Dead(None), Entity::PLACEHOLDER);
    let key = KeyboardInput { key_code, logical_key, state, text: None, repeat: false, window };
    app.world_mut().write_message(key);
}

fn own_id(client: &mut App) -> Option<NetId> {
    let world = client.world_mut();
    world.query_filtered::<&NetId, With<LocalControl>>().iter(world).next().copied()
}

/// Where an app draws a pawn, or has it if it draws nothing.
fn place(app: &mut App, id: NetId) -> Option<Vec3> {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, Option<&DrawnPose>, Option<&SoldierState>)>();
    let (_, drawn, state) = pawns.iter(world).find(|(found, ..)| **found == id)?;
    drawn.map(|drawn| drawn.pose.position).or(state.map(Soldier::position))
}

// Chapter 1, with sockets.
fn client_connects() -> Promise {
    let address = free_address()?;
    let mut server = app(server_1);
    network::listen(&mut server, address, &ServerAccess::development(GAME));
    finish(&mut server);
    let mut client = app(client_1);
    network::connect(&mut client, TokenClient::development(1, address, GAME)?);
    finish(&mut client);
    let connects = run_both(&mut server, &mut client, is_connected);
    Ok((format!("a client is connected over UDP: {connects}"), connects))
}

fn free_address() -> Result<SocketAddr> {
    Ok(UdpSocket::bind("127.0.0.1:0")?.local_addr()?)
}

fn is_connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), With<Connected>>().iter(world).next().is_some()
}

/// Runs both apps in real time until it is done. Returns whether that was within five seconds.
fn run_both(server: &mut App, client: &mut App, done: fn(&mut App) -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        server.update();
        client.update();
        if done(client) {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    false
}

// Chapter 2.
fn pawn_moves_at_once() -> Promise {
    let mut game = play(server_2, &[client_2, client_2], "Average (UE)")?;
    let id = own_id(&mut game.clients[0]).ok_or("the player has no pawn")?;
    let places = |game: &mut SteppedApps| -> Vec<Vec3> {
        game.apps_mut().map(|app| place(app, id).unwrap_or(Vec3::NAN)).collect()
    };
    let before = places(&mut game);
    set_key(&mut game.clients[0], KeyCode::KeyW, ButtonState::Pressed);
    // Less than the time of a packet to the server.
    game.run(Duration::from_millis(25));
    let now = places(&mut game);
    let [at_server, on_screen] = [0, 1].map(|app: usize| before[app].distance(now[app]));
    run_seconds(&mut game, 2.0);
    set_key(&mut game.clients[0], KeyCode::KeyW, ButtonState::Released);
    run_seconds(&mut game, 1.0);
    let end = places(&mut game);
    let spread = end.iter().map(|place| place.distance(end[0])).fold(0.0, f32::max);
    let way = end[0].distance(before[0]);
    let holds = at_server == 0.0 && on_screen > 0.0 && way > 8.0 && spread < 0.05;
    let text = format!("the pawn moves before the server knows, {way:.1} m; screens differ by {spread:.3} m");
    Ok((text, holds))
}

// Chapter 3.
fn others_move_smoothly() -> Promise {
    let server = |app: &mut App| {
        app.add_plugins((server_2, others::server));
    };
    let client = |app: &mut App| {
        app.add_plugins((client_2, others::client));
    };
    let mut game = play(server, &[client], "LAN")?;
    let smooth = longest_step(&mut game);
    set_key(&mut game.clients[0], KeyCode::KeyM, ButtonState::Pressed);
    run_seconds(&mut game, 0.5);
    let raw = longest_step(&mut game);
    // The patrol walks 6 cm in a frame. A snapshot comes every 47 ms.
    let text = format!("the longest way of the patrol in a frame is {smooth:.3} m, unsmoothed {raw:.3} m");
    Ok((text, (0.03..0.1).contains(&smooth) && raw > 0.2))
}

/// Returns the longest way in a frame of the pawn that is not the own, during three seconds.
fn longest_step(game: &mut SteppedApps) -> f32 {
    let (mut longest, mut last) = (0.0_f32, None);
    for _ in 0..300 {
        game.run(SteppedApps::CLIENT_FRAME);
        let world = game.clients[0].world_mut();
        let mut others = world.query_filtered::<&DrawnPose, Without<LocalControl>>();
        let now = others.iter(world).next().map(|drawn| drawn.pose.position);
        longest = longest.max(now.zip(last).map_or(0.0, |(now, last): (Vec3, Vec3)| now.distance(last)));
        last = now;
    }
    longest
}

/// A script in place of keyboard and mouse: it walks to and fro, aims at the nearest other pawn and holds the trigger.
fn fighter(app: &mut App) {
    app.add_systems(RunFixedMainLoop, fight.in_set(ControlSystems::Accumulate));
}

fn fight(
    (time, controls): (Res<Time>, Query<Entity, With<PlayerControls>>),
    own: Single<(&DrawnPose, &Aim, &mut InputAccumulator, &mut WeaponControls)>,
    others: Query<&DrawnPose, Without<LocalControl>>,
    mut commands: Commands,
) {
    // Keys that nobody presses would release the trigger.
    controls.iter().for_each(|controls| commands.entity(controls).despawn());
    let (drawn, aim, mut input, mut trigger) = own.into_inner();
    let eye = drawn.pose.position + Vec3::Y * 1.64;
    let alive = others.iter().filter(|other| other.pose.alive);
    let ways = alive.map(|other| other.pose.position + Vec3::Y * 1.1 - eye);
    let nearest = ways.min_by(|a, b| a.length().total_cmp(&b.length()));
    if let Some(way) = nearest {
        // Shots of a view that turns faster than a player can are refused.
        let turned = aim.rotate_towards(Aim::from_direction(way), 10.0 * time.delta_secs());
        input.look_along(turned.direction());
    }
    input.axes(if time.elapsed_secs() % 2.0 < 1.0 { Vec2::X } else { Vec2::NEG_X });
    trigger.set_fire(nearest.is_some());
}

/// Whether the server has confirmed what the screen drew, apart from the last shots, whose verdicts are under way.
fn agree((drawn, confirmed): (usize, usize)) -> bool {
    drawn >= 10 && (confirmed + 3) * 20 >= drawn * 19
}

/// Returns the hits that a client has drawn, and those that the server has confirmed.
fn hits(client: &App) -> (usize, usize) {
    let hits = client.world().resource::<Hits>();
    (hits.drawn.len(), hits.confirmed)
}

// Chapter 4.
fn drawn_hits_are_hits() -> Promise {
    let shooter = |app: &mut App| {
        app.add_plugins((client_4, fighter));
    };
    let unlagged = |app: &mut App| {
        app.add_plugins(server_4).insert_resource(RewindLimits { mode: RewindMode::Off, ..default() });
    };
    let count = |server: fn(&mut App)| -> Result<(usize, usize, u16)> {
        let mut game = play(server, &[shooter], "Average (UE)")?;
        run_seconds(&mut game, 4.0);
        let world = game.server.world_mut();
        let kills = world.query::<&PlayerScore>().iter(world).map(|score| score.kills).sum();
        let (drawn, confirmed) = hits(&game.clients[0]);
        Ok((drawn, confirmed, kills))
    };
    let (drawn, confirmed, kills) = count(server_4)?;
    let (control_drawn, control_confirmed, _) = count(unlagged)?;
    let text = format!(
        "{confirmed} of {drawn} drawn hits are confirmed, {kills} kills; without rewind {control_confirmed} of \
         {control_drawn}"
    );
    let holds = agree((drawn, confirmed)) && kills > 0 && control_confirmed * 2 < control_drawn;
    Ok((text, holds))
}

// Chapter 5, the whole game.
fn players_fight_over_a_bad_link() -> Promise {
    let client = |app: &mut App| {
        app.add_plugins((InputPlugin, crate::client, fighter));
    };
    // Players live on: shots of a player who has died are refused after the trade window.
    let server = |app: &mut App| {
        app.add_plugins(crate::server).add_systems(
            FixedFirst,
            |mut players: Query<&mut Health, (With<SoldierPawn>, Added<Health>)>| {
                players.iter_mut().for_each(|mut health| *health = Health::full(1e6));
            },
        );
    };
    let mut game = play(server, &[client, client], "Perfect")?;
    for client in 0..2 {
        for state in [ButtonState::Pressed, ButtonState::Released, ButtonState::Pressed] {
            set_key(&mut game.clients[client], KeyCode::KeyL, state);
            run_seconds(&mut game, 0.05);
        }
    }
    run_seconds(&mut game, 4.0);
    let world = game.clients[0].world_mut();
    let stats = *world.query_filtered::<&PredictionStats, With<LocalControl>>().single(world)?;
    let (first, second) = (hits(&game.clients[0]), hits(&game.clients[1]));
    let text = format!(
        "over {} ms, {} of {} and {} of {} drawn hits are confirmed; {} corrections",
        stats.rtt.as_millis(),
        first.1,
        first.0,
        second.1,
        second.0,
        stats.corrections
    );
    Ok((text, agree(first) && agree(second) && stats.rtt.as_millis() > 80))
}

// Chapter 6, with sockets.
fn token_admits_once() -> Promise {
    let folder = std::env::temp_dir().join(format!("unlag_tutorial_{}", process::id()));
    fs::create_dir_all(&folder)?;
    let result = use_token_twice(&folder.join("server.key").to_string_lossy());
    fs::remove_dir_all(&folder)?;
    result
}

fn use_token_twice(key_file: &str) -> Promise {
    fs::write(key_file, ServerKey::random()?.to_hex())?;
    let address = free_address()?;
    let mut server = app(server_1);
    network::listen(&mut server, address, &tokens::access(key_file)?);
    finish(&mut server);
    // A token from before the start of the server is refused.
    server.update();
    let token = tokens::issue(&ServerKey::from_file(key_file)?, 7, address)?;
    let mut joins = |done: fn(&mut App) -> bool| -> Result<bool> {
        let mut client = app(client_1);
        client.add_plugins(tokens::client);
        network::connect(&mut client, TokenClient::new(&token)?);
        finish(&mut client);
        Ok(run_both(&mut server, &mut client, done))
    };
    let (first, second) = (joins(is_connected)?, joins(is_refused)?);
    Ok((format!("a token admits its player: {first}, and is refused after that: {second}"), first && second))
}

fn is_refused(client: &mut App) -> bool {
    client.world().get_resource::<Messages<JoinRefused>>().is_some_and(|refused| !refused.is_empty())
}
