//! Sphere casts and melee attacks on the local screen.

use bevy::prelude::*;
use bevy_rapier3d::parry::shape::Ball;
use bevy_unlag_core::LimbPoses;

use super::DrawnQuery;
use crate::{
    query::{FirstSweepHit, MeleeArc, MeleeHit, Swing, in_order},
    query_result::TargetHit,
    unit_ray::UnitRay,
    validity,
    view::RewindFilter,
    world::{NearestObstacle, WorldHit},
};

impl DrawnQuery<'_, '_> {
    /// Returns the first drawn target that a ball touches with its centre moving along a ray, unless it
    /// touches the world before. Same rules as [`Rewound::cast_ball`](crate::Rewound::cast_ball).
    #[must_use]
    pub fn cast_ball(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
        filter: &RewindFilter<'_>,
    ) -> Option<TargetHit> {
        if !validity::is_point(origin) || !validity::is_size(radius) {
            return None;
        }
        if radius == 0.0 {
            return self.cast_ray(origin, direction, max_distance, filter);
        }
        let way = UnitRay::new(origin, direction, max_distance)?;
        let mut room = LimbPoses::default();
        let mut first = FirstSweepHit::default();
        self.each_accepted(filter, |body| {
            first.look(way.max, |within| body.sweep_ball(&way, within, radius, &mut room));
        });
        let counted = first.0?;
        let wall = self.first_obstacle_ball(origin, way.direction.into(), counted.reach(), radius);
        counted.before(wall).ok()
    }

    /// Returns the first obstacle on this screen for a ball with its centre moving along a ray with a
    /// unit direction.
    #[must_use]
    pub fn first_obstacle_ball(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
    ) -> Option<WorldHit> {
        if !validity::is_point(origin) || !validity::is_size(radius) {
            return None;
        }
        if radius == 0.0 {
            return self.first_obstacle(origin, direction, max_distance);
        }
        let (ball, from) = (Ball::new(radius), Isometry3d::from_translation(origin));
        let fixed = self.world.sweep(&ball, from, direction, max_distance);
        let mut way = NearestObstacle::new(fixed, max_distance);
        self.each_mover(|entity, occluder, pose| {
            way.meet(entity, |reach| occluder.sweep(pose, &ball, from, direction, reach));
        });
        way.nearest
    }

    /// Appends every target that a swing hits on this screen, nearest first. Same rules as
    /// [`Rewound::melee_arc`](crate::Rewound::melee_arc).
    pub fn melee_arc(
        &self,
        eye: Isometry3d,
        arc: &MeleeArc,
        filter: &RewindFilter<'_>,
        hits: &mut Vec<MeleeHit>,
    ) {
        let Some(swing) = Swing::new(eye, arc) else { return };
        let centre = Vec3::from(swing.eye.translation);
        let mut room = LimbPoses::default();
        let before = hits.len();
        self.each_accepted(filter, |body| {
            if hits[..before].iter().all(|known| known.hit.target != body.id) {
                hits.extend(swing.meets(body, &mut room));
            }
        });
        let mut index = before;
        while let Some(MeleeHit { hit, .. }) = hits.get(index) {
            let to = hit.point - centre;
            let hidden = to.try_normalize().and_then(|way| self.first_obstacle(centre, way, to.length()));
            if hidden.is_some() {
                hits.swap_remove(index);
            } else {
                index += 1;
            }
        }
        in_order(&mut hits[before..]);
    }
}
