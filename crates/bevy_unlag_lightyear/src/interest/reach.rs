//! Places that a pawn can reach in a short time.

use bevy::prelude::*;

use super::{
    config::InterestConfig,
    shaft::{Board, Fan, Post, RING},
    walls::{Effort, Level},
};

/// Seconds of a step in which motion is predicted.
const STEP: f32 = 1.0 / 32.0;
/// Distance in metres by which the reach is widened, for what the prediction does not know.
const SLACK: f32 = 0.05;
/// Distance in metres from a wall at which places before it end.
const SKIN: f32 = 0.05;
/// Height in metres above the lowest part of a body from which on it counts as visible.
const FEET: f32 = 0.1;

/// Place and motion of a pawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Root {
    pub position: Vec3,
    pub up: Vec3,
    pub velocity: Vec3,
}

impl Root {
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.is_finite() && self.up.is_finite()
    }

    /// Returns the speed along up, and the velocity across it.
    fn parts(&self) -> (f32, Vec3) {
        let rise = self.velocity.dot(self.up);
        (rise, self.velocity - self.up * rise)
    }
}

/// Returns the way up that a pawn can have made in `seconds`: a jump, or its own speed.
fn rise(config: &InterestConfig, own: f32, seconds: f32) -> f32 {
    let (speed, height) = (config.vertical_speed.max(0.0), config.jump_height.max(0.0));
    // The gravity that ends a jump with this speed at this height.
    let jump = if speed * seconds >= 2.0 * height {
        height
    } else {
        speed * seconds * (1.0 - speed * seconds / (4.0 * height))
    };
    jump.max(own * seconds)
}

/// Moves a pawn from rest or motion for `seconds` with its input in one direction, and returns the way that it has made.
///
/// The velocity turns to the input by [`turn_rate`](InterestConfig::turn_rate), and grows by
/// [`acceleration`](InterestConfig::acceleration): the formula of Unreal's character and the suite's capsule.
fn way(config: &InterestConfig, mut velocity: Vec2, input: Vec2, seconds: f32) -> Vec2 {
    let steps = (seconds / STEP).ceil().clamp(1.0, 64.0);
    let step = seconds / steps;
    let limit = config.max_speed.max(velocity.length());
    let turn = (config.turn_rate * step).clamp(0.0, 1.0);
    let push = input * (config.acceleration * step).min(2.0 * limit);
    let mut way = Vec2::ZERO;
    for _ in 0..steps as u32 {
        velocity += (input * velocity.length() - velocity) * turn + push;
        velocity = velocity.clamp_length_max(limit);
        way += velocity * step;
    }
    way
}

/// Returns where the eyes of a pawn can be in `seconds`, not behind walls.
pub(super) fn fan(
    config: &InterestConfig,
    root: &Root,
    body: &Body,
    seconds: f32,
    (level, effort): (&dyn Level, &mut Effort),
) -> Fan {
    let Root { position, up, .. } = *root;
    let (own_rise, along) = root.parts();
    let (x, z) = if up == Vec3::Y { (Vec3::X, Vec3::Z) } else { up.any_orthonormal_pair() };
    let velocity = Vec2::new(along.dot(x), along.dot(z));
    let slack = SLACK + config.eye_radius.max(0.0);
    let ends: [Vec2; RING] = core::array::from_fn(|index| {
        let input = Vec2::from_angle(index as f32 * core::f32::consts::TAU / RING as f32);
        way(config, velocity, input, seconds) + input * slack
    });
    let mean = ends.iter().sum::<Vec2>() / RING as f32;
    let chest = (body.low + body.high) * 0.5;
    let from = position + up * chest;
    let mut reach = |from: Vec3, to: Vec3| {
        let Ok((direction, length)) = Dir3::new_and_length(to - from) else { return to };
        effort.rays += 1;
        let free = level.free_way(from, direction.as_vec3(), length + SKIN);
        if free >= length + SKIN { to } else { from + direction * (free - SKIN).max(0.0) }
    };
    let middle = reach(from, from + x * mean.x + z * mean.y);
    // The edges between the corners touch the circle that the corners are on.
    let grown = 1.0 / (core::f32::consts::PI / RING as f32).cos();
    let ring = ends.map(|end| {
        let end = mean + (end - mean) * grown;
        reach(middle, from + x * end.x + z * end.y)
    });
    let (low, high) = (config.eyes.x - chest, config.eyes.y - chest + rise(config, own_rise, seconds));
    let post = |at: Vec3| Post {
        low: at + up * (low - config.eye_radius.max(0.0)).max(SKIN - chest),
        high: at + up * (high + config.eye_radius.max(0.0)),
    };
    Fan { middle: post(middle), ring: ring.map(post), up }
}

/// Heights and width of a body, in metres.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Body {
    pub radius: f32,
    pub low: f32,
    pub high: f32,
}

