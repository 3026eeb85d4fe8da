//! An armed character of one's own: a turret on a rail. `WithWeapons` adds the weapons, the trigger and the verdicts.

use unlag_recipes::{corrections, play, record, recorded};

// ANCHOR: game
use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag::{
    Character, Side,
    core::{LimbRig, PawnClass, StepContext, Wire},
    prelude::*,
    rapier::prelude::Collider,
    rewind::{BodyBounds, HitBox},
    weapons::{ShotResult, WithWeapons},
};

struct Turret;
type ArmedTurret = WithWeapons<Turret>;

/// Speed along the rail in metres per second, the same on both sides.
#[derive(Resource)]
struct RailSpeed(f32);

#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct TurretInput {
    #[wire(range = -1.0..=1.0, bits = 8)]
    slide: f32,
    yaw: u16,
    pitch: i16,
}

#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct TurretState {
    position: Vec3,
    speed: f32,
}

impl MoveModel for Turret {
    type Config = RailSpeed;
    type Input = TurretInput;
    type State = TurretState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        config: &RailSpeed,
        state: &TurretState,
        input: &TurretInput,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        _events: &mut Vec<()>,
    ) -> TurretState {
        let speed = input.slide * config.0;
        TurretState { position: state.position + Vec3::X * speed * ctx.dt, speed }
    }

    fn position(state: &TurretState) -> Vec3 {
        state.position
    }

    fn velocity(state: &TurretState) -> Vec3 {
        Vec3::X * state.speed
    }

    fn kind(_: &TurretState) -> u32 {
        0
    }

    /// The server accepts shots along this view.
    fn look(input: &TurretInput) -> (u16, i16) {
        (input.yaw, input.pitch)
    }

    /// Shots start here.
    fn eye(_: &RailSpeed, state: &TurretState) -> Vec3 {
        state.position + Vec3::Y * 0.4
    }
}

impl Character for Turret {
    fn state_at(position: Vec3) -> TurretState {
        TurretState { position, speed: 0.0 }
    }

    fn body(_: &RailSpeed, _: PawnClass) -> impl Bundle {
        let ball = HitBox::new(0, HitGroup::Body, Collider::ball(0.6));
        (HitBoxes::new([ball], BodyBounds::ball(0.6)), LimbRig::rigid())
    }

    /// Without this, neither axes nor view reach the turret.
    fn apply_controls(input: &mut TurretInput, controls: &CapsuleInput) {
        *input = TurretInput { slide: controls.axes().x, yaw: controls.yaw, pitch: controls.pitch };
    }

    fn build(app: &mut App, _: Side) {
        app.insert_resource(RailSpeed(4.0));
    }
}

/// Two rails, 15 m from each other.
fn server(app: &mut App) {
    app.add_plugins(UnlagServerPlugins { characters: Characters::of::<ArmedTurret>(), ..default() })
        .add_observer(|joined: On<PlayerJoined>, mut turrets: Local<u16>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 1.0, -15.0 * f32::from(*turrets));
            *turrets += 1;
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<ArmedTurret>::default(), NetId(*turrets), place, owner));
        });
}

fn client(app: &mut App) {
    app.add_plugins(UnlagClientPlugins { characters: Characters::of::<ArmedTurret>(), ..default() })
        .add_plugins((PlayerControlsPlugin::default(), record::<ShotFired>, record::<ShotVerdict>))
        .add_systems(PreUpdate, fight);
}

/// Slides to and fro, and fires at the other turret where the screen shows it.
fn fight(
    time: Res<Time>,
    own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls), With<LocalControl>>,
    other: Single<&DrawnPose, Without<LocalControl>>,
) {
    let (drawn, mut input, mut trigger) = own.into_inner();
    input.axes(if time.elapsed_secs() % 2.0 < 1.0 { Vec2::X } else { Vec2::NEG_X });
    input.look_along(other.pose.position - drawn.pose.position - Vec3::Y * 0.4);
    trigger.set_fire(time.elapsed_secs() % 0.3 < 0.1);
}
// ANCHOR_END: game

fn recording_server(app: &mut App) {
    app.add_plugins((server, record::<Damage>));
}

#[test]
fn turrets_hit_each_other_as_their_screens_show_it() {
    play(recording_server, &[client, client], |game| {
        game.run(4.0);
        for turret in &mut game.clients {
            let drawn = recorded::<ShotFired>(turret).iter().filter(|shot| shot.drawn().is_some()).count();
            let verdicts = recorded::<ShotVerdict>(turret).iter();
            let hits = verdicts.filter(|verdict| matches!(verdict.result, ShotResult::Hit(_))).count();
            // The last verdicts are under way.
            assert!(drawn > 8 && hits + 3 >= drawn && hits <= drawn, "{hits} of {drawn} drawn hits");
            assert_eq!(corrections(turret), 0);
        }
        assert!(recorded::<Damage>(&game.server).len() > 15);
    });
}
