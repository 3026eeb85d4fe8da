//! Scripted input of the walk through the levels.

use core::f64::consts::{PI, TAU};

use super::levels::DT;
use crate::prelude::*;

/// Turn rate in radians per second, that of a quick mouse turn.
const TURN_SPEED: f64 = 6.0;

/// Seeded input that always runs and changes its heading every 0.3 to 1.4 s.
pub struct WalkScript {
    rng: SmallRng,
    reach: f32,
    jumps: bool,
    heading: f64,
    target_heading: f64,
    /// Moves until the next change of heading.
    turn_in: u32,
    /// Moves for which the jump button stays down.
    jump: u32,
}

impl WalkScript {
    /// Creates a script; equal arguments give equal inputs. `reach` is the distance from the middle, in
    /// metres, at which it turns back.
    pub fn new(seed: u64, reach: f32, jumps: bool) -> Self {
        let rng = SmallRng::seed_from_u64(seed);
        Self { rng, reach, jumps, heading: 0.0, target_heading: 0.0, turn_in: 0, jump: 0 }
    }

    /// Returns the next input for feet at `place`.
    pub fn next(&mut self, place: Vec3) -> CapsuleInput {
        if place.x.abs().max(place.z.abs()) > self.reach {
            // A yaw of 0 looks along -Z, a quarter turn along -X.
            self.target_heading = f64::from(place.x).atan2(f64::from(place.z));
            self.turn_in = 20;
        } else if self.turn_in == 0 {
            self.target_heading = self.heading + self.rng.random_range(-2.5..2.5);
            self.turn_in = self.rng.random_range(20..90);
        }
        self.turn_in = self.turn_in.saturating_sub(1);
        let turn = (self.target_heading - self.heading + PI).rem_euclid(TAU) - PI;
        let most = TURN_SPEED * f64::from(DT);
        self.heading += turn.clamp(-most, most);

        self.jump = self.jump.saturating_sub(1);
        if self.jumps && self.jump == 0 && self.rng.random_bool(1.0 / 96.0) {
            self.jump = 5;
        }
        let mut input = CapsuleInput { forward: 127, jump: self.jump > 0, ..default() };
        input.set_look(self.heading, 0.0);
        input
    }
}
