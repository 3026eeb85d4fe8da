//! What something that flies meets on the screen.

use bevy::prelude::*;
use bevy_rapier3d::parry::shape::Ball;
use bevy_unlag_core::{LimbPoses, ViewTime};

use super::DrawnQuery;
use crate::{Meeting, RewindFilter, TargetHit, query::sound, target::UnitRay};

impl DrawnQuery<'_, '_> {
    /// What a ball of `radius` (0 is a point) meets first on this screen that goes straight from `a` to `b`:
    /// drawn pawns and moving things, not what never moves. It was at `a` and `b` so many seconds before this
    /// frame, `ago`, in which everybody has moved on by its drawn velocity. `None` when it meets nobody.
    #[must_use]
    pub fn fly(
        &self,
        (a, b): (Vec3, Vec3),
        ago: (f32, f32),
        radius: f32,
        filter: &RewindFilter<'_>,
    ) -> Option<Meeting> {
        let sound = sound::is_point(a) && sound::is_point(b) && ago.0.is_finite() && ago.1.is_finite();
        if !sound || !sound::is_size(radius) {
            return None;
        }
        let mut room = LimbPoses::default();
        let mut best: Option<(f32, TargetHit)> = None;
        self.each_wanted(filter, |body| {
            let velocity = body.pose.velocity;
            let (from, to) = (a + velocity * ago.0, b + velocity * ago.1);
            let length = from.distance(to);
            let Some(way) = UnitRay::new(from, (to - from).try_normalize().unwrap_or(Vec3::X), length) else {
                return;
            };
            let Some(hit) = body.cast_ball(&way, radius, &mut room).map(|counted| counted.hit) else {
                return;
            };
            let part = (hit.distance / length.max(1e-9)).clamp(0.0, 1.0);
            if best.is_none_or(|(first, known)| (part, hit.target) < (first, known.target)) {
                best = Some((part, hit));
            }
        });
        let target = best.map(|(part, hit)| {
            let point = a.lerp(b, part);
            Meeting::Target { hit: TargetHit { distance: a.distance(point), point, ..hit }, part }
        });
        let reach = best.map_or(1.0, |(part, _)| part);
        self.mover((a, b), radius, reach).or(target)
    }

    /// The first moving thing in the way, before a part of it.
    fn mover(&self, (a, b): (Vec3, Vec3), radius: f32, reach: f32) -> Option<Meeting> {
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
        nearest.map(|(distance, by)| Meeting::Mover { by, part: distance / length })
    }
}
