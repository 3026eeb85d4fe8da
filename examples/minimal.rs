//! A server and a client in one process, over UDP. The client's soldier walks; both sides print its position.

use bevy::{app::ScheduleRunnerPlugin, ecs::error::warn, prelude::*, state::app::StatesPlugin};
use bevy_unlag::lightyear::prelude::{server::Start, *};
use bevy_unlag::{prelude::*, rapier::prelude::Collider};
use std::{thread, time::Duration};

fn main() {
    thread::spawn(|| run("server", (UnlagServerPlugins::default(), server)));
    thread::spawn(|| run("client", (UnlagClientPlugins::default(), PlayerControlsPlugin::default(), client)));
    thread::sleep(Duration::from_secs(4));
}

fn run<M>(side: &'static str, game: impl bevy::app::Plugins<M>) {
    let frame = ScheduleRunnerPlugin::run_loop(Duration::from_millis(5));
    let print = move |soldier: Single<&SoldierState>| println!("{side}: {:.2}", Soldier::position(*soldier));
    let mut app = App::new();
    app.set_error_handler(warn).add_plugins((MinimalPlugins.set(frame), TransformPlugin, StatesPlugin, game));
    app.world_mut().spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    app.add_systems(FixedLast, print.run_if(|tick: Res<CurrentTick>| tick.0.0.is_multiple_of(32))).run();
}

fn server(app: &mut App) {
    // Development mode: anybody may join. A real server has a secret key, and a matchmaker issues tokens.
    let access = ServerAccess::development(1);
    let server = (access.server(), LocalAddr(([127, 0, 0, 1], 5888).into()), ServerUdp::default());
    app.world_mut().spawn(server).trigger(|entity| Start { entity });
    app.add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
        commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
    });
}

fn client(app: &mut App) {
    let token = TokenClient::development(1, ([127, 0, 0, 1], 5888).into(), 1).expect("a connect token");
    let client = (Client, token, UdpIo::default(), LocalAddr(([0, 0, 0, 0], 0).into()));
    app.world_mut().spawn(client).trigger(|entity| Connect { entity });
    app.add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}
