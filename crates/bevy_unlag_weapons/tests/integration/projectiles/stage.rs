//! Test stage: a server, a shooter's screen with a delay, and the messages between them.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnPose, DrawnViewTime, ExtendedEvent, ExtendedState, LocalControl, NetId,
    NetRole, PathKnotConfig, PoseSampler, StepEvent, Tick, Up, ViewTime,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_rewind::{FrameHistory, RewindPlugin, ViewTimeValidator, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_smoothing::{RecordTransform, SentSnapshots};
use bevy_unlag_weapons::{
    Aim, Arsenal, Damage, DamageTable, DisplayedProjectileHit, DrawnProjectile, FastestTurn, FireInput,
    OutgoingShotMessages, PredictedShot, Projectile, ProjectileAppeared, ProjectileDisappeared,
    ProjectileEnd, ProjectileLaunch, ShooterView, Shot, ShotFired, ShotMessage, ShotResolved, ShotVerdict,
    SpreadCone, Weapon, WeaponEvent, WeaponId, WeaponState, WeaponsPlugin, WithWeapons,
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

pub type Soldier = WithWeapons<CapsuleModel>;

pub const TICK: Duration = Duration::from_nanos(15_625_000);
pub const DT: f32 = 1.0 / 64.0;
/// Eye position of the shooter.
pub const EYE: Vec3 = Vec3::new(0.0, 1.625, 0.0);
pub const SHOOTER: NetId = NetId(1);

/// Seeded random numbers.
pub struct Dice(SmallRng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(SmallRng::seed_from_u64(seed))
    }

    pub fn roll(&mut self) -> f32 {
        self.0.random()
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0.random_range(low..high)
    }
}

pub fn launcher(projectile: Projectile) -> Weapon {
    Weapon {
        name: "launcher".to_owned(),
        shot: Shot::Projectile(projectile),
        damage: DamageTable { head: 100.0, body: 60.0, limb: 40.0, falloff: default() },
        ..Weapon::rifle()
    }
}

pub fn rocket() -> Projectile {
    Projectile { speed: 40.0, radius: 0.05, gravity: 0.0, life: 3.0, bounce: None, splash: None }
}

fn app(weapon: &Weapon) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        MovementPlugin,
        RewindPlugin::<Soldier>::default(),
        WeaponsPlugin::<CapsuleModel>::default(),
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
    .insert_resource(Arsenal::new(vec![weapon.clone()]).expect("a valid weapon"));
    app.finish();
    app.cleanup();
    app
}

fn drain<M: Message>(app: &mut App) -> Vec<M> {
    app.world_mut().resource_mut::<Messages<M>>().drain().collect()
}

/// A server.
pub struct Server {
    pub app: App,
    pub shooter: Entity,
    pub damage: Vec<Damage>,
    /// Reports of the server to its game about shots.
    pub reports: Vec<ShotResolved>,
}

impl Server {
    pub fn new(weapon: &Weapon) -> Self {
        let mut app = app(weapon);
        let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
        let shooter =
            (SHOOTER, NetRole::Authority, OutgoingShotMessages::default(), RecordTransform::default(), body);
        let shooter = app.world_mut().spawn(shooter).id();
        Self { app, shooter, damage: Vec::new(), reports: Vec::new() }
    }

    /// Creates a server with a remote shooter, which is sent all pawns but its own.
    pub fn networked(weapon: &Weapon) -> Self {
        let mut server = Self::new(weapon);
        let shooter = server.shooter;
        server.app.world_mut().entity_mut(shooter).insert(SentSnapshots::default());
        server
    }

    /// Creates a server with a remote shooter and view validation.
    pub fn distrustful(weapon: &Weapon) -> Self {
        let mut server = Self::networked(weapon);
        let shooter = server.shooter;
        server.app.world_mut().entity_mut(shooter).insert(ViewTimeValidator::default());
        server
    }

