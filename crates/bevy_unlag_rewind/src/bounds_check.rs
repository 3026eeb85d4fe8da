//! Warning about hit boxes outside the bounds of their set, at which shots would miss silently.

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, LimbRig};

use bevy_unlag_smoothing::PublishedPath;

use crate::{history::FrameHistory, hit_boxes::HitBoxes};

/// Maximum number of hit box sets to warn about.
const MOST: usize = 16;

/// Warns once about every hit box set whose limbs leave its bounds. Only in builds with debug assertions,
/// since it checks every box of every pawn in every frame.
pub(crate) fn warn_about_boxes_out_of_bounds(
    pawns: Query<(Entity, &PublishedPath, &FrameHistory, &HitBoxes, Option<&LimbRig>)>,
    mut warned: Local<Vec<HitBoxes>>,
) {
    let mut room = LimbPoses::default();
    for (entity, path, history, boxes, rig) in &pawns {
        if warned.len() >= MOST || warned.iter().any(|set| set.is_same_set(boxes)) {
            continue;
        }
        let limbs = match (history.bones.newest_limbs(), rig, path.present()) {
            ([], Some(rig), Some(present)) => rig.in_body(present, &mut room),
            (recorded, ..) => recorded,
        };
        if let Some((index, reach)) = boxes.bounds().first_out_of_bounds(boxes.boxes(), limbs) {
            warned.push(boxes.clone());
            warn!(
                "hit box {index} of {entity} reaches {:.3} m to the side and from {:.3} to {:.3} m in \
                 height, outside the bounds of its set ({:?}), so shots there miss: enlarge the bounds \
                 (see BodyBounds::measure)",
                reach.radius,
                reach.low,
                reach.high,
                boxes.bounds()
            );
        }
    }
}
