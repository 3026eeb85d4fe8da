//! A projectile that was fired in the past: it flies to the present through everybody as they were seen.

mod leg;
mod step;

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, SUB_TICKS, ViewTime};

use super::{
    Rewound,
    fan::{passes_box, way},
    sound,
};
use crate::{Miss, TargetHit, WorldHit, world::NearWalls};
use leg::{Leg, Met};
pub(crate) use leg::{Pass, is_continuous};
pub use step::Meeting;

/// Where something is that only gravity pulls.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ballistic {
    /// Where it starts, in metres.
    pub position: Vec3,
    /// How fast, in metres per second.
    pub velocity: Vec3,
    /// What pulls it, in metres per second squared.
    pub gravity: Vec3,
}

impl Ballistic {
    /// The same some seconds later.
    #[must_use]
    pub fn after(&self, seconds: f32) -> Self {
        let velocity = self.velocity + self.gravity * seconds;
        let position = self.position + (self.velocity + velocity) * (0.5 * seconds);
        Self { position, velocity, ..*self }
    }
}

/// What became of a projectile on its way to the present.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Flight {
    /// It met somebody.
    Hit {
        /// Whom; `distance` is along the way, `point` is where the middle of the projectile was.
        hit: TargetHit,
        /// Seconds after it was fired.
        seconds: f32,
        /// The moment, on the screen of who fired it.
        time: ViewTime,
    },
    /// It met the world.
    Wall {
        /// What; `distance` is along the way.
        wall: WorldHit,
        /// Where the middle of the projectile was.
        point: Vec3,
        /// Seconds after it was fired.
        seconds: f32,
    },
    /// It met nobody so far.
    Flying {
        /// Seconds after it was fired: the present, or its end.
        seconds: f32,
    },
}

/// Ticks that a flight can be behind at most: nobody is remembered for longer.
const MAX_STEPS: usize = 256;

impl Rewound<'_, '_, '_> {
    /// Flies a ball of `radius` (0 is a point) from this moment to the present, at most for `max_seconds`:
    /// where it is some seconds after it was fired, `path` says. Step by step of a tick, everybody is where
    /// the screen of who fired it showed them then, so what the shooter saw it hit it hits. Within a step
    /// everybody moves on, and so does every limb: nothing slips through between two steps, however fast.
    ///
    /// From the present on, test it against [`RewindTime::Now`](crate::RewindTime::Now) in every tick.
    ///
    /// # Errors
    /// [`Miss::Nonsense`].
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_unlag_rewind::{Ballistic, Flight, RewindQuery, RewindTime, View};
    ///
    /// fn launch(query: RewindQuery, rocket: Ballistic, view: View) {
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
        if !sound::is_size(radius) || max_seconds.is_nan() || !sound::is_point(path(0.0)) {
            return Err(Miss::Nonsense);
        }
        let now = ViewTime::at(self.query.tick.0);
        let Some(start) = self.moment.time else { return Ok(Flight::Flying { seconds: 0.0 }) };
        let tick = self.query.sampler.tick_seconds;
        let behind = now.since(start) as f32 / SUB_TICKS as f32 * tick;
        let end = behind.min(max_seconds).clamp(0.0, MAX_STEPS as f32 * tick);
        let walls = self.walls_of_flight(radius, end, tick, &path).ok_or(Miss::Nonsense)?;

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
            let step = Leg { then, later, muzzle: path(0.0), a, b, radius, walls: &walls };
            match step.meets(&mut rooms) {
                Some(Met { part, what }) => {
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

    /// What the same screen showed at a later time.
    #[must_use]
    pub fn later(&self, time: ViewTime) -> Self {
        let passed = self.moment.time.map_or(0, |start| time.since(start));
        let bases_at = self.bases_at.later(passed);
        let bases = self.query.bases.at(bases_at);
        Self { moment: self.moment.later(time), bases, bases_at, ..*self }
    }

    /// The walls near a whole flight; `None` when it leads nowhere.
    fn walls_of_flight(
        &self,
        radius: f32,
        end: f32,
        tick: f32,
        path: impl Fn(f32) -> Vec3,
    ) -> Option<NearWalls> {
        let chord = way(path(0.0), path(end));
        let mut bulge = 0.0_f32;
        for step in 1..=(end / tick).ceil() as usize + 1 {
            let point = path((step as f32 * tick).min(end));
            if !sound::is_point(point) {
                return None;
            }
            let to = Vec3A::from(point) - chord.origin;
            let along = to.dot(chord.direction).clamp(0.0, chord.max);
            bulge = bulge.max((to - chord.direction * along).length());
        }
        // Steps need not begin at these moments, and between them the path may bulge a little more.
        let reach = radius + bulge * 1.5 + 0.1;
        Some(self.query.world.gather(|low, high| passes_box(&chord, reach, low, high)))
    }
}
