//! The client's half: the same ray against what its own screen last showed.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{DrawnPose, LimbRig, NetId, UsualInterval, ViewStamp, ViewTime};

use crate::{HitBoxes, RayHit, StampOverride, WorldTrace, trace::UnitRay};

type Drawn = (
    Entity,
    &'static NetId,
    &'static DrawnPose,
    Option<&'static UsualInterval>,
    &'static HitBoxes,
    &'static LimbRig,
);

/// Asks what this app's screen last showed: the pawns by their [`DrawnPose`], the world as it is.
#[derive(SystemParam)]
pub struct DrawnQuery<'w, 's> {
    pawns: Query<'w, 's, Drawn>,
    world: WorldTrace<'w, 's>,
}

impl DrawnQuery<'_, '_> {
    /// The nearest drawn pawn that the ray meets, unless the world stands in between. `direction`
    /// is a unit vector.
    #[must_use]
    pub fn cast_ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        shooter: Entity,
    ) -> Option<RayHit> {
        let unit = UnitRay { origin, direction, max_distance };
        let candidates = self
            .pawns
            .iter()
            .filter(|(entity, ..)| *entity != shooter)
            .map(|(entity, id, drawn, _, boxes, rig)| (entity, *id, drawn.pose, boxes, rig));
        unit.nearest(candidates).filter(|hit| self.world.cast(origin, direction, hit.distance).is_none())
    }

    /// The targets near the ray that were drawn from other snapshots than `time` implies when one
    /// is sent every `interval` ticks, or at another moment, nearest to the ray first, as many as fit
    /// into `found`. Returns how many there are.
    pub fn overrides(
        &self,
        origin: Vec3,
        direction: Vec3,
        time: ViewTime,
        interval: i32,
        found: &mut [StampOverride],
    ) -> usize {
        let mut odd: Vec<(f32, StampOverride)> = self
            .pawns
            .iter()
            .filter_map(|(_, id, drawn, usual, boxes, _)| {
                // A pair that spans more than is usual has lost one between.
                let usual = usual.map_or(interval, |usual| i32::from(usual.0).clamp(1, interval));
                let (from, to, at) = match drawn.stamp {
                    ViewStamp::Interpolated { from, to, time: at } => (from, Some(to), at),
                    ViewStamp::Extrapolated { from, time: at } => (from, None, at),
                    ViewStamp::Present => return None,
                };
                if at == time && to.is_some_and(|to| to.since(from) <= usual) {
                    return None;
                }
                let shift = i16::try_from(at.since(time)).ok()?;
                let named = StampOverride { target: *id, from, to, shift };
                let to = drawn.pose.position - origin;
                let aside = (to - direction * to.dot(direction).max(0.0)).length();
                (aside <= boxes.reach).then_some((aside, named))
            })
            .collect();
        odd.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = odd.len().min(found.len());
        for (slot, (_, named)) in found.iter_mut().zip(&odd) {
            *slot = *named;
        }
        count
    }

    /// The world that stands in the way.
    #[must_use]
    pub fn world(&self) -> &WorldTrace<'_, '_> {
        &self.world
    }
}
