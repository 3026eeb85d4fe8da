//! Small levels with geometry that is pathological for character movers.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_movement::{BaseTrack, CapsuleConfig, CapsuleInput, CapsuleState, Turntable};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{
    levels::{CEILING, Level, PlacedCollider, ROOM, sheet},
    script::{PlannedMove, random_moves},
};

/// A pathological level.
pub(crate) struct PathologicalLevel {
    pub(crate) level: Level,
    pub(crate) config: CapsuleConfig,
    pub(crate) start: CapsuleState,
    /// Whether the level is a closed room.
    pub(crate) room: bool,
    /// Minimum distance, in metres, of a run of 3 s from the start along +X, if the way is clear.
    pub(crate) min_run_distance: Option<f32>,
    /// Direction from the start to the pathological geometry.
    direction: Vec2,
}

impl PathologicalLevel {
    fn new(level: Level, start: Vec3, direction: Vec2) -> Self {
        Self {
            level: level.spot(start),
            config: CapsuleConfig::default(),
            start: CapsuleState::at(start),
            room: false,
            min_run_distance: None,
            direction,
        }
    }

    /// Random moves, with every other second directed at the pathological geometry.
    pub(crate) fn moves(&self, seed: u64, count: usize) -> Vec<PlannedMove> {
        let axis = |part: f32| (part * 127.0).round() as i8;
        let mut moves = random_moves(seed, &self.level, count);
        for (i, planned) in moves.iter_mut().enumerate() {
            if i / 64 % 2 == 0 {
                let (right, forward) = (axis(self.direction.x), axis(-self.direction.y));
                let plain = PlannedMove::plain(CapsuleInput { right, forward, yaw: 0, ..planned.input });
                // Each of those runs starts at the level's start.
                *planned = if i % 64 == 0 { planned.at_spot(self.start.position) } else { plain };
            }
        }
        moves
    }
}

/// A room with a thick floor, ceiling and four walls.
fn room() -> Level {
    let mut level = Level::default()
        .block(Vec3::new(40.0, 4.0, 40.0), Vec3::Y * -4.0)
        .block(Vec3::new(40.0, 4.0, 40.0), Vec3::Y * (CEILING + 4.0));
    for side in [-1.0, 1.0] {
        level = level
            .block(Vec3::new(4.0, 30.0, 40.0), Vec3::X * side * (ROOM + 4.0))
            .block(Vec3::new(40.0, 30.0, 4.0), Vec3::Z * side * (ROOM + 4.0));
    }
    level
}

fn about_z(degrees: f32) -> Quat {
    Quat::from_rotation_z(degrees.to_radians())
}

/// Stairs that rise towards +X, with a long top.
fn stairs(high: f32, deep: f32, count: u16) -> Level {
    let mut level = Level::default().floor();
    for i in 0..count {
        let top = high * f32::from(i + 1);
        // Each stair continues below all later ones.
        let end = deep * f32::from(count) + 40.0;
        let from = deep * f32::from(i);
        level = level.block(
            Vec3::new((end - from) * 0.5, top * 0.5, 4.0),
            Vec3::new((from + end) * 0.5, top * 0.5, 0.0),
        );
    }
    level
}

/// Overlapping tiles whose tops differ by at most a millimetre.
fn uneven_tiles() -> Level {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut level = Level::default();
    for i in 0..24_u8 {
        for j in 0..6_u8 {
            let top = rng.random_range(-1e-3..1e-3);
            let at = Vec3::new(f32::from(i) * 2.0 - 6.0, top - 0.5, f32::from(j) * 2.0 - 5.0);
            level = level.block(Vec3::new(1.2, 0.5, 1.2), at);
        }
    }
    level
}

