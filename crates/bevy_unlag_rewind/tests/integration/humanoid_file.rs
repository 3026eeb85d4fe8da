//! The preset as a hit box file, a start for files of one's own.

use std::path::Path;

use bevy_unlag_rewind::{HitBoxFile, RonFile, humanoid_hit_boxes};

#[test]
fn humanoid_file_of_the_assets_equals_the_preset() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/hitboxes/humanoid.hitboxes.ron");
    let file = HitBoxFile::read(path).expect("a valid file");
    assert_eq!(HitBoxFile::of(&humanoid_hit_boxes(), &file.bones()).as_ref(), Some(&file));
}
