//! Explosions: who was near, how near, and how much of them the world covered.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::LimbPoses;

use super::{
    Rewound,
    fan::{passes_box, way},
    overlap::around,
    sound,
};
use crate::{HitGroup, Miss, TargetHit, target::Body, target::UnitRay, world::NearWalls};

/// Whom a blast reaches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlastHit {
    /// The box that is nearest to the centre, the distance to it (0 within), and its nearest point.
    pub hit: TargetHit,
    /// The part of its points that the world does not hide from the centre: the nearest one, the middle, the
    /// head and the feet. 1 is in the open, 0 is behind a wall.
    pub visible: f32,
}

impl BlastHit {
    /// What falls off evenly with distance: 1 at the centre, 0 at `radius`; covered parts take no share.
    #[must_use]
    pub fn falloff(&self, radius: f32) -> f32 {
        (1.0 - self.hit.distance / radius.max(1e-6)).clamp(0.0, 1.0) * self.visible
    }
}

/// Metres short of a point that a wall does not hide it any more: what leans on a wall is not behind it.
const SLACK: f32 = 0.01;

impl Rewound<'_, '_, '_> {
    /// Everybody within `radius` of a centre at this moment, into `hits`, nearest first; also who is hidden.
    /// `hits` is cleared first. A centre inside of a wall hides everybody: put it off the surface.
    ///
    /// # Errors
    /// Why there is nobody.
    #[doc(alias = "explosion")]
    pub fn blast(&self, centre: Vec3, radius: f32, hits: &mut Vec<BlastHit>) -> Result<(), Miss> {
        hits.clear();
        if !sound::is_point(centre) || !sound::is_size(radius) {
            return Err(Miss::Nonsense);
        }
        let mut walls = None;
        let mut room = LimbPoses::default();
        let reason = self.bodies(&around(centre, radius), |body| {
            let Some(near) = body.nearest(centre, radius, &mut room, |_, _| true) else { return false };
            let points = points(body, near.point, &mut room);
            let walls = walls.get_or_insert_with(|| {
                // Other points may be further away than the nearest one.
                let reach = radius + 2.0 * body.boxes.bounds().reach();
                let here = UnitRay { origin: centre.into(), direction: Vec3A::X, max: 0.0 };
                (self.query.world.gather(|low, high| passes_box(&here, reach, low, high)), reach)
            });
            let seen = points.iter().filter(|point| self.shows(centre, **point, walls)).count();
            hits.push(BlastHit { hit: body.hit_near(near), visible: seen as f32 / points.len() as f32 });
            true
        });
        hits.sort_unstable_by(|a, b| {
            a.hit.distance.total_cmp(&b.hit.distance).then(a.hit.target.cmp(&b.hit.target))
        });
        if hits.is_empty() { Err(reason) } else { Ok(()) }
    }

    /// `walls` are all those within some metres of `from`.
    fn shows(&self, from: Vec3, to: Vec3, (walls, reach): &(NearWalls, f32)) -> bool {
        let way = way(from, to);
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
        fixed.is_none() && self.or_occluded(None, from, direction, distance).is_none()
    }
}

/// The points of a body that may be hidden.
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
