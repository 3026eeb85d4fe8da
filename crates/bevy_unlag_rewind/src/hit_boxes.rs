//! A pawn's limbs as shapes that can be hit.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::MAX_LIMBS;

use crate::shape::Shape;

/// The part of the body that a hit box belongs to; a weapon's damage depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum HitGroup {
    /// Counts before any other group of the same pawn, unless its [`HitBoxes`] say otherwise.
    Head,
    /// Chest and belly.
    #[default]
    #[doc(alias = "Chest")]
    Body,
    /// Arms and legs.
    Limb,
}

/// One shape, carried by one limb of the pawn.
#[derive(Clone, Debug)]
pub struct HitBox {
    /// The limb that carries it: of the pawn's [`LimbRig`](bevy_unlag_core::LimbRig) or
    /// [`LimbNodes`](crate::LimbNodes).
    pub limb: u8,
    /// The part of the body.
    pub group: HitGroup,
    /// What a hit here does of a weapon's damage to this group. Default 1; 0.5 is armour.
    pub factor: f32,
    /// Where the shape is in the space of the limb. Default: at its origin.
    pub offset: Isometry3d,
    /// A rapier collider, so that it is authored and drawn like any other, but never part of the
    /// physics world. Boxes, balls and capsules are tested in closed form, any other convex shape by parry.
    pub shape: Collider,
}

impl HitBox {
    /// A shape at the origin of its limb.
    #[must_use]
    pub fn new(limb: u8, group: HitGroup, shape: Collider) -> Self {
        Self { limb, group, factor: 1.0, offset: Isometry3d::IDENTITY, shape }
    }

    /// The same with its shape elsewhere in the space of the limb.
    #[must_use]
    pub fn at(self, offset: Isometry3d) -> Self {
        Self { offset, ..self }
    }
}

/// What no shape of a pawn ever leaves, in the space of its body: an upright cylinder about its root. What
/// stays outside of it is rejected without posing a limb, so what is too small loses hits, and what is
/// too large costs time.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyBounds {
    /// Metres to the side at most.
    pub radius: f32,
    /// Metres above the root at least; negative is below.
    pub low: f32,
    /// Metres above the root at most.
    pub high: f32,
}

impl BodyBounds {
    /// No shape reaches further than this from the root, in metres, in any direction.
    #[must_use]
    pub fn ball(reach: f32) -> Self {
        Self { radius: reach, low: -reach, high: reach }
    }

    /// What neither leaves.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            radius: self.radius.max(other.radius),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Metres from the root that nothing reaches beyond.
    #[must_use]
    pub fn reach(&self) -> f32 {
        self.radius.hypot(self.low.abs().max(self.high.abs()))
    }
}

/// Everything on a pawn that can be hit, shared between pawns of one kind. A pawn may be given another set
/// at any time: shots from before the change are judged by the old one, on the
/// [`LimbRig`](bevy_unlag_core::LimbRig) that the pawn had with it.
#[derive(Component, Clone, Debug)]
pub struct HitBoxes {
    set: Arc<HitBoxSet>,
}

#[derive(Debug)]
struct HitBoxSet {
    boxes: Vec<HitBox>,
    shapes: Vec<Shape>,
    bounds: BodyBounds,
    head_first: bool,
}

impl HitBoxes {
    /// A set of shapes that never leave `bounds`. Boxes of limbs beyond [`MAX_LIMBS`], and those after the
    /// first 256, are left out, with a warning.
    #[must_use]
    pub fn new(boxes: impl IntoIterator<Item = HitBox>, bounds: BodyBounds) -> Self {
        // A hit names its box with a byte.
        let (mut boxes, mut beyond): (Vec<_>, Vec<_>) =
            boxes.into_iter().partition(|hit_box| usize::from(hit_box.limb) < MAX_LIMBS);
        beyond.extend(boxes.drain(boxes.len().min(256)..));
        if !beyond.is_empty() {
            warn!(
                "{} hit boxes were left out: at most 256 are possible, on the limbs 0 to {}",
                beyond.len(),
                MAX_LIMBS - 1
            );
        }
        let shapes = boxes.iter().map(Shape::new).collect();
        Self { set: Arc::new(HitBoxSet { boxes, shapes, bounds, head_first: true }) }
    }

    /// The same, but the box that is met first counts, also when the head lies behind it. By default a
    /// round that passes through the head is a hit in the head, as in the games that test heads first; unless the
    /// world stands between the head and what was met before it.
    #[must_use]
    pub fn nearest_first(self) -> Self {
        let HitBoxSet { boxes, bounds, .. } = &*self.set;
        let shapes = boxes.iter().map(Shape::new).collect();
        Self { set: Arc::new(HitBoxSet { boxes: boxes.clone(), shapes, bounds: *bounds, head_first: false }) }
    }

    /// The shapes.
    #[must_use]
    pub fn boxes(&self) -> &[HitBox] {
        &self.set.boxes
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.set.shapes
    }

    /// What no shape ever leaves.
    #[must_use]
    pub fn bounds(&self) -> BodyBounds {
        self.set.bounds
    }

    /// Whether a head counts before what lies in front of it. Default: yes.
    #[must_use]
    pub fn head_first(&self) -> bool {
        self.set.head_first
    }

    /// Whether both are the very same set.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.set, &other.set)
    }
}
