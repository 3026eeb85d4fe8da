//! Explosions: targets in range, their distance, and how much of them is exposed.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::LimbPoses;

use super::{Rewound, overlap::around};
use crate::{
    hit_box::HitGroup,
    query_result::{Miss, TargetHit},
    target::Body,
    unit_ray::UnitRay,
    validity,
    world::NearbyColliders,
};

/// Target within the radius of a blast.
#[doc(alias = "radius damage")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlastHit {
    /// Hit on the box nearest to the centre, with the distance to it (0 inside) and its nearest point.
    pub hit: TargetHit,
    /// Fraction of the target's sample points that have a clear line to the centre: the nearest point,
    /// the middle, the head and the feet. 1 is fully exposed, 0 is behind a wall.
    pub visible: f32,
}

impl BlastHit {
    /// Returns a damage factor with linear falloff: 1 at the centre, 0 at `radius`, multiplied by the
    /// visible fraction.
    #[must_use]
    pub fn falloff(&self, radius: f32) -> f32 {
        (1.0 - self.hit.distance / radius.max(1e-6)).clamp(0.0, 1.0) * self.visible
    }
}

/// Distance in metres before a sample point at which obstruction tests end, so that a target leaning on a
/// wall does not count as behind it.
pub(crate) const SLACK: f32 = 0.01;

/// Returns the hit of a blast on a body within its radius. `shows` returns whether the line from the centre to a
/// point is clear.
pub(crate) fn reach(
    body: &Body<'_>,
    (centre, radius): (Vec3, f32),
    room: &mut LimbPoses,
    mut shows: impl FnMut(Vec3) -> bool,
) -> Option<BlastHit> {
    let near = body.nearest(centre, radius, room, |_, _| true)?;
    let points = points(body, near.point, room);
    let seen = points.iter().filter(|point| shows(**point)).count();
    Some(BlastHit { hit: body.hit_near(near), visible: seen as f32 / points.len() as f32 })
}

/// Sorts hits by distance.
pub(crate) fn nearest_first(hits: &mut [BlastHit]) {
    hits.sort_unstable_by(|a, b| {
        a.hit.distance.total_cmp(&b.hit.distance).then(a.hit.target.cmp(&b.hit.target))
    });
}

impl Rewound<'_, '_, '_> {
    /// Writes every target within `radius` of a centre at this moment into `hits`, nearest first,
    /// including fully covered ones. Clears `hits` first. A centre inside a wall covers all targets, so
    /// offset it from the surface.
    ///
    /// # Errors
    /// Returns the reason if there is no target in range.
    #[doc(alias = "explosion")]
    pub fn blast(&self, centre: Vec3, radius: f32, hits: &mut Vec<BlastHit>) -> Result<(), Miss> {
        hits.clear();
        if !validity::is_point(centre) || !validity::is_size(radius) {
            return Err(Miss::InvalidQuery);
        }
        let mut walls = None;
        let mut room = LimbPoses::default();
        let reason = self.bodies(&around(centre, radius), |body| {
            let reached = reach(body, (centre, radius), &mut room, |point| {
                let walls = walls.get_or_insert_with(|| {
                    // Other sample points may be further away than the nearest one.
                    let reach = radius + 2.0 * body.boxes.bounds().reach();
                    let here = UnitRay { origin: centre.into(), direction: Vec3A::X, max: 0.0 };
                    (self.query.world.gather(|low, high| here.passes_box(reach, low, high)), reach)
                });
                self.shows(centre, point, walls)
            });
            hits.extend(reached);
            reached.is_some()
        });
        nearest_first(hits);
        if hits.is_empty() { Err(reason) } else { Ok(()) }
    }

    /// Returns whether the line between two points is clear. `walls` contains all walls within the given
    /// distance in metres of `from`.
    fn shows(&self, from: Vec3, to: Vec3, (walls, reach): &(NearbyColliders, f32)) -> bool {
        let way = UnitRay::between(from, to);
        let (direction, distance) = (way.direction.into(), way.max - SLACK);
        if distance <= 0.0 {
            return true;
        }
        let world = &self.query.world;
        let fixed = if distance <= *reach {
            world.cast_among(walls, from, direction, distance)
        } else {
            world.cast(from, direction, distance)
        };
        fixed.is_none() && self.nearest_obstacle(None, from, direction, distance).is_none()
    }
}

/// Returns the sample points for the exposure of a body.
fn points(body: &Body<'_>, nearest: Vec3, room: &mut LimbPoses) -> [Vec3; 4] {
    let bounds = body.boxes.bounds();
    let on_axis = |part: f32| {
        let height = bounds.low + (bounds.high - bounds.low) * part;
        Vec3::from(body.pose.body() * Vec3A::new(0.0, height, 0.0))
    };
    let head = |index: usize| body.boxes.boxes()[index].group == HitGroup::Head;
    let head = body.shapes(room).find(|(index, ..)| head(*index));
    let head = head.map_or(on_axis(0.95), |(_, _, pose)| pose.translation.into());
    [nearest, on_axis(0.5), head, on_axis(0.05)]
}
