//! Tells authors when a hit box leaves the bounds of its set: shots there miss, silently.

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, LimbRig};

use bevy_unlag_smoothing::PublishedPath;

use crate::{FrameHistory, HitBoxes};

/// Sets that one has been told of; beyond them nobody reads on.
const MOST: usize = 16;

/// Warns once about every set that its limbs leave. In builds with debug assertions only: it looks at every box
/// of every pawn in every frame.
pub(crate) fn warn_about_strays(
    pawns: Query<(Entity, &PublishedPath, &FrameHistory, &HitBoxes, Option<&LimbRig>)>,
    mut told: Local<Vec<HitBoxes>>,
) {
    let mut room = LimbPoses::default();
    for (entity, path, history, boxes, rig) in &pawns {
        if told.len() >= MOST || told.iter().any(|set| set.same(boxes)) {
            continue;
        }
        let limbs = match (history.bones.newest_limbs(), rig, path.present()) {
            ([], Some(rig), Some(present)) => rig.in_body(present, &mut room),
            (recorded, ..) => recorded,
        };
        if let Some((index, reach)) = boxes.bounds().stray(boxes.boxes(), limbs) {
            told.push(boxes.clone());
            warn!(
                "hit box {index} of {entity} reaches {:.3} m to the side and from {:.3} to {:.3} m, outside of the \
                 bounds of its set ({:?}): shots there miss; make them larger (BodyBounds::measure finds out)",
                reach.radius,
                reach.low,
                reach.high,
                boxes.bounds()
            );
        }
    }
}