    pub fn target(&mut self, id: u16, at: Vec3) -> Entity {
        let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
        let place = (Transform::from_translation(at), RecordTransform::default());
        self.app.world_mut().spawn((NetId(id), NetRole::Authority, place, body)).id()
    }

    pub fn wall(&mut self, half: Vec3, at: Vec3) {
        wall(&mut self.app, half, at);
    }

    pub fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    pub fn put(&mut self, target: Entity, at: Vec3) {
        self.app.world_mut().get_mut::<Transform>(target).expect("a target").translation = at;
    }

    /// Delivers a shot that is validated in the coming tick.
    pub fn arrive(&mut self, round: &PredictedShot) {
        let state = ExtendedState { body: CapsuleState::at(Vec3::ZERO), extension: WeaponState::default() };
        let event = ExtendedEvent::Extension(WeaponEvent::Fired(*round));
        let (entity, tick) = (self.shooter, round.shot);
        self.app.world_mut().write_message::<StepEvent<Soldier>>(StepEvent {
            entity,
            tick,
            state,
            queued_ticks: 0,
            last_received_snapshot: None,
            event,
        });
    }

    /// Runs a tick, with a snapshot of all pawns every third tick. Returns the outgoing messages.
    pub fn tick(&mut self) -> Vec<ShotMessage> {
        self.app.update();
        let send = self.now().0.is_multiple_of(3);
        let world = self.app.world_mut();
        if send {
            let now = world.resource::<CurrentTick>().0;
            let mut sent = Vec::new();
            for (id, mut history) in world.query::<(&NetId, &mut PublishedPath)>().iter_mut(world) {
                let update = history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
                sent.extend(update.filter(|_| *id != SHOOTER).map(|update| (*id, update)));
            }
            for mut log in world.query::<&mut SentSnapshots>().iter_mut(world) {
                for (id, update) in &sent {
                    log.mark_update(*id, update.iter().map(|snapshot| snapshot.tick), now);
                }
            }
        }
        self.damage.extend(drain::<Damage>(&mut self.app));
        self.reports.extend(drain::<ShotResolved>(&mut self.app));
        let mut mailbox = self.app.world_mut().query::<&mut OutgoingShotMessages>();
        mailbox
            .iter_mut(self.app.world_mut())
            .flat_map(|mut mailbox| core::mem::take(&mut mailbox.0))
            .collect()
    }

    /// Displayed pose of a target at a view time.
    pub fn drawn(&self, target: Entity, time: ViewTime) -> Option<DrawnPose> {
        let history = self.app.world().get::<PublishedPath>(target)?;
        let stamp = history.sent.stamp(time)?;
        let bases = BasePoses::default();
        Some(DrawnPose { pose: history.sent.pose(stamp, &PoseSampler::default(), &bases.at(time))?, stamp })
    }
}

pub fn wall(app: &mut App, half: Vec3, at: Vec3) {
    app.world_mut().spawn((Collider::cuboid(half.x, half.y, half.z), Transform::from_translation(at)));
}

/// A shot along a direction, fired at a view time of the screen.
pub fn round(number: u32, time: Option<ViewTime>, along: Vec3) -> PredictedShot {
    round_from(number, time, EYE, along)
}

pub fn round_from(number: u32, time: Option<ViewTime>, eye: Vec3, along: Vec3) -> PredictedShot {
    let aim = Aim::from_direction(along);
    let shot = Tick(10_000 + number);
    let fire = FireInput::new(&ShooterView::new(time, FireInput::rounded(eye)), shot).with_aim(aim, aim);
    let cone = SpreadCone { aim, half_angle: 0, up: Up::Y };
    PredictedShot {
        shot,
        number,
        weapon: WeaponId(0),
        fire,
        look: aim,
        before: None,
        fastest_turn: FastestTurn::default(),
        cone,
        up: Vec3::Y,
        seed: 0,
        power: 255,
    }
}

/// Everything that a screen has shown.
#[derive(Default)]
pub struct Picture {
    pub shown: Vec<ProjectileAppeared>,
    pub ended: Vec<ProjectileDisappeared>,
    pub hits: Vec<DisplayedProjectileHit>,
}

