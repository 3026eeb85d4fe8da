//! Melee attacks: an arc in front of an eye, or a box that is swept forward.

mod wedge;

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::shape::Cuboid;
use bevy_unlag_core::LimbPoses;

use super::{Rewound, overlap::around};
use crate::{
    convex_cast::parry_pose,
    query_result::{Miss, TargetHit},
    target::Body,
    unit_ray::UnitRay,
    validity,
    world::WorldHit,
};
use wedge::{Wedge, Wedges};

/// Volume of a melee swing: a flat sector of a disc in front of an eye.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeleeArc {
    /// Reach from the eye, in metres.
    pub reach: f32,
    /// Half of the opening angle in radians; π is all around.
    pub half_angle: f32,
    /// Height above and below the plane of the swing, in metres.
    pub half_height: f32,
}

/// Hit of a melee attack.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeleeHit {
    /// Hit on the nearest box within the swing, with its distance from the eye. Its `point` is the point
    /// of the box nearest to the eye.
    pub hit: TargetHit,
    /// Angle in radians between the direction to the target and the target's facing direction at that
    /// moment, measured around the target's up axis: 0 is a hit in the back, π one in the face.
    pub behind: f32,
}

impl MeleeHit {
    /// Returns whether the hit came from within `angle` radians of straight behind. π/2 is the whole half
    /// behind the target.
    #[must_use]
    #[doc(alias = "backstab")]
    pub fn from_behind(&self, angle: f32) -> bool {
        self.behind <= angle
    }
}

/// Melee arc at an eye.
pub(crate) struct Swing {
    pub eye: Isometry3d,
    /// Distance in metres from the eye to the farthest corner of the volume.
    pub reach: f32,
    wedges: Wedges,
}

impl Swing {
    /// Returns `None` for invalid input.
    pub fn new(eye: Isometry3d, arc: &MeleeArc) -> Option<Self> {
        let reach = arc.reach.hypot(arc.half_height);
        Some(Self { eye: validity::pose(eye)?, reach, wedges: Wedge::cover(arc)? })
    }

    /// Returns the hit on a body, regardless of the world.
    pub fn meets(&self, body: &Body<'_>, room: &mut LimbPoses) -> Option<MeleeHit> {
        let centre = Vec3::from(self.eye.translation);
        let near = body.nearest(centre, self.reach, room, |index, pose| {
            let raw = &*body.boxes.boxes()[index].shape.raw;
            let own = parry_pose(self.eye.inverse() * pose);
            self.wedges.iter().any(|wedge| wedge.touches(&own, raw))
        })?;
        Some(MeleeHit { hit: body.hit_near(near), behind: behind(centre, body.pose.body()) })
    }
}

/// Sorts hits by distance.
pub(crate) fn in_order(hits: &mut [MeleeHit]) {
    hits.sort_unstable_by(|a, b| {
        a.hit.distance.total_cmp(&b.hit.distance).then(a.hit.target.cmp(&b.hit.target))
    });
}

impl Rewound<'_, '_, '_> {
    /// Appends every target that a swing hits and that is not in `hits` yet, nearest first. For a swing
    /// over several ticks, call it once a tick with the same `hits`, each time with that tick's moment
    /// and eye: every target is hit once, where it was first touched. The eye looks along -Z; +Y is above
    /// the plane of the swing. A target that the world hides from the eye is not hit.
    ///
    /// # Errors
    /// Returns the reason if no target was added.
    pub fn melee_arc(&self, eye: Isometry3d, arc: &MeleeArc, hits: &mut Vec<MeleeHit>) -> Result<(), Miss> {
        let swing = Swing::new(eye, arc).ok_or(Miss::InvalidQuery)?;
        let centre = Vec3::from(swing.eye.translation);
        let mut room = LimbPoses::default();
        let before = hits.len();
        let mut reason = self.bodies(&around(centre, swing.reach), |body| {
            if hits[..before].iter().any(|known| known.hit.target == body.id) {
                return true;
            }
            let hit = swing.meets(body, &mut room);
            hits.extend(hit);
            hit.is_some()
        });
        let mut index = before;
        while let Some(MeleeHit { hit, .. }) = hits.get(index).copied() {
            let seen = match self.hides(centre, hit.point) {
                Some(WorldHit { distance, by }) => Err(Miss::Blocked { hit, distance, by }),
                None => self.unless_in_cover(centre, hit),
            };
            match seen {
                Ok(_) => index += 1,
                Err(miss) => {
                    reason = miss;
                    hits.swap_remove(index);
                }
            }
        }
        in_order(&mut hits[before..]);
        if hits.len() > before { Ok(()) } else { Err(reason) }
    }

    /// Appends the first target touched by a box with half extents `half` that is swept from the eye
    /// along its -Z for `reach` metres, unless the box touches the world before. Appends nothing if that
    /// target is already in `hits`. For attacks over several ticks see [`melee_arc`](Self::melee_arc).
    ///
    /// # Errors
    /// Returns the reason if no target was added.
    pub fn melee_box(
        &self,
        eye: Isometry3d,
        half: Vec3,
        reach: f32,
        hits: &mut Vec<MeleeHit>,
    ) -> Result<(), Miss> {
        let sound = half.to_array().into_iter().all(|half| half > 0.0 && validity::is_size(half));
        let eye = validity::pose(eye).filter(|_| sound).ok_or(Miss::InvalidQuery)?;
        let way = UnitRay::new(eye.translation.into(), eye.rotation * Vec3::NEG_Z, reach);
        let way = way.ok_or(Miss::InvalidQuery)?;
        let hit = self.first_convex(way, &Cuboid::new(half), half.length(), eye.rotation)?;
        if hits.iter().any(|known| known.hit.target == hit.target) {
            return Err(Miss::NoTarget);
        }
        let body = self.target_body(&hit).unwrap_or_default();
        hits.push(MeleeHit { hit, behind: behind(eye.translation.into(), body) });
        Ok(())
    }

    /// Returns the pose of the body that was hit.
    fn target_body(&self, hit: &TargetHit) -> Option<Isometry3d> {
        let slot = self.query.table.named(hit.target)?;
        Some(self.body(slot).ok()?.pose.body())
    }

    /// Returns the first obstacle between two points.
    fn hides(&self, from: Vec3, to: Vec3) -> Option<WorldHit> {
        self.first_obstacle(from, (to - from).try_normalize()?, from.distance(to))
    }
}

/// Returns the angle between the direction from `eye` to a body and the body's facing direction.
fn behind(eye: Vec3, body: Isometry3d) -> f32 {
    let to = body.rotation.inverse() * (body.translation - Vec3A::from(eye));
    let flat = Vec2::new(to.x, to.z);
    // An eye straight above or below counts as in front.
    flat.try_normalize().map_or(core::f32::consts::PI, |to| to.dot(Vec2::NEG_Y).clamp(-1.0, 1.0).acos())
}
