//! Hit boxes of a pawn: shapes on its limbs.

mod ray_distance;
mod record;

use std::sync::Arc;

use bevy::prelude::*;
use bevy_unlag_core::MAX_LIMBS;

use crate::{
    bounding_spheres::ShapeGroup,
    hit_box::{BodyBounds, HitBox},
    shape::Shape,
};
use record::SetRecord;

/// Hit boxes of a pawn, shared between pawns of one kind. A pawn may be given another set at any time:
/// shots with views from before the change are tested against the old one, on the
/// [`LimbRig`](bevy_unlag_core::LimbRig) that the pawn had with it.
///
/// Serialised, a shape that is not a box, ball or capsule becomes its bounding box. Files that people write
/// are [`HitBoxFile`](crate::HitBoxFile)s.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier3d::prelude::Collider;
/// use bevy_unlag_rewind::{BodyBounds, HitBox, HitBoxes, HitGroup};
///
/// // A drone: a hull, and a sensor on top of it that counts as its head.
/// let hull = HitBox::new(0, HitGroup::Body, Collider::ball(0.5));
/// let sensor = HitBox::new(0, HitGroup::Head, Collider::ball(0.15)).at(Isometry3d::from_xyz(0.0, 0.6, 0.0));
/// let drone = HitBoxes::new([hull, sensor], BodyBounds::ball(0.8));
/// assert_eq!(drone.boxes().len(), 2);
/// assert!(drone.head_first());
/// ```
///
/// In the book: *Rewind and hit boxes*, `book/src/reference/rewind.md`.
#[doc(alias = "mstudiohitboxset_t")]
#[derive(Component, Clone, Debug, serde::Serialize, serde::Deserialize, Reflect)]
#[reflect(Component, Debug, from_reflect = false)]
#[serde(into = "SetRecord", try_from = "SetRecord")]
pub struct HitBoxes {
    // Shared, with derived shapes and bounds that must fit the boxes.
    #[reflect(ignore)]
    set: Arc<HitBoxSet>,
}

#[derive(Debug)]
struct HitBoxSet {
    boxes: Vec<HitBox>,
    shapes: Vec<Shape>,
    groups: Vec<ShapeGroup>,
    bounds: BodyBounds,
    head_first: bool,
}

impl HitBoxSet {
    fn new(boxes: Vec<HitBox>, bounds: BodyBounds, head_first: bool) -> Self {
        let shapes: Vec<_> = boxes.iter().map(Shape::new).collect();
        let groups = ShapeGroup::all(&shapes);
        Self { boxes, shapes, groups, bounds, head_first }
    }
}

impl HitBoxes {
    /// Creates a set of shapes that never leave `bounds`. Boxes of limbs beyond [`MAX_LIMBS`] and boxes
    /// after the first 256 are left out, with a warning.
    #[must_use]
    pub fn new(boxes: impl IntoIterator<Item = HitBox>, bounds: BodyBounds) -> Self {
        // A hit stores the index of its box in a byte.
        let (mut boxes, mut beyond): (Vec<_>, Vec<_>) =
            boxes.into_iter().partition(|hit_box| usize::from(hit_box.limb) < MAX_LIMBS);
        beyond.extend(boxes.drain(boxes.len().min(256)..));
        if !beyond.is_empty() {
            warn!(
                "{} hit boxes were left out: at most 256 are possible, on limbs 0 to {}",
                beyond.len(),
                MAX_LIMBS - 1
            );
        }
        Self { set: Arc::new(HitBoxSet::new(boxes, bounds, true)) }
    }

    /// Returns an empty set, for a pawn that no shot shall hit.
    #[must_use]
    pub fn none() -> Self {
        Self::new([], BodyBounds { radius: 0.0, low: 0.0, high: 0.0 })
    }

    /// Makes the box that is hit first count, even if the head lies behind it. By default a shot that
    /// passes through the head is a head hit, as in games that test heads first, unless the world is
    /// between the head and the first box.
    #[must_use]
    pub fn nearest_first(self) -> Self {
        let HitBoxSet { boxes, bounds, .. } = &*self.set;
        Self { set: Arc::new(HitBoxSet::new(boxes.clone(), *bounds, false)) }
    }

    /// Returns the hit boxes.
    #[must_use]
    pub fn boxes(&self) -> &[HitBox] {
        &self.set.boxes
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.set.shapes
    }

    /// Returns the shapes in groups of four.
    pub(crate) fn groups(&self) -> &[ShapeGroup] {
        &self.set.groups
    }

    /// Returns the bounds that no shape ever leaves.
    #[must_use]
    pub fn bounds(&self) -> BodyBounds {
        self.set.bounds
    }

    /// Returns whether a head takes precedence over boxes in front of it. Default: `true`.
    #[must_use]
    pub fn head_first(&self) -> bool {
        self.set.head_first
    }

    /// Returns whether both are the same set.
    #[must_use]
    pub fn is_same_set(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.set, &other.set)
    }
}