/// Returns where a body can be from `past` seconds ago until `ahead` seconds from now, as seen from `eye`.
pub(super) fn board(
    config: &InterestConfig,
    root: &Root,
    body: &Body,
    eye: Vec3,
    past: f32,
    ahead: f32,
) -> Board {
    let Root { position, up, .. } = *root;
    let (rise_speed, along) = root.parts();
    let side = up.cross(position - eye).try_normalize().unwrap_or_else(|| up.any_orthonormal_vector());
    // How far the pawn can leave its path by turning.
    let speed = config.max_speed.max(along.length());
    let rate = (config.turn_rate + config.acceleration / speed.max(0.1)).clamp(0.1, 1e3);
    let turned = speed * (ahead - (1.0 - (-ahead * rate).exp()) / rate);
    let aside = along.dot(side);
    let middle = position + side * (aside * (ahead - past) * 0.5);
    let half = body.radius + turned + aside.abs() * (ahead + past) * 0.5;
    let low = body.low + FEET - (-rise_speed * ahead).max(rise_speed * past).max(0.0);
    let high = body.high + rise(config, rise_speed, ahead).max(-rise_speed * past);
    let post =
        |aside: f32| Post { low: middle + side * aside + up * low, high: middle + side * aside + up * high };
    Board { sides: [post(half), post(-half)], up }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interest::test_level::Boxes;

    const BODY: Body = Body { radius: 0.35, low: 0.0, high: 1.9 };

    fn root(x: f32, velocity: Vec3) -> Root {
        Root { position: Vec3::new(x, 0.01, 0.0), up: Vec3::Y, velocity }
    }

    fn fan_of(level: &Boxes, config: &InterestConfig, root: &Root, seconds: f32) -> Fan {
        fan(config, root, &BODY, seconds, (level, &mut Effort::default()))
    }

    /// Extent of a fan along X.
    fn extent(fan: &Fan) -> (f32, f32) {
        let all = fan.ring.map(|post| post.high.x);
        (all.into_iter().fold(f32::MAX, f32::min), all.into_iter().fold(f32::MIN, f32::max))
    }

    #[test]
    fn running_pawn_goes_on_and_turns_round_late() {
        let (level, config) = (Boxes(Vec::new()), InterestConfig { max_speed: 6.0, ..default() });
        let (back, forth) = extent(&fan_of(&level, &config, &root(0.0, Vec3::X * 6.0), 0.25));
        assert!((1.5..1.8).contains(&forth), "{forth}");
        assert!((-0.3..0.3).contains(&back), "{back}");
        // One that stands can go either way, and not as far.
        let (back, forth) = extent(&fan_of(&level, &config, &root(0.0, Vec3::ZERO), 0.25));
        assert!((0.6..1.0).contains(&forth) && (back + forth).abs() < 0.01, "{back} {forth}");
        // A faster one counts with its own speed.
        let (_, forth) = extent(&fan_of(&level, &config, &root(0.0, Vec3::X * 20.0), 0.25));
        assert!(forth > 5.0, "{forth}");
    }

    #[test]
    fn eyes_do_not_reach_through_walls_and_a_camera_reaches_further() {
        let level = Boxes::wall_with_opening(5.0..6.0);
        let config = InterestConfig::default();
        let (_, forth) = extent(&fan_of(&level, &config, &root(-1.0, Vec3::X * 6.0), 0.4));
        assert!((-0.4..-0.1).contains(&forth), "{forth}");
        let open = Boxes(Vec::new());
        let (_, control) = extent(&fan_of(&open, &config, &root(-1.0, Vec3::X * 6.0), 0.4));
        assert!(control > 1.0, "{control}");
        let camera = InterestConfig { eye_radius: 3.0, ..config };
        let (_, further) = extent(&fan_of(&open, &camera, &root(-1.0, Vec3::X * 6.0), 0.4));
        assert!((2.9..3.6).contains(&(further - control)), "{further} {control}");
    }

    #[test]
    fn jump_reaches_its_height_and_no_more() {
        let config = InterestConfig { vertical_speed: 5.0, jump_height: 1.2, ..default() };
        assert!((0.4..0.5).contains(&rise(&config, 0.0, 0.1)));
        assert!((rise(&config, 0.0, 2.0) - 1.2).abs() < 1e-6);
        assert!((rise(&config, 10.0, 2.0) - 20.0).abs() < 1e-6, "its own speed");
    }

    #[test]
    fn body_covers_its_path_across_the_line_of_sight() {
        let config = InterestConfig::default();
        let width = |velocity: Vec3| {
            let eye = Vec3::new(-10.0, 1.7, 0.0);
            let board = board(&config, &root(0.0, velocity), &BODY, eye, 0.04, 0.04);
            let [a, b] = board.sides.map(|side| side.low.z);
            assert!(a.min(b) <= -0.35 && a.max(b) >= 0.35, "{a} {b}");
            (a - b).abs()
        };
        let (still, away, across) = (width(Vec3::ZERO), width(Vec3::X * 6.0), width(Vec3::Z * 6.0));
        assert!((still - away).abs() < 1e-5 && across > still + 0.4, "{still} {away} {across}");
    }
}