/// A disc of thin triangles around the origin, each a few millimetres wide at the start.
fn fan(rise: f32) -> Collider {
    let count = 720_u32;
    let mut vertices = vec![Vec3::Y * rise];
    vertices.extend((0..count).map(|i| {
        let angle = i as f32 / count as f32 * core::f32::consts::TAU;
        Vec3::new(angle.cos(), 0.0, angle.sin()) * 25.0
    }));
    let triangles = (0..count).map(|i| [0, (i + 1) % count + 1, i + 1]).collect();
    let Ok(mesh) = Collider::trimesh(vertices, triangles) else { panic!("the fan must be a valid mesh") };
    mesh
}

/// A strip of needle triangles along +X, 4 m long and 0.1 mm wide.
fn needles() -> Collider {
    let count = 400_u32;
    let vertices = (0..=count)
        .flat_map(|i| {
            let x = i as f32 * 1e-4;
            [Vec3::new(x, 0.0, -2.0), Vec3::new(x, 0.0, 2.0)]
        })
        // Floors in front of and behind the needles.
        .chain([-8.0, 20.0].into_iter().flat_map(|x| [Vec3::new(x, 0.0, -2.0), Vec3::new(x, 0.0, 2.0)]))
        .collect();
    let end = 2 * count;
    let (before, after) = (end + 2, end + 4);
    let quad = |from: u32, to: u32| [[from, from + 1, to], [to, from + 1, to + 1]];
    let triangles = (0..count)
        .flat_map(|i| quad(2 * i, 2 * i + 2))
        .chain(quad(before, 0))
        .chain(quad(end, after))
        .collect();
    let Ok(mesh) = Collider::trimesh(vertices, triangles) else { panic!("the needles must be a valid mesh") };
    mesh
}

/// A beam that turns above the floor and sweeps past a wall.
fn turnstile() -> Level {
    let beam = PlacedCollider {
        collider: Collider::cuboid(2.5, 0.3, 0.2),
        place: Transform::from_xyz(1.5, 0.0, 0.0),
    };
    let table = Turntable { pivot: Vec3::Y * 0.8, seconds_per_turn: 5.0, ..default() };
    room().block(Vec3::new(2.0, 2.0, 2.0), Vec3::new(5.2, 2.0, 0.0)).ride(
        1,
        BaseTrack::Turntable(table),
        vec![beam],
    )
}

