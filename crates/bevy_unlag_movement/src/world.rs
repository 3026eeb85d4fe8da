//! What a step sees of the level.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_rapier3d::{
    parry::{bounding_volume::Aabb, query::DefaultQueryDispatcher},
    plugin::ReadRapierContext,
    rapier::prelude::QueryFilter,
};

use crate::part::{Parts, push_parts, sort};

/// The colliders that a capsule moves among: those on fixed bodies and those without a body, but
/// no sensors and not the pawn's own. Dynamic and kinematic bodies do not stop a capsule, because
/// no two machines have them in the same place; give a pawn's own collider such a body.
///
/// It is empty before rapier's context exists, and a collider is in it after one step of rapier.
#[derive(SystemParam)]
pub struct MoverWorld<'w, 's> {
    rapier: ReadRapierContext<'w, 's>,
}

impl MoverWorld<'_, '_> {
    /// The convex parts in `region`, in an order that depends on nothing but geometry.
    pub(crate) fn gather(&self, region: Aabb, own: Entity) -> Parts<'_> {
        let mut parts = Parts::new();
        let Ok(context) = self.rapier.single() else { return parts };
        let (simulation, colliders) = (context.simulation, &context.colliders.colliders);
        let filter = QueryFilter::only_fixed().exclude_sensors();
        let pipeline = simulation.broad_phase.as_query_pipeline(
            &DefaultQueryDispatcher,
            &context.rigidbody_set.bodies,
            colliders,
            filter,
        );
        for (handle, _) in pipeline.intersect_aabb_conservative(region) {
            // Looked up again: what the pipeline lends does not outlive it.
            let Some(collider) = colliders.get(handle) else { continue };
            // bevy_rapier keeps the entity in the lower half of the user data.
            if collider.is_enabled() && collider.user_data as u64 != own.to_bits() {
                push_parts(*collider.position(), collider.shape(), 0, &region, 0, &mut parts);
            }
        }
        sort(&mut parts);
        parts
    }
}
