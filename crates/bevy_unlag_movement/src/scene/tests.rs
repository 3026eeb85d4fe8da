//! Tests of the parts that a step sees.

mod bases;
mod order;
mod shapes;

use core::time::Duration;
use std::sync::{Arc, Mutex};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::{
    parry::bounding_volume::Aabb,
    prelude::{Collider, ColliderDisabled, ColliderScale, CollisionGroups, Group, RigidBody, Sensor},
};
use bevy_unlag_core::MoveSystems;

use super::{Include, MoverScene, sync::sync};
use crate::{
    frame::Frame,
    part::{Part, PartShape},
    plugin::MovementPlugin,
    volume::{MoveVolume, VolumeId},
};

const DT: f32 = 1.0 / 64.0;
const NO_PAWN: Entity = Entity::PLACEHOLDER;

/// Creates a level in which no tick has passed and rapier has not stepped.
fn level() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
    app
}

fn cube(half: f32) -> Collider {
    Collider::cuboid(half, half, half)
}

fn at(x: f32) -> Transform {
    Transform::from_xyz(x, 0.0, 0.0)
}

/// Returns a one-metre box around a place on the x axis.
fn unit_box_at(x: f32) -> Aabb {
    Aabb::from_half_extents(Vec3::X * x, Vec3::splat(0.5))
}

/// Runs the update that the plugin runs before a tick.
fn expect_synced(app: &mut App) -> &MoverScene {
    let ran = app.world_mut().run_system_cached(sync);
    assert!(ran.is_ok(), "{ran:?}");
    app.world().resource::<MoverScene>()
}

/// Returns the parts that touch `region`, as a step sees them.
fn parts(scene: &MoverScene, own: Entity, region: Aabb) -> Vec<Part> {
    scene.with_parts(own, 0.0, u32::MAX, Frame::new(Vec3::Y, Vec3::ZERO), Include::Bases, |near| {
        near.cover(region);
        touching(near.parts(), region)
    })
}

fn touching(parts: &[Part], region: Aabb) -> Vec<Part> {
    use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
    parts.iter().filter(|part| part.aabb.intersects(&region)).cloned().collect()
}

/// Updates the scene and returns the number of parts around a place on the x axis.
fn count(app: &mut App, x: f32) -> usize {
    parts(expect_synced(app), NO_PAWN, unit_box_at(x)).len()
}

/// Returns a part in a form that compares bit by bit.
fn bits(part: &Part) -> (u64, u32, [[u32; 3]; 2], String) {
    let corner = |corner: Vec3| corner.to_array().map(f32::to_bits);
    let shape = match &part.shape {
        PartShape::Box => String::from("box"),
        PartShape::TurnedBox { pose, half } => format!("{pose:?} {half:?}"),
        PartShape::Triangle { corners, normal } => format!("{corners:?} {normal:?}"),
        PartShape::Capsule { a, b, radius } => format!("{a:?} {b:?} {radius}"),
        PartShape::Convex { pose, shape } => format!("{pose:?} {:?}", shape.shape_type()),
    };
    (part.order, part.index, [corner(part.aabb.mins), corner(part.aabb.maxs)], shape)
}

#[test]
fn spawned_collider_is_in_the_scene_without_a_physics_step() {
    let mut app = level();
    app.world_mut().spawn((cube(0.5), at(3.0)));
    MoverScene::refresh(app.world_mut());
    let scene = app.world().resource::<MoverScene>();
    assert_eq!(scene.counts(), [1, 0, 0]);
    assert_eq!(parts(scene, NO_PAWN, unit_box_at(3.0)).len(), 1);
    assert!(parts(scene, NO_PAWN, unit_box_at(9.0)).is_empty());
}

#[test]
fn collider_spawned_in_a_tick_is_seen_by_moves_of_that_tick() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let mut app = level();
    app.add_systems(FixedPreUpdate, |mut commands: Commands| {
        commands.spawn((cube(0.5), at(3.0)));
    })
    .add_systems(
        FixedUpdate,
        (move |scene: Res<MoverScene>| {
            if let Ok(mut log) = log.lock() {
                log.push(parts(&scene, NO_PAWN, unit_box_at(3.0)).len());
            }
        })
        .in_set(MoveSystems::Step),
    );
    app.finish();
    app.cleanup();
    for _ in 0..4 {
        app.update();
    }
    let Ok(seen) = seen.lock() else { panic!("a system panicked") };
    assert!(seen.len() > 1, "expected several ticks");
    assert!(seen.iter().enumerate().all(|(i, count)| *count == i + 1), "{seen:?}");
}

