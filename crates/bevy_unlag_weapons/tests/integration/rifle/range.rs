//! Test range: a listen server host and a dummy ten metres ahead.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    DrawnPose, ExtendedEvent, ExtendedState, MoveInput, MoveSystems, NetId, NetRole, PathKnotConfig,
    PoseSampler, StepEvent, Tick,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_prediction::{HostPawn, PredictionPlugin};
use bevy_unlag_rewind::{FrameHistory, HitGroup, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_weapons::{
    Aim, Arsenal, Damage, FireInput, Loadout, ShooterView, ShotFired, ShotResult, ShotVerdict, SpreadSecret,
    Weapon, WeaponControls, WeaponEvent, WeaponInput, WeaponState, WeaponsPlugin, WithWeapons,
};

pub type Soldier = WithWeapons<CapsuleModel>;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Eye position of the shooter.
pub const EYE: Vec3 = Vec3::new(0.0, 1.66, 0.0);

/// A shot that bypasses the trigger.
#[derive(Resource, Default)]
struct Sent(Option<FireInput>);

#[derive(Resource, Default)]
pub struct ShotRecord {
    pub fired: Vec<ShotFired>,
    pub verdicts: Vec<ShotVerdict>,
    pub damage: Vec<Damage>,
    pub rounds: Vec<FireInput>,
}

impl ShotRecord {
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

pub struct Range {
    pub app: App,
    pub shooter: Entity,
    pub dummy: Entity,
}

pub fn hit(group: HitGroup) -> ShotResult {
    ShotResult::Hit([(NetId(2), group)].into_iter().collect())
}

fn soldier(place: Vec3) -> ExtendedState<CapsuleState, WeaponState> {
    ExtendedState { body: CapsuleState::at(place), extension: WeaponState::default() }
}

fn body() -> impl Bundle {
    (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig())
}

/// A pawn that stands still.
pub fn dummy(id: NetId, place: Vec3) -> impl Bundle {
    (id, NetRole::Authority, soldier(place), DrawnPose::default(), body())
}

impl Range {
    pub fn new(with_plugin: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin, RewindPlugin::<Soldier>::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .insert_resource(SpreadSecret(7))
            .init_resource::<ShotRecord>()
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
        let ground = bevy_rapier3d::prelude::Collider::cuboid(50.0, 0.5, 50.0);
        app.world_mut().spawn((ground, Transform::from_xyz(0.0, -0.5, 0.0)));
        let mut shooter =
            app.world_mut().spawn((NetId(1), HostPawn::<Soldier>::default(), soldier(Vec3::ZERO), body()));
        let shooter = shooter.insert((WeaponControls::default(), Loadout::default())).id();
        let dummy = app.world_mut().spawn(dummy(NetId(2), Vec3::NEG_Z * 10.0)).id();
        let mut range = Self { app, shooter, dummy };
        for _ in 0..10 {
            range.update();
        }
        range
    }

    /// Creates a range with this weapon held.
    pub fn with(weapon: Weapon) -> Self {
        let mut range = Self::new(true);
        range.app.insert_resource(Arsenal::new(vec![weapon]).expect("a valid weapon"));
        range.app.world_mut().entity_mut(range.shooter).insert(Loadout::default());
        range.hold(false, 2);
        range
    }

    /// State of the shooter's weapons.
    pub fn weapons(&self) -> WeaponState {
        let state = self.app.world().get::<ExtendedState<CapsuleState, WeaponState>>(self.shooter);
        state.expect("a state").extension
    }

    /// Runs a frame of one tick, and publishes the present poses of all pawns as a network would.
    pub fn update(&mut self) {
        self.app.update();
        let world = self.app.world_mut();
        for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
            history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
        }
    }

    pub fn aim_at(&mut self, place: Vec3) {
        self.aim(Aim::from_direction(place - EYE));
    }

    /// Aims in the frame of the shooter's view.
    pub fn aim(&mut self, aim: Aim) {
        let mut shooter = self.app.world_mut().entity_mut(self.shooter);
        *shooter.get_mut::<Aim>().expect("an aim") = aim;
        let mut input = shooter.get_mut::<MoveInput<Soldier>>().expect("an input");
        (input.0.body.yaw, input.0.body.pitch) = (aim.yaw, aim.pitch);
    }

    /// Sends a shot as a cheat might and returns its result.
    pub fn expect_verdict_of(&mut self, fire: FireInput) -> ShotResult {
        self.hold(false, 7);
        let before = self.app.world().resource::<ShotRecord>().verdicts.len();
        self.app.world_mut().resource_mut::<Sent>().0 = Some(fire);
        let seen = self.hold(false, 3);
        assert_eq!(seen.verdicts.len(), before + 1, "one shot, one verdict");
        seen.verdicts[before].result
    }

    /// Creates a shot from an eye along a direction, in a move with the current look direction.
    pub fn round(&self, eye: Vec3, along: Vec3) -> FireInput {
        let input = self.app.world().get::<MoveInput<Soldier>>(self.shooter).expect("an input");
        let look = Aim { yaw: input.0.body.yaw, pitch: input.0.body.pitch };
        FireInput::new(&ShooterView::new(None, eye), Tick(0)).with_aim(Aim::from_direction(along), look)
    }

    pub fn hold(&mut self, held: bool, frames: usize) -> &ShotRecord {
        for _ in 0..frames {
            self.app.world_mut().get_mut::<WeaponControls>(self.shooter).expect("a trigger").set_fire(held);
            self.update();
        }
        self.app.world().resource::<ShotRecord>()
    }
}

fn ask(mut sent: ResMut<Sent>, mut pawns: Query<&mut MoveInput<Soldier>>) {
    if let Some(fire) = sent.0.take() {
        for mut input in &mut pawns {
            input.0.extension = WeaponInput { fire: Some(fire), ..default() };
        }
    }
}

fn see(
    mut seen: ResMut<ShotRecord>,
    mut steps: MessageReader<StepEvent<Soldier>>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut damage: MessageReader<Damage>,
) {
    seen.rounds.extend(steps.read().filter_map(|step| match step.event {
        ExtendedEvent::Extension(WeaponEvent::Fired(round)) => Some(round.fire),
        _ => None,
    }));
    seen.fired.extend(fired.read().cloned());
    seen.verdicts.extend(verdicts.read().copied());
    seen.damage.extend(damage.read().copied());
}
