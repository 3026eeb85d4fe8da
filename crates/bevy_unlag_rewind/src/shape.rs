//! Ray casts against boxes, balls and capsules in closed form, with parry as a fallback for other shapes.

mod ball;

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::{query::Ray as ParryRay, shape::SharedShape};

use crate::{file_shape::FileShape, hit_box::HitBox};

/// Hit box in a form optimised for casts.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub limb: usize,
    /// Pose of the shape in limb space.
    pub offset: Isometry3d,
    pub centred: bool,
    /// Radius of a bounding sphere around the shape's origin.
    pub radius: f32,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Box(Vec3A),
    Ball(f32),
    Capsule { a: Vec3A, b: Vec3A, radius: f32 },
    Other(SharedShape),
}

impl Shape {
    pub fn new(hit_box: &HitBox) -> Self {
        let raw = &hit_box.shape.raw;
        let form = match FileShape::of(&hit_box.shape) {
            Some(FileShape::Box { half }) => Form::Box(half.into()),
            Some(FileShape::Ball { radius }) => Form::Ball(radius),
            Some(FileShape::Capsule { a, b, radius }) => Form::Capsule { a: a.into(), b: b.into(), radius },
            None => Form::Other(raw.clone()),
        };
        let sphere = raw.compute_local_bounding_sphere();
        let middle = Vec3::from_array(sphere.center.into());
        Self {
            limb: usize::from(hit_box.limb),
            offset: hit_box.offset,
            centred: hit_box.offset == Isometry3d::IDENTITY,
            // The sphere is centred at the shape's origin.
            radius: middle.length() + sphere.radius,
            form,
        }
    }

    /// Returns the pose of the shape, for a limb at `limb`.
    pub fn pose(&self, limb: Isometry3d) -> Isometry3d {
        if self.centred { limb } else { limb * self.offset }
    }

    /// Returns the position of the shape's origin, for a limb at `limb`.
    pub fn middle(&self, limb: &Isometry3d) -> Vec3A {
        if self.centred {
            limb.translation
        } else {
            limb.translation + limb.rotation * self.offset.translation
        }
    }

    /// Returns the distance in metres at which a ray with a unit direction, given in shape space, enters
    /// the shape; 0 if it starts inside.
    pub fn cast_ray(&self, origin: Vec3A, direction: Vec3A, max: f32) -> Option<f32> {
        let distance = match &self.form {
            Form::Box(half) => ray_box(origin, direction, *half),
            Form::Ball(radius) => ray_ball(origin, direction, *radius),
            Form::Capsule { a, b, radius } => ray_capsule(origin, direction, *a, *b, *radius),
            Form::Other(shape) => {
                let ray = ParryRay::new(Vec3::from(origin), Vec3::from(direction));
                shape.cast_local_ray(&ray, max, true)
            }
        };
        distance.filter(|distance| *distance <= max)
    }
}

pub(crate) fn ray_box(origin: Vec3A, direction: Vec3A, half: Vec3A) -> Option<f32> {
    let inverse = direction.recip();
    let (a, b) = ((-half - origin) * inverse, (half - origin) * inverse);
    // A ray parallel to two faces is between them along its whole length or never.
    let flat = direction.abs().cmplt(Vec3A::splat(1e-20));
    let never = Vec3A::select(origin.abs().cmple(half), Vec3A::NEG_INFINITY, Vec3A::INFINITY);
    let enter = Vec3A::select(flat, never, a.min(b)).max_element();
    let leave = Vec3A::select(flat, -never, a.max(b)).min_element();
    (enter <= leave && leave >= 0.0).then_some(enter.max(0.0))
}

fn ray_ball(origin: Vec3A, direction: Vec3A, radius: f32) -> Option<f32> {
    let c = origin.length_squared() - radius * radius;
    if c <= 0.0 {
        return Some(0.0);
    }
    let b = origin.dot(direction);
    // Computed from the point nearest to the centre, which avoids cancellation between large numbers.
    let nearest = origin - direction * b;
    let inside = radius * radius - nearest.length_squared();
    (b <= 0.0 && inside >= 0.0).then(|| (-b - inside.sqrt()).max(0.0))
}

