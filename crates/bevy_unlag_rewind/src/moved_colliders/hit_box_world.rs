//! Physics world that contains only hit boxes, so that moving them does not affect anything else.

use bevy::math::Isometry3d;
use bevy_rapier3d::{
    parry::{
        partitioning::{Bvh, BvhWorkspace},
        query::{DefaultQueryDispatcher, Ray},
    },
    rapier::{
        dynamics::RigidBodySet,
        geometry::{
            Collider, ColliderBuilder, ColliderHandle, ColliderSet, Group, InteractionGroups,
            InteractionTestMode,
        },
        math::Pose,
        pipeline::{QueryFilter, QueryPipeline},
    },
};
use bevy_unlag_core::NetId;

use crate::{convex_cast::parry_pose, hit_box::HitGroup, hit_boxes::HitBoxes, unit_ray::UnitRay};

/// Collision groups of a collider that cannot be hit.
const NOBODY: InteractionGroups = InteractionGroups::none();

/// Hit groups that a ray is tested against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TraceGroup(Group);

impl TraceGroup {
    pub const HEADS: Self = Self(Group::GROUP_1);
    pub const REST: Self = Self(Group::GROUP_2);

    fn of(group: HitGroup) -> Self {
        if group == HitGroup::Head { Self::HEADS } else { Self::REST }
    }

    fn groups(self) -> InteractionGroups {
        InteractionGroups::new(self.0, self.0, InteractionTestMode::And)
    }
}

/// Hit box of a target that a ray hits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BoxHit {
    pub slot: usize,
    pub id: NetId,
    pub index: usize,
    pub distance: f32,
}

impl BoxHit {
    /// Returns whether this hit takes precedence over another: the nearer one, and at equal distance the
    /// one with the lower network id.
    pub fn is_before(&self, other: &Self) -> bool {
        (self.distance, self.id, self.index) < (other.distance, other.id, other.index)
    }
}

/// Colliders with a rapier BVH over their bounds. The BVH is updated manually, because rapier's broad
/// phase would search for contact pairs after each move, which are not needed.
#[derive(Default)]
pub(crate) struct HitBoxWorld {
    colliders: ColliderSet,
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Always empty: no collider has a rigid body.
    bodies: RigidBodySet,
    /// Colliders of each slot, one per box; more if the slot once had more boxes.
    handles: Vec<Vec<ColliderHandle>>,
    /// Hit box set whose shapes each slot's colliders have.
    sets: Vec<Option<HitBoxes>>,
    /// BVH leaves that were moved since the last update.
    moved: Vec<u32>,
}

impl HitBoxWorld {
    pub fn len(&self) -> usize {
        self.colliders.len()
    }

    /// Returns the hit box set whose shapes a slot's colliders have.
    pub fn set(&self, slot: usize) -> Option<&HitBoxes> {
        self.sets.get(slot).and_then(Option::as_ref)
    }

    /// Iterates over the poses of a slot's colliders that can be hit.
    pub fn poses(&self, slot: usize) -> impl Iterator<Item = (usize, Pose)> {
        let handles = self.handles.get(slot).map_or(&[][..], Vec::as_slice);
        handles.iter().enumerate().filter_map(|(index, handle)| {
            let collider = self.colliders.get(*handle)?;
            (collider.collision_groups() != NOBODY).then(|| (index, *collider.position()))
        })
    }

    /// Assigns the shapes of a hit box set to a slot's colliders. A collider cannot be hit before it is
    /// placed, since its box may be on a limb that does not exist.
    pub fn assign_shapes(&mut self, slot: usize, set: &HitBoxes) {
        if self.sets.len() <= slot {
            self.sets.resize(slot + 1, None);
            self.handles.resize_with(slot + 1, Vec::new);
        }
        if self.sets[slot].as_ref().is_some_and(|worn| worn.is_same_set(set)) {
            return;
        }
        self.sets[slot] = Some(set.clone());
        let handles = &mut self.handles[slot];
        for handle in handles.iter() {
            if let Some(collider) = self.colliders.get_mut(*handle) {
                collider.set_collision_groups(NOBODY);
            }
        }
        for (index, hit_box) in set.boxes().iter().enumerate() {
            let shape = hit_box.shape.raw.clone();
            match handles.get(index) {
                Some(handle) => {
                    if let Some(collider) = self.colliders.get_mut(*handle) {
                        collider.set_shape(shape);
                    }
                }
                None => {
                    let name = ((slot as u128) << 32) | index as u128;
                    let collider = ColliderBuilder::new(shape).collision_groups(NOBODY).user_data(name);
                    handles.push(self.colliders.insert(collider));
                }
            }
        }
    }

    /// Places the boxes of a target. The BVH is not updated yet.
    pub fn place_target(
        &mut self,
        slot: usize,
        set: &HitBoxes,
        boxes: impl Iterator<Item = (usize, Isometry3d)>,
    ) {
        self.assign_shapes(slot, set);
        for (index, pose) in boxes {
            self.place(slot, index, parry_pose(pose));
        }
    }

