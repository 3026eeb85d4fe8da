//! lightyear side of the smoothing benchmark: a server that replicates actors, and clients that interpolate
//! them.

use core::time::Duration;

use bevy::{prelude::*, state::app::StatesPlugin, time::TimeUpdateStrategy};
use bevy_replicon::bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{client::ClientPlugins, server::ServerPlugins, *},
};
use serde::{Deserialize, Serialize};

use super::{
    FRAME, INTERVAL,
    error_metrics::DrawnSample,
    link::{self, Direction, PacketQueue},
};
use crate::{
    netcode,
    scene::{TICK, finish_single_threaded},
};

/// Actor with the index of its path.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Actor(pub u8);

/// Position of an actor.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Place(pub Vec3);

fn protocol(app: &mut App) {
    app.component::<Actor>().replicate_once();
    app.component::<Place>().replicate();
    app.interpolate_with::<Place>(InterpolationFns::interpolate(|a: Place, b: Place, t| {
        Place(a.0.lerp(b.0, t))
    }));
}

fn app(frame: Duration) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app
}

/// Server with moving actors.
pub struct Server {
    app: App,
    listener: Entity,
}

/// Positions of all actors per tick.
#[derive(Resource)]
struct Paths(Vec<Vec<Vec3>>);

fn walk(timeline: Res<LocalTimeline>, paths: Res<Paths>, mut actors: Query<(&Actor, &mut Place)>) {
    for (actor, mut place) in &mut actors {
        let path = &paths.0[usize::from(actor.0)];
        place.0 = path[(timeline.tick().0 as usize).min(path.len() - 1)];
    }
}

impl Server {
    /// Creates a server with actors that follow these paths, one position per tick.
    pub fn new(paths: Vec<Vec<Vec3>>) -> Self {
        let mut app = app(TICK);
        app.add_plugins(ServerPlugins { tick_duration: TICK }).add_plugins(protocol);
        app.insert_resource(ReplicationMetadata::new(TICK * INTERVAL)).add_systems(FixedUpdate, walk);
        finish_single_threaded(&mut app);
        let everybody = || {
            (Replicate::to_clients(NetworkTarget::All), InterpolationTarget::to_clients(NetworkTarget::All))
        };
        for (i, path) in paths.iter().enumerate() {
            app.world_mut().spawn((Actor(i as u8), Place(path[0]), everybody()));
        }
        app.insert_resource(Paths(paths));
        let listener = netcode::listen(&mut app);
        Self { app, listener }
    }

    /// Runs one frame, which is one tick.
    pub fn frame(&mut self) {
        self.app.update();
    }

    /// Returns the last simulated tick.
    pub fn tick(&self) -> u32 {
        self.app.world().resource::<LocalTimeline>().tick().0
    }
}

/// Drawn frame of a client: its time in server ticks, and the positions of the actors.
#[derive(Resource, Default)]
struct Screen(Option<(f64, Vec<(u8, Vec3)>)>);

fn look(
    timeline: Res<InterpolationTimeline>,
    actors: Query<(&Actor, &Place), With<Interpolated>>,
    mut screen: ResMut<Screen>,
) {
    let now = timeline.now();
    let ticks = f64::from(now.tick().0) + f64::from(now.overstep().to_f32());
    let places = actors.iter().map(|(actor, place)| (actor.0, place.0)).collect();
    screen.0 = timeline.is_synced().then_some((ticks, places));
}

/// Client at the end of a link.
pub struct Watcher {
    app: App,
    link: link::Link,
    seed: u64,
    /// Channels from and to the client, and from and to the server.
    ends: [(Receiver<Bytes>, Sender<Bytes>); 2],
    up: PacketQueue<Bytes>,
    down: PacketQueue<Bytes>,
    /// Drawn samples per actor.
    pub seen: Vec<Vec<DrawnSample>>,
}

impl Watcher {
    /// Connects a client; `id` must be unique.
    ///
    /// # Errors
    /// Returns a message if the connect token cannot be created.
    pub fn join(
        server: &mut Server,
        id: u64,
        actors: usize,
        (link, seed): (link::Link, u64),
        config: InterpolationConfig,
    ) -> Result<Self, String> {
        let mut app = app(FRAME);
        app.add_plugins(ClientPlugins { tick_duration: TICK }).add_plugins(protocol);
        app.insert_resource(config)
            // Nothing is predicted, but lightyear's systems require the resource.
            .insert_resource(PredictionManager::default())
            .init_resource::<Screen>()
            .add_systems(Update, look.after(InterpolationSystems::All));
        finish_single_threaded(&mut app);
        let wire = || {
            let ((to_app, from_us), (to_us, from_app)) = (unbounded(), unbounded());
            (CrossbeamIo::new(to_us, from_us), (from_app, to_app))
        };
        let ((client_io, client_end), (server_io, server_end)) = (wire(), wire());
        netcode::connect((&mut server.app, server.listener), &mut app, id, [server_io, client_io])?;
        let ends = [client_end, server_end];
        let (up, down) = (PacketQueue::default(), PacketQueue::default());
        Ok(Self { app, link, seed, ends, up, down, seen: vec![Vec::new(); actors] })
    }

    /// Takes what the server has sent in its frame, and delivers the client's packets that have arrived.
    pub fn serve(&mut self, now: Duration) {
        let [_, (from_server, to_server)] = &self.ends;
        for packet in from_server.try_iter() {
            if let Some(takes) = self.link.latency_or_loss(Direction::Down, now, self.seed) {
                self.down.push(now + takes, packet);
            }
        }
        while let Some(packet) = self.up.pop(now) {
            _ = to_server.send(packet);
        }
    }

    /// Runs one frame at `now`, when the server's time is `ticks`.
    pub fn frame(&mut self, now: Duration, ticks: f64) {
        let [(from_client, to_client), _] = &self.ends;
        while let Some(packet) = self.down.pop(now) {
            _ = to_client.send(packet);
        }
        self.app.update();
        for packet in from_client.try_iter() {
            if let Some(takes) = self.link.latency_or_loss(Direction::Up, now, self.seed) {
                self.up.push(now + takes, packet);
            }
        }
        let Some((view, places)) = self.app.world_mut().resource_mut::<Screen>().0.take() else { return };
        for (actor, place) in places {
            let seen =
                DrawnSample { now: ticks / 64.0, view: view / 64.0, place: place.as_dvec3(), yaw: 0.0 };
            self.seen[usize::from(actor)].push(seen);
        }
    }
}
