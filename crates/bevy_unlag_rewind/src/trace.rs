//! One ray against posed hit boxes, and against the world.

use bevy::prelude::*;
use bevy_rapier3d::{parry::query::Ray as ParryRay, prelude::*, rapier::math::Pose};
use bevy_unlag_core::{LimbRig, NetId, PoseSample, Tick, ViewStamp, ViewTime};

use crate::{HitBoxes, HitGroup};

/// What a ray hit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RayHit {
    /// The pawn, in this app.
    pub entity: Entity,
    /// The pawn, on the wire.
    pub target: NetId,
    /// The part of its body.
    pub group: HitGroup,
    /// Metres from the origin.
    pub distance: f32,
    /// Where.
    pub point: Vec3,
}

/// Says that one target was drawn from other snapshots than the view time implies: one between
/// them was lost on the way, or the newest had not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StampOverride {
    /// Whom.
    pub target: NetId,
    /// The older snapshot.
    pub from: Tick,
    /// The newer snapshot; `None` when the pose was carried on beyond the older one.
    pub to: Option<Tick>,
    /// How much later than everyone else it was drawn, in 1/256 of a tick: pawns that are updated at
    /// another rate, or that are simulated to the present, have a moment of their own.
    pub shift: i16,
}

impl StampOverride {
    /// Ticks that a named pair may span, and that a pose may be carried on: half a second at
    /// 64 Hz. No honest screen goes on without news for longer, and a claim that reached further
    /// would be a way around [`RewindLimits::max_age`](crate::RewindLimits::max_age).
    pub const MAX_SPAN: i32 = 32;

    /// The stamp at `time`, the target's own moment; `None` when no screen could have drawn it.
    #[must_use]
    pub fn stamp(&self, time: ViewTime) -> Option<ViewStamp> {
        let since = time.ticks_since(self.from);
        match self.to {
            Some(to) => {
                let span = to.since(self.from);
                let between = since >= 0.0 && time.ticks_since(to) <= 0.0;
                (between && span <= Self::MAX_SPAN).then_some(ViewStamp::Interpolated {
                    from: self.from,
                    to,
                    time,
                })
            }
            None => {
                let carried_on = (0.0..=Self::MAX_SPAN as f32).contains(&since);
                carried_on.then_some(ViewStamp::Extrapolated { from: self.from, time })
            }
        }
    }
}

/// A ray with a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitRay {
    pub origin: Vec3,
    pub direction: Vec3,
    pub max_distance: f32,
}

impl UnitRay {
    /// The nearest pawn that the ray meets. On one pawn the head counts before the rest.
    pub fn nearest<'a>(
        &self,
        candidates: impl Iterator<Item = (Entity, NetId, PoseSample, &'a HitBoxes, &'a LimbRig)>,
    ) -> Option<RayHit> {
        let mut best: Option<RayHit> = None;
        for (entity, target, pose, boxes, rig) in candidates {
            if !pose.alive || !self.passes(pose.position, boxes.reach) {
                continue;
            }
            let Some((group, distance)) = self.pawn(&pose, boxes, rig) else { continue };
            // Two pawns in one place, an eye within both: the name decides, not the order in which
            // an app happens to keep them.
            if best.is_none_or(|b| (distance, target) < (b.distance, b.target)) {
                let point = self.origin + self.direction * distance;
                best = Some(RayHit { entity, target, group, distance, point });
            }
        }
        best
    }

    /// Whether the ray comes within `reach` of a point.
    fn passes(&self, centre: Vec3, reach: f32) -> bool {
        let to = centre - self.origin;
        let along = to.dot(self.direction).clamp(0.0, self.max_distance);
        (to - self.direction * along).length_squared() <= reach * reach
    }

    /// The group that counts and the distance to the first surface of this pawn.
    fn pawn(&self, pose: &PoseSample, boxes: &HitBoxes, rig: &LimbRig) -> Option<(HitGroup, f32)> {
        let ray = ParryRay::new(self.origin, self.direction);
        let mut first: Option<(HitGroup, f32)> = None;
        let mut head = false;
        for hit_box in boxes.boxes.iter() {
            let limb = (rig.pose)(pose, hit_box.limb);
            let limb = Pose::from_parts(limb.translation.into(), limb.rotation);
            let Some(distance) = hit_box.shape.raw.cast_ray(&limb, &ray, self.max_distance, true) else {
                continue;
            };
            head |= hit_box.group == HitGroup::Head;
            if first.is_none_or(|(_, nearest)| distance < nearest) {
                first = Some((hit_box.group, distance));
            }
        }
        first.map(|(group, distance)| (if head { HitGroup::Head } else { group }, distance))
    }
}

/// The world that stands in the way: everything in rapier that does not move.
#[derive(bevy::ecs::system::SystemParam)]
pub struct WorldTrace<'w, 's> {
    rapier: ReadRapierContext<'w, 's>,
}

impl WorldTrace<'_, '_> {
    /// Metres to the first wall along a ray with a unit direction; `None` when there is none
    /// within `max_distance`.
    #[must_use]
    pub fn cast(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<f32> {
        if !(origin.is_finite() && direction.is_finite() && max_distance.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let filter = QueryFilter::only_fixed().exclude_sensors();
        rapier.cast_ray(origin, direction, max_distance, true, filter).map(|(_, distance)| distance)
    }

    /// Whether nothing stands between two points.
    #[must_use]
    pub fn clear(&self, a: Vec3, b: Vec3) -> bool {
        let (direction, distance) = (b - a).try_normalize().map_or((Vec3::X, 0.0), |d| (d, a.distance(b)));
        distance == 0.0 || self.cast(a, direction, distance).is_none()
    }
}
