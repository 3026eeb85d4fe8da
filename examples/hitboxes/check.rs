//! Whether a file is good, without a window.

use std::path::Path;

use bevy_unlag::rewind::{BodyBounds, HitBoxFile, RonFile, humanoid_rig, usual_poses};

use crate::bones::BONES;

/// Looks at a file; says what is in it.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn check(path: &Path) -> Result<String, String> {
    let file = read(path)?;
    let mut line = format!("{}: {} hit boxes", path.display(), file.boxes.len());
    let bones = file.bones();
    if !bones.is_empty() {
        line += &format!(" on {} bones", bones.len());
    }
    // Of another skeleton nobody here knows the poses.
    if !bones.iter().all(|bone| BONES.contains(bone)) {
        return Ok(line + ", good as far as one can see without their skeleton");
    }
    let set = file.hit_boxes_on(&BONES).map_err(|error| format!("{}: {error}", path.display()))?;
    let Some(reach) = BodyBounds::measure(set.boxes(), &humanoid_rig(), usual_poses()) else {
        return Err(format!(
            "{}: no box is on a limb of the humanoid, which has {}",
            path.display(),
            BONES.len()
        ));
    };
    if !file.bounds.contains(&reach) {
        let (b, r) = (file.bounds, reach);
        return Err(format!(
            "{}: the boxes reach {:.3} m to the side and from {:.3} to {:.3} m, beyond the bounds (radius {}, low \
             {}, high {}): shots there would miss; make the bounds larger",
            path.display(),
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
/// Why it cannot, in one line.
pub fn read(path: &Path) -> Result<HitBoxFile, String> {
    HitBoxFile::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
