//! A test range: moving targets among walls, and the oracle's poses of all hit boxes.

use core::time::Duration;

use bevy::{ecs::system::SystemState, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::{parry::query::Ray, prelude::Collider, rapier::math::Pose};
use bevy_unlag_core::{CurrentTick, LimbPoses, LimbRig, NetId, PathKnotConfig, PoseSampler, ViewTime};
use bevy_unlag_movement::{CapsuleModel, MovementPlugin};
use bevy_unlag_rewind::{
    BodyBounds, HitBox, HitBoxes, HitGroup, Occluder, RewindPlugin, RewindQuery, RewindTime, Rewound,
    TargetHit, humanoid_hit_boxes, humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_smoothing::RecordTransform;
use rand::{Rng, SeedableRng, rngs::SmallRng};

pub const TICK: Duration = Duration::from_nanos(15_625_000);

pub type Targets<'w, 's> = Query<'w, 's, (Entity, &'static NetId, &'static HitBoxes, &'static LimbRig)>;

/// Movement on a circle.
#[derive(Component, Clone, Copy)]
pub struct CircularMotion {
    pub middle: Vec3,
    pub radius: f32,
    /// Radians per tick.
    pub speed: f32,
    pub start: f32,
}

impl CircularMotion {
    pub fn place(&self, tick: f32) -> Transform {
        let angle = self.start + self.speed * tick;
        let at = self.middle + Vec3::new(angle.cos(), 0.0, angle.sin()) * self.radius;
        Transform::from_translation(at).with_rotation(Quat::from_rotation_y(-angle))
    }
}

/// A fixed wall or a door.
#[derive(Clone)]
pub struct Wall {
    pub shape: Collider,
    pub at: Vec3,
}

pub struct Range {
    pub app: App,
    pub walls: Vec<Wall>,
    pub rng: SmallRng,
}

/// Balls, capsules, a cylinder and a box that is off the origin of its limb.
pub fn mixed_shapes() -> HitBoxes {
    let aside = Isometry3d::new(Vec3::new(0.05, 0.1, -0.02), Quat::from_rotation_z(0.4));
    let boxes = [
        HitBox::new(0, HitGroup::Head, Collider::ball(0.16)),
        HitBox::new(2, HitGroup::Body, Collider::capsule_x(0.15, 0.2)),
        HitBox::new(4, HitGroup::Body, Collider::cylinder(0.2, 0.25)),
        HitBox::new(13, HitGroup::Limb, Collider::cuboid(0.1, 0.2, 0.1)).at(aside),
        HitBox::new(14, HitGroup::Limb, Collider::capsule_y(0.15, 0.1)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 1.1, low: -0.1, high: 2.0 }).nearest_first()
}

impl Range {
    /// Creates a range with `targets` targets and, unless `no_walls`, some walls and a door that is shut
    /// until tick 40.
    pub fn new(targets: u16, no_walls: bool) -> Self {
        Self::within(12.0, targets, no_walls)
    }

    /// Like [`Self::new`], with targets within `yard` metres to every side.
    pub fn within(yard: f32, targets: u16, no_walls: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_plugins(RewindPlugin::<CapsuleModel>::default());
        app.finish();
        app.cleanup();
        let mut range = Self { app, walls: Vec::new(), rng: SmallRng::seed_from_u64(17) };
        range.crowd(yard, targets, true);
        if !no_walls {
            for (x, z) in [(-6.0, 2.0), (5.0, -4.0), (0.0, 7.0)] {
                range.wall(Vec3::new(2.0, 1.0, 0.15), Vec3::new(x, 1.0, z));
            }
            range.door(Vec3::new(0.1, 1.5, 2.0), Vec3::new(1.0, 1.5, 0.0));
        }
        range
    }

    /// Adds moving targets, a third of them with odd shapes if `odd`.
    pub fn crowd(&mut self, yard: f32, targets: u16, odd: bool) {
        for id in 0..targets {
            let circle = CircularMotion {
                middle: self.random_point(yard).with_y(0.0),
                radius: self.rng.random_range(0.5..4.0),
                speed: self.rng.random_range(-0.06..0.06),
                start: self.rng.random_range(0.0..6.0),
            };
            let boxes = if odd && id % 3 == 2 { mixed_shapes() } else { humanoid_hit_boxes() };
            self.add(id + 1, circle, boxes);
        }
    }

    pub fn add(&mut self, id: u16, circle: CircularMotion, boxes: HitBoxes) -> Entity {
        let recorded = (RecordTransform::default(), circle.place(0.0));
        self.app.world_mut().spawn((NetId(id), circle, recorded, boxes, humanoid_rig())).id()
    }

    pub fn wall(&mut self, half: Vec3, at: Vec3) -> Entity {
        let shape = Collider::cuboid(half.x, half.y, half.z);
        self.walls.push(Wall { shape: shape.clone(), at });
        self.app.world_mut().spawn((shape, Transform::from_translation(at))).id()
    }

    fn door(&mut self, half: Vec3, at: Vec3) {
        let shape = Collider::cuboid(half.x, half.y, half.z);
        self.walls.push(Wall { shape: shape.clone(), at });
        let recorded = (RecordTransform::default(), Transform::from_translation(at));
        self.app.world_mut().spawn((NetId(9_999), Occluder { shape, base: 0 }, recorded));
    }

    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let tick = self.now().0 + 1;
            let world = self.app.world_mut();
            for (circle, mut at) in world.query::<(&CircularMotion, &mut Transform)>().iter_mut(world) {
                *at = circle.place(tick as f32);
            }
            let opens = tick == 40;
            for (mut recorded, mut at) in world
                .query_filtered::<(&mut RecordTransform, &mut Transform), With<Occluder>>()
                .iter_mut(world)
            {
                if opens {
                    recorded.teleports += 1;
                    at.translation.y += 50.0;
                }
            }
            self.app.update();
            if self.now().0.is_multiple_of(3) {
                let world = self.app.world_mut();
                for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
                    history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
                }
            }
        }
    }

    pub fn now(&self) -> bevy_unlag_core::Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    pub fn random_point(&mut self, reach: f32) -> Vec3 {
        random_point(&mut self.rng, reach)
    }

    /// Calls a function with the query and all targets.
    pub fn query<T>(&mut self, question: impl FnOnce(&RewindQuery, &Targets) -> T) -> T {
        let world = self.app.world_mut();
        let mut state = SystemState::<(RewindQuery, Targets)>::new(world);
        let (query, targets) = state.get(world).expect("the query must run");
        question(&query, &targets)
    }

    /// Calls a function with the state `ago` ticks back, and with the targets as the oracle poses them
    /// there.
    pub fn with_rewound<T>(
        &mut self,
        ago: f64,
        question: impl FnOnce(&Rewound, &PosedCrowd, &mut SmallRng) -> T,
    ) -> T {
        let time = ViewTime::after(self.now(), -ago);
        let (walls, mut rng) = (self.walls.clone(), self.rng.clone());
        let answer = self.query(|query, targets| {
            let then = query.at(RewindTime::At(time)).expect("a valid time");
            let crowd = PosedCrowd::at(&then, targets, walls);
            question(&then, &crowd, &mut rng)
        });
        self.rng = rng;
        answer
    }
}

