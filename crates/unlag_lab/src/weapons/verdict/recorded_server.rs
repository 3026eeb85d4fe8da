//! Server with 64 players and without a network; the packets were recorded before.

use bevy::{
    tasks::{ComputeTaskPool, TaskPoolBuilder},
    transform::StaticTransformOptimizations,
};

use crate::frame_profile::{FrameProfile, between, end_of};
use crate::prelude::*;

pub const PLAYERS: u16 = 64;
/// Round trip estimate of the server in milliseconds.
pub const ROUND_TRIP: u32 = 80;

/// Bytes for or from every player in a tick.
pub type TickMessages = Vec<Vec<Vec<u8>>>;

/// Time of the parts of a tick in microseconds.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    /// Decoding packets, simulating moves, writing acknowledgements.
    pub moves: f64,
    /// Recording frame histories and the snapshots received by clients.
    pub recording: f64,
    /// Updating the rewind table, also after sending snapshots.
    pub table: f64,
    /// Resolving shots.
    pub resolving: f64,
}

impl Parts {
    /// Returns the time that the server spends on recording history.
    pub fn records(&self) -> f64 {
        self.recording + self.table
    }

    pub fn all(&self) -> f64 {
        self.moves + self.records() + self.resolving
    }
}

/// Creates an app with the plugins of both sides.
pub fn app(hz: u32) -> App {
    // The first initialisation counts for the whole process; worker threads waking each other would distort
    // the times.
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let tick = Duration::from_secs(1) / hz;
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        SimulationRatePlugin(SimulationRate { tick, ..default() }),
        MovementPlugin,
    ))
    .add_plugins((PredictionPlugin::<Soldier>::default(), RewindPlugin::<Soldier>::default()))
    .add_plugins(WeaponsPlugin::<CapsuleModel>::default())
    .insert_resource(TimeUpdateStrategy::ManualDuration(tick))
    .insert_resource(Time::<Fixed>::from_duration(tick))
    .insert_resource(StaticTransformOptimizations::Disabled)
    // At most 16 rounds per second: an average of 15 leaves some room.
    .insert_resource(
        Arsenal::new(vec![Weapon { interval: 1.0 / 16.0, ..Weapon::rifle() }]).unwrap_or_default(),
    )
    .add_systems(Startup, arena::spawn);
    let mut sampler = app.world_mut().get_resource_or_init::<PoseSampler>();
    (sampler.tick_seconds, sampler.snapshot_ticks) = (tick.as_secs_f32(), interval(hz).cast_signed());
    app
}

/// Returns the snapshot interval in ticks, 47 ms.
pub fn interval(hz: u32) -> u32 {
    hz * 3 / 64
}

/// Server of the measurement.
pub struct TestServer {
    pub app: App,
    pub pawns: Vec<Entity>,
    hz: u32,
    /// Number of targets hit so far.
    pub hits: u64,
}

impl TestServer {
    pub fn new(hz: u32, seed: u64) -> Self {
        let mut app = app(hz);
        app.init_resource::<FrameProfile>().insert_resource(SpreadSecret(seed)).add_systems(
            FixedPostUpdate,
            (
                // The extrapolation of late clients runs before these systems and does not count.
                between("rest", MoveSystems::Publish, RewindSystems::Record),
                between("recording", RewindSystems::Record, RewindSystems::UpdateTable),
                between("table", RewindSystems::UpdateTable, WeaponSystems::Validate),
            ),
        );
        end_of(&mut app, FixedPreUpdate, "rest");
        end_of(&mut app, FixedUpdate, "moves");
        end_of(&mut app, FixedPostUpdate, "resolving");
        end_of(&mut app, PostUpdate, "rest");
        end_of(&mut app, Last, "table");
        finish(&mut app);
        let mut rng = SmallRng::seed_from_u64(seed);
        let pawns = (1..=PLAYERS)
            .map(|id| {
                let half = arena::HALF_SIZE - 1.0;
                let place = Vec3::new(rng.random_range(-half..half), 0.1, rng.random_range(-half..half));
                let state = SoldierState { body: CapsuleState::at(place), ..default() };
                let known = (SentSnapshots::default(), ViewTimeValidator::default());
                let trip = RoundTrip::first(Duration::from_millis(ROUND_TRIP.into()));
                let told = (OutgoingShotMessages::default(), RefusedShots::default(), Loadout::default());
                let body = (FrameHistory::default(), SoldierBody);
                let pawn = (NetId(id), AuthorityPawn::<Soldier>::default(), state, trip);
                app.world_mut().spawn((pawn, known, told, body)).id()
            })
            .collect();
        Self { app, pawns, hz, hits: 0 }
    }

    /// Runs a tick with arrived packets. Returns the number of ticks since the last snapshots and the
    /// timings.
    pub fn tick(&mut self, packets: &TickMessages) -> (usize, Parts) {
        for (pawn, packets) in self.pawns.iter().zip(packets) {
            deliver_moves(&mut self.app, *pawn, packets.iter().cloned());
        }
        let world = self.app.world_mut();
        world.resource_mut::<Messages<Damage>>().clear();
        world.resource_mut::<FrameProfile>().take();
        self.app.update();
        let world = self.app.world_mut();
        self.hits += world.resource::<Messages<Damage>>().len() as u64;
        let sections = world.resource_mut::<FrameProfile>().take();
        let micros = |part: &str| {
            let section = sections.iter().find(|(name, _)| *name == part);
            section.map_or(f64::NAN, |(_, nanos)| *nanos as f64 / 1e3)
        };
        let [moves, recording, table, resolving] = ["moves", "recording", "table", "resolving"].map(micros);
        let parts = Parts { moves, recording, table, resolving };
        (self.send(), parts)
    }

    /// Sends snapshots of all pawns when they are due and returns the phase within the interval.
    fn send(&mut self) -> usize {
        let world = self.app.world_mut();
        let now = world.resource::<CurrentTick>().0;
        let phase = now.0 % interval(self.hz);
        if phase == 0 {
            let (knots, sampler) = (PathKnotConfig::default(), *world.resource::<PoseSampler>());
            let mut histories = world.query::<(&NetId, &mut PublishedPath)>();
            let updates: Vec<_> = histories
                .iter_mut(world)
                .filter_map(|(id, mut history)| Some((*id, history.next_update(&knots, &sampler, None)?)))
                .collect();
            for (own, mut log) in world.query::<(&NetId, &mut SentSnapshots)>().iter_mut(world) {
                for (id, update) in updates.iter().filter(|(id, _)| id != own) {
                    log.mark_update(*id, update.iter().map(|snapshot| snapshot.tick), now);
                }
            }
        }
        phase as usize
    }

    /// Drains the outgoing messages and returns the acknowledgements; verdicts are discarded.
    pub fn answers(&mut self) -> TickMessages {
        let world = self.app.world_mut();
        world.query::<&mut OutgoingShotMessages>().iter_mut(world).for_each(|mut mailbox| mailbox.0.clear());
        self.pawns.iter().map(|pawn| take_acks(&mut self.app, *pawn)).collect()
    }
}
