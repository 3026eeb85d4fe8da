//! Distance between a capsule's core and a collider part.
//!
//! The core is an upright segment; the capsule is everything within its radius of the segment. Boxes,
//! triangles and capsules are measured exactly and in closed form, because parry's iterations are an
//! order of magnitude slower and stop at a thousandth of the distance, which tilts normals by up to two
//! degrees.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::Aabb,
    math::Pose,
    query::{ClosestPoints, DefaultQueryDispatcher, QueryDispatcher},
    shape::{Cuboid, Segment, Shape, TypedShape},
};

use crate::part::{Part, PartShape};

/// Distance in metres below which the nearest points no longer define a direction.
const TOUCH: f32 = 1e-5;

/// Nearest points of a core and a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separation {
    /// Distance in metres; negative when the core itself is inside the part.
    pub(crate) distance: f32,
    /// Direction from the part to the core.
    pub(crate) normal: Vec3,
    /// Nearest point on the part.
    pub(crate) point: Vec3,
}

/// Returns the separation of a part and the core that rises `core` metres from `low`; `None` when the
/// distance is more than `max`.
pub(crate) fn separation(part: &Part, low: Vec3, core: f32, max: f32) -> Option<Separation> {
    let found = match &part.shape {
        PartShape::Box => upright_box(&part.aabb, low, core),
        PartShape::TurnedBox { pose, half } => turned_box(pose, *half, low, core, max)?,
        PartShape::Triangle { corners, normal } => triangle_core(corners, *normal, low, core, max)?,
        PartShape::Capsule { a, b, radius } => capsule_core(*a, *b, *radius, low, core),
        PartShape::Convex { pose, shape } => parry_separation(pose, &**shape, low, core, max)?,
    };
    let sound = found.distance.is_finite() && found.normal.is_finite() && found.point.is_finite();
    (sound && found.distance <= max).then_some(found)
}

/// Measures any convex shape with parry.
fn parry_separation(pose: &Pose, shape: &dyn Shape, low: Vec3, core: f32, max: f32) -> Option<Separation> {
    let a = pose.inverse_transform_point(low);
    let b = pose.inverse_transform_point(low + Vec3::Y * core);
    let found = if let TypedShape::HalfSpace(half_space) = shape.as_typed_shape() {
        let (above, end) = (a.dot(half_space.normal), b.dot(half_space.normal));
        let (distance, nearest) = if above <= end { (above, a) } else { (end, b) };
        let point = nearest - half_space.normal * distance;
        Separation { distance, normal: half_space.normal, point }
    } else {
        let segment = Segment::new(a, b);
        match DefaultQueryDispatcher.closest_points(&Pose::identity(), shape, &segment, max).ok()? {
            ClosestPoints::Disjoint => return None,
            ClosestPoints::WithinMargin(point, on_core) if point.distance(on_core) > TOUCH => {
                let distance = point.distance(on_core);
                Separation { distance, normal: (on_core - point) / distance, point }
            }
            _ => shortest_exit(shape, a, b)?,
        }
    };
    Some(Separation {
        normal: (pose.rotation * found.normal).try_normalize()?,
        point: pose.transform_point(found.point),
        ..found
    })
}

/// Returns the shortest way out of a convex shape that the core is inside of, among 26 directions.
/// Parry's exact search panics on some pointed shapes.
fn shortest_exit(shape: &dyn Shape, a: Vec3, b: Vec3) -> Option<Separation> {
    let map = shape.as_support_map()?;
    let mut best: Option<Separation> = None;
    for i in 0..27 {
        let axis = |n: i32| (n % 3 - 1) as f32;
        let Some(direction) = Vec3::new(axis(i), axis(i / 3), axis(i / 9)).try_normalize() else { continue };
        let point = map.local_support_point(direction);
        let depth = point.dot(direction) - a.dot(direction).min(b.dot(direction));
        if best.is_none_or(|best| depth < -best.distance) {
            best = Some(Separation { distance: -depth, normal: direction, point });
        }
    }
    best.filter(|best| best.distance.is_finite())
}

