//! Update of the scene from changed entities.

use bevy::prelude::*;

use super::{
    Known, MoverScene, Role,
    classification::{ClassifiedCollider, SceneQueries},
};

/// Sorts and deduplicates, as a rule by order of spawning: of two bases with the same id the first one
/// counts.
fn sort(entities: &mut Vec<Entity>) {
    entities.sort_unstable_by_key(|entity| (entity.index_u32(), entity.generation().to_bits()));
    entities.dedup();
}

impl MoverScene {
    /// Marks an entity and all known entities below it for re-examination.
    pub(super) fn mark_all(&mut self, entity: Entity) {
        if self.known.contains_key(&entity) {
            self.dirty.push(entity);
        }
        if let Some(descendants) = self.descendants.get(&entity) {
            self.dirty.extend(descendants.iter().copied());
        }
    }

    /// Marks the same after a movement, without entities that have no role wherever they are.
    pub(super) fn mark_moved(&mut self, entity: Entity) {
        let minds = |entity: &Entity| self.known.get(entity).is_some_and(|known| known.role != Role::Nothing);
        let bases = &self.bases;
        let minds = |entity: &Entity| minds(entity) || bases.id(*entity).is_some();
        if minds(&entity) {
            self.dirty.push(entity);
        }
        if let Some(descendants) = self.descendants.get(&entity) {
            self.dirty.extend(descendants.iter().copied().filter(minds));
        }
    }

    /// Re-examines the dirty entities.
    pub(super) fn update_dirty(&mut self, level: &SceneQueries) {
        // An entity that was ignored because of another gets its turn when that one is removed, hence
        // several rounds.
        for _ in 0..4 {
            if self.dirty.is_empty() {
                break;
            }
            let mut dirty = core::mem::take(&mut self.dirty);
            sort(&mut dirty);
            // Bases first, because colliders depend on them.
            let mut next = 0;
            while let Some(&entity) = dirty.get(next) {
                next += 1;
                if self.update_base(entity, level)
                    && let Some(descendants) = self.descendants.get(&entity)
                {
                    dirty.extend(descendants.iter().copied());
                }
            }
            sort(&mut dirty);
            for entity in dirty {
                self.update_collider(entity, level);
            }
        }
        self.bases.relink();
        self.fixed.balance();
    }

    /// Returns whether anything but its track changed.
    fn update_base(&mut self, entity: Entity, level: &SceneQueries) -> bool {
        let new = level.base(entity);
        if new.is_none() && self.bases.id(entity).is_none() {
            return self.bases.set(entity, None).0;
        }
        let id = new.as_ref().map(|base| base.id);
        let (changed, rival) = self.bases.set(entity, new);
        if changed {
            self.dirty.extend(self.bases.ignored());
        }
        if let (Some(rival), Some(id)) = (rival, id)
            && self.warned.insert(entity)
        {
            warn!(
                "MovementBase {} on {entity} is ignored, and pawns do not collide with it, because {rival} \
                 has the same id or the id is BaseId::NONE: give every base a unique id from 1 on",
                id.0
            );
        }
        changed
    }

    fn update_collider(&mut self, entity: Entity, level: &SceneQueries) {
        let placed = level.classify(entity);
        let old = self.known.get(&entity).map_or(Role::Nothing, |known| known.role);
        let same_ancestors = self.record_ancestors(entity, level);
        let same = match (old, &placed) {
            (Role::Fixed(slot), ClassifiedCollider::Fixed(new)) => {
                same_ancestors && self.fixed.get(slot).is_some_and(|old| old.is_interchangeable_with(new))
            }
            (Role::Moving(base), ClassifiedCollider::Moving(new_base, new)) => {
                base == *new_base && self.bases.carries(base, new)
            }
            (old, ClassifiedCollider::Nothing) => old == Role::Nothing,
            _ => false,
        };
        if same {
            return;
        }
        match old {
            Role::Nothing | Role::Unsound => {}
            Role::Fixed(slot) => self.fixed.remove(slot),
            Role::Moving(base) => self.bases.remove_obstacle(base, entity),
            Role::Volume => {
                if self.volumes.remove(entity) {
                    self.dirty.extend(self.volumes.ignored());
                }
            }
        }
        let role = self.insert_classified(entity, placed);
        if let Some(known) = self.known.get_mut(&entity) {
            known.role = role;
        }
    }

    fn insert_classified(&mut self, entity: Entity, placed: ClassifiedCollider) -> Role {
        match placed {
            ClassifiedCollider::Nothing => Role::Nothing,
            ClassifiedCollider::Unsound => {
                if self.warned.insert(entity) {
                    warn!(
                        "the collider on {entity} is ignored: its shape, scale or Transform is zero, \
                         not finite, or more than 40 km from the origin"
                    );
                }
                Role::Unsound
            }
            ClassifiedCollider::MovingVolume => {
                if self.warned.insert(entity) {
                    warn!("the MoveVolume on {entity} is ignored: a volume must not be below a MovementBase");
                }
                Role::Nothing
            }
            ClassifiedCollider::Fixed(obstacle) => Role::Fixed(self.fixed.insert(obstacle)),
            ClassifiedCollider::Moving(base, obstacle) => {
                self.bases.insert_obstacle(base, obstacle);
                Role::Moving(base)
            }
            ClassifiedCollider::Volume(volume) => {
                let id = volume.volume.id.0;
                if let Some(rival) = self.volumes.insert(volume)
                    && self.warned.insert(entity)
                {
                    warn!(
                        "MoveVolume {id} on {entity} is ignored because {rival} has the same id or the id is \
                         VolumeId::NONE: give every volume a unique id from 1 on"
                    );
                }
                Role::Volume
            }
        }
    }

    /// Records the ancestors of an entity. Returns whether they are unchanged.
    fn record_ancestors(&mut self, entity: Entity, level: &SceneQueries) -> bool {
        let new = level.ancestors(entity);
        if let Some(old) = self.known.get(&entity) {
            if new.as_ref() == Some(&old.ancestors) {
                return true;
            }
            for ancestor in &old.ancestors {
                if let Some(descendants) = self.descendants.get_mut(ancestor) {
                    descendants.remove(&entity);
                    if descendants.is_empty() {
                        self.descendants.remove(ancestor);
                    }
                }
            }
        }
        let Some(ancestors) = new else { return self.known.remove(&entity).is_none() };
        for ancestor in &ancestors {
            self.descendants.entry(*ancestor).or_default().insert(entity);
        }
        let role = self.known.get(&entity).map_or(Role::Nothing, |known| known.role);
        self.known.insert(entity, Known { ancestors, role });
        false
    }
}
