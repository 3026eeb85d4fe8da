//! Setup check for missing hit boxes.

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_unlag_core::{PawnModel, SetupDiagnostics, SetupIssue};

use crate::{history::FrameHistory, hit_boxes::HitBoxes};

/// Seconds to wait before the check reports, since hit boxes may be loaded from a file.
const GRACE_SECONDS: f32 = 5.0;

/// Reports a model whose pawns are recorded while none of them has [`HitBoxes`].
pub(crate) fn report_missing_hit_boxes(
    time: Res<Time>,
    pawns: Query<(Option<&PawnModel>, Has<HitBoxes>), With<FrameHistory>>,
    mut without: Local<HashMap<&'static str, f32>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    if diagnostics.has(SetupIssue::NoHitBoxes) {
        return;
    }
    let name = |model: Option<&PawnModel>| model.map_or("", PawnModel::name);
    let is_hittable = |name_of: &str| pawns.iter().any(|(model, boxes)| boxes && name(model) == name_of);
    without.retain(|model, _| pawns.iter().any(|(other, _)| name(other) == *model) && !is_hittable(model));
    for (model, boxes) in &pawns {
        if !boxes && !without.contains_key(name(model)) && !is_hittable(name(model)) {
            without.insert(name(model), 0.0);
        }
    }
    for (model, seconds) in without.iter_mut() {
        *seconds += time.delta_secs();
        if *seconds > GRACE_SECONDS {
            diagnostics.report(SetupIssue::NoHitBoxes, || {
                let known = pawns.iter().filter_map(|(other, _)| other).find(|other| other.name() == *model);
                let pawns =
                    known.map_or("pawns".to_owned(), |known| format!("pawns of {}", known.short_name()));
                format!(
                    "{pawns} are recorded for rewind, but none has HitBoxes, so no shot can hit them: return \
                     boxes from Character::body or insert them, HitBoxes::none() if nothing shall hit them"
                )
            });
        }
    }
}