    /// Places one box of a slot. The BVH is not updated yet.
    pub fn place(&mut self, slot: usize, index: usize, pose: Pose) {
        let handle = self.handles.get(slot).and_then(|handles| handles.get(index));
        let hit_box = self.set(slot).and_then(|set| set.boxes().get(index));
        if let Some((handle, hit_box)) = handle.zip(hit_box)
            && let groups = TraceGroup::of(hit_box.group).groups()
            && let Some(collider) = self.colliders.get_mut(*handle)
        {
            if collider.collision_groups() != groups {
                collider.set_collision_groups(groups);
            }
            collider.set_position(pose);
            let leaf = handle.into_raw_parts().0;
            self.tree.insert_or_update_partially(collider.compute_aabb(), leaf, 0.0);
            self.moved.push(leaf);
        }
    }

    /// Updates the BVH.
    pub fn update_bvh(&mut self) {
        if self.moved.len() * 16 < self.tree.leaf_count() as usize {
            self.tree.refit_partial(&[], &self.moved);
        } else {
            self.tree.refit(&mut self.workspace);
        }
        self.moved.clear();
    }

    /// Updates the BVH and optimises its structure; once a tick.
    pub fn optimize_bvh(&mut self) {
        self.tree.optimize_incremental(&mut self.workspace);
        self.tree.refit(&mut self.workspace);
        self.moved.clear();
    }

    /// Returns the nearest box that a ray hits among the slots for which `asked` returns a network id.
    pub fn trace(
        &self,
        ray: &UnitRay,
        part: TraceGroup,
        asked: &dyn Fn(usize) -> Option<NetId>,
    ) -> Option<BoxHit> {
        let predicate = |_: ColliderHandle, collider: &Collider| asked(named(collider.user_data).0).is_some();
        let filter = QueryFilter::new().groups(part.groups()).predicate(&predicate);
        let pipeline = QueryPipeline {
            dispatcher: &DefaultQueryDispatcher,
            bvh: &self.tree,
            bodies: &self.bodies,
            colliders: &self.colliders,
            filter,
        };
        let line = Ray::new(ray.origin.into(), ray.direction.into());
        let met = |handle: ColliderHandle, distance: f32| {
            let (slot, index) = named(self.colliders.get(handle)?.user_data);
            Some(BoxHit { slot, id: asked(slot)?, index, distance })
        };
        // Rapier excludes a hit at exactly the maximum distance.
        let (handle, distance) = pipeline.cast_ray(&line, ray.max.next_up(), true)?;
        if distance > 0.0 {
            return met(handle, distance);
        }
        // A ray that starts inside several boxes has the same distance to all, so choose
        // deterministically.
        pipeline
            .intersect_ray(line, 0.0, true)
            .filter_map(|(handle, _, _)| met(handle, 0.0))
            .reduce(|best, met| if met.is_before(&best) { met } else { best })
    }
}

/// Returns the slot and box index of a collider.
fn named(user_data: u128) -> (usize, usize) {
    ((user_data >> 32) as u32 as usize, user_data as u32 as usize)
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use bevy_rapier3d::prelude::Collider as Authored;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;
    use crate::hit_box::{BodyBounds, HitBox};

    #[test]
    fn nearer_hit_takes_precedence_and_at_equal_distance_the_lower_id() {
        let hit = |distance, id| BoxHit { slot: 0, id: NetId(id), index: 0, distance };
        let order = [hit(1.0, 9), hit(2.0, 3), hit(2.0, 4)];
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            assert!(order[first].is_before(&order[second]));
            assert!(!order[second].is_before(&order[first]));
        }
    }

    #[test]
    fn ray_casts_agree_with_brute_force_after_colliders_moved() {
        let mut rng = SmallRng::seed_from_u64(3);
        let shapes = [Authored::cuboid(0.3, 0.1, 0.2), Authored::capsule_y(0.2, 0.05), Authored::ball(0.1)];
        let boxes = shapes.iter().map(|shape| HitBox::new(0, HitGroup::Body, shape.clone()));
        let set = HitBoxes::new(boxes, BodyBounds::ball(1.0));
        let mut stage = HitBoxWorld::default();
        let mut hits = 0;
        for round in 0..3_000u32 {
            let mut point = |width: f32| Vec3::from_array([(); 3].map(|()| rng.random_range(-width..width)));
            // Moves all slots, or one.
            let slots = if round % 3 == 0 { 0..40 } else { round as usize % 40..round as usize % 40 + 1 };
            for slot in slots {
                stage.assign_shapes(slot, &set);
                for index in 0..shapes.len() {
                    let turn = Quat::from_scaled_axis(point(2.0));
                    stage.place(slot, index, Pose::from_parts(point(3.0), turn));
                }
            }
            if round % 64 == 63 {
                stage.optimize_bvh();
            } else {
                stage.update_bvh();
            }
            let (origin, target) = (point(8.0), point(2.0));
            let ray = UnitRay::new(origin, target - origin, 20.0).expect("a ray");
            let found =
                stage.trace(&ray, TraceGroup::REST, &|slot| (slot % 5 != 0).then_some(NetId(slot as u16)));
            let line = Ray::new(ray.origin.into(), ray.direction.into());
            let all =
                stage.colliders.iter().filter(|(_, collider)| !named(collider.user_data).0.is_multiple_of(5));
            let nearest = all
                .filter_map(|(_, collider)| {
                    collider.shape().cast_ray(collider.position(), &line, ray.max, true)
                })
                .min_by(f32::total_cmp);
            hits += u32::from(nearest.is_some());
            assert_eq!(found.map(|met| met.distance), nearest, "round {round}");
        }
        assert!(hits > 500, "{hits}");
    }
}
