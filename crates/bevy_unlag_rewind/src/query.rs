//! The server's question: what would this ray have hit on the shooter's screen?

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{CurrentTick, LimbRig, NetId, PoseSample, Sampler, Tick, ViewTime};

use crate::{
    FrameHistory, HitBoxes, RayHit, RewindLimits, RewindMode, RewindRefusal, StampOverride, WorldTrace,
    trace::UnitRay,
};

/// A ray as the shooter's screen showed it.
#[derive(Clone, Copy, Debug)]
pub struct RewoundRay<'a> {
    /// Where it starts, in metres.
    pub origin: Vec3,
    /// Its direction, a unit vector.
    pub direction: Vec3,
    /// How far it reaches, in metres.
    pub max_distance: f32,
    /// The moment that the screen showed; `None` for the present.
    pub time: Option<ViewTime>,
    /// Targets that were drawn from other snapshots than the moment implies.
    pub overrides: &'a [StampOverride],
    /// Ticks since the shot arrived here. How old its view was is measured at its arrival: what it
    /// waits for after that is the server's doing.
    pub waited: u32,
    /// The shooter, who cannot hit itself.
    pub shooter: Entity,
}

/// Answers [`RewoundRay`]s from [`FrameHistory`]. Reads only: no collider moves, so any number
/// may be asked in parallel.
#[derive(SystemParam)]
pub struct RewindQuery<'w, 's> {
    pawns:
        Query<'w, 's, (Entity, &'static NetId, &'static FrameHistory, &'static HitBoxes, &'static LimbRig)>,
    world: WorldTrace<'w, 's>,
    sampler: Res<'w, Sampler>,
    limits: Res<'w, RewindLimits>,
    tick: Res<'w, CurrentTick>,
}

impl RewindQuery<'_, '_> {
    /// The nearest pawn that the ray would have met, unless the world stands in between.
    ///
    /// # Errors
    /// The reason when the moment is not honoured.
    pub fn cast_ray(&self, ray: &RewoundRay<'_>) -> Result<Option<RayHit>, RewindRefusal> {
        if !(ray.origin.is_finite() && ray.direction.is_finite()) {
            return Ok(None);
        }
        let time = ray.time.filter(|_| self.limits.mode == RewindMode::On);
        if let Some(time) = time {
            let arrived = self.tick.0.offset(-(ray.waited.min(1_000).cast_signed()));
            self.limits.check(time, arrived, self.sampler.tick_seconds)?;
        }
        let unit = UnitRay { origin: ray.origin, direction: ray.direction, max_distance: ray.max_distance };
        let candidates = self.pawns.iter().filter(|(entity, ..)| *entity != ray.shooter).filter_map(
            |(entity, id, history, boxes, rig)| {
                let pose = self.pose(history, *id, time, ray.overrides)?;
                Some((entity, *id, pose, boxes, rig))
            },
        );
        let hit = unit.nearest(candidates);
        Ok(hit.filter(|hit| self.world.cast(ray.origin, ray.direction, hit.distance).is_none()))
    }

    /// The pose of one pawn as it was drawn; `None` when it was not drawn at all.
    fn pose(
        &self,
        history: &FrameHistory,
        id: NetId,
        time: Option<ViewTime>,
        overrides: &[StampOverride],
    ) -> Option<PoseSample> {
        let Some(time) = time else { return history.present().map(PoseSample::from) };
        let stamp = match overrides.iter().find(|o| o.target == id) {
            Some(named) => named.stamp(time)?,
            None => history.sent.stamp(time)?,
        };
        history.sent.pose(stamp, &self.sampler)
    }

    /// Whether a pawn was alive in anything that was sent of it in the last `ticks`.
    #[must_use]
    pub fn was_alive(&self, pawn: Entity, ticks: i32) -> bool {
        let recent = |tick: Tick| self.tick.0.since(tick) <= ticks;
        self.pawns.get(pawn).is_ok_and(|(_, _, history, ..)| {
            history.sent.iter().rev().take_while(|s| recent(s.tick)).any(|s| s.alive)
        })
    }

    /// The world that stands in the way.
    #[must_use]
    pub fn world(&self) -> &WorldTrace<'_, '_> {
        &self.world
    }
}
