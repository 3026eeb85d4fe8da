//! Setup check for missing hit boxes.

use bevy::prelude::*;
use bevy_unlag_core::{SetupDiagnostics, SetupIssue};

use crate::{history::FrameHistory, hit_boxes::HitBoxes};

/// Seconds to wait before the check reports, since hit boxes may be loaded from a file.
const GRACE_SECONDS: f32 = 5.0;

/// Reports an app that records pawns, none of which has [`HitBoxes`].
pub(crate) fn report_missing_hit_boxes(
    time: Res<Time>,
    pawns: Query<(), With<FrameHistory>>,
    boxes: Query<(), With<HitBoxes>>,
    mut without: Local<f32>,
    mut findings: ResMut<SetupDiagnostics>,
) {
    let missing = !pawns.is_empty() && boxes.is_empty();
    *without = if missing { *without + time.delta_secs() } else { 0.0 };
    if *without > GRACE_SECONDS {
        findings.report(SetupIssue::NoHitBoxes, || {
            "pawns are recorded for rewind, but none has HitBoxes, so no shot can hit: insert \
             soldier_body(), humanoid_hit_boxes() or boxes of your own"
                .to_owned()
        });
    }
}
