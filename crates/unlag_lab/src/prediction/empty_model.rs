//! Move model with an empty step, which leaves only the cost and the timing of prediction itself.

use bevy::{ecs::system::SystemParamItem, time::TimePlugin};

use crate::prelude::*;

/// Empty move model.
pub struct EmptyModel;

/// Configuration of [`EmptyModel`].
#[derive(Resource, Clone, Copy, Default)]
pub struct EmptyConfig {
    /// Whether every step emits an event with its input.
    pub emit_events: bool,
}

/// State of [`EmptyModel`], which never changes.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub struct EmptyState(u16);

impl Wire for EmptyState {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.0), 16);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.bits(16)? as u16))
    }
}

impl MoveModel for EmptyModel {
    type Config = EmptyConfig;
    type Input = CapsuleInput;
    type State = EmptyState;
    /// Whether the input comes from the player.
    type Event = bool;
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        config: &EmptyConfig,
        state: &EmptyState,
        input: &CapsuleInput,
        _: &StepContext,
        (): &SystemParamItem<()>,
        events: &mut Vec<bool>,
    ) -> EmptyState {
        if config.emit_events {
            events.push(input.walk);
        }
        *state
    }

    fn position(_: &EmptyState) -> Vec3 {
        Vec3::ZERO
    }

    fn velocity(_: &EmptyState) -> Vec3 {
        Vec3::ZERO
    }

    fn kind(_: &EmptyState) -> u32 {
        0
    }
}

/// Log of live moves: pawn, tick of the move, and tick of the server that ran it.
#[derive(Resource, Default)]
pub struct MoveLog(pub Vec<(Entity, Tick, Tick)>);

fn app(emit_events: bool) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, PredictionPlugin::<EmptyModel>::default()))
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(EmptyConfig { emit_events });
    app
}

/// Creates a server. With `emit_events` it records [`MoveLog`].
pub fn server(emit_events: bool) -> App {
    let mut app = app(emit_events);
    if emit_events {
        app.init_resource::<MoveLog>().add_systems(FixedLast, record_moves);
    }
    // An arbitrary start, so that no tick is special.
    app.insert_resource(CurrentTick(Tick(5_000)));
    finish(&mut app);
    app
}

fn record_moves(
    mut steps: MessageReader<StepEvent<EmptyModel>>,
    tick: Res<CurrentTick>,
    mut ran: ResMut<MoveLog>,
) {
    ran.0.extend(steps.read().filter(|step| step.event).map(|step| (step.entity, step.tick, tick.0)));
}

/// Creates a client whose player turns in every tick, and its pawn.
pub fn client() -> (App, Entity) {
    let mut app = app(false);
    app.add_systems(First, steer.before(bevy::time::TimeSystems))
        .add_systems(FixedUpdate, play.in_set(MoveSystems::Sample).after(MoveSystems::AdvanceTick));
    finish(&mut app);
    let own = app.world_mut().spawn(AutonomousPawn::<EmptyModel>::default()).id();
    (app, own)
}

/// Spawns a pawn on a server.
pub fn pawn(server: &mut App) -> Entity {
    server.world_mut().spawn((AuthorityPawn::<EmptyModel>::default(), EmptyState::default())).id()
}

/// Applies the clock steering, as a transport integration does.
fn steer(steering: Res<ClockSteering>, mut time: ResMut<Time<Virtual>>) {
    let speed = steering.speed as f32;
    if time.relative_speed() != speed {
        time.set_relative_speed(speed);
    }
}

fn play(tick: Res<CurrentTick>, mut pawns: Query<&mut MoveInput<EmptyModel>, With<LocalControl>>) {
    for mut input in &mut pawns {
        // Neutral input has `walk` unset, so the flag marks the player's own input.
        let yaw = (tick.0.0 as u16).wrapping_mul(97);
        input.0 = CapsuleInput { forward: 127, yaw, walk: true, ..default() };
    }
}
