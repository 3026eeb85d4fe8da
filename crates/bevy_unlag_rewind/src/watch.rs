//! Looks for a mistake in how an app with rewind is put together.

use bevy::prelude::*;
use bevy_unlag_core::{Fault, Findings};

use crate::{FrameHistory, HitBoxes};

/// Seconds after which pawns have what they need: hit boxes may come from a file.
const PATIENCE: f32 = 5.0;

/// Pawns that are remembered, and nothing of anybody to hit.
pub(crate) fn miss_hit_boxes(
    time: Res<Time>,
    pawns: Query<(), With<FrameHistory>>,
    boxes: Query<(), With<HitBoxes>>,
    mut without: Local<f32>,
    mut findings: ResMut<Findings>,
) {
    let missing = !pawns.is_empty() && boxes.is_empty();
    *without = if missing { *without + time.delta_secs() } else { 0.0 };
    if *without > PATIENCE {
        findings.report(Fault::NoHitBoxes, || {
            "pawns are remembered for shots and none has HitBoxes, so no shot hits: insert soldier_body(), \
             humanoid_hit_boxes() or boxes of your own"
                .to_owned()
        });
    }
}
