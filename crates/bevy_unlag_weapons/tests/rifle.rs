//! A rifle through the public API: the host of a listen server shoots a dummy.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    DrawnPose, ExtendedState, KnotConfig, MoveInput, MoveSystems, NetId, NetRole, Sampler,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_prediction::{PredictionPlugin, host_pawn};
use bevy_unlag_rewind::{FrameHistory, HitGroup, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_weapons::{
    Aim, Armed, Damage, FireInput, RifleState, ShotFired, ShotRefusal, ShotResult, ShotVerdict, Trigger,
    WeaponsPlugin,
};

type Soldier = Armed<CapsuleModel>;

const TICK: Duration = Duration::from_nanos(15_625_000);

#[derive(Resource, Default)]
struct Seen {
    fired: Vec<ShotFired>,
    verdicts: Vec<ShotVerdict>,
    damage: Vec<Damage>,
}

struct Range {
    app: App,
    shooter: Entity,
    dummy: Entity,
}

fn soldier(place: Vec3) -> ExtendedState<CapsuleState, RifleState> {
    ExtendedState { body: CapsuleState::at(place), extension: RifleState::default() }
}

impl Range {
    fn new(with_plugin: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin::default(), RewindPlugin::<Soldier>::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .init_resource::<Seen>();
        if with_plugin {
            app.add_plugins((
                PredictionPlugin::<Soldier>::default(),
                WeaponsPlugin::<CapsuleModel>::default(),
            ))
            .add_systems(Update, see);
        }
        app.finish();
        app.cleanup();
        let body = || (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
        let ground = bevy_rapier3d::prelude::Collider::cuboid(50.0, 0.5, 50.0);
        app.world_mut().spawn((ground, Transform::from_xyz(0.0, -0.5, 0.0)));
        let mut shooter = app.world_mut().spawn((
            NetId(1),
            NetRole::Authority,
            host_pawn::<Soldier>(soldier(Vec3::ZERO)),
            body(),
        ));
        let shooter = shooter.insert(Trigger::default()).id();
        let dummy = (NetId(2), NetRole::Authority, soldier(Vec3::NEG_Z * 10.0), DrawnPose::default(), body());
        let dummy = app.world_mut().spawn(dummy).id();
        let mut range = Self { app, shooter, dummy };
        for _ in 0..10 {
            range.update();
        }
        range
    }

    /// A frame of one tick, and what a network would do: send the present of everyone.
    fn update(&mut self) {
        self.app.update();
        let world = self.app.world_mut();
        for mut history in world.query::<&mut FrameHistory>().iter_mut(world) {
            history.send_present(&KnotConfig::default(), &Sampler::default(), None);
        }
    }

    fn aim_at(&mut self, place: Vec3) {
        let eye = Vec3::Y * 1.66;
        *self.app.world_mut().get_mut::<Aim>(self.shooter).expect("an aim") = Aim::along(place - eye);
    }

    fn hold(&mut self, held: bool, frames: usize) -> &Seen {
        for _ in 0..frames {
            self.app.world_mut().get_mut::<Trigger>(self.shooter).expect("a trigger").set(held);
            self.update();
        }
        self.app.world().resource::<Seen>()
    }
}

fn see(
    mut seen: ResMut<Seen>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut damage: MessageReader<Damage>,
) {
    seen.fired.extend(fired.read().copied());
    seen.verdicts.extend(verdicts.read().copied());
    seen.damage.extend(damage.read().copied());
}

#[test]
fn a_tap_fires_one_round_and_the_server_confirms_what_the_screen_showed() {
    let mut range = Range::new(true);
    let dummy = range.dummy;
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    range.hold(true, 1);
    let seen = range.hold(false, 10);
    assert_eq!(seen.fired.len(), 1);
    let drawn = seen.fired[0].drawn.expect("the screen shows a hit");
    assert_eq!((drawn.target, drawn.group), (NetId(2), HitGroup::Body));
    let result = ShotResult::Hit { target: NetId(2), group: HitGroup::Body };
    assert_eq!(seen.verdicts, [ShotVerdict { shot: 1, result, clamped: false }]);
    assert_eq!(seen.damage.len(), 1);
    assert_eq!((seen.damage[0].target, seen.damage[0].amount), (dummy, 34.0));
}

#[test]
fn a_held_trigger_keeps_the_rate_of_fire() {
    let mut range = Range::new(true);
    range.aim_at(Vec3::new(30.0, 1.3, -10.0));
    let seen = range.hold(true, 64);
    let rounds = 64 / 6;
    assert!((rounds..=rounds + 1).contains(&seen.fired.len()), "{} rounds in a second", seen.fired.len());
    assert!(seen.verdicts.iter().all(|verdict| verdict.result == ShotResult::Miss));
    assert!(seen.damage.is_empty());
}

#[test]
fn the_dead_do_not_shoot_and_a_cheat_who_does_is_refused_once_the_trade_is_over() {
    let mut range = Range::new(true);
    let shooter = range.shooter;
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    let world = range.app.world_mut();
    let mut state = world.get_mut::<ExtendedState<CapsuleState, RifleState>>(shooter).expect("a state");
    state.body.alive = false;
    range.hold(false, 40);
    let seen = range.hold(true, 3);
    assert!(seen.fired.is_empty() && seen.verdicts.is_empty(), "the dead's trigger is dead");

    // Whoever sends such a round all the same is told so. Its move comes in another way than
    // through the trigger.
    let fire = FireInput::new(None, Vec3::Y * 1.66, Aim::along(Vec3::NEG_Z), &[]);
    let ask = move |mut pawns: Query<&mut MoveInput<Soldier>>| {
        for mut input in &mut pawns {
            input.0.extension = Some(fire);
        }
    };
    range.app.add_systems(FixedUpdate, ask.after(MoveSystems::Extend).before(MoveSystems::Step));
    let seen = range.hold(false, 3);
    assert_eq!(seen.verdicts.first().map(|v| v.result), Some(ShotResult::Refused(ShotRefusal::Dead)));
    assert!(seen.damage.is_empty());
}

#[test]
fn without_the_plugin_no_round_leaves() {
    let mut range = Range::new(false);
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    assert!(range.hold(true, 30).fired.is_empty());
}
