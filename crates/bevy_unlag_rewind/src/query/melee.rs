//! Blades and fists: an arc in front of somebody, or a box that is pushed forward.

mod wedge;

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::parry::shape::Cuboid;
use bevy_unlag_core::LimbPoses;

use super::{Rewound, overlap::around, sound};
use crate::{
    Miss, TargetHit,
    target::{Body, UnitRay},
    world::parry_pose,
};
use wedge::{Wedge, Wedges};

/// What a swing covers: a flat part of a disc in front of an eye.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeleeArc {
    /// Metres from the eye.
    pub reach: f32,
    /// Radians to either side of straight ahead; π is all around.
    pub half_angle: f32,
    /// Metres above and below the plane of the swing.
    pub half_height: f32,
}

/// Whom a swing hit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeleeHit {
    /// Where, and how far from the eye the box is that was hit: the nearest of those in the swing. Its
    /// `point` is the one that is nearest to the eye.
    pub hit: TargetHit,
    /// The angle in radians between the way to the target and the way it looked at that moment, both about the
    /// target's own up: 0 is a blow in the back, π one in the face.
    pub behind: f32,
}

impl MeleeHit {
    /// Whether the blow came from behind: within `angle` radians of straight behind. Half π is the whole half
    /// behind the target.
    #[must_use]
    #[doc(alias = "backstab")]
    pub fn from_behind(&self, angle: f32) -> bool {
        self.behind <= angle
    }
}

/// An arc about an eye.
pub(crate) struct Swing {
    pub eye: Isometry3d,
    /// Metres from the eye to its farthest corner.
    pub reach: f32,
    wedges: Wedges,
}

impl Swing {
    /// `None` for what makes no sense.
    pub fn new(eye: Isometry3d, arc: &MeleeArc) -> Option<Self> {
        let reach = arc.reach.hypot(arc.half_height);
        Some(Self { eye: sound::pose(eye)?, reach, wedges: Wedge::cover(arc)? })
    }

    /// Where it meets somebody, the world aside.
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

/// Nearest first.
pub(crate) fn in_order(hits: &mut [MeleeHit]) {
    hits.sort_unstable_by(|a, b| {
        a.hit.distance.total_cmp(&b.hit.distance).then(a.hit.target.cmp(&b.hit.target))
    });
}

impl Rewound<'_, '_, '_> {
    /// Adds everybody whom a swing hits, nearest first, who is not in `hits` yet. A swing that goes on for
    /// several ticks is one call a tick with the same `hits`, each of its own moment and eye: everybody is hit
    /// once, where they were first met. The eye looks along -Z; +Y is above the plane of the swing. What the
    /// world hides from the eye is not hit.
    ///
    /// # Errors
    /// Why nobody was added.
    pub fn melee_arc(&self, eye: Isometry3d, arc: &MeleeArc, hits: &mut Vec<MeleeHit>) -> Result<(), Miss> {
        let swing = Swing::new(eye, arc).ok_or(Miss::Nonsense)?;
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
                Some((distance, by)) => Err(Miss::Blocked { hit, distance, by }),
                None => self.uncovered(centre, hit),
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

    /// Adds the first target that a box touches, `half` as large to every side, that starts about the eye and is
    /// pushed along its -Z for `reach` metres, unless the world is touched before; nothing when that one is in
    /// `hits` already. For several ticks see [`melee_arc`](Self::melee_arc).
    ///
    /// # Errors
    /// Why nobody was added.
    pub fn melee_box(
        &self,
        eye: Isometry3d,
        half: Vec3,
        reach: f32,
        hits: &mut Vec<MeleeHit>,
    ) -> Result<(), Miss> {
        let sound = half.to_array().into_iter().all(|half| half > 0.0 && sound::is_size(half));
        let eye = sound::pose(eye).filter(|_| sound).ok_or(Miss::Nonsense)?;
        let way = UnitRay::new(eye.translation.into(), eye.rotation * Vec3::NEG_Z, reach);
        let way = way.ok_or(Miss::Nonsense)?;
        let hit = self.first_convex(way, &Cuboid::new(half), half.length(), eye.rotation)?;
        if hits.iter().any(|known| known.hit.target == hit.target) {
            return Err(Miss::Nobody);
        }
        let body = self.target_body(&hit).unwrap_or_default();
        hits.push(MeleeHit { hit, behind: behind(eye.translation.into(), body) });
        Ok(())
    }

    /// Where the body was that was hit.
    fn target_body(&self, hit: &TargetHit) -> Option<Isometry3d> {
        let slot = self.query.table.named(hit.target)?;
        Some(self.body(slot).ok()?.pose.body())
    }

    /// What of the world stands between two points.
    fn hides(&self, from: Vec3, to: Vec3) -> Option<(f32, Option<Entity>)> {
        let (direction, distance) = (to - from).try_normalize().map(|d| (d, from.distance(to)))?;
        self.world(from, direction, distance).map(|wall| (wall.distance, wall.by))
    }
}

/// The angle between the way from `eye` to a body and the way that it looks.
fn behind(eye: Vec3, body: Isometry3d) -> f32 {
    let to = body.rotation.inverse() * (body.translation - Vec3A::from(eye));
    let flat = Vec2::new(to.x, to.z);
    // Above or below it there is no side.
    flat.try_normalize().map_or(core::f32::consts::PI, |to| to.dot(Vec2::NEG_Y).clamp(-1.0, 1.0).acos())
}
