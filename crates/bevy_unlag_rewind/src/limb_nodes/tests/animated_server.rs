//! Test server with an animated pawn whose limbs are nodes of a skeleton.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnPose, NetId, PathKnotConfig, PoseSampler, Tick, ViewTime,
};
use bevy_unlag_movement::{CapsuleModel, MovementPlugin};

use super::scripted_motion::Dance;
use crate::{
    history::FrameHistory,
    humanoid::{HUMANOID_LIMBS, humanoid_hit_boxes},
    limb_nodes::{LimbNodes, LimbRecordInterval},
    plugin::RewindPlugin,
};
use bevy_unlag_smoothing::{PublishedPath, RecordTransform};

/// Parent of each limb.
const PARENTS: [Option<usize>; HUMANOID_LIMBS.len()] = [
    Some(1),
    Some(2),
    Some(3),
    Some(4),
    None,
    Some(2),
    Some(2),
    Some(5),
    Some(6),
    Some(7),
    Some(8),
    Some(9),
    Some(10),
    Some(4),
    Some(4),
    Some(13),
    Some(14),
    Some(15),
    Some(16),
];

/// The test model is in centimetres, and faces backwards.
const SCALE: f32 = 0.01;

fn armature() -> Isometry3d {
    Isometry3d::new(Vec3::new(0.0, 0.2, 0.1), Quat::from_rotation_y(core::f32::consts::PI))
}

/// Spawns the nodes of a skeleton below `root`, as a loaded model has them.
pub fn build_skeleton(world: &mut World, root: Entity) -> Vec<Entity> {
    let place = Transform::from_isometry(armature()).with_scale(Vec3::splat(SCALE));
    let top = world.spawn((Name::new("Armature"), place, ChildOf(root))).id();
    let nodes: Vec<Entity> = (0..PARENTS.len())
        .map(|limb| world.spawn((Name::new(format!("Limb{limb}")), Transform::default())).id())
        .collect();
    for (node, parent) in nodes.iter().zip(PARENTS) {
        world.entity_mut(*node).insert(ChildOf(parent.map_or(top, |parent| nodes[parent])));
    }
    nodes
}

/// Sets the joint transforms for the given limb poses.
pub fn pose_skeleton(world: &mut World, nodes: &[Entity], limbs: &[Isometry3d]) {
    for ((node, parent), limb) in nodes.iter().zip(PARENTS).zip(limbs) {
        let parent = parent.map_or(armature(), |parent| limbs[parent]);
        let local = parent.inverse() * *limb;
        if let Some(mut transform) = world.get_mut::<Transform>(*node) {
            transform.translation = Vec3::from(local.translation) / SCALE;
            transform.rotation = local.rotation;
        }
    }
}

#[derive(Resource, Clone, Copy)]
struct Plays(Dance);

#[derive(Component)]
struct Dancer(Vec<Entity>);

pub struct Stage {
    pub app: App,
    pub pawn: Entity,
    pub nodes: Vec<Entity>,
}

impl Stage {
    pub fn new(dance: Dance, every: u32) -> Self {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            TransformPlugin,
            MovementPlugin,
            RewindPlugin::<CapsuleModel>::default(),
        ))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_nanos(15_625_000)))
        .insert_resource(Plays(dance))
        .add_systems(FixedUpdate, place)
        .add_systems(Update, animate);
        app.finish();
        app.cleanup();
        let mut stage = Self { app, pawn: Entity::PLACEHOLDER, nodes: Vec::new() };
        stage.pawn = stage.spawn(1, every);
        stage.nodes = stage.app.world().get::<Dancer>(stage.pawn).expect("a dancer").0.clone();
        stage
    }

    pub fn spawn(&mut self, id: u16, every: u32) -> Entity {
        let world = self.app.world_mut();
        let body = (NetId(id), RecordTransform::default(), humanoid_hit_boxes(), LimbRecordInterval(every));
        let pawn = world.spawn(body).id();
        let nodes = build_skeleton(world, pawn);
        world.entity_mut(pawn).insert((LimbNodes::new(pawn, nodes.iter().copied()), Dancer(nodes)));
        pawn
    }

    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.app.update();
            self.send_every(3);
        }
    }

    pub fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    pub fn history(&self) -> &FrameHistory {
        self.app.world().get(self.pawn).expect("a history")
    }

    /// Sends a snapshot every `ticks` ticks.
    pub fn send_every(&mut self, ticks: u32) {
        if !self.now().0.is_multiple_of(ticks) {
            return;
        }
        let mut history = self.app.world_mut().get_mut::<PublishedPath>(self.pawn).expect("a history");
        history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
    }

    /// Returns what a client with all snapshots draws at a moment.
    pub fn drawn(&self, time: ViewTime) -> Option<DrawnPose> {
        let sent = &self.app.world().get::<PublishedPath>(self.pawn).expect("a path").sent;
        let stamp = sent.stamp(time)?;
        let bases = BasePoses::default();
        let pose = sent.pose(stamp, &PoseSampler::default(), &bases.at(time))?;
        Some(DrawnPose { pose, stamp })
    }
}

fn seconds(tick: Tick) -> f64 {
    f64::from(tick.0) / 64.0
}

fn place(tick: Res<CurrentTick>, plays: Res<Plays>, mut dancers: Query<&mut Transform, With<Dancer>>) {
    let (sample, _) = (plays.0)(seconds(tick.0));
    for mut transform in &mut dancers {
        *transform = Transform::from_isometry(sample.body());
    }
}

/// Animation runs once a frame, as Bevy's own does.
fn animate(world: &mut World) {
    let (tick, plays) = (world.resource::<CurrentTick>().0, *world.resource::<Plays>());
    let (_, limbs) = (plays.0)(seconds(tick));
    let dancers: Vec<Vec<Entity>> =
        world.query::<&Dancer>().iter(world).map(|dancer| dancer.0.clone()).collect();
    for nodes in dancers {
        pose_skeleton(world, &nodes, &limbs);
    }
}
