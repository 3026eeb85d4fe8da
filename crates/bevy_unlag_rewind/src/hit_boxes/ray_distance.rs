//! Distance of a line from hit boxes, to tell by how much a shot missed.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, LimbRig, PoseSample};

use super::HitBoxes;

/// Steps of the search for the nearest point. Each takes off a third of the stretch.
const STEPS: u32 = 30;

impl HitBoxes {
    /// Returns the distance in metres between a line of length `range` and the nearest hit box of a pawn with this
    /// pose; 0 if it passes through one. `None` without hit boxes. For explanations: it costs some thousand point
    /// queries.
    #[must_use]
    pub fn distance_to_ray(
        &self,
        rig: &LimbRig,
        pose: &PoseSample,
        (origin, direction, range): (Vec3, Vec3, f32),
    ) -> Option<f32> {
        let mut room = LimbPoses::default();
        let limbs = rig.in_world(pose, &mut room);
        let boxes = self.boxes().iter().filter_map(|hit_box| {
            let place = *limbs.get(usize::from(hit_box.limb))? * hit_box.offset;
            let distance = |along: f32| {
                let local = place.inverse_transform_point(Vec3A::from(origin + direction * along));
                hit_box.shape.distance_to_local_point(local.into(), true)
            };
            let middle = (Vec3::from(place.translation) - origin).dot(direction);
            // The distance to a convex shape is a convex function along a line.
            let (mut from, mut to) = ((middle - 2.0).clamp(0.0, range), (middle + 2.0).clamp(0.0, range));
            for _ in 0..STEPS {
                let (a, b) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
                if distance(a) <= distance(b) {
                    to = b;
                } else {
                    from = a;
                }
            }
            Some(distance((from + to) * 0.5))
        });
        boxes.filter(|distance| distance.is_finite()).min_by(f32::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use crate::humanoid::{humanoid_hit_boxes, humanoid_rig};

    use super::*;

    #[test]
    fn distance_of_a_ray_is_that_of_the_nearest_box() {
        let (boxes, rig) = (humanoid_hit_boxes(), humanoid_rig());
        let pose = PoseSample { position: Vec3::new(0.0, 0.0, -10.0), alive: true, ..PoseSample::default() };
        let distance = |origin: Vec3, range| {
            boxes.distance_to_ray(&rig, &pose, (origin, Vec3::NEG_Z, range)).expect("it has boxes")
        };
        assert_eq!(distance(Vec3::Y * 1.67, 50.0), 0.0);
        // The head is 0.26 m high, around 1.67 m.
        assert!((distance(Vec3::Y * 2.3, 50.0) - 0.5).abs() < 0.01);
        // Past it, from near and from afar.
        let [near, far] = [0.0, 40.0].map(|z| distance(Vec3::new(3.0, 1.67, z), 100.0));
        assert!((2.0..3.0).contains(&near) && (near - far).abs() < 0.01, "{near} {far}");
        // A ray that ends before it.
        assert!((distance(Vec3::Y * 1.67, 5.0) - 4.85).abs() < 0.1);
        assert_eq!(HitBoxes::none().distance_to_ray(&rig, &pose, (Vec3::ZERO, Vec3::NEG_Z, 9.0)), None);
    }
}
