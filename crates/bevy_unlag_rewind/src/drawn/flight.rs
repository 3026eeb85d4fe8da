//! What something that flies meets on the screen.

use bevy::prelude::*;
use bevy_rapier3d::parry::shape::Ball;
use bevy_unlag_core::{LimbPoses, PoseSample, ViewTime};

use super::DrawnQuery;
use crate::{
    Meeting, RewindFilter, TargetHit, WorldHit,
    query::{Pass, is_continuous, sound},
    target::{Body, Counted, is_nearer},
};

impl DrawnQuery<'_, '_> {
    /// What a ball of `radius` (0 is a point) meets first on this screen that goes straight from `a` to `b`: drawn
    /// pawns and moving things, not what never moves. It was at `a` and at `b` in these `parts` of the time between
    /// the last frame and this one, 0 to 1, in which everybody went from where the last frame showed them, `before`,
    /// to where this one does. `None` when it meets nobody, and for what makes no sense.
    #[must_use]
    pub fn fly(
        &self,
        (a, b): (Vec3, Vec3),
        parts: (f32, f32),
        radius: f32,
        (filter, before): (&RewindFilter<'_>, impl Fn(Entity) -> Option<PoseSample>),
    ) -> Option<Meeting> {
        let sound = sound::is_point(a) && sound::is_point(b) && parts.0 <= parts.1;
        if !sound || !sound::is_size(radius) {
            return None;
        }
        let parts = (parts.0.clamp(0.0, 1.0), parts.1.clamp(0.0, 1.0));
        let mut rooms = (LimbPoses::default(), LimbPoses::default());
        let mut best: Option<Counted> = None;
        let pass = Pass { a, b, radius };
        self.each_wanted(filter, |body| {
            let last = before(body.entity).map(|pose| Body { pose, ..*body });
            let last = last.filter(|last| last.pose.alive && is_continuous(last, body, FRAME));
            let at = |part: f32| match &last {
                Some(last) => Body { pose: between(&last.pose, &body.pose, part), ..*body },
                None => *body,
            };
            let met = pass.meets_body(&at(parts.0), &at(parts.1), &mut rooms);
            best = met.filter(|met| best.is_none_or(|best| is_nearer(&met.hit, &best.hit))).or(best);
        });
        let mover = self.mover((a, b), radius, best.map_or(1.0, |best| best.reach()));
        let stopped = mover.map(|(part, by)| Meeting::Mover { by, part });
        let wall = mover.map(|(part, by)| WorldHit { distance: part, by: Some(by) });
        let Some(hit) = best.and_then(|best| best.before(wall).ok()) else { return stopped };
        let (part, point) = (hit.distance, a.lerp(b, hit.distance));
        Some(Meeting::Target { hit: TargetHit { distance: a.distance(point), point, ..hit }, part })
    }

    /// The first moving thing in the way, before a part of it.
    fn mover(&self, (a, b): (Vec3, Vec3), radius: f32, reach: f32) -> Option<(f32, Entity)> {
        let (direction, length) = (b - a).try_normalize().map(|direction| (direction, a.distance(b)))?;
        let bases = self.bases.at(self.base_time.0.unwrap_or(ViewTime::at(self.tick.0)));
        let mut nearest: Option<(f32, Entity)> = None;
        for (entity, occluder, drawn) in &self.movers {
            let pose = match drawn {
                _ if occluder.base != 0 => bases.pose(occluder.base),
                drawn => drawn.filter(|drawn| drawn.pose.alive).map(|drawn| drawn.pose.body()),
            };
            let Some(pose) = pose else { continue };
            let most = nearest.map_or(length * reach, |(distance, _)| distance);
            let met = if radius > 0.0 {
                let start = Isometry3d::from_translation(a);
                occluder.sweep(pose, &Ball::new(radius), start, direction, most)
            } else {
                occluder.cast(pose, a, direction, most)
            };
            nearest = met.filter(|distance| *distance < most).map(|distance| (distance, entity)).or(nearest);
        }
        nearest.map(|(distance, by)| (distance / length, by))
    }
}

/// Seconds of a frame in which somebody goes rather than being put elsewhere.
const FRAME: f32 = 0.1;

/// A pose on the way from one to another.
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
