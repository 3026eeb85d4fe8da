//! Test server with many running targets, and shots at where they were seen.

use bevy::ecs::system::{SystemParam, SystemState};

use crate::prelude::*;

/// Ticks between two snapshots: 21 per second.
const INTERVAL: u32 = 3;
/// Age of the shots' views in ticks: a round trip of about 100 ms and a playout delay.
const AGE: f64 = 12.3;

/// Server whose targets run about.
pub struct TestServer {
    pub app: App,
    rng: SmallRng,
    pawns: Vec<Runner>,
    half: f32,
}

struct Runner {
    entity: Entity,
    heading: f32,
    turn_at: u32,
}

/// Shot to be traced.
#[derive(Clone, Copy)]
pub struct Shot {
    pub shooter: Entity,
    pub origin: Vec3,
    pub direction: Vec3,
    pub time: ViewTime,
}

impl TestServer {
    /// Creates a server with `players` humanoids of 19 boxes, at the density of 64 players in the arena.
    pub fn new(players: usize, seed: u64) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, MovementPlugin))
            .add_plugins(RewindPlugin::<CapsuleModel>::default())
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_systems(Startup, arena::spawn);
        finish(&mut app);
        let half = arena::HALF_SIZE * (players as f32 / 64.0).sqrt().max(1.0);
        let mut rng = SmallRng::seed_from_u64(seed);
        let pawns = (0..players)
            .map(|i| {
                let place = Vec3::new(rng.random_range(-half..half), 0.0, rng.random_range(-half..half));
                let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
                let entity = app.world_mut().spawn((NetId(i as u16 + 1), CapsuleState::at(place), body)).id();
                Runner { entity, heading: rng.random_range(0.0..6.3), turn_at: 0 }
            })
            .collect();
        let mut stage = Self { app, rng, pawns, half };
        for _ in 0..80 {
            stage.tick();
        }
        stage
    }

    pub fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    /// Moves all pawns by one tick.
    pub fn move_pawns(&mut self) {
        let now = self.now().0;
        let world = self.app.world_mut();
        for runner in &mut self.pawns {
            if now >= runner.turn_at {
                runner.turn_at = now + self.rng.random_range(13..58);
                runner.heading = self.rng.random_range(0.0..6.3);
            }
            let Some(mut state) = world.get_mut::<CapsuleState>(runner.entity) else { continue };
            let velocity = Vec3::new(runner.heading.sin(), 0.0, runner.heading.cos()) * 6.0;
            let next = state.position + velocity / 64.0;
            if next.x.abs().max(next.z.abs()) > self.half {
                runner.heading += core::f32::consts::PI;
            } else {
                state.position = next;
            }
            state.velocity = velocity;
        }
    }

    pub fn send(&mut self) {
        if !self.now().0.is_multiple_of(INTERVAL) {
            return;
        }
        let world = self.app.world_mut();
        let (knots, sampler) = (PathKnotConfig::default(), *world.resource::<PoseSampler>());
        for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
            history.next_update(&knots, &sampler, None);
        }
    }

    pub fn tick(&mut self) {
        self.move_pawns();
        self.app.update();
        self.send();
    }

    /// Returns shots at random points near the targets, three quarters of them close.
    pub fn shots(&mut self, count: usize) -> Vec<Shot> {
        let now = self.now();
        let world = self.app.world_mut();
        let places: Vec<(Entity, Vec3)> = {
            let mut query = world.query::<(Entity, &FrameHistory)>();
            query
                .iter(world)
                .filter_map(|(entity, history)| {
                    let frames = history.frames();
                    let then = frames.rev().nth(AGE as usize)?;
                    Some((entity, then.position))
                })
                .collect()
        };
        (0..count)
            .map(|_| {
                let time = ViewTime::after(now, -AGE - self.rng.random_range(0.0..1.0));
                let (shooter, from) = places[self.rng.random_range(0..places.len())];
                let near = |to: &Vec3| (2.0..30.0).contains(&to.distance(from));
                let target = (0..50).map(|_| places[self.rng.random_range(0..places.len())].1).find(near);
                let spread = if self.rng.random_bool(0.75) { 0.12 } else { 0.6 };
                let mut aside = || self.rng.random_range(-spread..spread);
                let aim = target.unwrap_or(from + Vec3::X) + Vec3::new(aside(), 1.1 + aside() * 3.0, aside());
                let origin = from + Vec3::Y * 1.6;
                Shot { shooter, origin, direction: (aim - origin).normalize_or(Vec3::X), time }
            })
            .collect()
    }

    /// Calls `ask` with a system parameter of the server's world.
    pub fn ask<P: SystemParam + 'static, R>(&mut self, ask: impl FnOnce(P::Item<'_, '_>) -> R) -> R {
        let mut state = SystemState::<P>::new(self.app.world_mut());
        let asked = state.get_mut(self.app.world_mut());
        ask(asked.expect("the server's world has all resources of the parameter"))
    }
}
