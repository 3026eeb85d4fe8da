//! Ball sweeps against boxes, balls and capsules in closed form, with parry as a fallback for other
//! shapes.

use bevy::math::Vec3A;
use bevy_rapier3d::{parry::shape::Ball, rapier::math::Pose};

use super::{Form, Shape, ray_ball, ray_box, ray_capsule};
use crate::convex_cast::cast_convex;

impl Shape {
    /// Returns the distance in metres that a ball travels until it touches the shape, with its centre on
    /// a ray with a unit direction in shape space; 0 if it touches at the start.
    pub fn cast_ball(&self, origin: Vec3A, direction: Vec3A, max: f32, radius: f32) -> Option<f32> {
        if radius <= 0.0 {
            return self.cast_ray(origin, direction, max);
        }
        let distance = match &self.form {
            Form::Box(half) => ball_box(origin, direction, *half, radius),
            Form::Ball(own) => ray_ball(origin, direction, own + radius),
            Form::Capsule { a, b, radius: own } => ray_capsule(origin, direction, *a, *b, own + radius),
            Form::Other(shape) => {
                let (from, ball) = (Pose::from_translation(origin.into()), Ball::new(radius));
                cast_convex((&Pose::IDENTITY, &**shape), (&from, &ball), direction.into(), max)
            }
        };
        distance.filter(|distance| *distance <= max)
    }
}

/// Casts a ray against a rounded box: the union of three boxes, each extended along one axis, and a
/// capsule per edge.
fn ball_box(origin: Vec3A, direction: Vec3A, half: Vec3A, radius: f32) -> Option<f32> {
    let bound = ray_box(origin, direction, half + radius)?;
    let outside = (origin + direction * bound).abs().cmpgt(half);
    if outside.bitmask().count_ones() <= 1 {
        // The contact is on a face.
        return Some(bound);
    }
    let axes = [Vec3A::X, Vec3A::Y, Vec3A::Z];
    let mut nearest = f32::INFINITY;
    for axis in axes {
        let slab = ray_box(origin, direction, half + axis * radius);
        nearest = nearest.min(slab.unwrap_or(f32::INFINITY));
    }
    for (axis, [one, other]) in [(0, [1, 2]), (1, [2, 0]), (2, [0, 1])] {
        let along = axes[axis] * half[axis];
        for sides in 0..4 {
            let sign = |bit: i32| if sides & bit == 0 { -1.0 } else { 1.0 };
            let middle = axes[one] * half[one] * sign(1) + axes[other] * half[other] * sign(2);
            let edge = ray_capsule(origin, direction, middle - along, middle + along, radius);
            nearest = nearest.min(edge.unwrap_or(f32::INFINITY));
        }
    }
    nearest.is_finite().then_some(nearest)
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec3;
    use bevy_rapier3d::prelude::Collider;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;
    use crate::hit_box::{HitBox, HitGroup};

    #[test]
    fn ball_sweep_stops_at_one_radius_from_the_surface_by_parry() {
        let shapes = [
            Collider::cuboid(0.3, 0.1, 0.2),
            Collider::ball(0.25),
            Collider::capsule(Vec3::new(0.1, -0.3, 0.0), Vec3::new(-0.1, 0.4, 0.2), 0.12),
            Collider::cylinder(0.3, 0.2),
        ];
        let mut rng = SmallRng::seed_from_u64(7);
        let mut hits = 0;
        for shape in &shapes {
            let fast = Shape::new(&HitBox::new(0, HitGroup::Body, shape.clone()));
            // Parry's shape casts are accurate to some millimetres.
            let slack = if shape.raw.as_cylinder().is_some() { 8e-3 } else { 5e-4 };
            for _ in 0..20_000 {
                let mut vector =
                    |scale: f32| Vec3::from_array(rng.random::<[f32; 3]>()) * scale - scale * 0.5;
                let (origin, target) = (vector(4.0), vector(1.5));
                let radius = rng.random_range(0.01..0.5_f32);
                let Some(direction) = (target - origin).try_normalize() else { continue };
                let distance = |at: f32| shape.raw.distance_to_local_point(origin + direction * at, true);
                match fast.cast_ball(origin.into(), direction.into(), 10.0, radius) {
                    Some(0.0) => assert!(distance(0.0) <= radius + 1e-4),
                    Some(at) => {
                        hits += 1;
                        assert!((distance(at) - radius).abs() < slack, "{shape:?} {}", distance(at) - radius);
                        // There is no contact before that point.
                        for part in 0..20 {
                            let before = distance(at * part as f32 / 20.0);
                            assert!(before > radius - slack, "{shape:?} {before} {radius}");
                        }
                    }
                    None => {
                        let nearest = (0..400).map(|step| distance(step as f32 * 0.02)).fold(9.0, f32::min);
                        assert!(nearest > radius - slack, "{shape:?} {nearest} {radius}");
                    }
                }
            }
        }
        assert!(hits > 10_000, "{hits}");
    }
}