/// All pathological levels.
pub(crate) fn all() -> Vec<(&'static str, PathologicalLevel)> {
    let start = Vec3::Y * 0.03;
    let right = Vec2::X;
    let mut rng = SmallRng::seed_from_u64(11);
    let slab = Vec3::new(6.0, 0.3, 6.0);

    // A slab at 20° to the floor: the gap closes along +X.
    let wedge = room().turned_block(slab, Vec3::new(6.2, 2.7, 0.0), about_z(-20.0));
    // Two slabs that lean against each other.
    let roof = room().turned_block(slab, Vec3::new(4.5, 3.5, 0.0), about_z(-50.0)).turned_block(
        slab,
        Vec3::new(-4.5, 3.5, 0.0),
        about_z(50.0),
    );
    let needle = Vec3::new(0.005, 2.0, 0.005);
    let mut gaps = room();
    for (i, width) in [0.60, 0.68, 0.69, 0.72, 0.34, 0.01].into_iter().enumerate() {
        let z = i as f32 * 2.0 - 5.0;
        gaps = gaps
            .block(needle, Vec3::new(2.0, 2.0, z - width * 0.5))
            .block(needle, Vec3::new(2.0, 2.0, z + width * 0.5))
            .thing(Collider::cone(0.3, 0.02), Transform::from_xyz(3.0, 0.3, z));
    }
    let seam = room()
        .block(Vec3::new(0.5, 2.0, 1.0), Vec3::new(0.84, 2.0, 1.0))
        .block(Vec3::new(0.5, 2.0, 1.0), Vec3::new(0.84, 2.0, -1.0))
        .block(Vec3::new(1.0, 0.02, 1.0), Vec3::new(1.0, 0.0, 0.0))
        .block(Vec3::new(1.0, 0.02, 1.0), Vec3::new(-1.0, 0.0, 0.0));
    let corner = room()
        .turned_block(Vec3::new(3.0, 2.0, 0.1), Vec3::new(3.0, 2.0, 1.3), Quat::from_rotation_y(0.4))
        .turned_block(Vec3::new(3.0, 2.0, 0.1), Vec3::new(3.0, 2.0, -1.3), Quat::from_rotation_y(-0.4));
    let ditch = room().turned_block(slab, Vec3::new(1.85, 3.6, 0.0), about_z(60.0)).turned_block(
        slab,
        Vec3::new(-1.85, 3.6, 0.0),
        about_z(-60.0),
    );
    let hill = room()
        .thing(sheet(&mut rng, 12, 1.5, 0.8), Transform::from_xyz(0.0, 0.9, 0.0))
        .thing(sheet(&mut rng, 12, 1.5, 0.8), Transform::from_xyz(0.3, 1.4, 0.2));
    let mut balls = room();
    for _ in 0..60 {
        let at =
            Vec3::new(rng.random_range(1.0..4.0), rng.random_range(0.0..2.0), rng.random_range(-2.0..2.0));
        balls = balls.thing(Collider::ball(rng.random_range(0.05..0.5)), Transform::from_translation(at));
    }

    let crouching = CapsuleConfig { walk_off_ledges_crouched: true, ..CapsuleConfig::default() };
    let closed = |nasty: PathologicalLevel| PathologicalLevel { room: true, ..nasty };
    let flat =
        |nasty: PathologicalLevel, metres: f32| PathologicalLevel { min_run_distance: Some(metres), ..nasty };
    let plain = |level: Level| PathologicalLevel::new(level, start, right);
    vec![
        ("a wedge under a slope", closed(PathologicalLevel { config: crouching, ..plain(wedge) })),
        ("two slopes that meet above", closed(PathologicalLevel::new(roof, start, right))),
        ("needle gaps", closed(plain(gaps))),
        (
            "contact with two boxes that share an edge",
            closed(PathologicalLevel::new(seam, Vec3::Y * 0.041_5, right)),
        ),
        ("an acute corner", closed(plain(corner))),
        ("a ditch", closed(PathologicalLevel::new(ditch, Vec3::Y * 4.0, Vec2::ZERO))),
        ("two intersecting sheets", closed(PathologicalLevel::new(hill, Vec3::Y * 5.0, right))),
        ("a heap of balls", closed(plain(balls))),
        (
            "a beam that turns against a wall",
            closed(PathologicalLevel::new(turnstile(), Vec3::Z * 8.0 + start, Vec2::NEG_Y)),
        ),
        (
            "a fan of thin triangles",
            flat(PathologicalLevel::new(fan_level(0.0), Vec3::new(-10.0, 0.03, 0.0), right), 15.0),
        ),
        (
            "a pointed fan",
            flat(PathologicalLevel::new(fan_level(1.0), Vec3::new(-6.0, 0.85, 0.3), right), 15.0),
        ),
        (
            "needles in the floor",
            flat(PathologicalLevel::new(strip(), Vec3::new(-4.0, 0.03, 0.0), right), 15.0),
        ),
        (
            "stairs of a centimetre",
            flat(PathologicalLevel::new(stairs(0.01, 0.1, 120), -Vec3::X + start, right), 15.0),
        ),
        (
            "stairs of a millimetre",
            flat(PathologicalLevel::new(stairs(1e-3, 0.05, 250), -Vec3::X + start, right), 15.0),
        ),
        ("tiles of nearly equal height", flat(PathologicalLevel::new(uneven_tiles(), start, right), 15.0)),
    ]
}

fn fan_level(rise: f32) -> Level {
    Level::default().thing(fan(rise), Transform::default())
}

fn strip() -> Level {
    Level::default().thing(needles(), Transform::default())
}
