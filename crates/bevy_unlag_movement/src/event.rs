//! What happened in a step.

use bevy::math::Vec3;

use crate::{BaseId, MovementMode, VolumeId};

/// Something that happened in a step, for sounds, effects and damage. Events are values: a replay
/// makes them again and its caller drops them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MoveEvent {
    /// Feet met a walkable floor after a fall.
    Landed {
        /// Metres per second against the floor at the impact.
        speed: f32,
    },
    /// A jump.
    Jumped {
        /// Which one since the last landing; 1 is the first.
        count: u8,
    },
    /// The floor ended under the feet.
    WalkedOff,
    /// The feet went up or down a step without a fall.
    Stepped {
        /// Metres; negative is down.
        height: f32,
    },
    /// The capsule ran into something: a wall, or a ceiling when the normal points down.
    HitWall {
        /// Out of the wall, in the world.
        normal: Vec3,
        /// Metres per second into it.
        speed: f32,
    },
    /// The mode changed.
    ModeChanged {
        /// The mode before.
        from: MovementMode,
        /// The mode now.
        to: MovementMode,
    },
    /// The pawn stands on another movement base.
    BaseChanged {
        /// The base before; [`BaseId::NONE`] is the fixed world or the air.
        from: BaseId,
        /// The base now.
        to: BaseId,
    },
    /// The pawn came into another volume.
    VolumeChanged {
        /// The volume before; [`VolumeId::NONE`] is none.
        from: VolumeId,
        /// The volume now.
        to: VolumeId,
    },
    /// The capsule shrank.
    Crouched,
    /// The capsule grew again.
    Stood,
    /// A volume or an ability threw the pawn.
    Launched {
        /// Metres per second, in the world.
        velocity: Vec3,
    },
    /// The capsule is inside something and cannot get out: crushed by a base, or spawned in a
    /// wall.
    Stuck {
        /// Metres that it is inside.
        depth: f32,
    },
}
