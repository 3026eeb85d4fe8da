//! A server and its clients in one thread, on stepped time.

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use bevy::{
    ecs::{error::warn, schedule::SingleThreadedExecutor},
    prelude::*,
    state::app::StatesPlugin,
    time::TimeUpdateStrategy,
};
use bevy_unlag::{
    lightyear::{
        crossbeam::CrossbeamIo,
        prelude::{Client, Connect, Link, LinkOf, Linked, PeerAddr, server::Start},
    },
    link_conditioner::LinkConditions,
    prelude::*,
};

/// Duration of a frame of every app: one tick at the usual rate.
const FRAME: Duration = Duration::from_nanos(15_625_000);
/// Netcode's protocol id: any number that server and clients share.
const GAME: u64 = 0x7265_6369_7065;
/// Conditions of every link, each way: a round trip of 100 ms.
const LINK: LinkConditions = LinkConditions {
    latency: Duration::from_millis(50),
    jitter: Duration::from_millis(5),
    loss: 0.03,
    ..LinkConditions::PERFECT
};

/// A server and its clients. In every frame the server runs first, then the clients in the order in which
/// they joined.
pub struct Game {
    /// The server app.
    pub server: App,
    /// The client apps. The player of `clients[0]` has joined first.
    pub clients: Vec<App>,
    listener: Entity,
    seed: u64,
}

/// Plays a match three times, each time over links that lose other packets. `server` and `clients` add the
/// game to an app; `check` runs the match on and asserts its result. Everybody has joined a second before.
pub fn play(server: fn(&mut App), clients: &[fn(&mut App)], check: impl Fn(&mut Game)) {
    for seed in 0..3 {
        println!("links with seed {seed}");
        let mut game = Game::start(server, seed);
        for client in clients {
            game.join(*client);
        }
        game.run(1.0);
        check(&mut game);
    }
}

impl Game {
    /// Starts a server in development mode, which admits anybody.
    fn start(add_game: fn(&mut App), seed: u64) -> Self {
        let mut server = app(add_game);
        server
            .init_resource::<Joined>()
            .add_observer(|_: On<PlayerJoined>, mut joined: ResMut<Joined>| joined.0 += 1);
        let world = server.world_mut();
        let listener = world.spawn(ServerAccess::development(GAME).server()).id();
        world.trigger(Start { entity: listener });
        world.flush();
        finish(&mut server);
        Self { server, clients: Vec::new(), listener, seed }
    }

    /// Joins a client over a link of its own, and waits until the server knows the player. Returns the
    /// client's index.
    ///
    /// # Panics
    /// The client is not connected after five seconds.
    pub fn join(&mut self, add_game: fn(&mut App)) -> usize {
        let (index, number) = (self.clients.len(), self.clients.len() as u16 + 1);
        let address = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (client_io, server_io) = CrossbeamIo::new_pair();
        let server_end = (LinkOf { server: self.listener }, Link::default(), PeerAddr(address(number)));
        self.server.world_mut().spawn((server_end, Linked, server_io));

        let mut client = app(add_game);
        let token = TokenClient::development(number.into(), address(5_000), GAME).expect("a connect token");
        let sim = NetSim::new(self.seed * 1_000 + u64::from(number)).with(LINK);
        let world = client.world_mut();
        let link = world.spawn((Client, token, client_io, sim)).id();
        world.trigger(Connect { entity: link });
        world.flush();
        finish(&mut client);
        self.clients.push(client);
        for _ in 0..320 {
            if self.server.world().resource::<Joined>().0 > index {
                return index;
            }
            self.frame();
        }
        panic!("client {index} is not connected after five seconds");
    }

    /// Runs the match for a time in seconds.
    pub fn run(&mut self, seconds: f32) {
        for _ in 0..(seconds / FRAME.as_secs_f32()).round() as u32 {
            self.frame();
        }
    }

    /// All apps, the server first.
    pub fn apps_mut(&mut self) -> impl Iterator<Item = &mut App> {
        core::iter::once(&mut self.server).chain(&mut self.clients)
    }

    fn frame(&mut self) {
        self.apps_mut().for_each(App::update);
    }
}

/// On a server: number of the players who have joined.
#[derive(Resource, Default)]
struct Joined(usize);

/// Creates an app without a window, as a dedicated server has it. The error handler comes first, because
/// observers take it when they are added.
fn app(add_game: fn(&mut App)) -> App {
    let mut app = App::new();
    app.set_error_handler(warn)
        .add_plugins((MinimalPlugins, TransformPlugin, StatesPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    add_game(&mut app);
    app
}

/// Finishes an app that is stepped by hand. With single-threaded schedules systems run in the same order
/// every time, so equal seeds give equal matches.
fn finish(app: &mut App) {
    app.finish();
    app.cleanup();
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}
