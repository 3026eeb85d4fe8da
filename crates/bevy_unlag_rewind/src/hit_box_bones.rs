//! Hit boxes on bones by name.

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::{collections::VecDeque, sync::Arc};

use bevy::prelude::*;
use bevy_unlag_core::Visuals;

use crate::{HitBoxFile, HitBoxes, LimbNodes};

/// How long bones that are not there are waited for when others are, and when none is: a scene appears at
/// once, but may take its time to load.
const SOME: Duration = Duration::from_secs(2);
const NONE: Duration = Duration::from_secs(10);
/// Nodes of a pawn that are looked at.
const MAX_NODES: usize = 10_000;

/// Hit boxes on the bones of whatever appears below this pawn: looks for nodes with the file's bones as their
/// [`Name`]s, as the joints of a glTF skeleton have them, and when all are there gives the pawn its
/// [`HitBoxes`] and [`LimbNodes`], limbs in the order of [`HitBoxFile::bones`]. Of two nodes with
/// one name the one nearer to the root counts.
///
/// When bones are missing two seconds after the others are there, it says so, once, and goes on without: their
/// boxes stay at the root. When bones are despawned it looks again: models may be swapped. Insert
/// another to change the boxes: shots from before are judged by the old ones. A file with numbers in place
/// of names only gives the pawn its boxes.
#[derive(Component, Clone, Debug)]
pub struct HitBoxBones {
    file: Arc<HitBoxFile>,
    root: Option<Entity>,
    /// The set, once made: it is the same when bones are found again.
    set: Option<HitBoxes>,
    found: bool,
    waited: Duration,
    told: bool,
}

impl HitBoxBones {
    /// Looks below the pawn's visual, where it has one, else below the pawn.
    #[must_use]
    pub fn new(file: impl Into<Arc<HitBoxFile>>) -> Self {
        Self { file: file.into(), root: None, set: None, found: false, waited: Duration::ZERO, told: false }
    }

    /// Looks below this entity instead, in whose space limbs are; see [`LimbNodes::root`].
    #[must_use]
    pub fn below(self, root: Entity) -> Self {
        Self { root: Some(root), ..self }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &HitBoxFile {
        &self.file
    }

    /// Below what it looks, when that was said.
    #[must_use]
    pub fn root(&self) -> Option<Entity> {
        self.root
    }

    /// Whether it has found what there was to find.
    #[must_use]
    pub fn found(&self) -> bool {
        self.found
    }
}

/// Looks for bones.
pub(crate) fn resolve(
    time: Res<Time<Real>>,
    mut gone: RemovedComponents<Name>,
    mut pawns: Query<(Entity, &mut HitBoxBones, Option<&LimbNodes>, Option<&Visuals>)>,
    names: Query<&Name>,
    children: Query<&Children>,
    mut commands: Commands,
) {
    // Names go when models are swapped, so this is rare.
    let lost = gone.read().count() > 0;
    for (pawn, mut bones, nodes, visuals) in &mut pawns {
        if bones.found {
            let dead = |nodes: &LimbNodes| nodes.nodes.iter().flatten().any(|node| !names.contains(*node));
            if lost && nodes.is_some_and(dead) {
                bones.found = false;
                bones.waited = Duration::ZERO;
            } else {
                continue;
            }
        }
        let bones = &mut *bones;
        if bones.set.is_none() {
            match bones.file.hit_boxes() {
                Ok(set) => bones.set = Some(set),
                Err(error) => {
                    warn!("{pawn} gets no hit boxes: {error}");
                    bones.found = true;
                    continue;
                }
            }
        }
        let Some(set) = bones.set.clone() else { continue };
        let wanted = bones.file.bones();
        if wanted.is_empty() {
            bones.found = true;
            commands.entity(pawn).insert(set);
            continue;
        }
        let root = bones.root.or_else(|| visuals.and_then(|visuals| visuals.iter().next())).unwrap_or(pawn);
        let nodes = find(root, &wanted, &names, &children);
        bones.waited += time.delta();
        let missing: Vec<&str> =
            wanted.iter().zip(&nodes).filter(|(_, node)| node.is_none()).map(|(name, _)| *name).collect();
        let none = missing.len() == wanted.len();
        let late = bones.waited >= if none { NONE } else { SOME };
        if !missing.is_empty() && late && !bones.told {
            bones.told = true;
            let rest = if none { "it goes on looking" } else { "their boxes stay at the root" };
            warn!(
                "no node below {root} of pawn {pawn} has the name {}: {rest}; the names in the file of hit boxes must \
                 be those of the model's nodes",
                missing.join(" or ")
            );
        }
        if missing.is_empty() || (late && !none) {
            bones.found = true;
            commands.entity(pawn).insert((set, LimbNodes { root, nodes }));
        }
    }
}

/// The nodes with these names, nearest to the root first.
fn find(
    root: Entity,
    wanted: &[&str],
    names: &Query<&Name>,
    children: &Query<&Children>,
) -> Vec<Option<Entity>> {
    let mut nodes = vec![None; wanted.len()];
    let mut left = wanted.len();
    let mut queue = VecDeque::from([root]);
    for _ in 0..MAX_NODES {
        let Some(node) = queue.pop_front() else { break };
        if let Ok(name) = names.get(node)
            && let Some(limb) = wanted.iter().position(|wanted| *wanted == name.as_str())
            && nodes[limb].is_none()
        {
            nodes[limb] = Some(node);
            left -= 1;
            if left == 0 {
                break;
            }
        }
        if let Ok(children) = children.get(node) {
            queue.extend(children.iter());
        }
    }
    nodes
}
