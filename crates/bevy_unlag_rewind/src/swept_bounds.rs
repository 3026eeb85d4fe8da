//! Conservative bounds of a body along its drawn path.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{BaseView, PoseSample, PoseSampler, Snapshot, Tick, ViewTime};

use crate::hit_box::BodyBounds;

/// Axis-aligned box in world space, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SweptBounds {
    pub low: Vec3A,
    pub high: Vec3A,
}

/// Distance beyond any position in a world.
pub(crate) const FAR: f32 = 1e30;
/// Number of ticks of a path that share one box.
const CHUNK: i32 = 4;

impl SweptBounds {
    /// Box that no probe intersects.
    pub const NOWHERE: Self = Self { low: Vec3A::splat(FAR), high: Vec3A::splat(FAR) };
    /// Box that every probe intersects.
    pub const EVERYWHERE: Self = Self { low: Vec3A::splat(-FAR), high: Vec3A::splat(FAR) };

    /// Returns the middle of the box; `None` if it is nowhere or everywhere.
    pub fn middle(&self) -> Option<Vec3A> {
        let is_place = self.low.abs().max(self.high.abs()).max_element() < FAR;
        is_place.then(|| (self.low + self.high) * 0.5)
    }

    fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        let empty = Self { low: Vec3A::splat(FAR), high: Vec3A::splat(-FAR) };
        points.into_iter().fold(empty, |all, point| {
            let point = Vec3A::from(point);
            Self { low: all.low.min(point), high: all.high.max(point) }
        })
    }

    /// Expands the box by a body placed at every point of it. `up` is the up direction of the body;
    /// `None` if it may lean in any direction.
    fn with_body(self, body: &BodyBounds, up: Option<Vec3>) -> Self {
        let (low, high) = match up {
            Some(up) => {
                // The ends of the body are discs across its axis.
                let up = Vec3A::from(up);
                let ends = [up * body.low, up * body.high];
                // Components of a unit vector: no need of `hypot`.
                let across = |a: f32, b: f32| (a * a + b * b).sqrt() * body.radius;
                let disc = Vec3A::new(across(up.y, up.z), across(up.x, up.z), across(up.x, up.y));
                (ends[0].min(ends[1]) - disc, ends[0].max(ends[1]) + disc)
            }
            None => {
                let reach = Vec3A::splat(body.reach());
                (-reach, reach)
            }
        };
        // Margin for rounding differences between client and server.
        let largest = self.low.abs().max(self.high.abs()).max_element();
        let slack = Vec3A::splat(0.002 + largest * 2e-6);
        Self { low: self.low + low - slack, high: self.high + high + slack }
    }

    /// Calls `each` with the box for every few ticks between two snapshots, from the first tick up to but
    /// excluding the second.
    pub fn between(
        (from, to): (&Snapshot, &Snapshot),
        sampler: &PoseSampler,
        body: &BodyBounds,
        mut each: impl FnMut(Tick, Tick, Self),
    ) {
        if from.base != 0 || to.base != 0 {
            // The drawn position depends on where the shooter's screen showed the base.
            return each(from.tick, to.tick, Self::EVERYWHERE);
        }
        let bases = BaseView::default();
        let at = |tick: Tick| sampler.interpolate(from, to, ViewTime::at(tick), &bases);
        // Part of a cubic curve is a cubic curve, and it lies within the hull of its control points.
        let mut start = from.tick;
        let mut a = at(start);
        while to.tick.is_newer_than(start) {
            let ticks = to.tick.since(start).clamp(1, CHUNK);
            let end = start.offset(ticks);
            let b = at(end);
            let third = ticks as f32 * sampler.tick_seconds / 3.0;
            let points =
                [a.position, a.position + a.velocity * third, b.position - b.velocity * third, b.position];
            let up = (from.up == to.up).then(|| a.rotation * Vec3::Y);
            each(start, end, Self::around(points).with_body(body, up));
            (start, a) = (end, b);
        }
    }

    /// Returns the bounds of a body at one pose.
    pub fn at(pose: &PoseSample, body: &BodyBounds) -> Self {
        Self::around([pose.position]).with_body(body, Some(pose.rotation * Vec3::Y))
    }

    /// Returns the bounds of every pose that can be extrapolated from the newest snapshot.
    pub fn beyond(from: &Snapshot, sampler: &PoseSampler, body: &BodyBounds) -> Self {
        if from.base != 0 {
            return Self::EVERYWHERE;
        }
        let seconds = sampler.max_extrapolation_ticks() * 1.5 * sampler.tick_seconds;
        let (position, velocity) = (from.position(), from.velocity());
        let straight = from.spin.unwrap_or(0) == 0 && from.acceleration == [0; 3];
        let around = if straight {
            // A falling pawn's path is a parabola between these points.
            let fall = if from.falling { sampler.gravity * seconds * seconds * 0.5 } else { 0.0 };
            let end = position + velocity * seconds;
            Self::around([position, end, end - from.rotation() * Vec3::Y * fall])
        } else {
            // The path may curve.
            let speed = velocity.length() + from.acceleration().length() * seconds;
            let reach = Vec3::splat(speed * seconds);
            Self::around([position - reach, position + reach])
        };
        around.with_body(body, Some(from.rotation() * Vec3::Y))
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::Up;

    use super::*;

    #[test]
    fn middle_of_a_box_is_half_way_between_its_corners() {
        let bounds = SweptBounds { low: Vec3A::new(-1.0, 2.0, 3.0), high: Vec3A::new(5.0, 4.0, 7.0) };
        assert_eq!(bounds.middle(), Some(Vec3A::new(2.0, 3.0, 5.0)));
        assert_eq!((SweptBounds::NOWHERE.middle(), SweptBounds::EVERYWHERE.middle()), (None, None));
    }

    #[test]
    fn box_encloses_a_body_at_any_lean_and_is_tight() {
        // A tall body: a lean of a fraction of a degree moves its top by centimetres.
        let tall = BodyBounds { radius: 0.3, low: 0.0, high: 3.0 };
        let sunk = BodyBounds { radius: 0.5, low: -2.0, high: -0.5 };
        let mut leaning = 0;
        for code in 0..400_u16 {
            let angle = f32::from(code) * 0.003;
            let up =
                Up::new(Quat::from_rotation_y(f32::from(code)) * Vec3::new(angle.sin(), angle.cos(), 0.0));
            let pose =
                PoseSample { position: Vec3::new(3.0, 1.0, -2.0), rotation: up.rotation(), ..default() };
            for body in [tall, sunk] {
                let SweptBounds { low, high } = SweptBounds::at(&pose, &body);
                for turn in 0..64 {
                    let (sin, cos) = (turn as f32 * 0.1).sin_cos();
                    for height in [body.low, body.high] {
                        let point = Vec3A::from(
                            pose.position
                                + pose.rotation * Vec3::new(sin * body.radius, height, cos * body.radius),
                        );
                        assert!(
                            point.cmpge(low).all() && point.cmple(high).all(),
                            "{code}: {point} {low} {high}"
                        );
                    }
                }
                // The box is also tight.
                assert!((high - low).min_element() <= 2.0 * body.radius + 0.01 + angle.sin() * 3.0);
            }
            leaning += u32::from(up != Up::new(Vec3::Y));
        }
        assert!(leaning > 300, "{leaning}");
    }
}
