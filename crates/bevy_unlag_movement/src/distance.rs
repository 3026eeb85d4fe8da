//! How far a capsule's core is from a part. The core is a segment: the capsule is all that lies
//! within its radius. Boxes and triangles are measured exactly, because parry's iterations stop at
//! a thousandth of the distance, which tilts normals by up to two degrees.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    math::Pose,
    query::{DefaultQueryDispatcher, QueryDispatcher},
    shape::{Cuboid, Segment, Shape},
};

use crate::part::{Part, PartShape, triangle_normal};

/// Below this the core touches the part and no direction can be told from the nearest points.
const TOUCH: f32 = 1e-5;

/// The nearest points of a core and a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separation {
    /// Metres; negative when the core itself is inside.
    pub(crate) distance: f32,
    /// From the part to the core.
    pub(crate) normal: Vec3,
    /// On the part.
    pub(crate) point: Vec3,
}

/// The separation of the segment from `a` to `b` and a part; none when it is more than `max`.
pub(crate) fn separation(part: &Part<'_>, a: Vec3, b: Vec3, max: f32) -> Option<Separation> {
    let found = match &part.shape {
        PartShape::Box(half) => {
            let (la, lb) = (part.pose.inverse_transform_point(a), part.pose.inverse_transform_point(b));
            let (on_box, on_core) = box_segment(*half, la, lb);
            let offset = on_core - on_box;
            let distance = offset.length();
            if distance < TOUCH {
                general(part, &Cuboid::new(*half), a, b, max)?
            } else {
                Separation {
                    distance,
                    normal: part.pose.rotation * (offset / distance),
                    point: part.pose.transform_point(on_box),
                }
            }
        }
        PartShape::Triangle(corners) => triangle_segment(corners, a, b),
        PartShape::Convex(shape) => general(part, *shape, a, b, max)?,
    };
    let sound = found.distance.is_finite() && found.normal.is_finite() && found.point.is_finite();
    (sound && found.distance <= max).then_some(found)
}

/// Any convex shape, by parry.
fn general(part: &Part<'_>, shape: &dyn Shape, a: Vec3, b: Vec3, max: f32) -> Option<Separation> {
    let core = Segment::new(part.pose.inverse_transform_point(a), part.pose.inverse_transform_point(b));
    let contact = DefaultQueryDispatcher.contact(&Pose::identity(), shape, &core, max).ok()??;
    Some(Separation {
        distance: contact.dist,
        normal: (part.pose.rotation * contact.normal1).try_normalize()?,
        point: part.pose.transform_point(contact.point1),
    })
}

/// The nearest points of a box about the origin and a segment, on the box and on the segment. The
/// squared distance along the segment is convex and quadratic between the planes of the box, so
/// its slope is a rising broken line whose zero is found exactly.
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

/// A triangle in the world and a segment.
fn triangle_segment(corners: &[Vec3; 3], a: Vec3, b: Vec3) -> Separation {
    let face = triangle_normal(corners).unwrap_or(Vec3::Y);
    let (above, below) = ((a - corners[0]).dot(face), (b - corners[0]).dot(face));
    if above * below < 0.0 {
        let p = a + (b - a) * (above / (above - below));
        if triangle_point(corners, p).distance_squared(p) < TOUCH * TOUCH {
            // The core crosses the triangle: out on the side that needs the shorter way.
            let (normal, depth) = if above.max(below) >= -above.min(below) {
                (face, above.min(below))
            } else {
                (-face, -above.max(below))
            };
            return Separation { distance: depth, normal, point: p };
        }
    }
    let mut best = (f32::INFINITY, corners[0], a);
    let mut consider = |on_part: Vec3, on_core: Vec3| {
        let distance = on_part.distance_squared(on_core);
        if distance < best.0 {
            best = (distance, on_part, on_core);
        }
    };
    consider(triangle_point(corners, a), a);
    consider(triangle_point(corners, b), b);
    for i in 0..3 {
        let (on_edge, on_core) = segment_segment(corners[i], corners[(i + 1) % 3], a, b);
        consider(on_edge, on_core);
    }
    let distance = best.0.sqrt();
    let normal = if distance < TOUCH {
        // Out on the side where most of the core is.
        if above + below >= 0.0 { face } else { -face }
    } else {
        (best.2 - best.1) / distance
    };
    Separation { distance, normal, point: best.1 }
}

/// The point of a triangle nearest to `p` (Ericson, Real-Time Collision Detection, 5.1.5).
fn triangle_point([a, b, c]: &[Vec3; 3], p: Vec3) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let scale = 1.0 / (va + vb + vc);
    a + ab * (vb * scale) + ac * (vc * scale)
}

/// The nearest points of two segments (Ericson, 5.1.9).
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
mod tests {
    use super::*;

    #[test]
    fn a_box_is_measured_exactly() {
        let half = Vec3::new(60.0, 0.5, 60.0);
        let (on_box, on_core) = box_segment(half, Vec3::new(3.0, 0.9, 4.0), Vec3::new(3.0, 2.0, 4.0));
        assert_eq!((on_box, on_core), (Vec3::new(3.0, 0.5, 4.0), Vec3::new(3.0, 0.9, 4.0)));
        // A slanting core over a corner: compared with many samples.
        let (a, b) = (Vec3::new(0.0, 3.0, 0.5), Vec3::new(3.0, -0.5, 0.25));
        let half = Vec3::splat(1.0);
        let (on_box, on_core) = box_segment(half, a, b);
        let sampled = (0..=10_000)
            .map(|i| a.lerp(b, i as f32 / 10_000.0))
            .map(|p| p.distance(p.clamp(-half, half)))
            .fold(f32::INFINITY, f32::min);
        assert!((on_box.distance(on_core) - sampled).abs() < 1e-4);
    }

    #[test]
    fn a_triangle_is_measured_and_crossed() {
        let corners = [Vec3::new(-5.0, 0.0, -5.0), Vec3::new(0.0, 0.0, 5.0), Vec3::new(5.0, 0.0, -5.0)];
        let near = triangle_segment(&corners, Vec3::Y * 0.5, Vec3::Y * 1.5);
        assert!((near.distance - 0.5).abs() < 1e-6 && near.normal.y > 0.999);
        let crossed = triangle_segment(&corners, Vec3::Y * -0.1, Vec3::Y * 0.9);
        assert!((crossed.distance + 0.1).abs() < 1e-6 && crossed.normal.y > 0.999);
        let beside = triangle_segment(&corners, Vec3::new(0.0, -1.0, 6.0), Vec3::new(0.0, 1.0, 6.0));
        assert!((beside.distance - 1.0).abs() < 1e-5 && beside.normal.z > 0.999);
    }
}
