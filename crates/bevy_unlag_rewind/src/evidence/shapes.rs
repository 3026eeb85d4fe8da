//! Serialised form of hit boxes and occluders: boxes, balls and capsules.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::MAX_LIMBS;
use serde::{Deserialize, Serialize};

use super::format::checked;
use crate::{
    hit_box_file::FileShape,
    hit_boxes::{BodyBounds, HitBox, HitBoxes, HitGroup},
};

/// Serialised [`HitBoxes`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SetRecord {
    #[serde(deserialize_with = "checked")]
    bounds: BodyBounds,
    head_first: bool,
    boxes: Vec<BoxRecord>,
}

#[derive(Serialize, Deserialize)]
struct BoxRecord {
    limb: u8,
    group: HitGroup,
    #[serde(deserialize_with = "checked")]
    factor: f32,
    #[serde(deserialize_with = "checked")]
    offset: Isometry3d,
    #[serde(deserialize_with = "checked")]
    shape: FileShape,
}

/// Returns the centre and the half extents of a shape's bounding box.
pub(super) fn bounding_box(shape: &Collider) -> (Vec3, Vec3) {
    let around = shape.raw.compute_local_aabb();
    let (low, high) = (Vec3::from_array(around.mins.into()), Vec3::from_array(around.maxs.into()));
    ((low + high) * 0.5, (high - low) * 0.5)
}

/// Returns whether the serialised form has exactly these shapes, and not the bounding box of one.
pub(crate) fn is_exact(set: &HitBoxes) -> bool {
    set.boxes().iter().all(|hit_box| FileShape::of(&hit_box.shape).is_some())
}

impl From<&HitBox> for BoxRecord {
    fn from(hit_box: &HitBox) -> Self {
        let (shape, offset) = FileShape::of(&hit_box.shape).map_or_else(
            || {
                let (middle, half) = bounding_box(&hit_box.shape);
                let offset = hit_box.offset * Isometry3d::from_translation(middle);
                (FileShape::Box { half: half.into() }, offset)
            },
            |shape| (shape, hit_box.offset),
        );
        Self { limb: hit_box.limb, group: hit_box.group, factor: hit_box.factor, offset, shape }
    }
}

impl From<HitBoxes> for SetRecord {
    fn from(set: HitBoxes) -> Self {
        let boxes = set.boxes().iter().map(BoxRecord::from).collect();
        Self { bounds: set.bounds(), head_first: set.head_first(), boxes }
    }
}

impl TryFrom<SetRecord> for HitBoxes {
    type Error = &'static str;

    fn try_from(set: SetRecord) -> Result<Self, Self::Error> {
        if set.boxes.len() > 256 || set.boxes.iter().any(|record| usize::from(record.limb) >= MAX_LIMBS) {
            return Err("there are too many hit boxes or limbs");
        }
        let boxes = set.boxes.into_iter().map(|BoxRecord { limb, group, factor, offset, shape }| HitBox {
            limb,
            group,
            factor,
            offset,
            shape: shape.into(),
        });
        let boxes = Self::new(boxes, set.bounds);
        Ok(if set.head_first { boxes } else { boxes.nearest_first() })
    }
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
