//! Explosions on the local screen.

use bevy::prelude::*;
use bevy_unlag_core::LimbPoses;

use super::DrawnQuery;
use crate::{
    query::{BlastHit, blast},
    target::Body,
    unit_ray::UnitRay,
    validity,
    view::RewindFilter,
};

impl DrawnQuery<'_, '_> {
    /// Writes every target that was drawn within `radius` metres of a centre into `hits`, nearest first, including
    /// fully covered ones. Clears `hits` first; an invalid centre or radius reaches nobody. `ago` is the time of the
    /// blast before this frame, in ticks. Same rules as [`Rewound::blast`](crate::Rewound::blast).
    pub fn blast(
        &self,
        (centre, radius): (Vec3, f32),
        ago: f64,
        filter: &RewindFilter<'_>,
        hits: &mut Vec<BlastHit>,
    ) {
        hits.clear();
        if !validity::is_point(centre) || !validity::is_size(radius) {
            return;
        }
        let mut room = LimbPoses::default();
        self.each_accepted(filter, |body| {
            let pose = self.pose_before(body.entity, ago).filter(|pose| pose.alive).unwrap_or(body.pose);
            let body = Body { pose, ..*body };
            hits.extend(blast::reach(&body, (centre, radius), &mut room, |point| self.shows(centre, point)));
        });
        blast::nearest_first(hits);
    }

    /// Returns whether the line between two points is clear on this screen.
    fn shows(&self, from: Vec3, to: Vec3) -> bool {
        let way = UnitRay::between(from, to);
        let distance = way.max - blast::SLACK;
        distance <= 0.0 || self.first_obstacle(from, way.direction.into(), distance).is_none()
    }
}
