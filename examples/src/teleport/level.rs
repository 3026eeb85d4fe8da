//! A floor, a fence to teleport through, and perhaps a wall where the teleport leads.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::movement::CapsuleConfig;

/// Who has the wall that is in the teleport's way.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Wall {
    /// Nobody: the way is free.
    #[default]
    Nowhere,
    /// The server only: the owner cannot know that it will be refused.
    OnServer,
    /// Both: the owner knows at once.
    OnBoth,
}

/// A box between two corners, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// The lowest corner.
    pub min: Vec3,
    /// The highest.
    pub max: Vec3,
}

/// The boxes of one side's level.
#[derive(Resource, Clone, PartialEq, Debug)]
pub struct Level(pub Vec<Block>);

impl Level {
    /// With or without the wall that is in the way.
    #[must_use]
    pub fn new(blocked: bool) -> Self {
        let floor = Block { min: Vec3::new(-60.0, -1.0, -60.0), max: Vec3::new(60.0, 0.0, 60.0) };
        // What lies between does not matter to a teleport.
        let fence = Block { min: Vec3::new(-60.0, 0.0, -5.5), max: Vec3::new(60.0, 3.0, -5.0) };
        let wall = Block { min: Vec3::new(-60.0, 0.0, -12.0), max: Vec3::new(60.0, 3.0, -9.0) };
        Self(if blocked { vec![floor, fence, wall] } else { vec![floor, fence] })
    }

    /// Makes colliders of it.
    pub fn spawn(&self, world: &mut World) {
        for block in &self.0 {
            let half = (block.max - block.min) * 0.5;
            let place = Transform::from_translation((block.min + block.max) * 0.5);
            world.spawn((Collider::cuboid(half.x, half.y, half.z), place));
        }
    }

    /// Whether a standing pawn would be in nothing with its feet there: what a game tests that does
    /// not teleport in the step. The step has a test of its own.
    #[must_use]
    pub fn is_free(&self, config: &CapsuleConfig, feet: Vec3) -> bool {
        let side = Vec3::new(config.radius, 0.0, config.radius);
        let (low, high) = (feet - side, feet + side + Vec3::Y * (2.0 * config.half_height));
        !self.0.iter().any(|block| low.cmplt(block.max).all() && high.cmpgt(block.min).all())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_and_nothing_else_is_in_the_way() {
        let config = CapsuleConfig::default();
        let ahead = Vec3::new(1.0, 0.02, -10.0);
        assert!(Level::new(false).is_free(&config, ahead));
        assert!(!Level::new(true).is_free(&config, ahead));
        assert!(!Level::new(false).is_free(&config, ahead.with_z(-5.2)), "the fence");
    }
}
