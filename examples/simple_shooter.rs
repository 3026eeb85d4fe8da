//! A small shooter in one file: a server with two bots, and a client with a window, in one process over UDP.
//!
//! `cargo run --release --example simple_shooter`. With `--headless` a script plays for some seconds without
//! a window and prints what the example promises; the exit code is 1 if a promise does not hold. With
//! `--no-rewind` the server tests shots against the present: the control, in which drawn hits miss.

use bevy::window::{CursorGrabMode, CursorOptions, PrimaryWindow};
use bevy::{app::ScheduleRunnerPlugin, ecs::error::warn, prelude::*, state::app::StatesPlugin};
use bevy::{core_pipeline::tonemapping::Tonemapping, transform::TransformSystems, winit::WinitSettings};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::core::{DrawnEye, StepEvent, Tick, VisualSystems};
use bevy_unlag::movement::{HasCapsule, abilities::Dash, abilities::Teleport};
use bevy_unlag::weapons::{HealthPlugin, Respawn, RespawnDue, ShotResult, WeaponSystems};
use bevy_unlag::{ControlSystems, link_conditioner::LinkConditions, prelude::*};
use bevy_unlag::{prediction::PredictionDebug, rewind::RewindMode};
use lightyear::prelude::{Client, Connect, LocalAddr, UdpIo, server::Start};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{net::SocketAddr, net::UdpSocket, thread, time::Duration};

/// The soldier of players and bots, with two abilities. Client and server name the same characters.
type Hero = SoldierWith<(Dash, Teleport)>;
type HeroState = <Hero as MoveModel>::State;
type Own = With<LocalControl>;

const PLAYS: f32 = 12.0; // seconds, with --headless
/// Middles and half sizes of the level's boxes, in metres.
const BOXES: [(Vec3, Vec3); 3] = [
    (Vec3::new(0.0, -0.5, 0.0), Vec3::new(200.0, 0.5, 200.0)),
    (Vec3::new(-9.0, 0.6, 4.0), Vec3::new(2.0, 0.6, 0.5)),
    (Vec3::new(9.0, 0.6, 4.0), Vec3::new(2.0, 0.6, 0.5)),
];
const SPAWNS: [Vec3; 3] = [Vec3::new(0.0, 0.1, 12.0), Vec3::new(-6.0, 0.1, -6.0), Vec3::new(6.0, 0.1, -6.0)];

fn main() -> AppExit {
    let flag = |name: &str| std::env::args().any(|argument| argument == name);
    let headless = flag("--headless");
    let mode = if flag("--no-rewind") { RewindMode::Off } else { RewindMode::On };
    // Headless on any free port, so that several can run at once.
    let port: u16 = if headless { 0 } else { 5889 };
    let address = UdpSocket::bind(("127.0.0.1", port)).and_then(|own| own.local_addr()).expect("a free port");
    let client = move |app: &mut App| client(app, address);
    let server = move |app: &mut App| server(app, address, headless, mode);
    thread::spawn(move || bare().add_plugins(server).run());
    if headless {
        bare().add_plugins((PlayerControlsPlugin::default(), client, scripted_player)).run()
    } else {
        App::new().add_plugins((with_window, PlayerControlsPlugin::reading(), client)).run()
    }
}

/// Creates an app without a window, with 200 frames per second.
fn bare() -> App {
    let (mut app, frame) = (App::new(), ScheduleRunnerPlugin::run_loop(Duration::from_millis(5)));
    app.set_error_handler(warn).add_plugins((MinimalPlugins.set(frame), TransformPlugin, StatesPlugin));
    app
}

// Both sides: the level.
fn shared(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        for (middle, half) in BOXES {
            commands.spawn((Collider::cuboid(half.x, half.y, half.z), Transform::from_translation(middle)));
        }
    });
}

/// Dashes and teleports that client (0) and server (1) have simulated. A replay is silent.
static USES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn count_uses<const SIDE: usize>(mut steps: MessageReader<StepEvent<Hero>>) {
    USES[SIDE].fetch_add(steps.read().filter(|step| Hero::is_outcome(&step.event)).count(), Relaxed);
}

