//! Hit box files in RON.

mod text;
mod validation;

use bevy::{asset::Asset, prelude::*, reflect::TypePath};
use checked_ron::RonError;
use serde::{Deserialize, Serialize};

use crate::{
    file_shape::FileShape,
    hit_box::{BodyBounds, HitBox, HitGroup},
    hit_boxes::HitBoxes,
};

/// Hit boxes of one kind of pawn, as in a `*.hitboxes.ron` file:
///
/// ```
/// # use bevy_unlag_rewind::{HitBoxFile, RonFile};
/// # let file = HitBoxFile::from_ron(r#"
/// (
///     bounds: (radius: 0.9, low: -0.05, high: 1.9),
///     boxes: [
///         (bone: "Head", group: Head, shape: Ball(radius: 0.13)),
///         (bone: "Spine", shape: Box(half: (0.2, 0.3, 0.15)), offset: (translation: (0.0, 0.1, 0.0))),
///         (bone: "LeftHand", group: Limb, factor: 0.5,
///          shape: Capsule(a: (0.0, 0.0, 0.0), b: (0.0, 0.15, 0.0), radius: 0.05)),
///     ],
/// )
/// # "#);
/// # assert_eq!(file.unwrap().boxes.len(), 3);
/// ```
///
/// Metres and degrees. Every value of a file is checked: see [`RonError`]. Give it to a pawn with
/// [`HitBoxBones`](crate::HitBoxBones), or from an asset server with [`HitBoxAsset`](crate::HitBoxAsset).
#[derive(Asset, TypePath, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HitBoxFile {
    /// Whether a head takes precedence over boxes in front of it. Default: `true`.
    #[serde(default = "yes")]
    pub head_first: bool,
    /// Bounds that no box ever leaves; see [`BodyBounds::measure`].
    pub bounds: BodyBounds,
    /// Boxes: at most 255, on at most [`MAX_LIMBS`](bevy_unlag_core::MAX_LIMBS) bones.
    pub boxes: Vec<FileBox>,
}

/// One box of a [`HitBoxFile`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileBox {
    /// Bone to which the box is attached. All boxes of a file use names, or all use numbers.
    pub bone: Bone,
    /// Hit group. Default: [`HitGroup::Body`].
    #[serde(default)]
    pub group: HitGroup,
    /// Factor on a weapon's damage to the hit group, 0 to 1,000. Default: 1.
    #[serde(default = "one")]
    pub factor: f32,
    /// Shape.
    pub shape: FileShape,
    /// Pose in the space of the bone. Default: at its origin.
    #[serde(default, skip_serializing_if = "FileOffset::is_none")]
    pub offset: FileOffset,
}

/// Bone to which a box is attached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected the name of a bone in quotes, or the number of a limb")]
pub enum Bone {
    /// Node with this [`Name`]: a bone of a skeleton, or an entity of a model.
    Name(String),
    /// Limb of a [`LimbRig`](bevy_unlag_core::LimbRig) with this number.
    Limb(#[serde(deserialize_with = "text::limb")] u8),
}

/// Pose of a box in the space of its bone.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FileOffset {
    /// Translation in metres.
    pub translation: [f32; 3],
    /// Rotation in degrees: about its own x axis, then its own y axis, then its own z axis.
    pub rotation: [f32; 3],
}

fn yes() -> bool {
    true
}

fn one() -> f32 {
    1.0
}

impl FileOffset {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl From<FileOffset> for Isometry3d {
    fn from(offset: FileOffset) -> Self {
        let [x, y, z] = offset.rotation.map(f32::to_radians);
        Self::new(Vec3::from_array(offset.translation), Quat::from_euler(EulerRot::XYZ, x, y, z))
    }
}

impl From<Isometry3d> for FileOffset {
    fn from(pose: Isometry3d) -> Self {
        let (x, y, z) = pose.rotation.to_euler(EulerRot::XYZ);
        // Adding 0 turns -0 into 0.
        Self {
            translation: pose.translation.into(),
            rotation: [x, y, z].map(|angle| angle.to_degrees() + 0.0),
        }
    }
}

impl HitBoxFile {
    /// Returns the names of all bones in the order of their first use, which is the order of the limbs of
    /// [`hit_boxes`](Self::hit_boxes). Empty if the boxes use numbers.
    #[must_use]
    pub fn bones(&self) -> Vec<&str> {
        let mut bones: Vec<&str> = Vec::new();
        for hit_box in &self.boxes {
            if let Bone::Name(name) = &hit_box.bone
                && !bones.contains(&name.as_str())
            {
                bones.push(name);
            }
        }
        bones
    }

    /// Returns the hit boxes, on limbs in the order of [`bones`](Self::bones), or by number.
    ///
    /// # Errors
    /// Returns the first problem of a file that was constructed instead of read.
    pub fn hit_boxes(&self) -> Result<HitBoxes, RonError> {
        self.check()?;
        self.on(&self.bones())
    }

    /// Returns the hit boxes for a pawn whose limbs have these names, in this order.
    ///
    /// # Errors
    /// As for [`hit_boxes`](Self::hit_boxes), and if there is no bone with a name that the file uses.
    pub fn hit_boxes_on(&self, bones: &[&str]) -> Result<HitBoxes, RonError> {
        self.check()?;
        self.on(bones)
    }

    fn on(&self, bones: &[&str]) -> Result<HitBoxes, RonError> {
        let boxes = self.boxes.iter().enumerate().map(|(index, hit_box)| {
            let limb = match &hit_box.bone {
                Bone::Limb(limb) => *limb,
                Bone::Name(name) => bones
                    .iter()
                    .position(|bone| bone == name)
                    .and_then(|limb| u8::try_from(limb).ok())
                    .ok_or_else(|| validation::unknown_bone(index, &hit_box.bone, bones))?,
            };
            Ok(HitBox {
                limb,
                group: hit_box.group,
                factor: hit_box.factor,
                offset: hit_box.offset.into(),
                shape: hit_box.shape.into(),
            })
        });
        let boxes = HitBoxes::new(boxes.collect::<Result<Vec<_>, _>>()?, self.bounds);
        Ok(if self.head_first { boxes } else { boxes.nearest_first() })
    }

    /// Creates a file from a hit box set, with the names of its limbs; if there are no names, limb
    /// numbers are written. Returns `None` if a shape is not a box, ball or capsule.
    #[must_use]
    pub fn of(set: &HitBoxes, bones: &[&str]) -> Option<Self> {
        let boxes = set.boxes().iter().map(|hit_box| {
            let name = bones.get(usize::from(hit_box.limb));
            Some(FileBox {
                bone: name.map_or(Bone::Limb(hit_box.limb), |name| Bone::Name((*name).to_owned())),
                group: hit_box.group,
                factor: hit_box.factor,
                shape: FileShape::of(&hit_box.shape)?,
                offset: hit_box.offset.into(),
            })
        });
        Some(Self {
            head_first: set.head_first(),
            bounds: set.bounds(),
            boxes: boxes.collect::<Option<_>>()?,
        })
    }
}
