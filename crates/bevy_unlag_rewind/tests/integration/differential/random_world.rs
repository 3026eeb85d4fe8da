//! A random world: moving targets, and when they are sent.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::{parry::query::Ray, prelude::Collider, rapier::math::Pose};
use bevy_unlag_core::{
    BasePoses, CurrentTick, LimbRig, NetId, PathKnotConfig, PoseSampler, ProxySmoothing, Tick, ViewTime,
};
use bevy_unlag_movement::{BaseId, BaseTrack, CapsuleModel, CapsuleState, MovementBase, MovementPlugin};
use bevy_unlag_rewind::{FrameHistory, HitBoxes, HitLayers, RewindLimits, RewindPlugin, Team, humanoid_rig};
use bevy_unlag_smoothing::RecordTransform;
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};

use crate::differential::{hit_box_sets::HitBoxSets, oracle::Line};
use bevy_unlag_smoothing::PublishedPath;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Ticks for which despawned targets can be hit: the age limit, and the time that a shot may be queued.
pub const MAX_DESPAWN_AGE: i32 = 26 + 16;
const BASES: u16 = 3;
const MODES: [ProxySmoothing; 5] = [
    ProxySmoothing::Raw,
    ProxySmoothing::Linear,
    ProxySmoothing::Hermite,
    ProxySmoothing::Simulate,
    ProxySmoothing::Exponential,
];

/// A target, as the test knows it.
#[derive(Clone, Debug)]
pub struct CrowdTarget {
    pub entity: Entity,
    pub id: NetId,
    pub rig: Option<LimbRig>,
    pub mode: Option<ProxySmoothing>,
    pub team: Option<Team>,
    pub layers: Option<HitLayers>,
    /// Its hit box sets, each with the first tick in which it is valid; the first is valid from the
    /// beginning.
    pub sets: Vec<(Tick, HitBoxes)>,
    /// The tick of its despawn and its remaining history.
    pub gone: Option<(Tick, PublishedPath)>,
    /// Ticks between two updates.
    interval: u32,
    /// Ticks for which it is not sent.
    silent: u32,
    walk: Vec3,
    spot: Vec3,
}

impl CrowdTarget {
    pub fn set_at(&self, time: Option<ViewTime>) -> &HitBoxes {
        let holds = |from: &Tick| time.is_none_or(|time| time.since(ViewTime::at(*from)) >= 0);
        let later = self.sets[1..].iter().rev().find(|(from, _)| holds(from));
        &later.unwrap_or(&self.sets[0]).1
    }
}

#[derive(Component, Default)]
struct SendNow(bool);

/// The first tick of a frame.
#[derive(Resource)]
struct FirstTickOfFrame(Option<Tick>);

fn record_first_tick(tick: Res<CurrentTick>, mut began: ResMut<FirstTickOfFrame>) {
    began.0.get_or_insert(tick.0);
}

fn send(
    sampler: Res<PoseSampler>,
    mut all: Query<(&mut PublishedPath, Option<&ProxySmoothing>, &mut SendNow)>,
) {
    for (mut history, mode, mut now) in &mut all {
        if core::mem::take(&mut now.0) {
            history.next_update(&PathKnotConfig::default(), &sampler, mode);
        }
    }
}

pub struct RandomWorld {
    pub app: App,
    pub people: Vec<CrowdTarget>,
    pub seed: u64,
    rng: SmallRng,
    wardrobe: HitBoxSets,
    /// Fixed walls.
    walls: Vec<(Collider, Vec3)>,
    /// Places where targets gather.
    spots: Vec<Vec3>,
    wanted: usize,
    next: u16,
}