#[test]
fn moving_an_ancestor_moves_the_colliders_below_it() {
    let mut app = level();
    let root = app.world_mut().spawn(at(1.0)).id();
    let node = app.world_mut().spawn((at(1.0), ChildOf(root))).id();
    app.world_mut().spawn((cube(0.5), at(1.0), ChildOf(node)));
    assert_eq!([count(&mut app, 3.0), count(&mut app, 13.0)], [1, 0]);
    app.world_mut().entity_mut(root).insert(at(11.0));
    assert_eq!([count(&mut app, 3.0), count(&mut app, 13.0)], [0, 1], "a grandparent moved");
    app.world_mut().entity_mut(node).insert(at(-9.0));
    assert_eq!([count(&mut app, 3.0), count(&mut app, 13.0)], [1, 0], "a parent moved");
    app.world_mut().entity_mut(node).remove::<ChildOf>();
    assert_eq!([count(&mut app, 3.0), count(&mut app, -8.0)], [0, 1], "a parent was removed");
}

#[test]
fn sensors_disabled_and_dynamic_colliders_are_not_obstacles() {
    let mut app = level();
    let world = app.world_mut();
    world.spawn((cube(0.5), at(0.0), Sensor));
    world.spawn((cube(0.5), at(10.0), ColliderDisabled));
    world.spawn((cube(0.5), at(20.0), RigidBody::Dynamic));
    world.spawn((cube(0.5), at(30.0), RigidBody::KinematicPositionBased));
    let body = world.spawn((at(40.0), RigidBody::KinematicVelocityBased)).id();
    world.spawn((cube(0.5), Transform::default(), ChildOf(body)));
    world.spawn((cube(0.5), at(50.0), MoveVolume::trigger(VolumeId(1))));
    world.spawn((cube(0.5), at(60.0), RigidBody::Fixed));
    let seen = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0].map(|x| count(&mut app, x));
    assert_eq!(seen, [0, 0, 0, 0, 0, 0, 1]);
}

fn with(bundle: impl Bundle, mut entity: EntityWorldMut) {
    entity.insert(bundle);
}

fn without<B: Bundle>(mut entity: EntityWorldMut) {
    entity.remove::<B>();
}

#[test]
fn adding_and_removing_components_updates_the_scene() {
    let mut app = level();
    let entity = app.world_mut().spawn((cube(0.5), at(0.0))).id();
    let mut after = |change: fn(EntityWorldMut)| {
        change(app.world_mut().entity_mut(entity));
        count(&mut app, 0.0)
    };
    assert_eq!(after(|_| {}), 1);
    assert_eq!(after(|e| with(Sensor, e)), 0);
    assert_eq!(after(without::<Sensor>), 1);
    assert_eq!(after(|e| with(ColliderDisabled, e)), 0);
    assert_eq!(after(without::<ColliderDisabled>), 1);
    assert_eq!(after(|e| with(RigidBody::Dynamic, e)), 0);
    assert_eq!(after(|e| with(RigidBody::Fixed, e)), 1);
    assert_eq!(after(|e| with(RigidBody::Dynamic, e)), 0);
    assert_eq!(after(without::<RigidBody>), 1);
    assert_eq!(after(|e| with(at(5.0), e)), 0, "it moved");
    assert_eq!(after(|e| with(cube(5.0), e)), 1, "a bigger collider");
    assert_eq!(after(|e| with(ColliderScale::Absolute(Vec3::splat(0.1)), e)), 0, "scaled down");
    assert_eq!(after(without::<ColliderScale>), 1);
    assert_eq!(after(without::<Collider>), 0);
    assert_eq!(after(|e| with(cube(5.0), e)), 1);
    assert_eq!(after(|e| with(MoveVolume::trigger(VolumeId(1)), e)), 0);
    assert_eq!(after(without::<MoveVolume>), 1);
}

#[test]
fn despawned_collider_is_removed_from_the_scene() {
    let mut app = level();
    let entity = app.world_mut().spawn((cube(0.5), at(0.0))).id();
    assert_eq!(count(&mut app, 0.0), 1);
    app.world_mut().entity_mut(entity).despawn();
    assert_eq!(count(&mut app, 0.0), 0);
    let root = app.world_mut().spawn(at(0.0)).id();
    for _ in 0..3 {
        app.world_mut().spawn((cube(0.5), Transform::default(), ChildOf(root)));
    }
    assert_eq!(count(&mut app, 0.0), 3);
    app.world_mut().entity_mut(root).despawn();
    assert_eq!(count(&mut app, 0.0), 0);
    assert_eq!(expect_synced(&mut app).counts(), [0, 0, 0]);
}

#[test]
fn removals_are_not_missed_in_frames_without_a_tick() {
    let mut app = level();
    app.finish();
    app.cleanup();
    let entity = app.world_mut().spawn((cube(0.5), at(0.0))).id();
    assert_eq!(count(&mut app, 0.0), 1);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    app.world_mut().entity_mut(entity).despawn();
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(count(&mut app, 0.0), 0);
}

