//! Targets of one box each on straight paths, back and forth, and shots at them.

use core::{f32::consts::TAU, time::Duration};

use bevy::math::{Dir3, Quat, Vec2, Vec3};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::scene::TICK;

/// Half extents of a target's box in metres.
pub const HALF: Vec3 = Vec3::new(0.35, 0.9, 0.2);
/// Ticks after which a target is back at its start; it turns round halfway.
pub const PERIOD: u32 = 128;
/// Tick of a period at which the shots are fired: no target has turned round within the recorded history.
pub const FIRED: u32 = 60;
/// Age of the shooter's view.
pub const AGO: Duration = Duration::from_millis(150);
/// Range of a shot in metres.
pub const RANGE: f32 = 100.0;

/// Length of lightyear's default history in ticks, including the newest one.
const REMEMBERED: u32 = 36;
/// Height of a shooter's eye in metres.
const EYE: f32 = 1.6;

/// Arrangement of the targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// 25 m² per target, no rotation; shot at from 5 to 35 m.
    Scattered,
    /// The same with targets rotating at 1 to 3 rad/s.
    Turning,
    /// 2.25 m² per target, shot at from among them.
    Crowded,
}

impl Layout {
    /// All layouts with their names in JSON keys.
    pub const ALL: [(Self, &str); 3] =
        [(Self::Scattered, "scattered"), (Self::Turning, "turning"), (Self::Crowded, "crowded")];

    /// Returns half the side of the square that holds the targets, in metres.
    fn half_side(self, targets: usize) -> f32 {
        let each: f32 = if self == Self::Crowded { 1.5 } else { 5.0 };
        each * (targets as f32).sqrt() / 2.0
    }
}

/// Moving target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Centre of its box as the shooters saw it, in metres.
    seen: Vec3,
    /// Velocity on the way there in metres per second.
    velocity: Vec3,
    /// Rotation about Y as the shooters saw it, in radians.
    pub yaw: f32,
    /// Angular velocity on the way there in radians per second.
    spin: f32,
}

impl Target {
    /// Returns the centre and the rotation of its box at a tick.
    pub fn at(&self, tick: u32) -> (Vec3, Quat) {
        let into = tick % PERIOD;
        let gone = f64::from(into.min(PERIOD - into)) - f64::from(FIRED);
        let since = (gone * TICK.as_secs_f64() + AGO.as_secs_f64()) as f32;
        (self.seen + self.velocity * since, Quat::from_rotation_y(self.yaw + self.spin * since))
    }

    /// Returns the centre of its box as the shooters saw it.
    pub fn seen(&self) -> Vec3 {
        self.seen
    }

    /// Returns the bounding box of all poses in lightyear's history when the shots are fired, as minimum and
    /// maximum corner.
    pub fn envelope(&self) -> (Vec3, Vec3) {
        let (mut min, mut max) = (Vec3::MAX, Vec3::MIN);
        for tick in FIRED + 1 - REMEMBERED..=FIRED {
            let (middle, turned) = self.at(tick);
            let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|side| (turned * (side * HALF)).abs());
            min = min.min(middle - (x + y + z));
            max = max.max(middle + (x + y + z));
        }
        (min, max)
    }

    /// Creates a target that never rotates.
    #[cfg(test)]
    pub fn running(seen: Vec3, velocity: Vec3) -> Self {
        Self { seen, velocity, yaw: 0.0, spin: 0.0 }
    }
}

/// Shot at a target.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    pub origin: Vec3,
    pub direction: Dir3,
}

/// Targets, and shots at the positions where they were seen, each by another shooter.
#[derive(Clone, Debug)]
pub struct TargetScene {
    pub targets: Vec<Target>,
    pub rays: Vec<Ray>,
}

impl TargetScene {
    /// Creates a crowd; equal seeds give equal crowds.
    pub fn new(layout: Layout, targets: usize, rays: usize, seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let half_side = layout.half_side(targets);
        let targets: Vec<_> = (0..targets).map(|_| target(layout, half_side, &mut rng)).collect();
        let rays = (0..rays)
            .map(|_| {
                loop {
                    if let Some(ray) = aim(layout, half_side, &targets, &mut rng) {
                        break ray;
                    }
                }
            })
            .collect();
        Self { targets, rays }
    }
}

fn target(layout: Layout, half_side: f32, rng: &mut SmallRng) -> Target {
    let mut along = || rng.random_range(-half_side..half_side);
    let (x, z) = (along(), along());
    let heading = Vec2::from_angle(rng.random_range(0.0..TAU));
    let speed = rng.random_range(3.0..6.0);
    let turns = layout == Layout::Turning;
    Target {
        // Some jump or stand on something.
        seen: Vec3::new(x, HALF.y + rng.random_range(0.0..1.0), z),
        velocity: Vec3::new(heading.x, 0.0, heading.y) * speed,
        yaw: if turns { rng.random_range(0.0..TAU) } else { 0.0 },
        spin: if turns { rng.random_range(1.0..3.0) * if rng.random() { 1.0 } else { -1.0 } } else { 0.0 },
    }
}

/// Returns a shot near a random target, or `None` if the shooter would stand in a target.
fn aim(layout: Layout, half_side: f32, targets: &[Target], rng: &mut SmallRng) -> Option<Ray> {
    let aimed = targets[rng.random_range(0..targets.len())].seen;
    let origin = if layout == Layout::Crowded {
        let mut along = || rng.random_range(-half_side..half_side);
        Vec3::new(along(), EYE, along())
    } else {
        let from = Vec2::from_angle(rng.random_range(0.0..TAU));
        let from = from * rng.random_range(5.0..35.0);
        Vec3::new(aimed.x + from.x, EYE, aimed.z + from.y)
    };
    // Radius of a box.
    if targets.iter().any(|target| target.seen.distance(origin) < HALF.length()) {
        return None;
    }
    let aside = (aimed - origin).cross(Vec3::Y).normalize_or_zero();
    let off = aside * rng.random_range(-0.5..0.5) + Vec3::Y * rng.random_range(-0.8..0.8);
    Some(Ray { origin, direction: Dir3::new(aimed + off - origin).ok()? })
}
