//! Level with a floor, a fence to teleport through, and an optional wall at the destination.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::movement::CapsuleConfig;
use clap::ValueEnum;

/// Sides on which the wall at the teleport's destination exists.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Wall {
    /// Nowhere: the teleport succeeds.
    #[default]
    #[value(skip)]
    Nowhere,
    /// On the server only: the owner mispredicts the teleport.
    #[value(name = "server")]
    OnServer,
    /// On both sides: the owner predicts the refusal.
    #[value(name = "both")]
    OnBoth,
}

/// Axis-aligned box, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Lowest corner.
    pub min: Vec3,
    /// Highest corner.
    pub max: Vec3,
}

/// Boxes of the level on one side.
#[derive(Resource, Clone, PartialEq, Debug)]
pub struct Level(pub Vec<Block>);

impl Level {
    /// Creates the level with or without the wall at the destination.
    #[must_use]
    pub fn new(blocked: bool) -> Self {
        let floor = Block { min: Vec3::new(-60.0, -1.0, -60.0), max: Vec3::new(60.0, 0.0, 60.0) };
        // A teleport ignores obstacles along its way.
        let fence = Block { min: Vec3::new(-60.0, 0.0, -5.5), max: Vec3::new(60.0, 3.0, -5.0) };
        let wall = Block { min: Vec3::new(-60.0, 0.0, -12.0), max: Vec3::new(60.0, 3.0, -9.0) };
        Self(if blocked { vec![floor, fence, wall] } else { vec![floor, fence] })
    }

    /// Spawns the colliders.
    pub fn spawn(&self, world: &mut World) {
        for block in &self.0 {
            let half = (block.max - block.min) * 0.5;
            let place = Transform::from_translation((block.min + block.max) * 0.5);
            world.spawn((Collider::cuboid(half.x, half.y, half.z), place));
        }
    }

    /// Returns whether a standing pawn fits with its feet at this position. Used by the variants that do not
    /// teleport within the move step, which has a test of its own.
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
    fn destination_is_blocked_by_the_wall_and_the_fence_only() {
        let config = CapsuleConfig::default();
        let ahead = Vec3::new(1.0, 0.02, -10.0);
        assert!(Level::new(false).is_free(&config, ahead));
        assert!(!Level::new(true).is_free(&config, ahead));
        assert!(!Level::new(false).is_free(&config, ahead.with_z(-5.2)), "the fence is an obstacle, too");
    }
}
