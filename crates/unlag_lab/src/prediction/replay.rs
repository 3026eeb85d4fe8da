//! Cost of correcting one character among many.

use std::{collections::VecDeque, f32::consts::TAU};

use crate::prelude::*;

/// Moves replayed by a correction.
const REPLAYED_MOVES: u32 = 10;
/// One-way latency in ticks, so that a correction is ten moves old when the client receives it.
const ONE_WAY_TICKS: usize = 5;
/// Ticks between two corrections.
const CORRECTION_INTERVAL: usize = 24;

/// Measurements with one number of characters.
pub struct Replay {
    /// Median of the microseconds to replay ten moves.
    pub replay: f64,
    /// Number of corrections.
    pub corrections: usize,
    /// Average moves per replay.
    pub length: f64,
}

/// Client and server connected in memory.
struct Scene {
    client: App,
    server: App,
    own: Entity,
    pawn: Entity,
    proxies: Vec<Entity>,
    up: VecDeque<Vec<Vec<u8>>>,
    down: VecDeque<Vec<Vec<u8>>>,
    corrected: u64,
    replays: Vec<f64>,
    lengths: Vec<f64>,
}

/// Corrects one of several characters repeatedly, for each number of characters. The scenes take turns tick
/// by tick, so that machine noise hits all alike.
pub fn measure<const N: usize>(characters: [usize; N], corrections: usize) -> [Replay; N] {
    let mut scenes = characters.map(Scene::new);
    for tick in 0..64 + corrections * CORRECTION_INTERVAL {
        for turn in 0..N {
            scenes[if tick % 2 == 0 { turn } else { N - 1 - turn }].tick(tick);
        }
    }
    scenes.map(|mut scene| Replay {
        replay: median(&mut scene.replays),
        corrections: scene.replays.len(),
        length: mean(scene.lengths.iter().copied()),
    })
}

/// Spawns a floor, four walls and twenty boxes as obstacles.
fn level(app: &mut App) {
    let mut block = |at: Vec3, half: Vec3| {
        app.world_mut().spawn((Collider::cuboid(half.x, half.y, half.z), Transform::from_translation(at)));
    };
    block(Vec3::Y * -0.5, Vec3::new(21.0, 0.5, 21.0));
    for side in [-20.5, 20.5] {
        block(Vec3::new(side, 2.0, 0.0), Vec3::new(0.5, 2.0, 21.0));
        block(Vec3::new(0.0, 2.0, side), Vec3::new(21.0, 2.0, 0.5));
    }
    for i in 0_u8..20 {
        let (sin, cos) = (f32::from(i) * 2.4).sin_cos();
        let (out, high) = (4.0 + f32::from(i) * 0.7, 0.1 + 0.1 * f32::from(i % 5));
        block(Vec3::new(sin * out, high, cos * out), Vec3::new(0.6, high, 0.6));
    }
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        MovementPlugin,
        PawnCollisionPlugin::<CapsuleModel>::default(),
        PredictionPlugin::<CapsuleModel>::default(),
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    level(&mut app);
    app
}

/// Runs and turns all the time.
fn play(tick: Res<CurrentTick>, mut pawns: Query<&mut MoveInput<CapsuleModel>, With<LocalControl>>) {
    for mut input in &mut pawns {
        let tick = tick.0.0;
        let yaw = (tick as u16).wrapping_mul(211);
        input.0 = CapsuleInput { forward: 127, yaw, jump: tick % 97 < 4, ..default() };
    }
}

impl Scene {
    fn new(characters: usize) -> Self {
        let (mut client, mut server) = (app(), app());
        client.add_plugins(SmoothingPlugin).add_systems(FixedUpdate, play.in_set(MoveSystems::Sample));
        finish(&mut client);
        finish(&mut server);
        let start = CapsuleState::at(Vec3::new(0.0, 0.1, 0.0));
        let own = (Transform::default(), AutonomousPawn::<CapsuleModel>::default());
        let own = client.world_mut().spawn(own).id();
        let pawn = (Transform::default(), AuthorityPawn::<CapsuleModel>::default(), start);
        let pawn = server.world_mut().spawn(pawn).id();
        let proxy = || (NetRole::SimulatedProxy, Transform::default(), SnapshotInbox::default());
        let proxies = (1..characters).map(|_| client.world_mut().spawn(proxy()).id()).collect();
        Self {
            client,
            server,
            own,
            pawn,
            proxies,
            up: VecDeque::new(),
            down: VecDeque::new(),
            corrected: 0,
            replays: Vec::new(),
            lengths: Vec::new(),
        }
    }

    fn tick(&mut self, tick: usize) {
        self.server_tick(tick);
        let arrived = if self.down.len() > ONE_WAY_TICKS { self.down.pop_front() } else { None };
        deliver_acks(&mut self.client, self.own, arrived.into_iter().flatten());
        if tick.is_multiple_of(3) {
            self.deliver_snapshots(tick as u32);
        }
        self.client.update();
        self.up.push_back(take_moves(&mut self.client, self.own));
        let Some(stats) = self.client.world().get::<PredictionStats>(self.own) else { return };
        let corrected = stats.corrections + u64::from(stats.server_changes());
        if tick < 64 {
            self.corrected = corrected;
        } else if corrected > self.corrected {
            self.corrected = corrected;
            let length = f64::from(stats.last_replay);
            self.lengths.push(length);
            self.replays
                .push(stats.last_replay_time.as_secs_f64() * 1e6 / length * f64::from(REPLAYED_MOVES));
        }
    }

    fn server_tick(&mut self, tick: usize) {
        let arrived = if self.up.len() > ONE_WAY_TICKS { self.up.pop_front() } else { None };
        deliver_moves(&mut self.server, self.pawn, arrived.into_iter().flatten());
        // A small displacement on the server provokes a correction.
        if tick >= 64
            && tick.is_multiple_of(CORRECTION_INTERVAL)
            && let Some(mut state) = self.server.world_mut().get_mut::<CapsuleState>(self.pawn)
        {
            state.position += Vec3::new(0.02, 0.0, 0.02);
        }
        self.server.update();
        self.down.push_back(take_acks(&mut self.server, self.pawn));
    }

    /// Delivers snapshots of the remote pawns, which run in circles.
    fn deliver_snapshots(&mut self, tick: u32) {
        for (i, proxy) in (0_u16..).zip(&self.proxies) {
            let turn = (tick as f32 / 64.0 + f32::from(i) * 0.37) % TAU;
            let out = 3.0 + f32::from(i % 16);
            let (position, velocity) =
                (Vec3::new(turn.cos(), 0.0, turn.sin()) * out, Vec3::new(-turn.sin(), 0.0, turn.cos()) * out);
            if let Some(mut inbox) = self.client.world_mut().get_mut::<SnapshotInbox>(*proxy) {
                let snapshot = Snapshot::new(Tick(tick), position, velocity);
                inbox.0.push(ProxyUpdate::new(snapshot, &[]));
            }
        }
    }
}
