//! Levels in which sight is measured: the arena, the arena with walls, and rooms with doors and blocks from a seed.

use bevy::math::Vec3Swizzles;
use unlag_examples::arena::ArenaPart;

use crate::prelude::*;

/// Half the width and depth of a level in metres, as in the arena.
pub const HALF: f32 = arena::HALF_SIZE;
/// Rooms along one side.
const ROOMS: usize = 4;
/// Half the height and thickness of walls in metres.
const WALL: Vec2 = Vec2::new(2.0, 0.15);
/// Half the width of a door in metres.
const DOOR: f32 = 0.8;
/// Share of the walls between two rooms that are missing.
const MISSING_WALLS: f64 = 0.15;
/// Blocks in all rooms.
const BLOCKS: usize = 24;

/// Number of the arena that two walls with doors divide.
pub const DIVIDED_ARENA: u64 = u64::MAX;

/// A level: 0 is the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Number of the level.
    pub number: u64,
    /// Seed of all levels.
    pub seed: u64,
}

impl Level {
    /// Returns the boxes of the level: centre and half extents.
    fn boxes(self) -> Vec<(Vec3, Vec3)> {
        let mut rng = SmallRng::seed_from_u64(self.seed.wrapping_mul(1_000).wrapping_add(self.number));
        let mut boxes = vec![(Vec3::new(0.0, -0.5, 0.0), Vec3::new(HALF + 1.0, 0.5, HALF + 1.0))];
        for side in [-1.0, 1.0] {
            let outside = (HALF + 0.5) * side;
            boxes.push((Vec3::new(outside, WALL.x, 0.0), Vec3::new(0.5, WALL.x, HALF + 1.0)));
            boxes.push((Vec3::new(0.0, WALL.x, outside), Vec3::new(HALF + 1.0, WALL.x, 0.5)));
        }
        let room = 2.0 * HALF / ROOMS as f32;
        for line in 1..ROOMS {
            for part in 0..ROOMS {
                for turned in [false, true] {
                    if rng.random_bool(MISSING_WALLS) {
                        continue;
                    }
                    let (at, from) = (-HALF + line as f32 * room, -HALF + part as f32 * room);
                    let door = from + rng.random_range(1.5..room - 1.5);
                    for (low, high) in [(from, door - DOOR), (door + DOOR, from + room)] {
                        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
                        let (centre, half) = (Vec3::new(at, WALL.x, middle), Vec3::new(WALL.y, WALL.x, half));
                        boxes.push(if turned { (centre.zyx(), half.zyx()) } else { (centre, half) });
                    }
                }
            }
        }
        for _ in 0..BLOCKS {
            let half =
                Vec3::new(rng.random_range(0.4..1.2), rng.random_range(0.5..1.5), rng.random_range(0.4..1.2));
            let place = Vec2::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)) * (HALF - 1.5);
            boxes.push((Vec3::new(place.x, half.y, place.y), half));
        }
        boxes
    }

    /// Replaces the arena of an app with this level.
    pub fn set_up(self, app: &mut App) {
        if self.number == 0 {
            return;
        }
        if self.number == DIVIDED_ARENA {
            arena::spawn_boxes(app, &arena::DIVISIONS);
            return;
        }
        let world = app.world_mut();
        let parts: Vec<_> = world.query_filtered::<Entity, With<ArenaPart>>().iter(world).collect();
        for part in parts {
            world.despawn(part);
        }
        arena::spawn_boxes(app, &self.boxes());
    }

    /// Moves the pawns of a server to free places of the level.
    ///
    /// # Errors
    /// Returns a message if it has none.
    pub fn scatter_pawns(self, server: &mut App) -> Result<(), String> {
        let places = self.places();
        if places.is_empty() {
            return Err(format!("level {} has no place for a pawn", self.number));
        }
        let world = server.world_mut();
        let mut pawns = world.query::<(&NetId, &mut SoldierState)>();
        for (id, mut state) in pawns.iter_mut(world) {
            let index = usize::from(id.0);
            let aside = (index / places.len()) as f32 * 0.8;
            state.body.teleport_to(places[index % places.len()] + Vec3::X * aside);
        }
        Ok(())
    }

    /// Returns places for pawns.
    fn places(self) -> Vec<Vec3> {
        if [0, DIVIDED_ARENA].contains(&self.number) {
            return arena::SPAWNS.to_vec();
        }
        let boxes = self.boxes();
        let room = 2.0 * HALF / ROOMS as f32;
        let middle = |room_index: usize| -HALF + (room_index as f32 + 0.5) * room;
        let places = (0..ROOMS * ROOMS).map(|i| Vec3::new(middle(i % ROOMS), 0.1, middle(i / ROOMS)));
        let is_free = |place: &Vec3| {
            let is_in = |(centre, half): &(Vec3, Vec3)| {
                let apart = (*place - *centre).abs() - *half;
                centre.y > 0.0 && apart.x < 0.5 && apart.z < 0.5
            };
            !boxes.iter().any(is_in)
        };
        places.filter(is_free).collect()
    }
}
