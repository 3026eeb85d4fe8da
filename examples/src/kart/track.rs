//! Race track: static boxes, identical on every machine.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;

/// Kind of a box, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Ground.
    Ground,
    /// Outer wall.
    Wall,
    /// Jump ramp.
    Ramp,
    /// Kerb, low enough to drive over.
    Kerb,
    /// Obstacle.
    Pillar,
}

/// A box of the track.
#[derive(Component, Clone, Copy, Debug)]
pub struct TrackPart {
    /// Half extents, in metres.
    pub half: Vec3,
    /// Kind of the box.
    pub surface: Surface,
}

/// Half the width and depth of the ground, in metres.
pub const HALF_SIZE: f32 = 80.0;
/// Slope of the ramp, in radians.
const SLOPE: f32 = 0.21;
/// Length of the ramp, in metres.
const RAMP: f32 = 8.0;

/// Start positions, and headings in 1/65,536 of a turn. All face +X.
pub const STARTS: [(Vec3, u16); 4] = [
    (Vec3::new(-30.0, 0.1, 56.0), 49_152),
    (Vec3::new(-44.0, 0.1, 20.0), 49_152),
    (Vec3::new(-30.0, 0.1, 62.0), 49_152),
    (Vec3::new(-44.0, 0.1, 28.0), 49_152),
];

/// Returns the boxes of the track and their transforms.
#[must_use]
pub fn boxes() -> Vec<(TrackPart, Transform)> {
    let flat = |centre: [f32; 3], half: [f32; 3], surface| {
        (TrackPart { half: half.into(), surface }, Transform::from_translation(centre.into()))
    };
    let out = HALF_SIZE + 0.5;
    let mut all = vec![
        flat([0.0, -0.5, 0.0], [HALF_SIZE + 1.0, 0.5, HALF_SIZE + 1.0], Surface::Ground),
        flat([0.0, 0.8, -out], [HALF_SIZE + 1.0, 0.8, 0.5], Surface::Wall),
        flat([0.0, 0.8, out], [HALF_SIZE + 1.0, 0.8, 0.5], Surface::Wall),
        flat([-out, 0.8, 0.0], [0.5, 0.8, HALF_SIZE], Surface::Wall),
        flat([out, 0.8, 0.0], [0.5, 0.8, HALF_SIZE], Surface::Wall),
        // Inside the lap.
        flat([0.0, 0.1, 4.0], [8.0, 0.1, 1.0], Surface::Kerb),
        flat([0.0, 0.1, -4.0], [8.0, 0.1, 1.0], Surface::Kerb),
    ];
    for (x, z) in [(-24.0, 24.0), (24.0, 24.0), (-24.0, -10.0), (24.0, -2.0)] {
        all.push(flat([x, 1.5, z], [1.0, 1.5, 1.0], Surface::Pillar));
    }
    // Rises along +X, on the fastest straight of the scripted driver.
    let turn = Quat::from_rotation_z(SLOPE);
    let middle = Vec3::new(0.0, 0.0, 56.0) + turn * Vec3::new(RAMP * 0.5, -0.25, 0.0);
    all.push((
        TrackPart { half: Vec3::new(RAMP * 0.5, 0.25, 5.0), surface: Surface::Ramp },
        Transform::from_translation(middle).with_rotation(turn),
    ));
    all
}

/// Spawns the track's colliders. Apps with a window add visuals to each [`TrackPart`].
pub fn spawn(mut commands: Commands) {
    for (part, transform) in boxes() {
        commands.spawn((part, transform, Collider::cuboid(part.half.x, part.half.y, part.half.z)));
    }
}