/// Measures an axis-aligned box. The distance of an upright segment equals the distance of its lower end
/// from the box extended downwards by the segment's length.
fn upright_box(aabb: &Aabb, low: Vec3, core: f32) -> Separation {
    let mins = Vec3::new(aabb.mins.x, aabb.mins.y - core, aabb.mins.z);
    let nearest = low.clamp(mins, aabb.maxs);
    let offset = low - nearest;
    let squared = offset.length_squared();
    let point = Vec3::new(nearest.x, low.y.clamp(aabb.mins.y, aabb.maxs.y), nearest.z);
    if squared > TOUCH * TOUCH {
        let distance = squared.sqrt();
        return Separation { distance, normal: offset / distance, point };
    }
    // The core is inside: find the shortest way out.
    let ways = [
        (aabb.maxs.y - low.y, Vec3::Y),
        (low.x - mins.x, Vec3::NEG_X),
        (aabb.maxs.x - low.x, Vec3::X),
        (low.z - mins.z, Vec3::NEG_Z),
        (aabb.maxs.z - low.z, Vec3::Z),
        (low.y - mins.y, Vec3::NEG_Y),
    ];
    let mut best = ways[0];
    for way in ways {
        if way.0 < best.0 {
            best = way;
        }
    }
    Separation { distance: -best.0, normal: best.1, point }
}

fn turned_box(pose: &Pose, half: Vec3, low: Vec3, core: f32, max: f32) -> Option<Separation> {
    let a = pose.inverse_transform_point(low);
    let turn = pose.rotation;
    if turn.x == 0.0 && turn.z == 0.0 {
        // Rotated about the vertical only: the core is upright in the box's space as well.
        let found = upright_box(&Aabb::new(-half, half), a, core);
        return Some(Separation {
            normal: turn * found.normal,
            point: pose.transform_point(found.point),
            ..found
        });
    }
    let b = pose.inverse_transform_point(low + Vec3::Y * core);
    let (on_box, on_core) = box_segment(half, a, b);
    let offset = on_core - on_box;
    let distance = offset.length();
    if distance < TOUCH {
        return parry_separation(pose, &Cuboid::new(half), low, core, max);
    }
    Some(Separation { distance, normal: turn * (offset / distance), point: pose.transform_point(on_box) })
}

/// Measures a capsule with the axis from `a` to `b`.
fn capsule_core(a: Vec3, b: Vec3, radius: f32, low: Vec3, core: f32) -> Separation {
    let (on_part, on_core) = segment_segment(a, b, low, low + Vec3::Y * core);
    let offset = on_core - on_part;
    let apart = offset.length();
    // The axes touch: any horizontal direction will do.
    let normal = if apart < TOUCH { Vec3::X } else { offset / apart };
    Separation { distance: apart - radius, normal, point: on_part + normal * radius }
}

/// Returns the nearest points of a box around the origin and a segment, on the box and on the segment.
///
/// The squared distance along the segment is convex and piecewise quadratic with breaks at the planes of
/// the box. Its derivative is therefore increasing and piecewise linear, and its zero is found exactly.
fn box_segment(half: Vec3, a: Vec3, b: Vec3) -> (Vec3, Vec3) {
    let d = b - a;
    let slope = |s: f32| {
        let p = a + d * s;
        (p - p.clamp(-half, half)).dot(d)
    };
    let mut cuts = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    for axis in 0..3 {
        if d[axis].abs() > 1e-7 {
            cuts[2 * axis] = ((-half[axis] - a[axis]) / d[axis]).clamp(0.0, 1.0);
            cuts[2 * axis + 1] = ((half[axis] - a[axis]) / d[axis]).clamp(0.0, 1.0);
        }
    }
    cuts.sort_unstable_by(f32::total_cmp);
    let (mut low, mut low_slope) = (0.0, slope(0.0));
    let mut s = if low_slope >= 0.0 { 0.0 } else { 1.0 };
    if low_slope < 0.0 {
        for cut in cuts {
            let cut_slope = slope(cut);
            if cut_slope >= 0.0 {
                s = low + (cut - low) * (low_slope / (low_slope - cut_slope));
                break;
            }
            (low, low_slope) = (cut, cut_slope);
        }
    }
    let p = a + d * s;
    (p.clamp(-half, half), p)
}