// The server: each joining client gets a hero; bots, death and respawn.
fn server(app: &mut App, address: SocketAddr, headless: bool, mode: RewindMode) {
    app.add_plugins((UnlagServerPlugins { characters: Characters::of::<Hero>(), ..default() }, HealthPlugin))
        .add_plugins(shared)
        .insert_resource(RewindLimits { mode, ..default() })
        .add_systems(Startup, spawn_bots)
        .add_systems(FixedUpdate, think.before(MoveSystems::Sample))
        .add_systems(FixedUpdate, count_uses::<1>.in_set(MoveSystems::React))
        .add_systems(FixedLast, die_and_respawn.after(WeaponSystems::Respawn));
    // Corrections without a cause make the client replay its moves, dashes included.
    let force_corrections = if headless { 0.05 } else { 0.0 };
    app.insert_resource(PredictionDebug { force_corrections, ..default() });
    // A death would end the script's dashes on the server before it does on the client.
    let health = Health::full(if headless { 1e6 } else { 100.0 });
    app.add_observer(move |joined: On<PlayerJoined>, mut commands: Commands| {
        let (place, owner) = (Transform::from_translation(SPAWNS[0]), player_pawn(joined.link, joined.peer));
        commands.spawn((CharacterPawn::<Hero>::default(), place, owner, health, PlayerScore::default()));
    });
    // Development mode: anybody may join. A real server has a secret key, and a matchmaker issues tokens.
    let server = (ServerAccess::development(1).server(), LocalAddr(address), ServerUdp::default());
    app.world_mut().spawn(server).trigger(|entity| Start { entity });
}

fn spawn_bots(mut commands: Commands) {
    for place in SPAWNS.into_iter().skip(1) {
        let controls = (NpcPawn::<Hero>::default(), NpcControls::default(), WeaponControls::default());
        commands.spawn((controls, Health::full(100.0), Transform::from_translation(place)));
    }
}

/// A bot walks to and fro across the line to the player, and fires every three seconds.
fn think(
    tick: Res<CurrentTick>,
    mut bots: Query<(&NetId, &HeroState, &mut NpcControls, &mut WeaponControls)>,
    players: Query<&HeroState, Without<NpcControls>>,
) {
    let Some(player) = players.iter().find(|player| player.capsule().alive) else { return };
    for (id, own, mut controls, mut trigger) in &mut bots {
        let (way, time) = (Hero::position(player) - Hero::position(own), tick.0.0 + u32::from(id.0) * 17);
        controls.0.look_along(way - Vec3::Y * 0.5);
        let side = if (time / 50).is_multiple_of(2) { 1.0 } else { -1.0 };
        controls.0.set_axes(Vec2::new(side, if way.length() > 15.0 { 1.0 } else { 0.0 }));
        trigger.set_fire(time.is_multiple_of(192));
    }
}

fn die_and_respawn(
    (mut died, mut due): (MessageReader<Died>, MessageReader<RespawnDue>),
    mut pawns: Query<(&NetId, &mut HeroState)>,
    mut placed: MessageWriter<Respawn>,
) {
    let dead = died.read().map(|death| (death.victim, false));
    for (pawn, alive) in dead.chain(due.read().map(|due| (due.pawn, true))) {
        let Ok((id, mut state)) = pawns.get_mut(pawn) else { continue };
        let body = state.capsule_mut();
        (body.alive, body.disabled) = (alive, !alive);
        if alive {
            body.teleport_to(SPAWNS[usize::from(id.0) % SPAWNS.len()]);
            placed.write(Respawn { pawn });
        }
    }
}

// The client: the keys of the abilities, and a count of hits.
fn client(app: &mut App, address: SocketAddr) {
    app.add_plugins((UnlagClientPlugins { characters: Characters::of::<Hero>(), ..default() }, shared))
        .init_resource::<Hits>()
        .add_systems(FixedUpdate, ability_keys.in_set(MoveSystems::Sample))
        .add_systems(FixedUpdate, count_uses::<0>.in_set(MoveSystems::React))
        .add_systems(Update, count);
    let token = TokenClient::development(1, address, 1).expect("a connect token");
    // A round trip of 100 ms, as on the internet.
    let conditions = LinkConditions { latency: Duration::from_millis(50), loss: 0.01, ..default() };
    let local = LocalAddr(([0, 0, 0, 0], 0).into());
    let client = (Client, token, UdpIo::default(), local, NetSim::new(7).with(conditions));
    app.world_mut().spawn(client).trigger(|entity| Connect { entity });
}

