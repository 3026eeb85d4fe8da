//! Microseconds from a shot's bits to its damage.

use core::hint::black_box;
use std::time::Instant;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    Soldier, SoldierState,
    core::{BitReader, BitWriter, ExtendedEvent, KnotConfig, StepEvent, Wire},
    movement::{CapsuleModel, CapsuleState, MovementPlugin},
    prelude::*,
    rewind::{RewindPlugin, humanoid_hit_boxes, humanoid_rig},
    weapons::{ArmsEvent, Cone, FireInput, OutgoingVerdicts, Round, Sight, WeaponsPlugin},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::{app::TICK, arena};

use crate::{Options, figures::Figures, movement::race::quantile};

const PLAYERS: u16 = 64;
/// Ticks before the present at which shots look.
const AGE: i32 = 12;

/// A server with 64 soldiers who run about, without a network.
struct Server {
    app: App,
    pawns: Vec<Entity>,
    rng: SmallRng,
}

impl Server {
    fn new(seed: u64) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, MovementPlugin::default()))
            .add_plugins((RewindPlugin::<Soldier>::default(), WeaponsPlugin::<CapsuleModel>::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_systems(Startup, arena::spawn);
        unlag_examples::app::finish(&mut app);
        let mut rng = SmallRng::seed_from_u64(seed);
        let pawns = (0..PLAYERS)
            .map(|player| {
                let half = arena::HALF_SIZE - 1.0;
                let place = Vec3::new(rng.random_range(-half..half), 0.0, rng.random_range(-half..half));
                let state = SoldierState { body: CapsuleState::at(place), extension: ArmsState::default() };
                let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
                let told = (OutgoingVerdicts::default(), RefusedShots::default());
                app.world_mut().spawn((NetId(player + 1), NetRole::Authority, state, body, told)).id()
            })
            .collect();
        let mut server = Self { app, pawns, rng };
        for _ in 0..80 {
            server.run_on();
            server.app.update();
            server.sent();
        }
        server
    }

    fn run_on(&mut self) {
        let world = self.app.world_mut();
        for pawn in &self.pawns {
            let side = if self.rng.random_bool(0.5) { 6.0 } else { -6.0 };
            let Some(mut state) = world.get_mut::<SoldierState>(*pawn) else { continue };
            let next = state.body.position + Vec3::X * (side / 64.0);
            state.body.velocity = Vec3::X * side;
            state.body.position = next.clamp(Vec3::splat(-19.0), Vec3::splat(19.0));
        }
    }

    fn sent(&mut self) {
        let world = self.app.world_mut();
        let (knots, sampler) = (KnotConfig::default(), *world.resource::<Sampler>());
        if !world.resource::<CurrentTick>().0.0.is_multiple_of(3) {
            return;
        }
        for mut history in world.query::<&mut FrameHistory>().iter_mut(world) {
            history.send_present(&knots, &sampler, None);
        }
        for mut mailbox in world.query::<&mut OutgoingVerdicts>().iter_mut(world) {
            mailbox.0.clear();
        }
    }

    /// Shots of as many shooters at whoever is next to them in the list, as bits.
    fn shots(&mut self, count: usize) -> Vec<(Entity, SoldierState, Vec<u8>, Aim)> {
        let now = self.app.world().resource::<CurrentTick>().0;
        let time = ViewTime { tick: now.offset(-AGE), fraction: 90 };
        let world = self.app.world();
        let state = |pawn: Entity| world.get::<SoldierState>(pawn).copied().unwrap_or_default();
        let shots = (0..count).map(|shot| {
            let (shooter, target) =
                (self.pawns[shot % self.pawns.len()], self.pawns[(shot + 7) % self.pawns.len()]);
            let own = state(shooter);
            let eye = FireInput::rounded(own.body.position + Vec3::Y * 1.66);
            let to = state(target).body.position + Vec3::Y * self.rng.random_range(0.3..1.8);
            let aim = Aim::along(to - eye);
            let fire = FireInput::new(&Sight::new(Some(time), eye), now).looking(aim, aim);
            let mut w = BitWriter::default();
            fire.write(&mut w);
            (shooter, own, w.finish(), aim)
        });
        shots.collect()
    }

    /// Seconds of the schedule in which shots are judged, with these shots in it.
    fn judge(&mut self, shots: &[(Entity, SoldierState, Vec<u8>, Aim)]) -> f64 {
        let world = self.app.world_mut();
        let now = world.resource::<CurrentTick>().0;
        let started = Instant::now();
        let mut steps = world.resource_mut::<Messages<StepEvent<Soldier>>>();
        for (shooter, state, bytes, look) in shots {
            let Ok(fire) = FireInput::read(&mut BitReader::new(black_box(bytes))) else { continue };
            let round = Round {
                shot: now,
                number: 1,
                weapon: WeaponId(0),
                fire,
                look: *look,
                before: Some(*look),
                cone: Cone { aim: *look, half_angle: 0 },
                seed: 0,
                power: u8::MAX,
            };
            steps.write(StepEvent {
                entity: *shooter,
                tick: now,
                state: *state,
                waited: 0,
                heard: None,
                event: ExtendedEvent::Extension(ArmsEvent::Fired(round)),
            });
        }
        world.run_schedule(FixedPostUpdate);
        started.elapsed().as_secs_f64()
    }
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = if options.quick { 200 } else { 4_000 };
    let mut server = Server::new(options.seed);
    let (mut empty, mut one, mut full, mut hits) = (Vec::new(), Vec::new(), Vec::new(), 0);
    // 64 players who fire 15 rounds a second, at 64 ticks a second.
    const FIRING: usize = 15;
    for round in 0..rounds {
        server.run_on();
        server.app.update();
        server.sent();
        let shots = server.shots(FIRING * 4);
        empty.push(server.judge(&[]));
        full.push(server.judge(&shots[..FIRING]));
        one.push((server.judge(&shots) - empty[round]) / shots.len() as f64);
        hits += server.app.world().resource::<Messages<Damage>>().len();
    }
    let verdict = quantile(&mut one, 0.5);
    figures.add(
        "verdict_us",
        verdict * 1e6,
        format!("µs from the bits of a shot to its damage and trail, median of {rounds} times 60 among 64; {hits} hits; goal 5"),
    )?;
    let (idle, busy) = (quantile(&mut empty, 0.5), quantile(&mut full, 0.5));
    figures.add(
        "fire_frame_us_64",
        busy * 1e6,
        format!(
            "µs of a tick in which 15 of 64 players fire, with recording ({:.1} without a shot): 15 rounds a second each; goal 23",
            idle * 1e6
        ),
    )
}
