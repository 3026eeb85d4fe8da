//! Serialised form of hit boxes and occluders: boxes, balls and capsules.

use bevy_rapier3d::prelude::Collider;

use crate::{checked_floats::checked, file_shape::FileShape, hit_boxes::HitBoxes};

/// Returns whether the serialised form has exactly these shapes, and not the bounding box of one.
pub(crate) fn is_exact(set: &HitBoxes) -> bool {
    set.boxes().iter().all(|hit_box| FileShape::of(&hit_box.shape).is_some())
}

/// The shape of an occluder; `None` if it is not a box, ball or capsule.
pub(super) mod occluder {
    use serde::{Deserializer, Serialize, Serializer};

    use super::{Collider, FileShape, checked};

    /// Serialises a shape.
    pub(crate) fn serialize<S: Serializer>(
        shape: &Option<Collider>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        shape.as_ref().and_then(FileShape::of).serialize(serializer)
    }

    /// Deserialises a shape.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Collider>, D::Error> {
        Ok(checked::<Option<FileShape>, D>(deserializer)?.map(Collider::from))
    }
}
