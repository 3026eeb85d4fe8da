//! Hit boxes on bones that are found by name.

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::{collections::VecDeque, sync::Arc};

use bevy::prelude::*;
use bevy_unlag_core::Visuals;

use crate::{hit_box_file::HitBoxFile, hit_boxes::HitBoxes, limb_nodes::LimbNodes};

/// Time to wait for missing bones if others exist, and if none exists: the nodes of a scene appear
/// together, but a scene may take a while to load.
const SOME_MISSING_TIMEOUT: Duration = Duration::from_secs(2);
const ALL_MISSING_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of nodes to search per pawn.
const MAX_NODES: usize = 10_000;

/// Attaches hit boxes to the bones of a model below this pawn. Searches for nodes whose [`Name`]s are the
/// file's bones, as for the joints of a glTF skeleton. When all are found, inserts [`HitBoxes`] and
/// [`LimbNodes`] into the pawn, with limbs in the order of [`HitBoxFile::bones`]. Of two nodes with the
/// same name, the one nearer to the root is used.
///
/// If some bones are still missing after two seconds, a warning is logged once and the boxes of the
/// missing bones stay at the root. If bones are despawned, the search starts again, since models may be
/// swapped. Insert another component to change the boxes: shots with views from before are tested against
/// the old ones. With a file that uses limb numbers, only the boxes are inserted.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug, from_reflect = false)]
pub struct HitBoxBones {
    // The whole file, shared.
    #[reflect(ignore)]
    file: Arc<HitBoxFile>,
    root: Option<Entity>,
    /// Hit box set, kept so that it stays the same when bones are found again.
    #[reflect(ignore)]
    set: Option<HitBoxes>,
    found: bool,
    waited: Duration,
    warned: bool,
}

impl HitBoxBones {
    /// Searches below the pawn's visual if it has one, otherwise below the pawn.
    #[must_use]
    pub fn new(file: impl Into<Arc<HitBoxFile>>) -> Self {
        Self { file: file.into(), root: None, set: None, found: false, waited: Duration::ZERO, warned: false }
    }

    /// Searches below this entity instead; limb poses are in its space. See [`LimbNodes::root`].
    #[must_use]
    pub fn below(self, root: Entity) -> Self {
        Self { root: Some(root), ..self }
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &HitBoxFile {
        &self.file
    }

    /// Returns the entity to search below, if it was set.
    #[must_use]
    pub fn root(&self) -> Option<Entity> {
        self.root
    }

    /// Returns whether the search has ended.
    #[must_use]
    pub fn found(&self) -> bool {
        self.found
    }
}

/// Searches for bones and inserts the hit boxes.
pub(crate) fn resolve(
    time: Res<Time<Real>>,
    mut gone: RemovedComponents<Name>,
    mut pawns: Query<(Entity, &mut HitBoxBones, Option<&LimbNodes>, Option<&Visuals>)>,
    names: Query<&Name>,
    children: Query<&Children>,
    mut commands: Commands,
) {
    // Names are only removed when models are swapped, which is rare.
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
                    warn!("no hit boxes for pawn {pawn}: {error}");
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
        let late = bones.waited >= if none { ALL_MISSING_TIMEOUT } else { SOME_MISSING_TIMEOUT };
        if !missing.is_empty() && late && !bones.warned {
            bones.warned = true;
            let rest = if none { "the search continues" } else { "their boxes stay at the root" };
            warn!(
                "no node below {root} of pawn {pawn} has the name {}: {rest}; the bone names in the hit box \
                 file must be those of the model's nodes",
                missing.join(" or ")
            );
        }
        if missing.is_empty() || (late && !none) {
            bones.found = true;
            commands.entity(pawn).insert((set, LimbNodes { root, nodes }));
        }
    }
}

/// Returns the nodes with these names, searching breadth first from the root.
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