impl RandomWorld {
    pub fn new(seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin, RewindPlugin::<CapsuleModel>::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_systems(FixedLast, record_first_tick)
            .add_systems(PostUpdate, send);
        app.finish();
        app.cleanup();
        for id in 1..=BASES {
            // A lift, a train that turns, and one that tilts.
            let track = BaseTrack::Custom(std::sync::Arc::new(move |seconds: f64| {
                let wave = ((seconds / 4.0 + f64::from(id) * 0.3).fract() - 0.5).abs() as f32;
                let at = Vec3::new(f32::from(id) * 6.0 - 12.0, wave * 8.0, wave * 10.0);
                let tilt = if id == 3 { Quat::from_rotation_x(wave) } else { Quat::IDENTITY };
                Isometry3d::new(at, Quat::from_rotation_y(wave * 5.0) * tilt)
            }));
            app.world_mut().spawn(MovementBase { id: BaseId(id), track });
        }
        // In some worlds the tick counter wraps.
        if seed % 4 == 1 {
            app.world_mut().resource_mut::<CurrentTick>().0 = Tick(u32::MAX - 120);
        }
        app.world_mut().resource_mut::<RewindLimits>().hit_despawned = seed % 5 != 2;
        let spots: Vec<Vec3> = (0..3).map(|_| Self::anywhere(&mut rng, 30.0)).collect();
        let walls = if seed % 3 == 1 { Self::build(&mut app, &spots, &mut rng) } else { vec![] };
        let wanted = rng.random_range(8..=24);
        Self {
            app,
            people: vec![],
            seed,
            rng,
            wardrobe: HitBoxSets::default(),
            walls,
            spots,
            wanted,
            next: 1,
        }
    }

    /// In some worlds thin walls stand where targets gather, so that there are targets on both sides.
    fn build(app: &mut App, spots: &[Vec3], rng: &mut SmallRng) -> Vec<(Collider, Vec3)> {
        let mut wall = |spot: &Vec3, along: bool| {
            let half = if along { Vec3::new(0.7, 0.5, 0.01) } else { Vec3::new(0.01, 0.5, 0.7) };
            let at = *spot + Self::anywhere(rng, 2.5) + Vec3::Y * rng.random_range(0.5..1.8);
            let shape = Collider::cuboid(half.x, half.y, half.z);
            app.world_mut().spawn((shape.clone(), Transform::from_translation(at)));
            (shape, at)
        };
        spots
            .iter()
            .flat_map(|spot| [*spot; 6])
            .zip([true, false].into_iter().cycle())
            .map(|(spot, along)| wall(&spot, along))
            .collect()
    }

    /// Returns the distance to the first wall along a ray, in metres.
    pub fn wall(&self, line: &Line) -> Option<f32> {
        let ray = Ray::new(line.origin, line.direction);
        let cast = |(shape, at): &(Collider, Vec3)| {
            shape.raw.cast_ray(&Pose::from_translation(*at), &ray, line.max, true)
        };
        self.walls.iter().filter_map(cast).min_by(f32::total_cmp)
    }

    fn anywhere(rng: &mut SmallRng, width: f32) -> Vec3 {
        Vec3::new(rng.random_range(-width..width), 0.0, rng.random_range(-width..width))
    }

    pub fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    pub fn hit_despawned(&self) -> bool {
        self.app.world().resource::<RewindLimits>().hit_despawned
    }

    /// Returns the server's history of a target.
    pub fn history<'a>(&'a self, person: &'a CrowdTarget) -> &'a PublishedPath {
        match &person.gone {
            Some((_, history)) => history,
            None => self.app.world().get(person.entity).expect("the target must exist"),
        }
    }

