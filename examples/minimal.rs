//! A server and a client in one process, over UDP. The client walks; both print where it is.

use std::net::{Ipv4Addr, SocketAddr};

use bevy::{app::ScheduleRunnerPlugin, prelude::*, state::app::StatesPlugin};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{core::MoveModel, prelude::*};
use core::time::Duration;
use lightyear::prelude::server::Start;
use lightyear::prelude::{Client, Connect, Connected, ControlledBy, Lifetime, LocalAddr, UdpIo};

const GAME: u64 = 1;
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5_888);

fn main() {
    std::thread::spawn(|| app().add_plugins(UnlagServerPlugins::default()).add_plugins(server).run());
    app()
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_plugins(client)
        .run();
}

fn app() -> App {
    let mut app = App::new();
    let frames = ScheduleRunnerPlugin::run_loop(Duration::from_millis(5));
    app.add_plugins((MinimalPlugins.set(frames), TransformPlugin, StatesPlugin));
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
    app
}

fn server(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        // Development access accepts any client under any id. A real server needs a secret key.
        let access = ServerAccess::development(GAME);
        let server = commands.spawn((access.server(), LocalAddr(SERVER), ServerUdp::default())).id();
        commands.trigger(Start { entity: server });
    });
    // Spawns a soldier with a unique id for each client, controlled by that client only.
    app.add_observer(|joined: On<Add, Connected>, mut last: Local<u16>, mut commands: Commands| {
        *last += 1;
        let owner = ControlledBy { owner: joined.entity, lifetime: Lifetime::SessionBased };
        commands.spawn((soldier_bundle(NetId(*last), Vec3::ZERO), owner));
    });
    app.add_systems(FixedLast, print_positions("server"));
}

fn client(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| -> Result {
        // A real game gets a token from its matchmaker.
        let token = TokenClient::development(1, SERVER, GAME)?;
        let local = LocalAddr(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let client = commands.spawn((Client, token, UdpIo::default(), local)).id();
        commands.trigger(Connect { entity: client });
        Ok(())
    });
    app.add_systems(PreUpdate, walk);
    app.add_systems(FixedLast, print_positions("client"));
}

fn walk(time: Res<Time>, mut own: Query<&mut InputAccumulator>, mut exit: MessageWriter<AppExit>) {
    for mut input in &mut own {
        input.axes(if time.elapsed_secs() < 3.0 { Vec2::Y } else { Vec2::ZERO });
    }
    if time.elapsed_secs() > 4.0 {
        exit.write(AppExit::Success);
    }
}

fn print_positions(side: &'static str) -> impl Fn(Res<CurrentTick>, Query<&SoldierState>) {
    move |tick, pawns| {
        for state in pawns.iter().filter(|_| tick.0.0 % 32 == 0) {
            println!("{side}: the soldier is at {:.3}", Soldier::position(state));
        }
    }
}
