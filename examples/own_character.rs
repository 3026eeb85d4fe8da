//! A character of a game's own: a drone with its own input, state, step, hit sphere and weapon.
//!
//! `cargo run --release --example own_character`: two apps over UDP, without a window. Prints what it promises (no
//! corrections, 95 % of drawn hits confirmed); exit code 1 if that does not hold, as with `--no-rewind`.

use bevy::{app::ScheduleRunnerPlugin, ecs::error::warn, prelude::*, state::app::StatesPlugin};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::core::{LimbRig, PawnClass, StepContext, Wire, look_direction};
use bevy_unlag::{Character, ControlSystems, Side, prelude::*, weapons::ShotResult, weapons::WithWeapons};
use bevy_unlag::{link_conditioner::LinkConditions, rewind::BodyBounds, rewind::HitBox, rewind::RewindMode};
use lightyear::prelude::{Client, Connect, LocalAddr, UdpIo, server::Start};
use std::{env, net::SocketAddr, net::UdpSocket, thread, time::Duration};

/// The model, with its tuning: thrust in m/s², and the share of the speed that is lost per second.
#[derive(Resource)]
struct Drone(f32, f32);
type ArmedDrone = WithWeapons<Drone>;

/// Wishes of a player in one tick. Both sides simulate what arrives: eight bits for each axis of the stick.
#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct DroneInput {
    #[wire(range = -1.0..=1.0, bits = 8)]
    stick: Vec2,
    yaw: u16,
    pitch: i16,
}

/// All that is predicted and corrected. The floats of a state are not rounded.
#[derive(Component, Wire, Clone, Copy, PartialEq, Default, Debug)]
struct DroneState {
    position: Vec3,
    velocity: Vec3,
}

impl MoveModel for Drone {
    type Config = Self;
    type Input = DroneInput;
    type State = DroneState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();
    fn step(
        Self(power, drag): &Self,
        DroneState { position, velocity }: &DroneState,
        DroneInput { stick, yaw, pitch }: &DroneInput,
        ctx: &StepContext,
        (): &(),
        _: &mut Vec<()>,
    ) -> DroneState {
        // Unlike sines of std, these directions have the same bits on every machine.
        let (ahead, right) = (look_direction(*yaw, *pitch), look_direction(yaw.wrapping_sub(1 << 14), 0));
        let wish = (right * stick.x + ahead * stick.y).clamp_length_max(1.0);
        let velocity = (*velocity + wish * (power * ctx.dt)) * (1.0 - drag * ctx.dt).max(0.0);
        DroneState { position: *position + velocity * ctx.dt, velocity }
    }
    fn position(state: &DroneState) -> Vec3 {
        state.position
    }
    fn velocity(state: &DroneState) -> Vec3 {
        state.velocity
    }
    fn kind(_: &DroneState) -> u32 {
        0 // nothing discrete
    }
    // The server compares it with the aim of shots.
    fn look(input: &DroneInput) -> (u16, i16) {
        (input.yaw, input.pitch)
    }
}

impl Character for Drone {
    fn state_at(position: Vec3) -> DroneState {
        DroneState { position, ..default() }
    }
    fn body(_: &Self, _: PawnClass) -> impl Bundle {
        let sphere = HitBox::new(0, HitGroup::Body, Collider::ball(0.5));
        (HitBoxes::new([sphere], BodyBounds::ball(0.5)), LimbRig::rigid())
    }
    fn apply_controls(input: &mut DroneInput, controls: &CapsuleInput) {
        *input = DroneInput { stick: controls.axes(), yaw: controls.yaw, pitch: controls.pitch };
    }
    fn build(app: &mut App, _: Side) {
        app.insert_resource(Self(8.0, 2.0));
    }
}

fn main() -> AppExit {
    let mode = if env::args().any(|flag| flag == "--no-rewind") { RewindMode::Off } else { RewindMode::On };
    let address = UdpSocket::bind("127.0.0.1:0").and_then(|own| own.local_addr()).expect("a free port");
    thread::spawn(move || run(move |app: &mut App| server(app, address, mode)));
    run(move |app: &mut App| client(app, address))
}

fn run(game: impl Plugin) -> AppExit {
    let frame = ScheduleRunnerPlugin::run_loop(Duration::from_millis(5));
    let plugins = (MinimalPlugins.set(frame), TransformPlugin, StatesPlugin, game);
    App::new().set_error_handler(warn).add_plugins(plugins).run()
}

fn server(app: &mut App, address: SocketAddr, mode: RewindMode) {
    app.add_plugins(UnlagServerPlugins { characters: Characters::of::<ArmedDrone>(), ..default() })
        .insert_resource(RewindLimits { mode, ..default() })
        .add_systems(Startup, |mut commands: Commands| {
            let to_the_right = CapsuleInput { right: 127, ..default() };
            commands.spawn((NpcPawn::<ArmedDrone>::default(), NpcControls(to_the_right)));
        })
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let (owner, place) = (player_pawn(joined.link, joined.peer), Transform::from_xyz(0.0, 2.0, 20.0));
            commands.spawn((CharacterPawn::<ArmedDrone>::default(), place, owner));
        });
    let server = (ServerAccess::development(1).server(), LocalAddr(address), ServerUdp::default());
    app.world_mut().spawn(server).trigger(|entity| Start { entity });
}

fn client(app: &mut App, address: SocketAddr) {
    app.add_plugins(UnlagClientPlugins { characters: Characters::of::<ArmedDrone>(), ..default() })
        .add_plugins(PlayerControlsPlugin::default())
        .add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate));
    let token = TokenClient::development(1, address, 1).expect("a connect token");
    let sim = NetSim::new(7).with(LinkConditions { latency: Duration::from_millis(50), ..default() });
    let client = (Client, token, UdpIo::default(), LocalAddr(([0, 0, 0, 0], 0).into()), sim);
    app.world_mut().spawn(client).trigger(|entity| Connect { entity });
}

/// Flies to and fro, fires at the other drone where it is drawn, and reports after the last verdict.
fn play(
    (time, mut exit): (Res<Time>, MessageWriter<AppExit>),
    mut own: Query<(&DrawnPose, &PredictionStats, &mut InputAccumulator, &mut WeaponControls)>,
    targets: Query<&DrawnPose, Without<LocalControl>>,
    (mut fired, mut verdicts): (MessageReader<ShotFired>, MessageReader<ShotVerdict>),
    (mut drawn, mut confirmed): (Local<usize>, Local<usize>),
) {
    let now = time.elapsed_secs();
    for ((pose, _, mut input, mut trigger), target) in own.iter_mut().zip(&targets) {
        input.look_along(target.pose.position - pose.pose.position);
        input.axes(Vec2::X * now.sin());
        trigger.set_fire(now < 8.0);
    }
    *drawn += fired.read().filter(|shot| shot.drawn().is_some()).count();
    *confirmed += verdicts.read().filter(|verdict| matches!(verdict.result, ShotResult::Hit(_))).count();
    if now > 10.0 {
        let corrections: u64 = own.iter().map(|(_, stats, ..)| stats.corrections).sum();
        let kept = *drawn >= 30 && *confirmed * 100 >= *drawn * 95 && corrections == 0;
        let mark = if kept { "ok" } else { "FAIL" };
        println!("{mark} {} of {} drawn hits confirmed, {corrections} corrections", *confirmed, *drawn);
        exit.write(if kept { AppExit::Success } else { AppExit::error() });
    }
}
