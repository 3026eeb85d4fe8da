//! Serialised hit boxes.

use bevy::prelude::*;
use bevy_unlag_core::MAX_LIMBS;
use serde::{Deserialize, Serialize};

use crate::{
    checked_floats::checked,
    file_shape::{FileShape, bounding_box},
    hit_box::{BodyBounds, HitBox, HitGroup},
    hit_boxes::HitBoxes,
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
