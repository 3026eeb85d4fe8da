//! Levels that both movers cross.

use core::f32::consts::TAU;

use crate::prelude::*;

/// Seconds per move.
pub const DT: f32 = 1.0 / 64.0;

/// Half the side of the long floor in metres: room for a run of a kilometre.
pub const LONG_FLOOR: f32 = 600.0;

/// Side of the cluttered room in metres.
const ROOM: f32 = 40.0;

/// Side of the heightfield in metres.
const HILLS: f32 = 60.0;

/// Static box.
#[derive(Clone, Copy, Debug)]
struct Block {
    half: Vec3,
    at: Vec3,
    rotation: Quat,
}

impl Block {
    const fn new(half: Vec3, at: Vec3) -> Self {
        Self { half, at, rotation: Quat::IDENTITY }
    }

    fn bundle(self) -> (Collider, Transform) {
        let Vec3 { x, y, z } = self.half;
        (Collider::cuboid(x, y, z), Transform::from_translation(self.at).with_rotation(self.rotation))
    }
}

/// Level and the limits of the scripted walk in it.
pub struct Level {
    /// Name as used in JSON keys.
    pub name: &'static str,
    /// Drop position of the pawn.
    pub start: Vec3,
    /// Distance from the middle along X or Z at which the walk turns back, in metres.
    pub reach: f32,
    /// Whether the walk includes jumps.
    pub jumps: bool,
    /// Whether the first box is a moving platform that carries the others.
    shuttles: bool,
    /// Whether the level has a heightfield.
    hills: bool,
    blocks: Vec<Block>,
}

impl Level {
    fn new(name: &'static str, reach: f32, blocks: Vec<Block>) -> Self {
        let start = Vec3::Y * 0.5;
        Self { name, start, reach, jumps: false, shuttles: false, hills: false, blocks }
    }

    /// Returns a floor of one box with room for a run of a kilometre.
    pub fn long_floor() -> Self {
        Self::new("long floor", LONG_FLOOR, vec![floor(LONG_FLOOR)])
    }

    /// Returns the five levels of the figures.
    pub fn all(seed: u64) -> [Self; 5] {
        let deck = deck();
        [
            Self::new("flat", 55.0, vec![floor(60.0)]),
            Self { hills: true, ..Self::new("heightfield", HILLS / 2.0 - 4.0, Vec::new()) },
            Self::new("stairs", 26.0, stairs()),
            Self { jumps: true, ..Self::new("clutter", ROOM, clutter(seed)) },
            Self {
                start: SHUTTLE.from + Vec3::Y * (deck[0].half.y + 0.5),
                shuttles: true,
                ..Self::new("platform", 5.0, deck)
            },
        ]
    }

    /// Returns an app with the level in its rapier world. The platform moves, or stands still at the origin.
    pub fn app(&self, moving: bool) -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
        let world = app.world_mut();
        if self.hills {
            world.spawn((hills(), Transform::IDENTITY));
        }
        if let (true, Some((deck, cargo))) = (self.shuttles, self.blocks.split_first()) {
            let mut platform = world.spawn(deck.bundle());
            if moving {
                platform.insert(MovementBase { id: BaseId(1), track: BaseTrack::Shuttle(SHUTTLE) });
            }
            for block in cargo {
                platform.with_child(block.bundle());
            }
        } else {
            for block in &self.blocks {
                world.spawn(block.bundle());
            }
        }
        app.finish();
        app.cleanup();
        // A new collider is in rapier's tree after the first fixed step.
        for _ in 0..4 {
            app.update();
        }
        app
    }

    /// Returns the position of the feet in the level at rest, or `None` for a pawn in the air over the
    /// platform.
    pub fn place(&self, state: &CapsuleState) -> Option<Vec3> {
        if self.shuttles {
            return (state.base != BaseId::NONE).then_some(state.base_position);
        }
        Some(state.position)
    }
}

/// Diagonal route, 5 m/s on average and at most 7 m/s.
const SHUTTLE: Shuttle = Shuttle {
    from: Vec3::new(0.0, 10.0, 0.0),
    to: Vec3::new(60.0, 10.0, 30.0),
    rotation: Quat::IDENTITY,
    travel_seconds: 14.0,
    pause_seconds: 2.0,
    phase_seconds: 0.0,
};

