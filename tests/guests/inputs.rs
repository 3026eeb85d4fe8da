//! lightyear's native and leafwing inputs: each one is at the server in the tick for which it was made.

use bevy::ecs::entity::{EntityMapper, MapEntities};
use bevy_unlag::{
    core::{SetupDiagnostics, SetupIssue},
    net::LightyearPings,
};
use leafwing_input_manager::prelude::{ActionState as LeafwingState, Actionlike, InputMap};
use lightyear::prelude::{
    client::{Remote, input::InputSystems},
    input::{
        leafwing::InputPlugin as LeafwingInputPlugin,
        native::{ActionState, InputMarker, InputPlugin},
    },
};
use serde::{Deserialize, Serialize};

use super::*;

/// The thing that a player steers beside the soldier.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Drone;

/// A native input: the tick in which it was made.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug, Default, Reflect)]
struct Steer(u32);

impl MapEntities for Steer {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

/// A leafwing action.
#[derive(Actionlike, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
enum DroneAction {
    Grab,
}

/// Inputs at the server: made for the tick in which they are read, and others.
#[derive(Resource, Clone, Copy, Default, Debug)]
struct Arrivals {
    timely: u32,
    other: u32,
}

impl Arrivals {
    fn count(&mut self, timely: bool) {
        if timely { self.timely += 1 } else { self.other += 1 }
    }
}

fn protocol(app: &mut App) {
    app.component::<Drone>().replicate();
    app.add_plugins((InputPlugin::<Steer>::default(), LeafwingInputPlugin::<DroneAction>::default()));
}

/// Whether the action is held in this tick.
fn is_held(tick: u32) -> bool {
    (tick / 8).is_multiple_of(2)
}

/// Writes the client's inputs of this tick.
fn write_inputs(
    timeline: Res<LocalTimeline>,
    mut native: Query<&mut ActionState<Steer>, With<Remote>>,
    mut leafwing: Query<&mut LeafwingState<DroneAction>, With<Remote>>,
) {
    let tick = timeline.tick().0;
    native.iter_mut().for_each(|mut steer| steer.0 = Steer(tick));
    for mut state in &mut leafwing {
        if is_held(tick) {
            state.press(&DroneAction::Grab);
        } else {
            state.release(&DroneAction::Grab);
        }
    }
}

/// Plays for six seconds. Returns what arrived of native and of leafwing inputs, and whether the client
/// reported that its pings are off.
fn play(pings: LightyearPings) -> (Arrivals, Arrivals, bool) {
    #[derive(Resource, Default)]
    struct All([Arrivals; 2]);

    let (mut server, mut client) = apps(protocol);
    for app in [&mut server, &mut client] {
        app.insert_resource(pings);
    }
    server
        .init_resource::<All>()
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((Drone, Replicate::to_clients(NetworkTarget::All)));
        })
        .add_systems(
            FixedUpdate,
            |timeline: Res<LocalTimeline>,
             native: Query<&ActionState<Steer>>,
             leafwing: Query<&LeafwingState<DroneAction>>,
             mut all: ResMut<All>| {
                let tick = timeline.tick().0;
                native.iter().for_each(|steer| all.0[0].count(steer.0.0 == tick));
                leafwing
                    .iter()
                    .for_each(|state| all.0[1].count(state.pressed(&DroneAction::Grab) == is_held(tick)));
            },
        );
    client
        .add_observer(|added: On<Add, Drone>, mut commands: Commands| {
            let leafwing = InputMap::<DroneAction>::default();
            commands.entity(added.entity).insert((InputMarker::<Steer>::default(), leafwing));
        })
        .add_systems(FixedPreUpdate, write_inputs.in_set(InputSystems::WriteClientInputs));
    let mut game = join(server, client);
    game.run(Duration::from_secs(6));
    assert_no_corrections(&mut game);
    let [native, leafwing] = game.server.world().resource::<All>().0;
    let reported = game.clients[0].world().resource::<SetupDiagnostics>().has(SetupIssue::LightyearPings);
    (native, leafwing, reported)
}

#[test]
fn lightyears_inputs_are_at_the_server_in_their_tick() {
    let (native, leafwing, reported) = play(LightyearPings::ON);
    println!("native {native:?}, leafwing {leafwing:?}");
    for arrivals in [native, leafwing] {
        assert!(arrivals.timely > 200, "{arrivals:?}");
        assert!(arrivals.other < arrivals.timely / 10, "{arrivals:?}");
    }
    assert!(!reported);
}

#[test]
fn without_pings_no_input_leaves_the_client_and_the_cause_is_reported() {
    let (native, leafwing, reported) = play(LightyearPings { interval: None });
    assert_eq!((native.timely, leafwing.timely), (0, 0), "{native:?} {leafwing:?}");
    assert!(reported);
}
