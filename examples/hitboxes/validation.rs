//! Validation of a hit box file, without a window.

use std::path::Path;

use bevy_unlag::rewind::{BodyBounds, HitBoxFile, RonFile, humanoid_rig, sample_poses};
use checked_ron::OneLine;

use crate::bones::BONES;

/// Validates a file and returns a summary of its content.
///
/// # Errors
/// Returns in one line what is wrong with the file.
pub fn check(path: &Path) -> Result<String, String> {
    let file = read(path)?;
    let mut line = format!("{}: {} hit boxes", OneLine::path(path), file.boxes.len());
    let bones = file.bones();
    if !bones.is_empty() {
        line += &format!(" on {} bones", bones.len());
    }
    // The poses of another skeleton are unknown here.
    if !bones.iter().all(|bone| BONES.contains(bone)) {
        return Ok(line + ", valid; the bounds were not checked because the skeleton is unknown");
    }
    let set = file.hit_boxes_on(&BONES).map_err(|error| format!("{}: {error}", OneLine::path(path)))?;
    let Some(reach) = BodyBounds::measure(set.boxes(), &humanoid_rig(), sample_poses()) else {
        return Err(format!(
            "{}: no box is on one of the humanoid's {} limbs",
            OneLine::path(path),
            BONES.len()
        ));
    };
    if !file.bounds.contains(&reach) {
        let (b, r) = (file.bounds, reach);
        return Err(format!(
            "{}: boxes reach a radius of {:.3} m and heights {:.3} to {:.3} m, beyond the bounds (radius {}, low \
             {}, high {}): shots at those parts would miss; enlarge the bounds",
            OneLine::path(path),
            r.radius,
            r.low,
            r.high,
            b.radius,
            b.low,
            b.high
        ));
    }
    Ok(line + ", within their bounds in every pose of the humanoid")
}

/// Reads a file.
///
/// # Errors
/// Returns in one line why the file cannot be read.
pub fn read(path: &Path) -> Result<HitBoxFile, String> {
    HitBoxFile::read(path).map_err(|error| format!("{}: {error}", OneLine::path(path)))
}