    /// Runs a tick.
    pub fn step(&mut self) {
        let (now, next) = (self.now(), self.now().offset(1));
        while self.people.iter().filter(|person| person.gone.is_none()).count() < self.wanted {
            self.spawn();
        }
        let mut people = core::mem::take(&mut self.people);
        for person in people.iter_mut().filter(|person| person.gone.is_none()) {
            if self.rng.random_bool(0.002) {
                let history =
                    self.app.world().get::<PublishedPath>(person.entity).expect("the target must exist");
                person.gone = Some((now, history.clone()));
                self.app.world_mut().despawn(person.entity);
                continue;
            }
            self.send(person);
            self.change_mode_or_hit_boxes(person, next);
            if person.rig.is_some() { self.walk(person, next) } else { self.roll(person) }
        }
        self.people = people;
        // Sometimes the app stalls: two ticks in one frame, or skipped ticks.
        let frame = match self.rng.random_range(0..60) {
            0 => TICK * 2,
            1 => Duration::from_millis(350),
            _ => TICK,
        };
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
        self.app.insert_resource(FirstTickOfFrame(None));
        self.app.update();
        // A change takes effect in the first tick after it, which may be a later one.
        let (now, began) = (self.now(), self.app.world().resource::<FirstTickOfFrame>().0.unwrap_or(now));
        for (from, _) in self.people.iter_mut().flat_map(|person| person.sets[1..].last_mut()) {
            *from = if *from == next { began } else { *from };
        }
        let despawned = self.hit_despawned();
        self.people.retain(|person| {
            person.gone.as_ref().is_none_or(|(since, _)| despawned && now.since(*since) <= MAX_DESPAWN_AGE)
        });
    }

    fn spawn(&mut self) {
        let rng = &mut self.rng;
        let id = NetId(self.next);
        self.next += 1;
        let rig = rng.random_bool(0.8).then(humanoid_rig);
        let mode = rng.random_bool(0.6).then(|| *MODES.choose(rng).expect("the list must not be empty"));
        let team = rng.random_bool(0.7).then(|| Team(rng.random_range(0..3)));
        let layers = rng.random_bool(0.3).then(|| HitLayers(1 << rng.random_range(0..3)));
        let set = self.wardrobe.choose(rig.is_some(), rng);
        let spot = *self.spots.choose(rng).expect("the list must not be empty");
        let place = spot + Self::anywhere(rng, 1.5);
        let mut entity =
            self.app.world_mut().spawn((id, FrameHistory::default(), set.clone(), SendNow(false)));
        if let Some(rig) = rig {
            entity.insert((rig, CapsuleState::at(place)));
        } else {
            // Some lean slightly, by the smallest steps of the axis in the wire format.
            let lean = if id.0 % 4 == 1 { Quat::from_rotation_x(0.0115) } else { Quat::IDENTITY };
            let place = Transform::from_translation(place).with_rotation(lean);
            entity.insert((RecordTransform::default(), place));
        }
        if let Some(mode) = mode {
            entity.insert(mode);
        }
        if let Some(team) = team {
            entity.insert(team);
        }
        if let Some(layers) = layers {
            entity.insert(layers);
        }
        let interval = *[1, 2, 3, 3, 3, 4, 6, 9].choose(rng).expect("the list must not be empty");
        let person = CrowdTarget {
            entity: entity.id(),
            id,
            rig,
            mode,
            team,
            layers,
            sets: vec![(Tick(0), set)],
            gone: None,
            interval,
            silent: 0,
            walk: Vec3::ZERO,
            spot,
        };
        self.people.push(person);
    }

    fn send(&mut self, person: &mut CrowdTarget) {
        if self.rng.random_bool(0.003) {
            person.silent = self.rng.random_range(5..30);
        }
        person.silent = person.silent.saturating_sub(1);
        let due = (self.now().0.wrapping_add(u32::from(person.id.0))).is_multiple_of(person.interval);
        if due && person.silent == 0 {
            self.app.world_mut().get_mut::<SendNow>(person.entity).expect("the target must exist").0 = true;
        }
    }

    fn change_mode_or_hit_boxes(&mut self, person: &mut CrowdTarget, next: Tick) {
        if self.rng.random_bool(0.003) {
            let mode = *MODES.choose(&mut self.rng).expect("the list must not be empty");
            person.mode = Some(mode);
            self.app.world_mut().entity_mut(person.entity).insert(mode);
        }
        if self.rng.random_bool(0.01) {
            let set = self.wardrobe.choose(person.rig.is_some(), &mut self.rng);
            let worn = &person.sets.last().expect("a target must have a set").1;
            if !worn.is_same_set(&set) {
                person.sets.push((next, set.clone()));
                self.app.world_mut().entity_mut(person.entity).insert(set);
            }
        }
    }