#[test]
fn collider_size_includes_the_scale_of_all_ancestors() {
    let mut app = level();
    let root = app.world_mut().spawn(Transform::from_scale(Vec3::splat(2.0))).id();
    app.world_mut().spawn((cube(1.0), at(5.0).with_scale(Vec3::new(1.0, 3.0, 1.0)), ChildOf(root)));
    let found = parts(expect_synced(&mut app), NO_PAWN, unit_box_at(10.0));
    let [part] = &found[..] else { panic!("expected one box") };
    assert_eq!((part.aabb.mins, part.aabb.maxs), (Vec3::new(8.0, -6.0, -2.0), Vec3::new(12.0, 6.0, 2.0)));
}

#[test]
fn invalid_shapes_and_transforms_are_ignored_until_they_are_valid() {
    let mut app = level();
    let bad = [
        Transform::from_translation(Vec3::NAN),
        Transform::from_translation(Vec3::X * f32::INFINITY),
        Transform::from_translation(Vec3::X * 1e30),
        Transform::from_rotation(Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)),
        Transform::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        Transform::from_scale(Vec3::NAN),
        Transform::from_scale(Vec3::ZERO),
    ];
    let entities = bad.map(|transform| app.world_mut().spawn((cube(0.5), transform)).id());
    app.world_mut().spawn((Collider::ball(f32::NAN), at(0.0)));
    app.world_mut().spawn((cube(0.5), Transform::from_translation(Vec3::NAN), ChildOf(entities[5])));
    assert_eq!(expect_synced(&mut app).counts(), [0, 0, 0]);
    for entity in entities {
        app.world_mut().entity_mut(entity).insert(at(2.0));
    }
    assert_eq!(count(&mut app, 2.0), bad.len(), "valid transforms count");
}

#[test]
fn colliders_of_other_collision_groups_are_left_out() {
    let mut app = level();
    let groups = CollisionGroups::new(Group::GROUP_2, Group::ALL);
    app.world_mut().spawn((cube(0.5), at(0.0), groups));
    app.world_mut().spawn((cube(0.5), at(0.2)));
    let scene = expect_synced(&mut app);
    let seen = |mask: u32| {
        scene.with_parts(NO_PAWN, 0.0, mask, Frame::new(Vec3::Y, Vec3::ZERO), Include::Bases, |near| {
            near.cover(unit_box_at(0.0));
            near.parts().len()
        })
    };
    assert_eq!([seen(u32::MAX), seen(2), seen(1), seen(u32::MAX)], [2, 2, 1, 2]);
}

#[test]
fn pawn_does_not_see_its_own_colliders() {
    let mut app = level();
    let pawn = app.world_mut().spawn(at(0.0)).id();
    let limb = app.world_mut().spawn((Transform::default(), ChildOf(pawn))).id();
    app.world_mut().spawn((cube(0.5), Transform::default(), ChildOf(limb)));
    app.world_mut().entity_mut(pawn).insert(cube(0.5));
    let other = app.world_mut().spawn_empty().id();
    let scene = expect_synced(&mut app);
    assert_eq!([pawn, other].map(|own| parts(scene, own, unit_box_at(0.0)).len()), [0, 2]);
}

#[test]
fn volumes_are_chosen_by_priority_then_by_id() {
    let mut app = level();
    let volume = |id, priority| MoveVolume { priority, ..MoveVolume::water(VolumeId(id)) };
    let low = app.world_mut().spawn((cube(2.0), at(0.0), Sensor, volume(1, 0))).id();
    app.world_mut().spawn((cube(1.0), at(0.0), volume(3, 1)));
    app.world_mut().spawn((Collider::ball(1.0), at(0.0), volume(2, 1)));
    expect_synced(&mut app);
    app.world_mut().spawn((cube(9.0), at(0.0), volume(2, 7)));
    let scene = expect_synced(&mut app);
    let id = |scene: &MoverScene, x: f32, y: f32| scene.volume_at(Vec3::new(x, y, 0.0)).map(|v| v.id.0);
    assert_eq!(id(scene, 0.0, 0.0), Some(2));
    assert_eq!(id(scene, 0.9, 0.9), Some(3), "outside the ball");
    assert_eq!(id(scene, 1.9, 0.0), Some(1));
    assert_eq!(id(scene, 3.0, 0.0), None, "a volume with a taken id is ignored");
    assert_eq!(id(scene, f32::NAN, 0.0), None);
    assert_eq!(scene.volume_top(VolumeId(1), Vec3::Y), Some(2.0));
    assert_eq!(scene.volume_top(VolumeId(9), Vec3::Y), None);
    app.world_mut().entity_mut(low).insert(at(1.5));
    assert_eq!(id(expect_synced(&mut app), 3.0, 0.0), Some(1), "the volume moved");
    app.world_mut().entity_mut(low).despawn();
    assert_eq!(id(expect_synced(&mut app), 1.9, 0.0), None, "the volume was despawned");
}
