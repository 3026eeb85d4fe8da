//! Notices what changed in the level.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};
use bevy_rapier3d::{
    geometry::{Collider, ColliderDisabled, ColliderScale, CollisionGroups, Sensor},
    plugin::PhysicsSet,
    prelude::{RigidBody, RigidBodyDisabled},
};
use bevy_unlag_core::MoveSystems;

use super::{MoverScene, PawnCapsule, drive, place::Level, publish};
use crate::{MoveVolume, MovementBase, OneWay};

/// When [`MoverScene`] and movement bases are kept up to date.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MoverSceneSystems {
    /// In [`FixedFirst`] and in [`FixedUpdate`] before [`MoveSystems::Answer`]: the scene takes in
    /// what changed.
    Sync,
    /// In [`FixedUpdate`] after [`Sync`](Self::Sync) and before rapier: movement bases get their
    /// `Transform` of this tick. In [`RunFixedMainLoop`] after the loop: the one of this frame.
    Drive,
}

pub(crate) fn add_systems(app: &mut App) {
    app.configure_sets(
        FixedUpdate,
        (MoverSceneSystems::Sync, MoverSceneSystems::Drive)
            .chain()
            .before(MoveSystems::Answer)
            .before(PhysicsSet::SyncBackend),
    )
    .add_systems(FixedFirst, sync.in_set(MoverSceneSystems::Sync))
    .add_systems(
        FixedUpdate,
        (
            (sync, publish::publish).chain().in_set(MoverSceneSystems::Sync),
            drive::drive_in_ticks.in_set(MoverSceneSystems::Drive),
        ),
    )
    .add_systems(
        RunFixedMainLoop,
        drive::drive_in_frames
            .in_set(MoverSceneSystems::Drive)
            .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
    )
    // Change detection forgets removals after two frames, and two frames may pass without a tick.
    .add_observer(mark_removed)
    .add_observer(|on: On<Insert, Disabled>, mut scene: ResMut<MoverScene>| scene.mark_all(on.entity))
    .add_observer(|on: On<Remove, Disabled>, mut scene: ResMut<MoverScene>| scene.dirty.push(on.entity));
}

/// What changed in place or was added.
#[derive(SystemParam)]
pub(super) struct Touched<'w, 's> {
    /// What matters to the collider alone.
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
                Changed<OneWay>,
                Changed<MoveVolume>,
            )>,
        ),
    >,
    /// What matters to all below.
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

/// Takes in what changed since it last ran.
pub(super) fn sync(
    mut scene: ResMut<MoverScene>,
    level: Level,
    touched: Touched,
    pawns: Query<(Entity, &PawnCapsule)>,
) {
    let scene = &mut *scene;
    scene.dirty.extend(&touched.own);
    scene.dirty.extend(&touched.bases);
    for entity in &touched.tree {
        scene.mark_all(entity);
    }
    for (entity, transform) in &touched.moved {
        if !scene.bases.only_moved(entity, transform) {
            scene.mark_moved(entity);
        }
    }
    scene.settle(&level);
    scene.pawns.set(pawns.iter());
}

/// Looks at everything again.
pub(super) fn sync_all(
    mut scene: ResMut<MoverScene>,
    level: Level,
    all: Query<Entity, Or<(With<Collider>, With<MovementBase>)>>,
    pawns: Query<(Entity, &PawnCapsule)>,
) {
    let scene = &mut *scene;
    scene.dirty.extend(scene.known.keys().copied());
    scene.dirty.extend(&all);
    scene.settle(&level);
    scene.pawns.set(pawns.iter());
}

/// All components whose absence says something.
type Telling = (
    Collider,
    Sensor,
    ColliderDisabled,
    CollisionGroups,
    ColliderScale,
    OneWay,
    MoveVolume,
    MovementBase,
    RigidBody,
    RigidBodyDisabled,
    ChildOf,
    Transform,
);

fn mark_removed(removed: On<Remove, Telling>, mut scene: ResMut<MoverScene>) {
    scene.mark_all(removed.entity);
}
