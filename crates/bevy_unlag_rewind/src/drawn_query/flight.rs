//! Hit tests of projectiles on the local screen.

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, PoseSample, SUB_TICKS, ViewStamp};

use super::DrawnQuery;
use crate::{
    query::{BallPath, FlightStepHit, is_continuous},
    query_result::TargetHit,
    target::{Body, HeadPriorityHit, is_nearer},
    validity,
    view::RewindFilter,
    world::{NearestObstacle, WorldHit},
};

impl DrawnQuery<'_, '_> {
    /// Returns the first hit on this screen of a ball of `radius` metres (0 for a point) that moves in a
    /// straight line from `a` to `b`, among drawn pawns and occluders; static geometry is not tested.
    /// `parts` are the fractions, 0 to 1, of the time between the last frame and this one at which it was
    /// at `a` and at `b`; that time was `ticks` long. Meanwhile every pawn moved from its pose in the
    /// last frame, `before`, to its present one, along the path on which it would have been drawn in
    /// between. Returns `None` if it hits nothing or the input is invalid.
    #[must_use]
    pub fn cast_step(
        &self,
        (a, b): (Vec3, Vec3),
        parts: (f32, f32),
        radius: f32,
        (filter, before, ticks): (&RewindFilter<'_>, impl Fn(Entity) -> Option<PoseSample>, f64),
    ) -> Option<FlightStepHit> {
        let sound = validity::is_point(a) && validity::is_point(b) && parts.0 <= parts.1;
        if !sound || !validity::is_size(radius) {
            return None;
        }
        let (start, end) = (parts.0.clamp(0.0, 1.0), parts.1.clamp(0.0, 1.0));
        let part_of_frame = |part: f32| start + (end - start) * part;
        // As fine as the server's steps, so that turning targets are hit at the same place.
        let steps = (f64::from(end - start) * ticks * 2.0).ceil().clamp(1.0, MOST_STEPS);
        for step in 0..steps as u32 {
            let of = |step: u32| (f64::from(step) / steps) as f32;
            let (from, to) = (of(step), of(step + 1));
            let pass = BallPath { a: a.lerp(b, from), b: a.lerp(b, to), radius };
            let met = self.pass(&pass, (part_of_frame(from), part_of_frame(to)), (filter, &before, ticks));
            let Some(FlightStepHit { part, what }) = met else { continue };
            let what = what.map(|hit| TargetHit { distance: a.distance(hit.point), ..hit });
            return Some(FlightStepHit { part: from + (to - from) * part, what });
        }
        None
    }

    /// Returns the first hit in a step, with the fraction of the step.
    fn pass(
        &self,
        pass: &BallPath,
        parts: (f32, f32),
        (filter, before, ticks): (&RewindFilter<'_>, &impl Fn(Entity) -> Option<PoseSample>, f64),
    ) -> Option<FlightStepHit> {
        let BallPath { a, b, radius } = *pass;
        let mut rooms = (LimbPoses::default(), LimbPoses::default());
        let mut best: Option<HeadPriorityHit> = None;
        self.each_accepted(filter, |body| {
            let around = body.boxes.bounds().reach() + radius + ASIDE;
            if body.pose.position.distance(nearest_on((a, b), body.pose.position)) > around {
                return;
            }
            let last = before(body.entity).map(|pose| Body { pose, ..*body });
            let last = last.filter(|last| last.pose.alive && is_continuous(last, body, FRAME));
            let at = |part: f32| match &last {
                Some(last) => {
                    let known = self.pose_before(body.entity, f64::from(1.0 - part) * ticks);
                    let pose = known.filter(|pose| pose.alive);
                    Body { pose: pose.unwrap_or_else(|| between(&last.pose, &body.pose, part)), ..*body }
                }
                None => *body,
            };
            let met = pass.meets_body(&at(parts.0), &at(parts.1), &mut rooms);
            best = met.filter(|met| best.is_none_or(|best| is_nearer(&met.hit, &best.hit))).or(best);
        });
        let reach = best.map_or(1.0, |best| best.reach());
        let ago = |part: f32| f64::from(1.0 - part) * ticks;
        let fixed = pass.wall_beyond(&self.world, reach);
        let wall = self.obstacle_on(pass, (ago(parts.0), ago(parts.1)), fixed, reach);
        let Some(hit) = best.and_then(|best| best.before(wall).ok()) else {
            let WorldHit { distance: part, by } = wall?;
            return Some(FlightStepHit { part, what: Err(by?) });
        };
        let (part, point) = (hit.distance, a.lerp(b, hit.distance));
        Some(FlightStepHit { part, what: Ok(TargetHit { distance: a.distance(point), point, ..hit }) })
    }

    /// Returns a pawn's pose on this screen `ticks` before this frame, whether or not a frame was drawn
    /// then.
    pub(super) fn pose_before(&self, entity: Entity, ticks: f64) -> Option<PoseSample> {
        let (history, drawn, mode) = self.known.get(entity).ok()?;
        let (ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. }) = drawn.stamp
        else {
            return None;
        };
        if mode.is_some_and(|mode| !mode.is_played_out()) {
            return None;
        }
        let ago = -(ticks * SUB_TICKS as f64).round() as i64;
        let stamp = history.stamp(time.later(ago))?;
        history.pose(stamp, &self.sampler.as_ref()?.of(mode), &self.bases.at(self.bases_at().later(ago)))
    }

    /// Returns the first obstacle in the way between two moments, given in ticks before this frame: the wall, or an
    /// occluder. Distances are fractions of the path, at most `reach`.
    fn obstacle_on(
        &self,
        pass: &BallPath,
        ago: (f64, f64),
        wall: Option<f32>,
        reach: f32,
    ) -> Option<WorldHit> {
        let bases =
            |ticks: f64| self.bases.at(self.bases_at().later(-(ticks * SUB_TICKS as f64).round() as i64));
        let (from, to) = (bases(ago.0), bases(ago.1));
        let mut nearest = NearestObstacle::new(wall, reach.next_up());
        self.each_mover(|entity, occluder, pose| {
            let ends = match occluder.base {
                0 => Some((pose, pose)),
                base => from.pose(base).zip(to.pose(base)),
            };
            nearest.meet(entity, |_| {
                ends.and_then(|(pose, later)| pass.meets_occluder(occluder, pose, later, reach))
            });
        });
        nearest.nearest
    }
}

/// Maximum number of steps per frame.
const MOST_STEPS: f64 = 16.0;
/// Upper bound of a pawn's displacement in a frame, in metres.
const ASIDE: f32 = 5.0;

/// Returns the point of a line segment nearest to `point`.
fn nearest_on((a, b): (Vec3, Vec3), point: Vec3) -> Vec3 {
    let way = b - a;
    a + way * ((point - a).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0)
}

/// Frame time in seconds that decides whether a pawn moved or was teleported.
const FRAME: f32 = 0.1;

/// Interpolates between two poses.
fn between(a: &PoseSample, b: &PoseSample, part: f32) -> PoseSample {
    PoseSample {
        position: a.position.lerp(b.position, part),
        velocity: a.velocity.lerp(b.velocity, part),
        rotation: a.rotation.slerp(b.rotation, part),
        pitch: a.pitch + (b.pitch - a.pitch) * part,
        crouch: a.crouch + (b.crouch - a.crouch) * part,
        ..*b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pose_between_two_has_a_part_of_each_difference() {
        let at = |x: f32| PoseSample {
            position: Vec3::X * x,
            velocity: Vec3::Y * x,
            pitch: x,
            crouch: 0.1 * x,
            rotation: Quat::from_rotation_y(0.1 * x),
            ..PoseSample::default()
        };
        let (found, expected) = (between(&at(1.0), &at(3.0), 0.25), at(1.5));
        assert!(
            found.position.distance(expected.position) + found.velocity.distance(expected.velocity) < 1e-5
        );
        assert!((found.pitch - expected.pitch).abs() + (found.crouch - expected.crouch).abs() < 1e-5);
        assert!(found.rotation.angle_between(expected.rotation) < 1e-3);
    }
}