    fn walk(&mut self, person: &mut CrowdTarget, next: Tick) {
        let bases = self.app.world().resource::<BasePoses>().clone();
        let mut state =
            *self.app.world().get::<CapsuleState>(person.entity).expect("the target must have a state");
        let rng = &mut self.rng;
        let mut often = |p: f64| rng.random_bool(p);
        let (turn, jump, crouch, teleport) = (often(0.03), often(0.015), often(0.02), often(0.008));
        let (die, rise, board, leave, tilt) =
            (often(0.006), often(0.04), often(0.006), often(0.01), often(0.004));
        if turn {
            // Usually walks back to its place at some speed.
            let home =
                (person.spot - state.position).with_y(0.0).normalize_or_zero() * rng.random_range(0.0..4.0);
            person.walk = home + Self::anywhere(rng, 4.0) * f32::from(u8::from(rng.random_bool(0.7)));
        }
        let dt = TICK.as_secs_f32();
        state.yaw = state.yaw.wrapping_add(rng.random_range(0..400));
        state.pitch = state.pitch.saturating_add(rng.random_range(-300..300)).clamp(-16_000, 16_000);
        state.crouched ^= crouch;
        if tilt {
            let aside = Self::anywhere(rng, 1.0) * f32::from(u8::from(rng.random_bool(0.5)));
            state.up = (Vec3::Y + aside).normalize();
        }
        if die {
            state.alive = false;
        }
        if teleport || (rise && !state.alive) {
            state.alive = true;
            person.spot = *self.spots.choose(rng).expect("the list must not be empty");
            state.teleport_to(person.spot + Self::anywhere(rng, 1.5));
        }
        if board && state.base == BaseId::NONE {
            state.base = BaseId(rng.random_range(1..=BASES));
            state.base_position = Self::anywhere(rng, 1.5);
            state.teleports = state.teleports.wrapping_add(u8::from(rng.random_bool(0.5)));
        } else if leave {
            state.base = BaseId::NONE;
        }
        if state.base == BaseId::NONE {
            let fall = if jump && state.position.y <= 0.0 { 5.0 } else { state.velocity.y - 15.0 * dt };
            state.velocity = person.walk.with_y(fall);
            state.position += state.velocity * dt;
            if state.position.y <= 0.0 {
                (state.position.y, state.velocity.y) = (0.0, 0.0);
            }
        } else {
            let view = bases.at(ViewTime::at(next));
            state.velocity = person.walk * 0.2;
            state.base_position += state.velocity * dt;
            state.base_velocity = view.velocity(state.base.0, state.base_position);
            if let Some(pose) = view.pose(state.base.0) {
                state.position = pose.transform_point(state.base_position).into();
            }
        }
        *self.app.world_mut().get_mut(person.entity).expect("the target must have a state") = state;
    }

    fn roll(&mut self, person: &mut CrowdTarget) {
        let rng = &mut self.rng;
        let dt = TICK.as_secs_f32();
        if rng.random_bool(0.03) {
            person.walk = Self::anywhere(rng, 6.0).with_y(rng.random_range(-1.0..1.0));
        }
        let elsewhere = rng.random_bool(0.008).then(|| person.spot + Self::anywhere(rng, 2.0));
        // Some tilt; the others have tight bounds.
        let tilt = if person.id.0.is_multiple_of(2) { 0.01 } else { 0.0 };
        let turned = Quat::from_euler(EulerRot::XYZ, tilt, person.walk.x * 0.01, person.walk.z * tilt * 0.4);
        let mut entity = self.app.world_mut().entity_mut(person.entity);
        if elsewhere.is_some() {
            entity.get_mut::<RecordTransform>().expect("the target must be recorded").teleports += 1;
        }
        let mut place = entity.get_mut::<Transform>().expect("the target must have a transform");
        place.translation = elsewhere.unwrap_or(place.translation + person.walk * dt);
        place.rotation = (turned * place.rotation).normalize();
    }
}
