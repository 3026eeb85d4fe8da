//! Looks again at what may have changed, and writes down what it is now.

use bevy::prelude::*;

use super::{
    Known, MoverScene, Role,
    place::{Level, Placed},
};

/// Each once, in the order of spawning as a rule: of two with one id the first counts.
fn sort(entities: &mut Vec<Entity>) {
    entities.sort_unstable_by_key(|entity| (entity.index_u32(), entity.generation().to_bits()));
    entities.dedup();
}

impl MoverScene {
    /// An entity and all below it are to be looked at again, as far as they are known.
    pub(super) fn mark_all(&mut self, entity: Entity) {
        if self.known.contains_key(&entity) {
            self.dirty.push(entity);
        }
        if let Some(below) = self.below.get(&entity) {
            self.dirty.extend(below.iter().copied());
        }
    }

    /// The same after a movement: what is nothing wherever it is does not matter.
    pub(super) fn mark_moved(&mut self, entity: Entity) {
        let minds = |entity: &Entity| self.known.get(entity).is_some_and(|known| known.role != Role::Nothing);
        let bases = &self.bases;
        let minds = |entity: &Entity| minds(entity) || bases.id(*entity).is_some();
        if minds(&entity) {
            self.dirty.push(entity);
        }
        if let Some(below) = self.below.get(&entity) {
            self.dirty.extend(below.iter().copied().filter(minds));
        }
    }

    /// Looks at what is dirty.
    pub(super) fn settle(&mut self, level: &Level) {
        // What is refused for another's sake gets its turn when that one goes, hence the rounds.
        for _ in 0..4 {
            if self.dirty.is_empty() {
                break;
            }
            let mut dirty = core::mem::take(&mut self.dirty);
            sort(&mut dirty);
            // Bases first: what is on them depends on them.
            let mut next = 0;
            while let Some(&entity) = dirty.get(next) {
                next += 1;
                if self.settle_base(entity, level)
                    && let Some(below) = self.below.get(&entity)
                {
                    dirty.extend(below.iter().copied());
                }
            }
            sort(&mut dirty);
            for entity in dirty {
                self.settle_collider(entity, level);
            }
        }
        self.bases.relink();
        self.fixed.balance();
    }

    /// Whether anything but its track changed.
    fn settle_base(&mut self, entity: Entity, level: &Level) -> bool {
        let new = level.base(entity);
        if new.is_none() && self.bases.id(entity).is_none() {
            return self.bases.settle(entity, None).0;
        }
        let id = new.as_ref().map(|base| base.id);
        let (changed, rival) = self.bases.settle(entity, new);
        if changed {
            self.dirty.extend(self.bases.refused());
        }
        if let (Some(rival), Some(id)) = (rival, id)
            && self.warned.insert(entity)
        {
            warn!(
                "MovementBase {} on {entity} is ignored, and nobody collides with it, because {rival} \
                 has that id or it is BaseId::NONE: give every base an id of its own from 1 on",
                id.0
            );
        }
        changed
    }

    fn settle_collider(&mut self, entity: Entity, level: &Level) {
        let placed = level.place(entity);
        let old = self.known.get(&entity).map_or(Role::Nothing, |known| known.role);
        let same_ancestors = self.note(entity, level);
        let same = match (old, &placed) {
            (Role::Fixed(slot), Placed::Fixed(new)) => {
                same_ancestors && self.fixed.get(slot).is_some_and(|old| old.is_like(new))
            }
            (Role::Moving(base), Placed::Moving(new_base, new)) => {
                base == *new_base && self.bases.carries(base, new)
            }
            (old, Placed::Nothing) => old == Role::Nothing,
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
                    self.dirty.extend(self.volumes.refused());
                }
            }
        }
        let role = self.take_in(entity, placed);
        if let Some(known) = self.known.get_mut(&entity) {
            known.role = role;
        }
    }

    fn take_in(&mut self, entity: Entity, placed: Placed) -> Role {
        match placed {
            Placed::Nothing => Role::Nothing,
            Placed::Unsound => {
                if self.warned.insert(entity) {
                    warn!(
                        "the collider on {entity} stops nobody: it, its scale or its Transform is zero, \
                         not finite, or further than 40 km away"
                    );
                }
                Role::Unsound
            }
            Placed::MovingVolume => {
                if self.warned.insert(entity) {
                    warn!("the MoveVolume on {entity} is ignored: volumes cannot be below a MovementBase");
                }
                Role::Nothing
            }
            Placed::Fixed(obstacle) => Role::Fixed(self.fixed.insert(obstacle)),
            Placed::Moving(base, obstacle) => {
                self.bases.insert_obstacle(base, obstacle);
                Role::Moving(base)
            }
            Placed::Volume(volume) => {
                let id = volume.volume.id.0;
                if let Some(rival) = self.volumes.insert(volume)
                    && self.warned.insert(entity)
                {
                    warn!(
                        "MoveVolume {id} on {entity} is ignored because {rival} has that id or it is \
                         VolumeId::NONE: give every volume an id of its own from 1 on"
                    );
                }
                Role::Volume
            }
        }
    }

    /// Writes down whose descendant an entity is. Whether that is as it was.
    fn note(&mut self, entity: Entity, level: &Level) -> bool {
        let new = level.ancestors(entity);
        if let Some(old) = self.known.get(&entity) {
            if new.as_ref() == Some(&old.ancestors) {
                return true;
            }
            for ancestor in &old.ancestors {
                if let Some(below) = self.below.get_mut(ancestor) {
                    below.remove(&entity);
                    if below.is_empty() {
                        self.below.remove(ancestor);
                    }
                }
            }
        }
        let Some(ancestors) = new else { return self.known.remove(&entity).is_none() };
        for ancestor in &ancestors {
            self.below.entry(*ancestor).or_default().insert(entity);
        }
        let role = self.known.get(&entity).map_or(Role::Nothing, |known| known.role);
        self.known.insert(entity, Known { ancestors, role });
        false
    }
}
