//! Catch-up of projectiles that were fired in the past: they fly to the present through targets as the
//! shooter saw them.

mod flight_step;
mod step;

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, SUB_TICKS, ViewTime};

use super::Rewound;
use crate::{
    query_result::{Miss, TargetHit},
    unit_ray::UnitRay,
    validity,
    world::{NearbyColliders, WorldHit},
};
pub(crate) use flight_step::{BallPath, is_continuous};
use flight_step::{FlightStep, StepHit};
pub use step::FlightStepHit;

/// State of a ballistic projectile, on which only gravity acts.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ballistic {
    /// Position in metres.
    pub position: Vec3,
    /// Velocity in metres per second.
    pub velocity: Vec3,
    /// Gravity in metres per second squared.
    pub gravity: Vec3,
}

impl Ballistic {
    /// Returns the state after some seconds.
    #[must_use]
    pub fn after(&self, seconds: f32) -> Self {
        let velocity = self.velocity + self.gravity * seconds;
        let position = self.position + (self.velocity + velocity) * (0.5 * seconds);
        Self { position, velocity, ..*self }
    }
}

/// Result of a projectile's flight to the present.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Flight {
    /// The projectile hit a target.
    Hit {
        /// Hit on the target; `distance` is along the path, `point` is the centre of the projectile.
        hit: TargetHit,
        /// Seconds after firing.
        seconds: f32,
        /// View time of the hit on the shooter's screen.
        time: ViewTime,
    },
    /// The projectile hit the world.
    Wall {
        /// Obstacle; `distance` is along the path.
        wall: WorldHit,
        /// Centre of the projectile.
        point: Vec3,
        /// Seconds after firing.
        seconds: f32,
    },
    /// The projectile has hit nothing so far.
    Flying {
        /// Seconds after firing: until the present, or the end of its lifetime.
        seconds: f32,
    },
}

/// Maximum number of ticks by which a flight can lag behind; targets are not stored for longer.
const MAX_STEPS: usize = 256;

impl Rewound<'_, '_, '_> {
    /// Moves a ball of `radius` metres (0 for a point) from this moment to the present, for at most
    /// `max_seconds`. `path` returns its position some seconds after firing. The flight is computed in
    /// steps of one tick. In each step the targets are where the shooter's screen showed them at that
    /// time, so the projectile hits what the shooter saw it hit. Targets and their limbs also move within
    /// a step, so even a fast projectile cannot pass through a target between two steps.
    ///
    /// From the present on, test it against [`RewindTime::Now`](crate::RewindTime::Now) in every tick.
    ///
    /// # Errors
    /// Returns [`Miss::InvalidQuery`] for invalid input.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_unlag_rewind::{Ballistic, Flight, RewindQuery, RewindTime, QueryView};
    ///
    /// fn launch(query: RewindQuery, rocket: Ballistic, view: QueryView) {
    ///     let Ok(then) = query.at(RewindTime::View(view)) else { return };
    ///     match then.catch_up(0.1, 5.0, |seconds| rocket.after(seconds).position) {
    ///         Ok(Flight::Hit { hit, .. }) => info!("a direct hit on {:?}", hit.target),
    ///         Ok(Flight::Wall { point, .. }) => info!("it bursts at {point}"),
    ///         Ok(Flight::Flying { seconds }) => info!("it is at {} now", rocket.after(seconds).position),
    ///         Err(miss) => warn!("{miss:?}"),
    ///     }
    /// }
    /// ```
    #[doc(alias = "fast_forward")]
    pub fn catch_up(
        &self,
        radius: f32,
        max_seconds: f32,
        path: impl Fn(f32) -> Vec3,
    ) -> Result<Flight, Miss> {
        if !validity::is_size(radius) || max_seconds.is_nan() || !validity::is_point(path(0.0)) {
            return Err(Miss::InvalidQuery);
        }
        let now = ViewTime::at(self.query.tick.0);
        let Some(start) = self.moment.time else { return Ok(Flight::Flying { seconds: 0.0 }) };
        let tick = self.query.sampler.tick_seconds;
        let behind = now.since(start) as f32 / SUB_TICKS as f32 * tick;
        let end = behind.min(max_seconds).clamp(0.0, MAX_STEPS as f32 * tick);
        let walls = self.walls_of_flight(radius, end, tick, &path).ok_or(Miss::InvalidQuery)?;

        let (mut at, mut seconds, mut distance) = (start, 0.0, 0.0);
        let (mut a, mut then) = (path(0.0), self.later(start));
        let mut rooms = (LimbPoses::default(), LimbPoses::default());
        while seconds < end {
            let mut next = ViewTime::at(at.tick.offset(1));
            let mut ends = seconds + next.since(at) as f32 / SUB_TICKS as f32 * tick;
            if ends > end {
                ends = end;
                next = at.later(((end - seconds) / tick * SUB_TICKS as f32).round() as i64);
            }
            let (b, later) = (path(ends), self.later(next));
            let step = FlightStep { then, later, muzzle: path(0.0), a, b, radius, walls: &walls };
            match step.meets(&mut rooms) {
                Some(StepHit { part, what }) => {
                    let point = a.lerp(b, part);
                    let distance = distance + a.distance(point);
                    let seconds = seconds + (ends - seconds) * part;
                    return Ok(match what {
                        Ok(hit) => {
                            let time = at.later((next.since(at) as f32 * part) as i64);
                            Flight::Hit { hit: TargetHit { distance, point, ..hit }, seconds, time }
                        }
                        Err(by) => Flight::Wall { wall: WorldHit { distance, by }, point, seconds },
                    });
                }
                None => distance += a.distance(b),
            }
            (at, seconds, a, then) = (next, ends, b, later);
        }
        Ok(Flight::Flying { seconds: end })
    }

    /// Returns the same screen's view at a later time.
    #[must_use]
    pub fn later(&self, time: ViewTime) -> Self {
        let passed = self.moment.time.map_or(0, |start| time.since(start));
        let bases_at = self.bases_at.later(passed);
        let bases = self.query.bases.at(bases_at);
        Self { moment: self.moment.later(time), bases, bases_at, ..*self }
    }

    /// Returns the walls near a whole flight; `None` if the path is not finite.
    fn walls_of_flight(
        &self,
        radius: f32,
        end: f32,
        tick: f32,
        path: impl Fn(f32) -> Vec3,
    ) -> Option<NearbyColliders> {
        let chord = UnitRay::between(path(0.0), path(end));
        let mut bulge = 0.0_f32;
        for step in 1..=(end / tick).ceil() as usize + 1 {
            let point = path((step as f32 * tick).min(end));
            if !validity::is_point(point) {
                return None;
            }
            let to = Vec3A::from(point) - chord.origin;
            let along = to.dot(chord.direction).clamp(0.0, chord.max);
            bulge = bulge.max((to - chord.direction * along).length());
        }
        // Steps may begin at other moments than the samples, and between them the path may bulge a little
        // more.
        let reach = radius + bulge * 1.5 + 0.1;
        Some(self.query.world.gather(|low, high| chord.passes_box(reach, low, high)))
    }
}
