//! A physics world with nothing in it but hit boxes, so that moving one disturbs nothing.

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

use crate::{HitBoxes, HitGroup, target::UnitRay};

/// Of what cannot be hit.
const NOBODY: InteractionGroups = InteractionGroups::none();

/// Which boxes a ray is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part(Group);

impl Part {
    pub const HEADS: Self = Self(Group::GROUP_1);
    pub const REST: Self = Self(Group::GROUP_2);

    fn of(group: HitGroup) -> Self {
        if group == HitGroup::Head { Self::HEADS } else { Self::REST }
    }

    fn groups(self) -> InteractionGroups {
        InteractionGroups::new(self.0, self.0, InteractionTestMode::And)
    }
}

/// One box of one target that a ray meets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Met {
    pub slot: usize,
    pub id: NetId,
    pub index: usize,
    pub distance: f32,
}

impl Met {
    /// Whether it counts before another: the nearer one, and of two at the same distance the one with the
    /// lower name.
    pub fn is_before(&self, other: &Self) -> bool {
        (self.distance, self.id, self.index) < (other.distance, other.id, other.index)
    }
}

/// Colliders of its own, and rapier's tree over their boxes. The tree is kept by hand: rapier's broad phase
/// would look for pairs that touch after each move, and nobody wants to know.
#[derive(Default)]
pub(super) struct Stage {
    colliders: ColliderSet,
    tree: Bvh,
    workspace: BvhWorkspace,
    /// None: no collider has one.
    bodies: RigidBodySet,
    /// The colliders of each slot, one a box; more when it once had more.
    handles: Vec<Vec<ColliderHandle>>,
    /// Which set each slot's colliders have the shapes of.
    sets: Vec<Option<HitBoxes>>,
    /// Leaves of the tree that moved since it was brought up to date.
    moved: Vec<u32>,
}

impl Stage {
    pub fn len(&self) -> usize {
        self.colliders.len()
    }

    /// The set whose shapes a slot's colliders have.
    pub fn set(&self, slot: usize) -> Option<&HitBoxes> {
        self.sets.get(slot).and_then(Option::as_ref)
    }

    /// Where those of a slot's colliders are that can be hit.
    pub fn poses(&self, slot: usize) -> impl Iterator<Item = (usize, Pose)> {
        let handles = self.handles.get(slot).map_or(&[][..], Vec::as_slice);
        handles.iter().enumerate().filter_map(|(index, handle)| {
            let collider = self.colliders.get(*handle)?;
            (collider.collision_groups() != NOBODY).then(|| (index, *collider.position()))
        })
    }

    /// Gives a slot's colliders the shapes of a set. None can be hit until it is put somewhere: a box may be
    /// on a limb that is not there.
    pub fn dress(&mut self, slot: usize, set: &HitBoxes) {
        if self.sets.len() <= slot {
            self.sets.resize(slot + 1, None);
            self.handles.resize_with(slot + 1, Vec::new);
        }
        if self.sets[slot].as_ref().is_some_and(|worn| worn.same(set)) {
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

    /// Puts one box of a slot somewhere. The tree does not know of it yet.
    pub fn put(&mut self, slot: usize, index: usize, pose: Pose) {
        let handle = self.handles.get(slot).and_then(|handles| handles.get(index));
        let hit_box = self.set(slot).and_then(|set| set.boxes().get(index));
        if let Some((handle, hit_box)) = handle.zip(hit_box)
            && let groups = Part::of(hit_box.group).groups()
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

    /// Brings the tree up to date.
    pub fn settle(&mut self) {
        if self.moved.len() * 16 < self.tree.leaf_count() as usize {
            self.tree.refit_partial(&[], &self.moved);
        } else {
            self.tree.refit(&mut self.workspace);
        }
        self.moved.clear();
    }

    /// The same, and better branches for what has moved apart: once a tick.
    pub fn tidy(&mut self) {
        self.tree.optimize_incremental(&mut self.workspace);
        self.tree.refit(&mut self.workspace);
        self.moved.clear();
    }

    /// The nearest box that a ray meets of those who are asked for: `asked` names them.
    pub fn trace(&self, ray: &UnitRay, part: Part, asked: &dyn Fn(usize) -> Option<NetId>) -> Option<Met> {
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
            Some(Met { slot, id: asked(slot)?, index, distance })
        };
        // It leaves out what is at the very end.
        let (handle, distance) = pipeline.cast_ray(&line, ray.max.next_up(), true)?;
        if distance > 0.0 {
            return met(handle, distance);
        }
        // From within several boxes all are as near: the same one every time.
        pipeline
            .intersect_ray(line, 0.0, true)
            .filter_map(|(handle, _, _)| met(handle, 0.0))
            .reduce(|best, met| if met.is_before(&best) { met } else { best })
    }
}

/// Slot and index of a collider.
fn named(user_data: u128) -> (usize, usize) {
    ((user_data >> 32) as u32 as usize, user_data as u32 as usize)
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use bevy_rapier3d::prelude::Collider as Authored;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;
    use crate::{BodyBounds, HitBox};

    #[test]
    fn the_tree_knows_where_everything_was_moved() {
        let mut rng = SmallRng::seed_from_u64(3);
        let shapes = [Authored::cuboid(0.3, 0.1, 0.2), Authored::capsule_y(0.2, 0.05), Authored::ball(0.1)];
        let boxes = shapes.iter().map(|shape| HitBox::new(0, HitGroup::Body, shape.clone()));
        let set = HitBoxes::new(boxes, BodyBounds::ball(1.0));
        let mut stage = Stage::default();
        let mut hits = 0;
        for round in 0..3_000u32 {
            let mut point = |width: f32| Vec3::from_array([(); 3].map(|()| rng.random_range(-width..width)));
            // All of them, or one.
            let slots = if round % 3 == 0 { 0..40 } else { round as usize % 40..round as usize % 40 + 1 };
            for slot in slots {
                stage.dress(slot, &set);
                for index in 0..shapes.len() {
                    let turn = Quat::from_scaled_axis(point(2.0));
                    stage.put(slot, index, Pose::from_parts(point(3.0), turn));
                }
            }
            if round % 64 == 63 {
                stage.tidy();
            } else {
                stage.settle();
            }
            let (origin, target) = (point(8.0), point(2.0));
            let ray = UnitRay::new(origin, target - origin, 20.0).expect("a ray");
            let found = stage.trace(&ray, Part::REST, &|slot| (slot % 5 != 0).then_some(NetId(slot as u16)));
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