/// All that a game adds for abilities: they are part of the move, so prediction, replay and server follow.
fn ability_keys(keys: Res<ButtonInput<KeyCode>>, mut own: Query<&mut MoveInput<Hero>, Own>) {
    for mut input in &mut own {
        let abilities = &mut input.0.body.extension;
        abilities.first.pressed = keys.pressed(KeyCode::KeyQ);
        abilities.second.pressed = keys.pressed(KeyCode::KeyF);
    }
}

/// Shots that hit on this screen, and how many of them the server has confirmed.
#[derive(Resource, Default)]
struct Hits(Vec<Tick>, usize);

fn count(mut fired: MessageReader<ShotFired>, mut told: MessageReader<ShotVerdict>, mut hits: ResMut<Hits>) {
    hits.0.extend(fired.read().filter(|shot| shot.drawn().is_some()).map(|shot| shot.round.shot));
    let hit = |verdict: &&ShotVerdict| matches!(verdict.result, ShotResult::Hit(_));
    let confirmed = told.read().filter(hit).filter(|verdict| hits.0.contains(&verdict.shot)).count();
    hits.1 += confirmed;
}

// With --headless: a script in place of keyboard and mouse, and a report at its end.
fn scripted_player(app: &mut App) {
    app.init_resource::<ButtonInput<KeyCode>>()
        .add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate))
        // Two more seconds for the last verdicts.
        .add_systems(Last, report.run_if(|time: Res<Time>| time.elapsed_secs() > PLAYS + 2.0));
}

fn play(
    (time, mut keys): (Res<Time>, ResMut<ButtonInput<KeyCode>>),
    own: Single<(&DrawnPose, &Aim, &mut InputAccumulator, &mut WeaponControls), Own>,
    others: Query<&DrawnPose, Without<LocalControl>>,
) {
    let (drawn, aim, mut input, mut trigger) = own.into_inner();
    let (now, plays) = (time.elapsed_secs(), time.elapsed_secs() < PLAYS);
    let way = |bot: &DrawnPose| bot.pose.position + Vec3::Y * 1.2 - (drawn.pose.position + Vec3::Y * 1.64);
    let alive = others.iter().filter(|bot| bot.pose.alive);
    let nearest = alive.map(way).min_by(|a, b| a.length().total_cmp(&b.length()));
    if let Some(way) = nearest {
        let turned = aim.rotate_towards(Aim::from_direction(way), 10.0 * time.delta_secs());
        input.look_along(turned.direction());
    }
    input.axes(if now % 2.0 < 1.0 { Vec2::X } else { Vec2::NEG_X });
    trigger.set_fire(plays && nearest.is_some());
    for (key, from) in [(KeyCode::KeyQ, 0.0), (KeyCode::KeyF, 0.7)] {
        let down = plays && (from..from + 0.1).contains(&(now % 1.5));
        if down { keys.press(key) } else { keys.release(key) }
    }
}

fn report(hits: Res<Hits>, own: Query<&PredictionStats>, mut exit: MessageWriter<AppExit>) {
    let (drawn, percent) = (hits.0.len(), 100.0 * hits.1 as f32 / hits.0.len().max(1) as f32);
    let [client, server] = USES.each_ref().map(|uses| uses.load(Relaxed));
    let replayed: u64 = own.iter().map(|stats| stats.replayed).sum();
    let promises = [
        (format!("{percent:.1} % of {drawn} drawn hits were confirmed"), drawn >= 30 && percent >= 95.0),
        (format!("{client} dashes and teleports, {server} on the server"), client >= 8 && client == server),
        (format!("{replayed} moves were replayed in between, silently"), replayed > 0),
    ];
    promises.iter().for_each(|(line, holds)| println!("{} {line}", if *holds { "ok  " } else { "FAIL" }));
    let kept = promises.iter().all(|(_, holds)| *holds);
    exit.write(if kept { AppExit::Success } else { AppExit::error() });
}

// The window: a camera at the eye, capsules for the others, crosshair and text.
fn with_window(app: &mut App) {
    app.set_error_handler(warn)
        .add_plugins(DefaultPlugins)
        .insert_resource(WinitSettings::continuous()) // also in the background
        .insert_resource(GlobalAmbientLight { brightness: 900.0, ..default() })
        .add_systems(Startup, spawn_scene)
        .add_systems(Update, (paint_level, grab_mouse, show_status, draw_shots))
        .add_systems(PostUpdate, place_camera.after(VisualSystems::Draw).before(TransformSystems::Propagate))
        .add_observer(draw_pawn);
}