pub fn random_point(rng: &mut SmallRng, reach: f32) -> Vec3 {
    Vec3::from_array(rng.random::<[f32; 3]>()) * 2.0 * reach - Vec3::splat(reach)
}

pub fn direction(rng: &mut SmallRng) -> Vec3 {
    loop {
        if let Some(direction) = random_point(rng, 1.0).try_normalize() {
            return direction;
        }
    }
}

/// A hit box in the world.
pub struct PosedBox {
    pub target: NetId,
    pub index: u8,
    pub group: HitGroup,
    pub head_first: bool,
    pub shape: Collider,
    pub pose: Pose,
}

/// All hit boxes at a query time.
pub struct PosedCrowd {
    pub boxes: Vec<PosedBox>,
    pub bodies: Vec<(NetId, Isometry3d)>,
    pub walls: Vec<Wall>,
}

impl PosedCrowd {
    pub fn at(then: &Rewound, targets: &Targets, walls: Vec<Wall>) -> Self {
        let mut crowd = Self { boxes: Vec::new(), bodies: Vec::new(), walls };
        let mut room = LimbPoses::default();
        for (entity, id, set, rig) in targets {
            let Ok(pose) = then.pose(entity) else { continue };
            crowd.bodies.push((*id, Isometry3d::new(pose.position, pose.rotation)));
            let limbs = rig.in_world(&pose, &mut room);
            for (index, hit_box) in set.boxes().iter().enumerate() {
                let at = limbs[usize::from(hit_box.limb)] * hit_box.offset;
                crowd.boxes.push(PosedBox {
                    target: *id,
                    index: index as u8,
                    group: hit_box.group,
                    head_first: set.head_first(),
                    shape: hit_box.shape.clone(),
                    pose: Pose::from_parts(at.translation.into(), at.rotation),
                });
            }
        }
        crowd
    }

