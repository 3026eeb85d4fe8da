//! Scripted driver of a kart.

use crate::prelude::*;

/// Half the side of the field in metres.
const HALF: f32 = 120.0;

/// Spawns a floor, four walls, posts to hit, sills to drive over and ramps to jump from.
pub fn spawn_field(world: &mut World) {
    let mut block = |at: Vec3, half: Vec3, tilt: f32| {
        let transform = Transform::from_translation(at).with_rotation(Quat::from_rotation_x(tilt));
        world.spawn((Collider::cuboid(half.x, half.y, half.z), transform));
    };
    block(Vec3::Y * -0.5, Vec3::new(HALF + 1.0, 0.5, HALF + 1.0), 0.0);
    for side in [-HALF - 0.5, HALF + 0.5] {
        block(Vec3::new(side, 1.5, 0.0), Vec3::new(0.5, 1.5, HALF), 0.0);
        block(Vec3::new(0.0, 1.5, side), Vec3::new(HALF, 1.5, 0.5), 0.0);
    }
    for i in 0_u8..24 {
        let (sin, cos) = (f32::from(i) * 2.4).sin_cos();
        let at = Vec3::new(sin, 0.0, cos) * (14.0 + 3.6 * f32::from(i));
        match i % 4 {
            0 => block(at.with_y(1.0), Vec3::new(0.5, 1.0, 0.5), 0.0),
            1 => block(at.with_y(0.05), Vec3::new(4.0, 0.05, 2.0), 0.0),
            2 => block(at.with_y(0.1), Vec3::new(2.0, 0.1, 3.0), 0.0),
            _ => block(at.with_y(0.4), Vec3::new(3.0, 0.3, 5.0), 0.16),
        }
    }
}

/// Seeded scripted driver.
pub struct KartScript {
    rng: SmallRng,
    input: KartInput,
    /// Ticks until the next decision.
    next: u32,
}

impl KartScript {
    /// Creates a driver; equal seeds drive alike.
    pub fn new(seed: u64) -> Self {
        Self { rng: SmallRng::seed_from_u64(seed ^ 0xDA), input: KartInput::default(), next: 0 }
    }

    /// Returns the next input. Every 0.4 to 1.6 s the driver picks full, partial, no or reverse throttle and
    /// a straight or a bend; near the border it steers back to the middle.
    pub fn next(&mut self, state: &KartState) -> KartInput {
        self.next = self.next.saturating_sub(1);
        if self.next == 0 {
            self.next = self.rng.random_range(26..104);
            let throttle = match self.rng.random_range(0..10) {
                0..6 => 1.0,
                6..8 => 0.4,
                8 => 0.0,
                _ => -1.0,
            };
            let bend = self.rng.random_range(0.1..1.0) * f32::from(self.rng.random_range(-1_i8..=1));
            self.input = KartInput::new(throttle, bend);
        }
        if state.position.with_y(0.0).length() > HALF * 0.75 {
            let left = Vec3::Y.cross(state.forward());
            let steering = if left.dot(-state.position) > 0.0 { -0.8 } else { 0.8 };
            return KartInput::new(0.5, steering);
        }
        self.input
    }
}