fn spawn_scene(mut commands: Commands) {
    commands.spawn((PlayerControls::default(), PlayerControls::default_bindings()));
    let sun = DirectionalLight { illuminance: 6_500.0, shadow_maps_enabled: true, ..default() };
    commands.spawn((sun, Transform::from_xyz(9.0, 20.0, 12.0).looking_at(Vec3::ZERO, Vec3::Y)));
    commands.spawn((Camera3d::default(), Tonemapping::AcesFitted)); // Bevy's default needs one more feature.
    let (position_type, left, top) = (PositionType::Absolute, percent(50), percent(50));
    let dot = Node { position_type, left, top, width: px(4), height: px(4), ..default() };
    commands.spawn((dot, BackgroundColor(Color::WHITE)));
    commands.spawn((Text::default(), Node { position_type, ..default() }));
}

fn paint_level(
    boxes: Query<(Entity, &Collider), Added<Collider>>,
    mut commands: Commands,
    (mut meshes, mut materials): (ResMut<Assets<Mesh>>, ResMut<Assets<StandardMaterial>>),
) {
    for (entity, shape) in &boxes {
        let Some(shape) = shape.as_cuboid() else { continue };
        let mesh = Mesh3d(meshes.add(Cuboid::from_size(shape.half_extents() * 2.0)));
        commands.entity(entity).insert((mesh, MeshMaterial3d(materials.add(Color::srgb(0.5, 0.45, 0.4)))));
    }
}

/// Draws a pawn that appears, unless it is the own. A visual follows the drawn pose: the feet.
fn draw_pawn(
    added: On<Add, NetRole>,
    roles: Query<&NetRole>,
    mut commands: Commands,
    (mut meshes, mut materials): (ResMut<Assets<Mesh>>, ResMut<Assets<StandardMaterial>>),
) {
    if roles.get(added.entity).is_ok_and(|role| *role == NetRole::SimulatedProxy) {
        let mesh = Mesh3d(meshes.add(Capsule3d::new(0.34, 1.08)));
        let paint = MeshMaterial3d(materials.add(Color::srgb(0.2, 0.5, 0.8)));
        let body = (mesh, paint, Transform::from_xyz(0.0, 0.88, 0.0));
        commands.spawn((VisualOf(added.entity), Visibility::default(), children![body]));
    }
}

/// Places the camera where shots start.
fn place_camera(
    own: Single<(&DrawnPose, &DrawnEye, &VisualOffset, &InputAccumulator), Own>,
    mut camera: Single<&mut Transform, With<Camera3d>>,
) {
    let (drawn, eye, offset, input) = own.into_inner();
    let (yaw, pitch) = input.view();
    camera.translation = drawn.pose.position + offset.offset + Vec3::Y * eye.0;
    camera.rotation = Quat::from_euler(EulerRot::YXZ, yaw as f32, pitch as f32, 0.0);
}

/// A click takes the mouse, Escape gives it back.
fn grab_mouse(
    (mouse, keys): (Res<ButtonInput<MouseButton>>, Res<ButtonInput<KeyCode>>),
    mut cursor: Single<&mut CursorOptions, With<PrimaryWindow>>,
) {
    if mouse.just_pressed(MouseButton::Left) || keys.just_pressed(KeyCode::Escape) {
        cursor.visible = keys.just_pressed(KeyCode::Escape);
        cursor.grab_mode = if cursor.visible { CursorGrabMode::None } else { CursorGrabMode::Locked };
    }
}

fn show_status(own: Single<(&Health, &PlayerScore), Own>, hits: Res<Hits>, mut text: Single<&mut Text>) {
    let (Health { current, .. }, PlayerScore { kills, deaths }) = own.into_inner();
    let score = format!("Health {current:.0}, kills {kills}, deaths {deaths}, hits confirmed {}", hits.1);
    text.set_if_neq(Text(format!("{score}\nWASD and mouse, Q dashes, F teleports. Esc frees the mouse.")));
}

/// Draws the trails of the own shots, for a frame each.
fn draw_shots(mut fired: MessageReader<ShotFired>, mut gizmos: Gizmos) {
    for shot in fired.read() {
        shot.rays.iter().for_each(|ray| gizmos.line(shot.from - Vec3::Y * 0.2, ray.to, Color::WHITE));
    }
}
