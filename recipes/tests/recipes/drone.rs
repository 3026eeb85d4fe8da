//! A character of one's own beside soldiers: a drone that hovers where nobody steers it.

use unlag_recipes::{component, corrections, floor, own, play, position};

// ANCHOR: game
use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag::{
    Character, Side,
    core::{LimbRig, PawnClass, StepContext, Wire},
    prelude::*,
    rapier::prelude::Collider,
    rewind::{BodyBounds, HitBox},
};

struct Drone;

/// The tuning, the same on both sides.
#[derive(Resource)]
struct DroneConfig {
    /// Metres per second squared.
    thrust: f32,
    /// Share of the speed that is lost, per second.
    drag: f32,
}

/// One tick of what the pilot wants, along the world's axes: 3 bytes.
#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct DroneInput {
    #[wire(range = -1.0..=1.0, bits = 8)]
    wish: Vec3,
}

/// All that is predicted. Floats of a state are sent as they are.
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct DroneState {
    position: Vec3,
    velocity: Vec3,
}

impl MoveModel for Drone {
    type Config = DroneConfig;
    type Input = DroneInput;
    type State = DroneState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    /// It reads its arguments and nothing else, so a replay has the same result.
    fn step(
        config: &DroneConfig,
        state: &DroneState,
        input: &DroneInput,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        _events: &mut Vec<()>,
    ) -> DroneState {
        let thrust = input.wish.clamp_length_max(1.0) * config.thrust;
        let velocity = state.velocity * (1.0 - config.drag * ctx.dt) + thrust * ctx.dt;
        DroneState { position: state.position + velocity * ctx.dt, velocity }
    }

    fn position(state: &DroneState) -> Vec3 {
        state.position
    }

    fn velocity(state: &DroneState) -> Vec3 {
        state.velocity
    }

    fn kind(_: &DroneState) -> u32 {
        0
    }
}

impl Character for Drone {
    fn state_at(position: Vec3) -> DroneState {
        DroneState { position, velocity: Vec3::ZERO }
    }

    /// A ball that can be hit.
    fn body(_: &DroneConfig, _: PawnClass) -> impl Bundle {
        let bounds = BodyBounds { radius: 0.4, low: -0.4, high: 0.4 };
        (HitBoxes::new([HitBox::new(0, HitGroup::Body, Collider::ball(0.4))], bounds), LimbRig::rigid())
    }

    /// Jump climbs, crouch descends.
    fn apply_controls(input: &mut DroneInput, controls: &CapsuleInput) {
        let climb = f32::from(controls.jump) - f32::from(controls.crouch);
        input.wish = controls.wish() + Vec3::Y * climb;
    }

    fn build(app: &mut App, _: Side) {
        app.insert_resource(DroneConfig { thrust: 12.0, drag: 1.0 });
    }
}

/// Client and server list the same characters in the same order.
fn characters() -> Characters {
    Characters::of::<Soldier>().with::<Drone>()
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins { characters: characters(), ..default() }, floor)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let place = Transform::from_xyz(f32::from(*players) * 5.0, 2.0, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            let mut pawn = commands.spawn((NetId(*players), place, owner));
            // The third player is a soldier.
            match *players {
                3 => pawn.insert(SoldierPawn),
                _ => pawn.insert(CharacterPawn::<Drone>::default()),
            };
        },
    );
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { characters: characters(), ..default() }, floor))
        .add_plugins(PlayerControlsPlugin::default());
}
// ANCHOR_END: game

/// A pilot who flies ahead and climbs.
fn pilot(app: &mut App) {
    app.add_plugins(client).add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| {
        input.axes(Vec2::Y);
        input.jump(true);
    });
}

#[test]
fn drone_flies_on_all_screens_beside_a_soldier_without_corrections() {
    play(server, &[pilot, client, client], |game| {
        game.run(2.0);
        let state = component::<DroneState>(&mut game.server, NetId(1)).expect("the drone is there");
        assert!(state.position.y > 8.0 && state.position.z < -6.0, "{state:?}");
        let idle = component::<DroneState>(&mut game.server, NetId(2)).expect("the drone is there");
        assert_eq!(idle.position, Vec3::new(10.0, 2.0, 0.0), "without a pilot's wish it hovers");
        let soldier = component::<SoldierState>(&mut game.server, NetId(3)).expect("the soldier is there");
        assert!(soldier.body.is_grounded(), "{soldier:?}");
        assert_eq!(own(&mut game.clients[2]), Some(NetId(3)));
        for other in [1, 2] {
            // The other screens show the past: a quarter of a second at 12 m/s is 3 m.
            let apart = position(&mut game.clients[other], NetId(1)).distance(state.position);
            assert!((0.2..4.0).contains(&apart), "{apart} m");
        }
        for client in &mut game.clients {
            assert_eq!(corrections(client), 0);
        }
    });
}