fn floor(half: f32) -> Block {
    Block::new(Vec3::new(half, 0.5, half), Vec3::Y * -0.5)
}

/// Returns the platform with low and high obstacles on it.
fn deck() -> Vec<Block> {
    vec![
        Block::new(Vec3::new(8.0, 0.25, 8.0), Vec3::ZERO),
        Block::new(Vec3::new(0.5, 0.15, 1.0), Vec3::new(4.0, 0.4, 0.0)),
        Block::new(Vec3::new(1.0, 0.1, 0.5), Vec3::new(0.5, 0.35, -4.0)),
        Block::new(Vec3::splat(0.6), Vec3::new(-3.5, 0.85, 2.5)),
    ]
}

/// Returns rolling hills: a triangle mesh with 0.63 m cells, 11° slope on average and at most 25°.
fn hills() -> Collider {
    const POINTS: usize = 97;
    let at = |i: usize| i as f32 * (HILLS / (POINTS - 1) as f32) - HILLS / 2.0;
    let height = |x: f32, z: f32| {
        1.15 * (0.25 * x).sin() * (0.21 * z).cos() + 0.33 * (0.61 * x + 1.0).sin() * (0.57 * z).sin()
    };
    // Column-major: rows run along Z, columns along X.
    let heights = (0..POINTS).flat_map(|x| (0..POINTS).map(move |z| height(at(x), at(z)))).collect();
    Collider::heightfield(heights, POINTS, POINTS, Vec3::new(HILLS, 1.0, HILLS))
}

/// Returns adjacent pyramids, each with ten steps of 0.2 m up and ten down: two or three steps per metre in
/// any direction.
fn stairs() -> Vec<Block> {
    const STEPS: usize = 10;
    const SIDE: usize = 8;
    let pitch = 7.4;
    let mut blocks = vec![floor(60.0)];
    for i in 0..SIDE * SIDE {
        let along = |i: usize| (i as f32 - (SIDE as f32 - 1.0) / 2.0) * pitch;
        let middle = Vec3::new(along(i % SIDE), 0.1, along(i / SIDE));
        for step in 0..STEPS {
            let half = 0.8 + (STEPS - 1 - step) as f32 * 0.3;
            blocks.push(Block::new(Vec3::new(half, 0.1, half), middle + Vec3::Y * (step as f32 * 0.2)));
        }
    }
    blocks
}

/// Returns a room with 500 boxes of 0.2 to 2 m: two in five low enough to step onto, half of them rotated
/// about Y, one in ten tilted.
fn clutter(seed: u64) -> Vec<Block> {
    let mut rng = SmallRng::seed_from_u64(seed ^ 0xC1);
    let half = ROOM / 2.0;
    let mut blocks = vec![floor(half + 2.0)];
    for side in [-half - 0.5, half + 0.5] {
        blocks.push(Block::new(Vec3::new(0.5, 3.0, half), Vec3::new(side, 3.0, 0.0)));
        blocks.push(Block::new(Vec3::new(half, 3.0, 0.5), Vec3::new(0.0, 3.0, side)));
    }
    for i in 0..500 {
        let mut side = |most: f32| rng.random_range(0.1..most);
        let size = Vec3::new(side(1.0), side(if i % 5 < 2 { 0.22 } else { 1.0 }), side(1.0));
        let turn = Quat::from_rotation_y(rng.random_range(0.0..TAU));
        let (x, z) = (rng.random_range(-0.6..0.6), rng.random_range(-0.6..0.6));
        let rotation = match i % 10 {
            3 => turn * Quat::from_rotation_x(x) * Quat::from_rotation_z(z),
            0 | 2 | 4 | 6 | 8 => turn,
            _ => Quat::IDENTITY,
        };
        // Keep the pawn's drop position free.
        let at = loop {
            let at = Vec3::new(rng.random_range(-half..half), size.y, rng.random_range(-half..half));
            if at.with_y(0.0).length() > 2.5 {
                break at;
            }
        };
        blocks.push(Block { half: size, at, rotation });
    }
    blocks
}