fn ray_capsule(origin: Vec3A, direction: Vec3A, a: Vec3A, b: Vec3A, radius: f32) -> Option<f32> {
    let axis = b - a;
    let length = axis.length();
    if length < 1e-6 {
        return ray_ball(origin - a, direction, radius);
    }
    let axis = axis / length;
    let from = origin - a;
    let along = from.dot(axis).clamp(0.0, length);
    if (from - axis * along).length_squared() <= radius * radius {
        return Some(0.0);
    }
    // Test against the infinite cylinder, in the plane perpendicular to the axis.
    let flat_from = from - axis * from.dot(axis);
    let flat_direction = direction - axis * direction.dot(axis);
    let speed = flat_direction.length_squared();
    let side = (speed > 1e-12).then(|| {
        let nearest = -flat_from.dot(flat_direction) / speed;
        let beside = (flat_from + flat_direction * nearest).length_squared();
        let inside = radius * radius - beside;
        (inside >= 0.0).then(|| nearest - (inside / speed).sqrt())
    });
    match side {
        // The ray misses the infinite cylinder.
        Some(None) => return None,
        Some(Some(enter)) if enter >= 0.0 => {
            let at = (from + direction * enter).dot(axis);
            if (0.0..=length).contains(&at) {
                return Some(enter);
            }
        }
        _ => {}
    }
    let ends = [ray_ball(from, direction, radius), ray_ball(origin - b, direction, radius)];
    ends.into_iter().flatten().min_by(f32::total_cmp)
}

#[cfg(test)]
mod tests {
    use bevy_rapier3d::prelude::Collider;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;
    use crate::hit_box::HitGroup;

    #[test]
    fn closed_form_ray_casts_agree_with_parry() {
        let shapes = [
            Collider::cuboid(0.3, 0.1, 0.2),
            Collider::ball(0.25),
            Collider::capsule(Vec3::new(0.1, -0.3, 0.0), Vec3::new(-0.1, 0.4, 0.2), 0.12),
            Collider::capsule(Vec3::ZERO, Vec3::ZERO, 0.2),
        ];
        let mut rng = SmallRng::seed_from_u64(5);
        let (mut hits, mut differ) = (0, 0);
        for shape in &shapes {
            let fast = Shape::new(&HitBox::new(0, HitGroup::Body, shape.clone()));
            for _ in 0..100_000 {
                let mut vector =
                    |scale: f32| Vec3::from_array([(); 3].map(|()| rng.random_range(-scale..scale)));
                let (origin, target) = (vector(3.0), vector(0.5));
                let Some(direction) = (target - origin).try_normalize() else { continue };
                let ray = ParryRay::new(origin, direction);
                let theirs = shape.raw.cast_local_ray(&ray, 10.0, true);
                let ours = fast.cast_ray(origin.into(), direction.into(), 10.0);
                hits += u32::from(ours.is_some());
                match (ours, theirs) {
                    // The ray begins inside, which parry sees only approximately near the surface.
                    (Some(0.0), _) => {
                        assert_eq!(
                            shape.raw.distance_to_local_point(origin, true),
                            0.0,
                            "{shape:?} {origin}"
                        );
                    }
                    (Some(a), Some(b)) => {
                        // For grazing rays parry's result on round shapes is an approximation, so it only
                        // has to be close. Our hit has to be on the surface, and the first one.
                        assert!((a - b).abs() < 3e-2, "{shape:?} {origin} {direction}: {a} {b}");
                        let off = |t: f32| shape.raw.distance_to_local_point(origin + direction * t, true);
                        let before = off(a - 1e-3);
                        assert!(off(a) < 1e-5 && before > 0.0, "{shape:?} {origin} {direction}");
                    }
                    (None, None) => {}
                    // Parry's capsules are up to 8 mm thicker or thinner for grazing rays. The reference
                    // is whether any point of the ray lies inside.
                    _ => {
                        let off = |t: f32| shape.raw.distance_to_local_point(origin + direction * t, true);
                        let nearest = (0..60_000).map(|i| off(i as f32 * 1e-4)).fold(f32::MAX, f32::min);
                        assert_eq!(ours.is_some(), nearest == 0.0, "{shape:?} {origin} {direction}");
                        differ += 1;
                    }
                }
            }
        }
        assert!(hits > 50_000 && differ < 1_000, "{hits} hits, {differ} differ");
    }

    #[test]
    fn box_is_hit_by_axis_parallel_rays_and_on_its_faces() {
        let shape = Shape::new(&HitBox::new(0, HitGroup::Body, Collider::cuboid(1.0, 1.0, 1.0)));
        let cast = |origin: [f32; 3], direction: [f32; 3]| {
            shape.cast_ray(Vec3A::from_array(origin), Vec3A::from_array(direction), 10.0)
        };
        assert_eq!(cast([0.0, 0.0, 3.0], [0.0, 0.0, -1.0]), Some(2.0));
        assert_eq!(cast([1.0, 0.0, 3.0], [0.0, 0.0, -1.0]), Some(2.0), "a ray along a face hits");
        assert_eq!(cast([1.001, 0.0, 3.0], [0.0, 0.0, -1.0]), None);
        assert_eq!(cast([0.0, 0.0, 3.0], [0.0, 0.0, 1.0]), None, "behind");
        assert_eq!(cast([0.2, 0.1, 0.0], [0.0, 0.0, 1.0]), Some(0.0), "from inside");
    }
}