/// The screen of a client.
pub struct Screen {
    pub app: App,
    pub shooter: Entity,
    pub picture: Picture,
    targets: Vec<(Entity, Entity)>,
}

impl Screen {
    /// Creates the screen of the shooter or of a bystander.
    pub fn new(weapon: &Weapon, own: bool) -> Self {
        let mut app = app(weapon);
        let drawn = DrawnPose::default();
        let role = if own { NetRole::AutonomousProxy } else { NetRole::SimulatedProxy };
        let mut shooter = app.world_mut().spawn((SHOOTER, role, drawn));
        if own {
            shooter.insert(LocalControl);
        }
        let shooter = shooter.id();
        if !own {
            app.world_mut().spawn((NetId(999), NetRole::AutonomousProxy, LocalControl));
        }
        Self { app, shooter, picture: Picture::default(), targets: Vec::new() }
    }

    /// Shows a target of the server on this screen.
    pub fn target(&mut self, server: &Server, target: Entity) {
        let id = *server.app.world().get::<NetId>(target).expect("a network identifier");
        let body = (NetRole::SimulatedProxy, DrawnPose::default(), humanoid_hit_boxes(), humanoid_rig());
        self.targets.push((target, self.app.world_mut().spawn((id, body)).id()));
    }

    pub fn fire(&mut self, round: &PredictedShot, time: Option<ViewTime>) {
        self.fire_from(round, time, EYE);
    }

    pub fn fire_from(&mut self, round: &PredictedShot, time: Option<ViewTime>, from: Vec3) {
        let (shooter, from) = (self.shooter, FireInput::rounded(from));
        self.app.world_mut().write_message(ShotFired {
            shooter,
            round: *round,
            from,
            time,
            rays: Vec::new(),
        });
    }

    pub fn receive(&mut self, mailed: &ShotMessage) {
        let world = self.app.world_mut();
        match *mailed {
            ShotMessage::Launched(launch) => {
                world.write_message::<ProjectileLaunch>(launch);
            }
            ShotMessage::Ended(end) => {
                world.write_message::<ProjectileEnd>(end);
            }
            ShotMessage::Verdict(verdict) => {
                world.write_message::<ShotVerdict>(verdict);
            }
            ShotMessage::Tracer(_) => {}
        }
    }

    /// Runs a frame at a view time with some length.
    pub fn frame(&mut self, server: &Server, time: Option<ViewTime>, seconds: f32) {
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(seconds)));
        for (target, here) in &self.targets {
            if let Some(drawn) = time.and_then(|time| server.drawn(*target, time)) {
                *self.app.world_mut().get_mut::<DrawnPose>(*here).expect("a target") = drawn;
            }
        }
        self.app.world_mut().resource_mut::<DrawnViewTime>().0 = time;
        self.app.update();
        self.picture.shown.extend(drain::<ProjectileAppeared>(&mut self.app));
        self.picture.ended.extend(drain::<ProjectileDisappeared>(&mut self.app));
        self.picture.hits.extend(drain::<DisplayedProjectileHit>(&mut self.app));
    }

    pub fn flying(&mut self) -> Vec<DrawnProjectile> {
        let world = self.app.world_mut();
        world.query::<&DrawnProjectile>().iter(world).copied().collect()
    }
}

/// A queue of messages with a delay in ticks.
pub struct Way<T>(VecDeque<(Tick, T)>);

impl<T> Way<T> {
    pub fn new() -> Self {
        Self(VecDeque::new())
    }

    pub fn send(&mut self, at: Tick, what: T) {
        self.0.push_back((at, what));
    }

    pub fn come(&mut self, now: Tick) -> Option<T> {
        let due = self.0.front().is_some_and(|(at, _)| now.since(*at) >= 0);
        due.then(|| self.0.pop_front().map(|(_, what)| what)).flatten()
    }
}
