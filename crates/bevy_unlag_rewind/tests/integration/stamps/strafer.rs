//! A strafing target, and a shooter that aims at it.

use bevy_unlag_core::ViewTime;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::stamps::simulation::{DT, ORIGIN};

/// In metres per second.
const SPEED: f64 = 5.0;
/// Half the width of the target, in metres.
const RADIUS: f64 = 0.25;
/// Greatest delay of the aim behind the target, in seconds.
const MAX_AIM_DELAY: f64 = 0.15;

/// A target that runs to and fro on a line.
#[derive(Default)]
pub struct Strafer {
    /// Time, position and new velocity of every turn.
    turns: Vec<(f64, f64, f64)>,
}

impl Strafer {
    pub fn new(seed: u64, seconds: f64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x57);
        let (mut at, mut place, mut speed) = (-10.0, 0.0, SPEED);
        let mut turns = Vec::new();
        while at < seconds + 10.0 {
            turns.push((at, place, speed));
            let length = rng.random_range(0.2..0.8);
            (at, place, speed) = (at + length, place + speed * length, -speed);
        }
        Self { turns }
    }

    /// Returns the position and velocity, `seconds` after the start.
    fn at(&self, seconds: f64) -> (f64, f64) {
        let turn = self.turns.partition_point(|(at, ..)| *at <= seconds).saturating_sub(1);
        let (at, place, speed) = self.turns[turn];
        (place + (seconds - at) * speed, speed)
    }

    pub fn place(&self, time: ViewTime) -> f64 {
        self.at(f64::from(time.ticks_since(ORIGIN)) * DT).0
    }

    /// Returns where a shooter with this screen aims: behind the target, by a varying delay. Such an aim
    /// profits most from shots that are tested in the past.
    pub fn aim(&self, shown: ViewTime) -> f64 {
        let luck = SmallRng::seed_from_u64(u64::from(shown.tick.0)).random_range(0.0..MAX_AIM_DELAY);
        self.at(f64::from(shown.ticks_since(ORIGIN)) * DT - luck).0
    }

    /// Whether a shot hits that was aimed at one view time and is tested at another.
    pub fn is_hit(&self, aimed: ViewTime, judged: ViewTime) -> bool {
        (self.aim(aimed) - self.place(judged)).abs() < RADIUS
    }
}
