//! Scripted input of a capsule.

use core::f64::consts::{PI, TAU};

use super::TICKS_PER_SECOND;
use crate::prelude::*;

/// Seeded scripted input.
pub struct CapsuleScript {
    rng: SmallRng,
    axes: Vec2,
    /// Ticks until the next decision.
    next: u32,
    jump: u32,
    crouch: bool,
    heading: f64,
    turn: f64,
}

impl CapsuleScript {
    /// Creates the input; equal seeds play alike.
    pub fn new(seed: u64) -> Self {
        let rng = SmallRng::seed_from_u64(seed ^ 0xCA);
        Self { rng, axes: Vec2::ZERO, next: 0, jump: 0, crouch: false, heading: 0.0, turn: 0.0 }
    }

    /// Returns the next input. Every 0.2 to 1 s the player picks a new action: mostly strafing, often
    /// straight ahead, at times standing; the view turns at up to 3 rad/s. Near the border the pawn runs back
    /// to the middle.
    pub fn next(&mut self, place: Vec3) -> CapsuleInput {
        self.next = self.next.saturating_sub(1);
        self.jump = self.jump.saturating_sub(1);
        if self.next == 0 {
            self.next = self.rng.random_range(13..64);
            let side = if self.rng.random_bool(0.5) { 1.0 } else { -1.0 };
            self.axes = match self.rng.random_range(0..10) {
                0..4 => Vec2::new(side, 0.0),
                4..6 => Vec2::new(side, 1.0),
                6..8 => Vec2::Y,
                _ => Vec2::ZERO,
            };
            self.turn = self.rng.random_range(-3.0..3.0);
            self.crouch = self.rng.random_bool(0.1);
            if self.rng.random_bool(0.3) {
                self.jump = 6;
            }
        }
        if place.x.abs().max(place.z.abs()) > arena::HALF_SIZE - 4.0 {
            self.axes = Vec2::Y;
            // A yaw of 0 looks along -Z, a quarter turn along -X.
            let home = f64::from(place.x).atan2(f64::from(place.z));
            self.turn = ((home - self.heading + PI).rem_euclid(TAU) - PI).clamp(-1.0, 1.0) * 6.0;
        }
        self.heading += self.turn / f64::from(TICKS_PER_SECOND);
        let mut input = CapsuleInput { jump: self.jump > 0, crouch: self.crouch, ..default() };
        input.set_axes(self.axes);
        input.set_look(self.heading, 0.0);
        input
    }
}