/// Returns whether a point in the triangle's plane is inside the triangle.
pub(crate) fn inside([a, b, c]: &[Vec3; 3], normal: Vec3, p: Vec3) -> bool {
    (*b - *a).cross(p - *a).dot(normal) >= 0.0
        && (*c - *b).cross(p - *b).dot(normal) >= 0.0
        && (*a - *c).cross(p - *c).dot(normal) >= 0.0
}

/// Measures a triangle; returns `None` when it is further away than `max`.
fn triangle_core(corners: &[Vec3; 3], face: Vec3, low: Vec3, core: f32, max: f32) -> Option<Separation> {
    let below = (low - corners[0]).dot(face);
    let above = below + core * face.y;
    if below * above > 0.0 {
        // All on one side: the plane is nearest at one end. This is the most frequent case.
        let (end, height) =
            if below.abs() <= above.abs() { (low, below) } else { (low + Vec3::Y * core, above) };
        if height.abs() > max {
            return None;
        }
        let point = end - face * height;
        if inside(corners, face, point) {
            let normal = if height > 0.0 { face } else { -face };
            return Some(Separation { distance: height.abs(), normal, point });
        }
    } else if below != above {
        let p = low + Vec3::Y * (core * (below / (below - above)));
        if inside(corners, face, p) {
            // The core crosses the triangle: leave on the side that needs the shorter way.
            let (normal, depth) = if below.max(above) >= -below.min(above) {
                (face, below.min(above))
            } else {
                (-face, -below.max(above))
            };
            return Some(Separation { distance: depth, normal, point: p });
        }
    }
    // Beyond the rim of the face, an edge is nearest.
    let high = low + Vec3::Y * core;
    let mut best = (f32::INFINITY, corners[0], low);
    for i in 0..3 {
        let (on_edge, on_core) = segment_segment(corners[i], corners[(i + 1) % 3], low, high);
        let squared = on_edge.distance_squared(on_core);
        if squared < best.0 {
            best = (squared, on_edge, on_core);
        }
    }
    let distance = best.0.sqrt();
    let normal = if distance < TOUCH {
        // Leave on the side that contains most of the core.
        if below + above >= 0.0 { face } else { -face }
    } else {
        (best.2 - best.1) / distance
    };
    Some(Separation { distance, normal, point: best.1 })
}

/// Returns the nearest points of two segments (Ericson, Real-Time Collision Detection, 5.1.9).
fn segment_segment(p1: Vec3, q1: Vec3, p2: Vec3, q2: Vec3) -> (Vec3, Vec3) {
    let (d1, d2, r) = (q1 - p1, q2 - p2, p1 - p2);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    if a <= 1e-12 || e <= 1e-12 {
        let s = if a > 1e-12 { (-d1.dot(r) / a).clamp(0.0, 1.0) } else { 0.0 };
        let t = if e > 1e-12 { (f / e).clamp(0.0, 1.0) } else { 0.0 };
        return (p1 + d1 * s, p2 + d2 * t);
    }
    let (b, c) = (d1.dot(d2), d1.dot(r));
    let denominator = a * e - b * b;
    let mut s =
        if denominator > 1e-9 * a * e { ((b * f - c * e) / denominator).clamp(0.0, 1.0) } else { 0.0 };
    let mut t = (b * s + f) / e;
    if t < 0.0 {
        t = 0.0;
        s = (-c / a).clamp(0.0, 1.0);
    } else if t > 1.0 {
        t = 1.0;
        s = ((b - c) / a).clamp(0.0, 1.0);
    }
    (p1 + d1 * s, p2 + d2 * t)
}

#[cfg(test)]
mod tests;
