//! A rifle through the public API: the host of a listen server shoots a dummy.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    DrawnPose, ExtendedEvent, ExtendedState, KnotConfig, MoveInput, MoveSystems, NetId, NetRole, Sampler,
    StepEvent, Tick,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_prediction::{PredictionPlugin, host_pawn};
use bevy_unlag_rewind::{FrameHistory, HitGroup, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_weapons::{
    Aim, Armed, ArmsEvent, ArmsInput, ArmsState, Damage, FireInput, FireRules, HitClaims, HitList, Loadout,
    ShotFired, ShotRefusal, ShotResult, ShotVerdict, Sight, Trigger, WeaponsPlugin,
};

type Soldier = Armed<CapsuleModel>;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Where the shooter's eye is.
const EYE: Vec3 = Vec3::new(0.0, 1.66, 0.0);

/// A round that comes in another way than through the trigger.
#[derive(Resource, Default)]
struct Sent(Option<FireInput>);

#[derive(Resource, Default)]
struct Seen {
    fired: Vec<ShotFired>,
    verdicts: Vec<ShotVerdict>,
    damage: Vec<Damage>,
    rounds: Vec<FireInput>,
}

struct Range {
    app: App,
    shooter: Entity,
    dummy: Entity,
}

fn hit(group: HitGroup) -> ShotResult {
    ShotResult::Hit([(NetId(2), group)].into_iter().collect())
}

fn soldier(place: Vec3) -> ExtendedState<CapsuleState, ArmsState> {
    ExtendedState { body: CapsuleState::at(place), extension: ArmsState::default() }
}

impl Range {
    fn new(with_plugin: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin::default(), RewindPlugin::<Soldier>::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .init_resource::<Seen>()
            .init_resource::<Sent>();
        if with_plugin {
            app.add_plugins((
                PredictionPlugin::<Soldier>::default(),
                WeaponsPlugin::<CapsuleModel>::default(),
            ))
            .add_systems(Update, see)
            .add_systems(FixedUpdate, ask.after(MoveSystems::Extend).before(MoveSystems::Step));
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
        let shooter = shooter.insert((Trigger::default(), Loadout::default())).id();
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
        let aim = Aim::along(place - EYE);
        let mut shooter = self.app.world_mut().entity_mut(self.shooter);
        *shooter.get_mut::<Aim>().expect("an aim") = aim;
        let mut input = shooter.get_mut::<MoveInput<Soldier>>().expect("an input");
        (input.0.body.yaw, input.0.body.pitch) = (aim.yaw, aim.pitch);
    }

    /// What becomes of a round as a cheat may send it.
    fn send(&mut self, fire: FireInput) -> ShotResult {
        self.hold(false, 7);
        let before = self.app.world().resource::<Seen>().verdicts.len();
        self.app.world_mut().resource_mut::<Sent>().0 = Some(fire);
        let seen = self.hold(false, 3);
        assert_eq!(seen.verdicts.len(), before + 1, "one round, one verdict");
        seen.verdicts[before].result
    }

    /// A round from an eye along a direction, in a move that looks where this one's do.
    fn round(&self, eye: Vec3, along: Vec3) -> FireInput {
        let input = self.app.world().get::<MoveInput<Soldier>>(self.shooter).expect("an input");
        let look = Aim { yaw: input.0.body.yaw, pitch: input.0.body.pitch };
        FireInput::new(&Sight::new(None, eye), Tick(0)).looking(Aim::along(along), look)
    }

    fn hold(&mut self, held: bool, frames: usize) -> &Seen {
        for _ in 0..frames {
            self.app.world_mut().get_mut::<Trigger>(self.shooter).expect("a trigger").set(held);
            self.update();
        }
        self.app.world().resource::<Seen>()
    }
}

fn ask(mut sent: ResMut<Sent>, mut pawns: Query<&mut MoveInput<Soldier>>) {
    if let Some(fire) = sent.0.take() {
        for mut input in &mut pawns {
            input.0.extension = ArmsInput { fire: Some(fire), ..default() };
        }
    }
}

fn see(
    mut seen: ResMut<Seen>,
    mut steps: MessageReader<StepEvent<Soldier>>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut damage: MessageReader<Damage>,
) {
    seen.rounds.extend(steps.read().filter_map(|step| match step.event {
        ExtendedEvent::Extension(ArmsEvent::Fired(round)) => Some(round.fire),
        _ => None,
    }));
    seen.fired.extend(fired.read().cloned());
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
    let drawn = seen.fired[0].drawn().expect("the screen shows a hit");
    assert_eq!((drawn.target, drawn.group), (NetId(2), HitGroup::Body));
    let shot = seen.fired[0].round.shot;
    assert_eq!(seen.verdicts, [ShotVerdict { shot, result: hit(HitGroup::Body), clamped: false }]);
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
    let mut state = world.get_mut::<ExtendedState<CapsuleState, ArmsState>>(shooter).expect("a state");
    state.body.alive = false;
    range.hold(false, 40);
    let seen = range.hold(true, 3);
    assert!(seen.fired.is_empty() && seen.verdicts.is_empty(), "the dead's trigger is dead");

    // Whoever sends such a round all the same is told so.
    let fire = range.round(EYE, Vec3::NEG_Z);
    assert_eq!(range.send(fire), ShotResult::Refused(ShotRefusal::Dead));
    assert!(range.app.world().resource::<Seen>().damage.is_empty());
}

#[test]
fn a_round_leaves_from_near_the_eye_and_never_through_a_wall() {
    let mut range = Range::new(true);
    let refused = ShotResult::Refused(ShotRefusal::Eye);
    let from = |range: &mut Range, aside: Vec3| {
        let (eye, chest) = (EYE + aside, Vec3::new(0.0, 1.3, -10.0));
        let fire = range.round(eye, chest - eye);
        range.send(fire)
    };
    let hit = hit(HitGroup::Body);
    let FireRules { eye_tolerance, eye_height_tolerance, .. } = FireRules::default();
    for (way, tolerance) in [
        (Vec3::X, eye_tolerance),
        (Vec3::NEG_X, eye_tolerance),
        (Vec3::Z, eye_tolerance),
        (Vec3::Y, eye_height_tolerance),
    ] {
        assert_eq!(from(&mut range, way * (tolerance - 0.02)), hit, "{way}");
        assert_eq!(from(&mut range, way * (tolerance + 0.02)), refused, "{way}");
    }
    let corner = Vec3::new(1.0, 0.0, 1.0) * (eye_tolerance * 0.8);
    assert_eq!(from(&mut range, corner), refused, "aside is a circle");
    assert_eq!(from(&mut range, Vec3::X), refused, "as far as the wire goes");
    assert_eq!(range.app.world().resource::<Seen>().damage.len(), 4);

    let wall = bevy_rapier3d::prelude::Collider::cuboid(0.02, 3.0, 2.0);
    range.app.world_mut().spawn((wall, Transform::from_xyz(0.45, 0.0, 0.0)));
    range.hold(false, 2);
    assert_eq!(from(&mut range, Vec3::X * 0.6), refused, "beyond the wall");
    assert_eq!(from(&mut range, Vec3::X * 0.3), hit, "before the wall");
    assert_eq!(from(&mut range, Vec3::NEG_X * 0.6), hit, "on the other side");
}

#[test]
fn a_claim_is_worth_what_the_rule_says() {
    let miss = ShotResult::Miss;
    let hit = hit(HitGroup::Body);
    let unreal = HitClaims::UNREAL_TOURNAMENT;
    for (claims, own, next, third) in [
        (HitClaims::default(), miss, miss, miss),
        (HitClaims { rounds: 0, ..unreal }, hit, miss, miss),
        (unreal, hit, hit, miss),
    ] {
        let mut range = Range::new(true);
        range.app.world_mut().resource_mut::<FireRules>().claims = claims;
        // Beside an arm, into the air.
        let beside = range.round(EYE, Vec3::new(0.5, 1.3, -10.0) - EYE);
        let round = |claim| {
            let mut fire = beside;
            fire.claim = claim;
            fire
        };
        assert_eq!(range.send(round(None)), miss);
        assert_eq!(range.send(round(Some(NetId(9)))), miss, "it names nobody");
        let same = |result| match result {
            ShotResult::Hit(list) => {
                let body = list.iter().map(|hit| (hit.target, HitGroup::Body));
                ShotResult::Hit(body.collect::<HitList>())
            }
            other => other,
        };
        let sent = [Some(NetId(2)), None, None].map(|claim| same(range.send(round(claim))));
        assert_eq!(sent, [own, next, third], "{claims:?}");
        // What the screen shows is what is claimed, where anybody asks.
        range.aim_at(Vec3::new(0.0, 1.3, -10.0));
        range.hold(true, 1);
        let seen = range.hold(false, 10);
        let claimed = claims.wanted().then_some(NetId(2));
        assert_eq!(seen.rounds.last().map(|fire| fire.claim), Some(claimed), "{claims:?}");
    }
}

#[test]
fn without_the_plugin_no_round_leaves() {
    let mut range = Range::new(false);
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    assert!(range.hold(true, 30).fired.is_empty());
}
