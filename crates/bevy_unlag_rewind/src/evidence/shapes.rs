//! Binary serialisation of hit boxes: boxes, balls and capsules.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{BitReader, BitWriter, WireError};

use super::wire::{
    read_all, read_f32, read_isometry, read_vec, write_all, write_f32, write_isometry, write_vec,
};
use crate::{BodyBounds, HitBox, HitBoxes, HitGroup};

/// Serialisable shape.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SerialShape {
    Box(Vec3),
    Ball(f32),
    Capsule(Vec3, Vec3, f32),
}

impl SerialShape {
    /// Returns `None` for a shape that cannot be serialised.
    pub fn of(shape: &Collider) -> Option<Self> {
        let raw = &shape.raw;
        if let Some(cuboid) = raw.as_cuboid() {
            return Some(Self::Box(Vec3::from_array(cuboid.half_extents.into())));
        }
        if let Some(ball) = raw.as_ball() {
            return Some(Self::Ball(ball.radius));
        }
        let capsule = raw.as_capsule()?;
        let point = |point: [f32; 3]| Vec3::from_array(point);
        Some(Self::Capsule(point(capsule.segment.a.into()), point(capsule.segment.b.into()), capsule.radius))
    }

    /// Returns the centre and the half extents of a shape's bounding box.
    pub fn around(shape: &Collider) -> (Vec3, Vec3) {
        let around = shape.raw.compute_local_aabb();
        let (low, high): ([f32; 3], [f32; 3]) = (around.mins.into(), around.maxs.into());
        let (low, high) = (Vec3::from_array(low), Vec3::from_array(high));
        ((low + high) * 0.5, (high - low) * 0.5)
    }

    fn collider(self) -> Collider {
        match self {
            Self::Box(half) => Collider::cuboid(half.x, half.y, half.z),
            Self::Ball(radius) => Collider::ball(radius),
            Self::Capsule(a, b, radius) => Collider::capsule(a, b, radius),
        }
    }

    fn write(self, w: &mut BitWriter) {
        match self {
            Self::Box(half) => {
                w.bits(0, 2);
                write_vec(w, half);
            }
            Self::Ball(radius) => {
                w.bits(1, 2);
                write_f32(w, radius);
            }
            Self::Capsule(a, b, radius) => {
                w.bits(2, 2);
                write_vec(w, a);
                write_vec(w, b);
                write_f32(w, radius);
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let shape = match r.bits(2)? {
            0 => Self::Box(read_vec(r)?),
            1 => Self::Ball(read_f32(r)?),
            2 => Self::Capsule(read_vec(r)?, read_vec(r)?, read_f32(r)?),
            _ => return Err(WireError::Invalid),
        };
        let sound = match shape {
            Self::Box(half) => half.min_element() >= 0.0,
            Self::Ball(radius) | Self::Capsule(_, _, radius) => radius >= 0.0,
        };
        if sound { Ok(shape) } else { Err(WireError::Invalid) }
    }
}

pub(super) fn write_shape(w: &mut BitWriter, shape: Option<&Collider>) {
    let plain = shape.and_then(SerialShape::of);
    w.bool(plain.is_some());
    plain.into_iter().for_each(|plain| plain.write(w));
}

pub(super) fn read_shape(r: &mut BitReader<'_>) -> Result<Option<Collider>, WireError> {
    Ok(if r.bool()? { Some(SerialShape::read(r)?.collider()) } else { None })
}

pub(super) fn read_group(r: &mut BitReader<'_>) -> Result<HitGroup, WireError> {
    Ok(match r.bits(2)? {
        0 => HitGroup::Head,
        1 => HitGroup::Body,
        2 => HitGroup::Limb,
        _ => return Err(WireError::Invalid),
    })
}

/// Returns whether all shapes were written exactly.
pub(super) fn write_set(w: &mut BitWriter, set: &HitBoxes) -> bool {
    let bounds = set.bounds();
    for value in [bounds.radius, bounds.low, bounds.high] {
        write_f32(w, value);
    }
    w.bool(set.head_first());
    let mut exact = true;
    write_all(w, set.boxes(), |w, hit_box: &HitBox| {
        let (shape, offset) = SerialShape::of(&hit_box.shape).map_or_else(
            || {
                exact = false;
                let (middle, half) = SerialShape::around(&hit_box.shape);
                (SerialShape::Box(half), hit_box.offset * Isometry3d::from_translation(middle))
            },
            |shape| (shape, hit_box.offset),
        );
        w.bits(u32::from(hit_box.limb), 8);
        w.bits(hit_box.group as u32, 2);
        w.bool(hit_box.factor != 1.0);
        if hit_box.factor != 1.0 {
            write_f32(w, hit_box.factor);
        }
        w.bool(offset != Isometry3d::IDENTITY);
        if offset != Isometry3d::IDENTITY {
            write_isometry(w, &offset);
        }
        shape.write(w);
    });
    exact
}

pub(super) fn read_set(r: &mut BitReader<'_>) -> Result<HitBoxes, WireError> {
    let bounds = BodyBounds { radius: read_f32(r)?, low: read_f32(r)?, high: read_f32(r)? };
    let head_first = r.bool()?;
    let boxes = read_all(r, |r| {
        let (limb, group) = (r.bits(8)? as u8, read_group(r)?);
        let factor = if r.bool()? { read_f32(r)? } else { 1.0 };
        let offset = if r.bool()? { read_isometry(r)? } else { Isometry3d::IDENTITY };
        let shape = SerialShape::read(r)?.collider();
        if usize::from(limb) >= bevy_unlag_core::MAX_LIMBS {
            return Err(WireError::Invalid);
        }
        Ok(HitBox { limb, group, factor, offset, shape })
    })?;
    let set = HitBoxes::new(boxes, bounds);
    Ok(if head_first { set } else { set.nearest_first() })
}