    /// Returns the distance to the first wall, in metres.
    pub fn wall(&self, origin: Vec3, direction: Vec3, max: f32) -> Option<f32> {
        let ray = Ray::new(origin, direction);
        let cast = |wall: &Wall| wall.shape.raw.cast_ray(&Pose::from_translation(wall.at), &ray, max, true);
        self.walls.iter().filter_map(cast).min_by(f32::total_cmp)
    }

    /// Returns a random point near a box.
    pub fn near_random_box(&self, rng: &mut SmallRng, spread: f32) -> Vec3 {
        let placed = &self.boxes[rng.random_range(0..self.boxes.len())];
        placed.pose.translation + random_point(rng, spread)
    }

    /// Returns the nearest target for a distance function, with that distance.
    pub fn first(&self, distance: impl Fn(&PosedBox) -> Option<f32>) -> Option<(NetId, HitGroup, f32)> {
        let met = |placed: &PosedBox| distance(placed).map(|at| (at, placed.target));
        let order = |a: &(f32, NetId), b: &(f32, NetId)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (at, target) = self.boxes.iter().filter_map(met).min_by(order)?;
        Some((target, HitGroup::Body, at))
    }
}

impl PosedBox {
    pub fn ray(&self, origin: Vec3, direction: Vec3, max: f32) -> Option<f32> {
        if self.shape.raw.as_capsule().is_none() {
            return self.shape.raw.cast_ray(&self.pose, &Ray::new(origin, direction), max, true);
        }
        // Parry is off by some millimetres where a ray grazes a capsule, so this sphere traces.
        let mut at = 0.0;
        for _ in 0..500 {
            let gap = self.distance(origin + direction * at);
            if gap < 1e-6 || at > max {
                break;
            }
            at += gap;
        }
        (at <= max && self.distance(origin + direction * at) < 1e-4).then_some(at)
    }

    pub fn distance(&self, point: Vec3) -> f32 {
        self.shape.raw.distance_to_point(&self.pose, point, true)
    }

    /// Returns the distance to the surface in metres, negative inside.
    pub fn signed_distance(&self, point: Vec3) -> f32 {
        let surface = self.shape.raw.project_point(&self.pose, point, false);
        let distance = surface.point.distance(point);
        if surface.is_inside { -distance } else { distance }
    }

    /// Whether a ray that hits the box at `at` penetrates it by at most 0.1 mm.
    pub fn grazes(&self, origin: Vec3, direction: Vec3, at: f32) -> bool {
        (0..200).all(|step| self.signed_distance(origin + direction * (at + step as f32 * 1e-3)) > -1e-4)
    }

    pub fn is(&self, hit: &TargetHit) -> bool {
        (self.target, self.index, self.group) == (hit.target, hit.hit_box, hit.group)
    }
}

/// Counts of the results, and of those that differ from the oracle by rounding.
#[derive(Default, Debug)]
pub struct Tally {
    pub hits: u32,
    pub misses: u32,
    pub blocked: u32,
    pub differ: u32,
}
