//! Move model with an empty step, which leaves only the cost and the timing of prediction itself.

use bevy::{ecs::system::SystemParamItem, prelude::*, time::TimePlugin, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{
        BitReader, BitWriter, CurrentTick, LocalControl, MoveInput, MoveModel, MoveSystems, NetRole,
        Snapshot, StepContext, StepEvent, Tick, TickSystems, Wire, WireError,
    },
    movement::CapsuleInput,
    prediction::{ClockSteering, PredictionPlugin, authority_pawn, autonomous_pawn},
};
use bevy_unlag_testkit::finish;
use unlag_examples::app::TICK;

/// Empty move model.
pub struct Toy;

/// Configuration of [`Toy`].
#[derive(Resource, Clone, Copy, Default)]
pub struct ToyConfig {
    /// Whether every step emits an event with its input.
    pub tells: bool,
}

/// State of [`Toy`], which never changes.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub struct ToyState(u16);

impl Wire for ToyState {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.0), 16);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.bits(16)? as u16))
    }
}

impl MoveModel for Toy {
    type Config = ToyConfig;
    type Input = CapsuleInput;
    type State = ToyState;
    /// Whether the input comes from the player.
    type Event = bool;
    type Push = ();
    type World = ();

    fn step(
        config: &ToyConfig,
        state: &ToyState,
        input: &CapsuleInput,
        _: &StepContext,
        (): &SystemParamItem<()>,
        events: &mut Vec<bool>,
    ) -> ToyState {
        if config.tells {
            events.push(input.walk);
        }
        *state
    }

    fn position(_: &ToyState) -> Vec3 {
        Vec3::ZERO
    }

    fn snapshot(_: &ToyState, tick: Tick) -> Snapshot {
        Snapshot::new(tick, Vec3::ZERO, Vec3::ZERO)
    }

    fn eye(_: &ToyConfig, _: &ToyState) -> Vec3 {
        Vec3::ZERO
    }

    fn kind(_: &ToyState) -> u32 {
        0
    }

    fn teleports(_: &ToyState) -> u8 {
        0
    }

    fn push(_: &ToyConfig, state: &ToyState, (): &()) -> ToyState {
        *state
    }
}

/// Log of live moves: pawn, tick of the move, and tick of the server that ran it.
#[derive(Resource, Default)]
pub struct Ran(pub Vec<(Entity, Tick, Tick)>);

fn app(tells: bool) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, PredictionPlugin::<Toy>::default()))
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(ToyConfig { tells });
    app
}

/// Creates a server. With `tells` it records [`Ran`].
pub fn server(tells: bool) -> App {
    let mut app = app(tells);
    if tells {
        app.init_resource::<Ran>().add_systems(FixedLast, note);
    }
    // An arbitrary start, so that no tick is special.
    app.insert_resource(CurrentTick(Tick(5_000)));
    finish(&mut app);
    app
}

fn note(mut steps: MessageReader<StepEvent<Toy>>, tick: Res<CurrentTick>, mut ran: ResMut<Ran>) {
    ran.0.extend(steps.read().filter(|step| step.event).map(|step| (step.entity, step.tick, tick.0)));
}

/// Creates a client whose player turns in every tick, and its pawn.
pub fn client() -> (App, Entity) {
    let mut app = app(false);
    app.add_systems(First, steer.before(bevy::time::TimeSystems))
        .add_systems(FixedUpdate, play.in_set(MoveSystems::Sample).after(TickSystems::Advance));
    finish(&mut app);
    let own = app.world_mut().spawn((NetRole::AutonomousProxy, autonomous_pawn::<Toy>())).id();
    (app, own)
}

/// Spawns a pawn on a server.
pub fn pawn(server: &mut App) -> Entity {
    server.world_mut().spawn((NetRole::Authority, authority_pawn::<Toy>(ToyState::default()))).id()
}

/// Applies the clock steering, as a transport integration does.
fn steer(steering: Res<ClockSteering>, mut time: ResMut<Time<Virtual>>) {
    let speed = steering.speed as f32;
    if time.relative_speed() != speed {
        time.set_relative_speed(speed);
    }
}

fn play(tick: Res<CurrentTick>, mut pawns: Query<&mut MoveInput<Toy>, With<LocalControl>>) {
    for mut input in &mut pawns {
        // Neutral input has `walk` unset, so the flag marks the player's own input.
        let yaw = (tick.0.0 as u16).wrapping_mul(97);
        input.0 = CapsuleInput { forward: 127, yaw, walk: true, ..default() };
    }
}
