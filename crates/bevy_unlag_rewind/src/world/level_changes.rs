//! Change detection of the static world geometry.

use bevy::{
    ecs::{entity::EntityHashSet, system::SystemParam},
    prelude::*,
};
use bevy_rapier3d::prelude::{Collider, ColliderDisabled, RigidBody, Sensor};

type ChangedColliders = Or<(
    Changed<Collider>,
    Changed<GlobalTransform>,
    Changed<RigidBody>,
    Added<Sensor>,
    Added<ColliderDisabled>,
)>;

/// Changes of the static world geometry, the fixed rapier colliders that [`WorldTrace`](super::WorldTrace) tests:
/// colliders that appear, move, disappear, become sensors or solid again, or are disabled or enabled. Moving bodies do
/// not count, nor do collision groups and bodies that are disabled as a whole. Physics takes a change in at its next
/// step.
#[derive(SystemParam)]
pub struct LevelChanges<'w, 's> {
    changed: Query<'w, 's, Entity, (With<Collider>, ChangedColliders)>,
    removed: RemovedComponents<'w, 's, Collider>,
    solid_again: RemovedComponents<'w, 's, Sensor>,
    enabled: RemovedComponents<'w, 's, ColliderDisabled>,
    colliders: Query<'w, 's, Has<Sensor>, With<Collider>>,
    bodies: Query<'w, 's, &'static RigidBody>,
    parents: Query<'w, 's, &'static ChildOf>,
    fixed: Local<'s, EntityHashSet>,
}

impl LevelChanges<'_, '_> {
    /// Returns whether the level has changed since the last call in this system.
    pub fn any(&mut self) -> bool {
        let mut any = false;
        for gone in self.removed.read() {
            any |= self.fixed.remove(&gone);
        }
        let restored = self.solid_again.read().chain(self.enabled.read());
        for entity in self.changed.iter().chain(restored) {
            let Ok(is_sensor) = self.colliders.get(entity) else { continue };
            let body = core::iter::once(entity)
                .chain(self.parents.iter_ancestors(entity))
                .find_map(|entity| self.bodies.get(entity).ok());
            let is_fixed = !is_sensor && body.is_none_or(|body| *body == RigidBody::Fixed);
            any |= if is_fixed {
                self.fixed.insert(entity);
                true
            } else {
                self.fixed.remove(&entity)
            };
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Resource, Default)]
    struct ChangeCount(u32);

    fn watch(mut changes: LevelChanges, mut count: ResMut<ChangeCount>) {
        count.0 += u32::from(changes.any());
    }

    /// Returns how many updates of two saw a change.
    fn changes(app: &mut App) -> u32 {
        app.world_mut().resource_mut::<ChangeCount>().0 = 0;
        app.update();
        app.update();
        app.world().resource::<ChangeCount>().0
    }

    #[test]
    fn fixed_colliders_that_appear_move_or_disappear_are_changes_and_moving_bodies_are_none() {
        let mut app = App::new();
        app.init_resource::<ChangeCount>().add_systems(Update, watch);
        let wall = app.world_mut().spawn((Collider::ball(1.0), GlobalTransform::default())).id();
        assert_eq!(changes(&mut app), 1, "appeared");
        assert_eq!(changes(&mut app), 0, "control");
        *app.world_mut().get_mut::<GlobalTransform>(wall).expect("the wall") =
            GlobalTransform::from_translation(Vec3::X);
        assert_eq!(changes(&mut app), 1, "moved");
        let lift = (Collider::ball(1.0), GlobalTransform::default(), RigidBody::KinematicPositionBased);
        let lift = app.world_mut().spawn(lift).id();
        let rail = (Collider::ball(1.0), GlobalTransform::default(), ChildOf(lift));
        app.world_mut().spawn(rail);
        assert_eq!(changes(&mut app), 0, "a moving body");
        app.world_mut().despawn(lift);
        assert_eq!(changes(&mut app), 0, "a moving body that disappears");
        app.world_mut().entity_mut(wall).insert(ColliderDisabled);
        assert_eq!(changes(&mut app), 1, "disabled");
        app.world_mut().entity_mut(wall).remove::<ColliderDisabled>();
        assert_eq!(changes(&mut app), 1, "enabled");
        app.world_mut().entity_mut(wall).insert(Sensor);
        assert_eq!(changes(&mut app), 1, "a sensor");
        app.world_mut().entity_mut(wall).remove::<Sensor>();
        assert_eq!(changes(&mut app), 1, "solid again");
        app.world_mut().despawn(wall);
        assert_eq!(changes(&mut app), 1, "disappeared");
    }
}
