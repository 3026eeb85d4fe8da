//! Rays with a unit direction.

use bevy::{math::Vec3A, prelude::*};

use crate::{hit_box::BodyBounds, shape::ray_box, validity};

/// Ray with a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitRay {
    pub origin: Vec3A,
    pub direction: Vec3A,
    pub max: f32,
}

impl UnitRay {
    /// Returns the ray from one point to another; with a length of zero it has an arbitrary direction.
    pub fn between(from: Vec3, to: Vec3) -> Self {
        let (direction, max) = (to - from).try_normalize().map_or((Vec3::X, 0.0), |d| (d, from.distance(to)));
        Self { origin: from.into(), direction: direction.into(), max }
    }

    /// Returns `None` if the input is not a valid ray.
    pub fn new(origin: Vec3, direction: Vec3, max: f32) -> Option<Self> {
        let direction = direction.try_normalize()?;
        let sound = validity::is_point(origin) && max >= 0.0;
        sound.then_some(Self { origin: origin.into(), direction: direction.into(), max: max.min(1e7) })
    }

    pub fn at(&self, distance: f32) -> Vec3 {
        (self.origin + self.direction * distance).into()
    }

    /// Transforms the ray into the space of `pose`.
    pub fn within(&self, pose: Isometry3d) -> Self {
        let back = pose.rotation.inverse();
        Self {
            origin: back * (self.origin - pose.translation),
            direction: back * self.direction,
            max: self.max,
        }
    }

    pub fn passes(&self, centre: Vec3A, radius: f32) -> bool {
        let to = centre - self.origin;
        let along = to.dot(self.direction).clamp(0.0, self.max);
        (to - self.direction * along).length_squared() <= radius * radius
    }

    /// Returns whether the ray, given in body space, intersects `bounds`.
    #[inline]
    pub fn passes_body(&self, bounds: &BodyBounds) -> bool {
        self.passes_body_within(bounds, 0.0)
    }

    /// Like [`passes_body`](Self::passes_body), for bounds expanded by `reach` on every side.
    #[inline]
    pub fn passes_body_within(&self, bounds: &BodyBounds, reach: f32) -> bool {
        let radius = bounds.radius + reach;
        // Early out: the ray passes beside the body's vertical axis, seen from above. This rejects most
        // rays.
        let (from, way) = (self.origin, self.direction);
        let moment = from.x * way.z - from.z * way.x;
        let rounded = radius + 1e-3;
        if moment * moment > rounded * rounded * (way.x * way.x + way.z * way.z) {
            return false;
        }
        let middle = Vec3A::new(0.0, (bounds.low + bounds.high) * 0.5, 0.0);
        let half = Vec3A::new(radius, (bounds.high - bounds.low) * 0.5 + reach, radius);
        ray_box(from - middle, way, half).is_some_and(|at| at <= self.max)
    }

    /// Returns whether a sphere of `radius` intersects an axis-aligned box along the ray.
    pub fn passes_box(&self, radius: f32, low: Vec3A, high: Vec3A) -> bool {
        let half = (high - low) * 0.5 + radius + 1e-3;
        ray_box(self.origin - (low + high) * 0.5, self.direction, half).is_some_and(|at| at <= self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ray_passes_a_body_up_to_its_radius() {
        let bounds = BodyBounds { radius: 2.0, low: 0.0, high: 2.0 };
        let passes = |aside: f32, reach: f32| {
            let ray = UnitRay::new(Vec3::new(aside, 1.0, 10.0), Vec3::NEG_Z, 20.0).expect("a ray");
            ray.passes_body_within(&bounds, reach)
        };
        assert!(passes(1.5, 0.0) && passes(2.4, 0.5));
        assert!(!passes(2.4, 0.0) && !passes(2.6, 0.5));
    }
}
