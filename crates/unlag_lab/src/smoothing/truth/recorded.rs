//! Recordings of our own move models, including the poses drawn between two ticks.

mod capsule_script;
mod kart_script;

use core::f64::consts::TAU;

use bevy::ecs::system::{SystemParamItem, SystemState};

use super::{Moment, TICKS_PER_SECOND, Truth};
use crate::prelude::*;

pub use kart_script::spawn_field;

/// Samples per tick, computed like the owner's drawn pose: by a partial step.
const PARTS: usize = 8;

/// Records the capsule mover in the arena of the examples: strafing, stops, jumps, crouching, stairs, a ramp.
///
/// # Errors
/// Returns a message if the pawn fell out of the arena.
pub fn capsule(seconds: f64, seed: u64) -> Result<Truth, String> {
    let mut app = app();
    app.add_systems(Startup, arena::spawn);
    let start = CapsuleState::at(arena::SPAWNS[seed as usize % arena::SPAWNS.len()]);
    let mut hands = capsule_script::CapsuleScript::new(seed);
    record::<CapsuleModel>(app, start, seconds, |state| hands.next(state.position))
}

/// Records the kart on a field with posts, sills and ramps.
///
/// # Errors
/// Returns a message if the kart fell out of the field.
pub fn kart(seconds: f64, seed: u64) -> Result<Truth, String> {
    let mut app = app();
    app.add_plugins(KartPlugin);
    spawn_field(app.world_mut());
    let mut driver = kart_script::KartScript::new(seed);
    record::<KartModel>(app, KartState::at(Vec3::Y * 0.1, 0), seconds, |state| driver.next(state))
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    app
}

/// Recorded sample of a pawn.
struct RecordedSample {
    position: Vec3,
    snapshot: Snapshot,
}

impl RecordedSample {
    fn of<M: MoveModel>(state: &M::State, tick: u32) -> Self {
        Self { position: M::position(state), snapshot: M::snapshot(state, Tick(tick)) }
    }
}

fn record<M: MoveModel>(
    mut app: App,
    start: M::State,
    seconds: f64,
    mut player: impl FnMut(&M::State) -> M::Input,
) -> Result<Truth, String> {
    finish(&mut app);
    // A new collider is in rapier's tree after the first fixed step.
    (0..4).for_each(|_| app.update());
    let entity = app.world_mut().spawn_empty().id();
    let mut system = SystemState::<(M::World, Res<'static, M::Config>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).map_err(|e| format!("no level to move in: {e}"))?;
    let world: &SystemParamItem<'_, '_, M::World> = &world;

    let mut events = Vec::new();
    let mut step = |state: &M::State, input: &M::Input, tick: u32, part: usize| {
        events.clear();
        let dt = TICK.as_secs_f32() * part as f32 / PARTS as f32;
        let ctx = StepContext { tick: Tick(tick), dt, entity, replaying: part < PARTS };
        M::step(&config, state, input, &ctx, world, &mut events)
    };
    // A second to land.
    let mut state =
        (0..TICKS_PER_SECOND).fold(start, |state, tick| step(&state, &M::Input::default(), tick, PARTS));
    let mut pictures = vec![RecordedSample::of::<M>(&state, 0)];
    for tick in 0..(seconds * f64::from(TICKS_PER_SECOND)).round() as u32 {
        let input = player(&state);
        for part in 1..PARTS {
            let drawn = step(&state, &input, TICKS_PER_SECOND + tick, part);
            pictures.push(RecordedSample::of::<M>(&drawn, tick + 1));
        }
        state = step(&state, &input, TICKS_PER_SECOND + tick, PARTS);
        pictures.push(RecordedSample::of::<M>(&state, tick + 1));
        if M::position(&state).y < -1.0 {
            return Err(format!("a pawn fell out of its level after {tick} ticks"));
        }
    }
    Ok(joined(&pictures))
}

/// Creates a truth that moves in straight lines between samples.
fn joined(pictures: &[RecordedSample]) -> Truth {
    let dt = TICK.as_secs_f64() / PARTS as f64;
    let units = TAU / 65_536.0;
    let mut turned = f64::from(pictures[0].snapshot.yaw) * units;
    let mut moments = Vec::with_capacity(pictures.len());
    for (i, now) in pictures.iter().enumerate() {
        let next = pictures.get(i + 1).unwrap_or(now);
        let turn = f64::from(next.snapshot.yaw.wrapping_sub(now.snapshot.yaw).cast_signed()) * units;
        moments.push(Moment {
            position: now.position.as_dvec3(),
            velocity: (next.position - now.position).as_dvec3() / dt,
            yaw: turned,
            yaw_rate: turn / dt,
            teleports: now.snapshot.teleports,
            grounded: now.snapshot.grounded,
            ..Moment::default()
        });
        turned += turn;
    }
    let snapshots: Vec<_> = pictures.iter().step_by(PARTS).map(|picture| picture.snapshot).collect();
    let top_speed = snapshots.iter().map(|s| f64::from(s.velocity().length())).fold(0.0, f64::max);
    Truth { top_speed, has_spin: snapshots[0].spin.is_some(), moments, dt, snapshots }
}
