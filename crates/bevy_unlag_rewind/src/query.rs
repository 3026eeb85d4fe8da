//! The server's question: what would this ray have hit on the shooter's screen?

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{
    BasePoses, BaseView, CurrentTick, Interpolation, LimbRig, NetId, PoseSample, ProxySmoothing, SUB_TICKS,
    Sampler, Tick, ViewTime,
};

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
    /// The moment at which the shooter's screen showed movement bases, on the shooter's own time line:
    /// passengers are judged where their lift was drawn. `None` for this tick.
    pub bases: Option<ViewTime>,
    /// Ticks since the shot arrived here. How old its view was is measured at its arrival: what it
    /// waits for after that is the server's doing.
    pub waited: u32,
    /// The shooter, who cannot hit itself.
    pub shooter: Entity,
}

type Candidate = (
    Entity,
    &'static NetId,
    &'static FrameHistory,
    Option<&'static ProxySmoothing>,
    &'static HitBoxes,
    &'static LimbRig,
);

/// Answers [`RewoundRay`]s from [`FrameHistory`]. Reads only: no collider moves, so any number
/// may be asked in parallel.
#[derive(SystemParam)]
pub struct RewindQuery<'w, 's> {
    pawns: Query<'w, 's, Candidate>,
    bases: Res<'w, BasePoses>,
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
        let arrived = self.tick.0.offset(-(ray.waited.min(1_000).cast_signed()));
        if let Some(time) = time {
            self.limits.check(time, arrived, self.sampler.tick_seconds)?;
        }
        let drawn = ray.bases.unwrap_or(ViewTime::at(self.tick.0));
        let bases = self.bases.at(drawn);
        let unit = UnitRay { origin: ray.origin, direction: ray.direction, max_distance: ray.max_distance };
        let candidates = self.pawns.iter().filter(|(entity, ..)| *entity != ray.shooter).filter_map(
            |(entity, id, history, mode, boxes, rig)| {
                let named = ray.overrides.iter().find(|o| o.target == *id);
                let pose = self.pose(history, time, arrived, named, mode, &bases)?;
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
        time: Option<ViewTime>,
        arrived: Tick,
        named: Option<&StampOverride>,
        mode: Option<&ProxySmoothing>,
        bases: &BaseView<'_>,
    ) -> Option<PoseSample> {
        let Some(time) = time else { return history.present().copied() };
        let stamp = match named {
            Some(named) => {
                let own = time.later(i64::from(named.shift));
                // A moment of its own is no way around the limits; but what is simulated to the present
                // is drawn within the server's current tick.
                let ahead = own.since(ViewTime::at(arrived));
                let checked = if ahead <= SUB_TICKS { own.later(-ahead.max(0)) } else { own };
                self.limits.check(checked, arrived, self.sampler.tick_seconds).ok()?;
                let sampler = self.sampler.of(mode);
                let carried_on = match sampler.interpolation {
                    Interpolation::Step => 0.0,
                    _ => 2.0 * sampler.max_extrapolation_ticks,
                };
                // What had stood still for want of news, or is shown as it is, is not from further back.
                if named.to.is_none() && own.ticks_since(named.from) > carried_on {
                    return None;
                }
                named.stamp(own)?
            }
            None => history.sent.stamp(time)?,
        };
        history.sent.pose(stamp, &self.sampler.of(mode), bases)
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
