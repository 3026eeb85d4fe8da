//! Change detection of the level.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};
use bevy_rapier3d::{
    geometry::{Collider, ColliderDisabled, ColliderScale, CollisionGroups, Sensor},
    plugin::PhysicsSet,
    prelude::{RigidBody, RigidBodyDisabled},
};
use bevy_unlag_core::{MoveSystems, TickSystems};

use super::{MoverScene, PawnCapsule, base_poses, base_transforms, classification::SceneQueries, gravity};
use crate::{
    base::MovementBase,
    system_sets::MoverSceneSystems,
    volume::{MoveVolume, OneWayCollider},
};

pub(crate) fn add_systems(app: &mut App) {
    app.configure_sets(
        FixedUpdate,
        (MoverSceneSystems::Sync, MoverSceneSystems::Drive)
            .chain()
            .before(MoveSystems::Reconcile)
            .before(PhysicsSet::SyncBackend)
            .in_set(TickSystems),
    )
    .configure_sets(FixedFirst, MoverSceneSystems::Sync.in_set(TickSystems))
    .add_systems(FixedFirst, sync.in_set(MoverSceneSystems::Sync))
    .add_systems(
        FixedUpdate,
        (
            (
                sync,
                base_poses::update_base_poses,
                gravity::update_world_gravity,
                gravity::set_sampler_gravity,
            )
                .chain()
                .in_set(MoverSceneSystems::Sync),
            base_transforms::set_base_transforms_in_tick.in_set(MoverSceneSystems::Drive),
        ),
    )
    .add_systems(
        RunFixedMainLoop,
        base_transforms::set_base_transforms_in_frame
            .in_set(MoverSceneSystems::Drive)
            .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
    )
    // Observers, because change detection forgets removals after two frames, and two frames may pass
    // without a tick.
    .add_observer(mark_removed)
    .add_observer(|on: On<Insert, Disabled>, mut scene: ResMut<MoverScene>| scene.mark_all(on.entity))
    .add_observer(|on: On<Remove, Disabled>, mut scene: ResMut<MoverScene>| scene.dirty.push(on.entity));
}

/// Queries for entities that changed or were added.
#[derive(SystemParam)]
pub(super) struct ChangedEntities<'w, 's> {
    /// Changes that affect the collider alone.
    own: Query<
        'w,
        's,
        Entity,
        (
            With<Collider>,
            Or<(
                Changed<Collider>,
                Added<Sensor>,
                Added<ColliderDisabled>,
                Changed<CollisionGroups>,
                Changed<ColliderScale>,
                Changed<OneWayCollider>,
                Changed<MoveVolume>,
            )>,
        ),
    >,
    /// Changes that affect all descendants.
    tree: Query<
        'w,
        's,
        Entity,
        (
            Or<(With<Collider>, With<MovementBase>, With<Children>)>,
            Or<(Changed<ChildOf>, Changed<RigidBody>, Added<RigidBodyDisabled>)>,
        ),
    >,
    bases: Query<'w, 's, Entity, Changed<MovementBase>>,
    moved: Query<
        'w,
        's,
        (Entity, &'static Transform),
        (Or<(With<Collider>, With<MovementBase>, With<Children>)>, Changed<Transform>),
    >,
}

/// Updates the scene with the changes since the last run.
pub(super) fn sync(
    mut scene: ResMut<MoverScene>,
    level: SceneQueries,
    changed: ChangedEntities,
    pawns: Query<(Entity, &PawnCapsule)>,
) {
    let scene = &mut *scene;
    scene.dirty.extend(&changed.own);
    scene.dirty.extend(&changed.bases);
    for entity in &changed.tree {
        scene.mark_all(entity);
    }
    for (entity, transform) in &changed.moved {
        if !scene.bases.has_same_scale(entity, transform) {
            scene.mark_moved(entity);
        }
    }
    scene.update_dirty(&level);
    scene.pawns.set(pawns.iter());
}

/// Re-examines everything.
pub(super) fn sync_all(
    mut scene: ResMut<MoverScene>,
    level: SceneQueries,
    all: Query<Entity, Or<(With<Collider>, With<MovementBase>)>>,
    pawns: Query<(Entity, &PawnCapsule)>,
) {
    let scene = &mut *scene;
    scene.dirty.extend(scene.known.keys().copied());
    scene.dirty.extend(&all);
    scene.update_dirty(&level);
    scene.pawns.set(pawns.iter());
}

/// All components whose removal changes the scene.
type ObservedComponents = (
    Collider,
    Sensor,
    ColliderDisabled,
    CollisionGroups,
    ColliderScale,
    OneWayCollider,
    MoveVolume,
    MovementBase,
    RigidBody,
    RigidBodyDisabled,
    ChildOf,
    Transform,
);

fn mark_removed(removed: On<Remove, ObservedComponents>, mut scene: ResMut<MoverScene>) {
    scene.mark_all(removed.entity);
}
