//! Events of a capsule step.

use bevy::prelude::*;

use crate::{base::BaseId, mode::MovementMode, volume::VolumeId};

/// Event of a step, for sounds, effects and damage. Events are values: a replay produces them again, and
/// its caller drops them.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub enum MoveEvent {
    /// The pawn landed on a walkable floor.
    #[doc(alias = "OnLanded")]
    Landed {
        /// Impact speed relative to the floor, in metres per second.
        speed: f32,
    },
    /// The pawn jumped.
    #[doc(alias = "OnJumped")]
    Jumped {
        /// Number of jumps since the last landing, this one included.
        count: u8,
    },
    /// The pawn walked off a ledge.
    #[doc(alias = "OnWalkingOffLedge")]
    WalkedOffLedge,
    /// The pawn went up or down a step without falling.
    Stepped {
        /// Height of the step in metres; negative is down.
        height: f32,
    },
    /// The capsule hit a wall, or a ceiling when the normal points down.
    HitWall {
        /// Normal of the wall in world space.
        normal: Vec3,
        /// Speed into the wall in metres per second.
        speed: f32,
    },
    /// The movement mode changed.
    #[doc(alias = "OnMovementModeChanged")]
    ModeChanged {
        /// Previous mode.
        from: MovementMode,
        /// Current mode.
        to: MovementMode,
    },
    /// The pawn stands on another movement base.
    BaseChanged {
        /// Previous base; [`BaseId::NONE`] is the fixed world or the air.
        from: BaseId,
        /// Current base.
        to: BaseId,
    },
    /// The pawn entered another volume.
    VolumeChanged {
        /// Previous volume; [`VolumeId::NONE`] is none.
        from: VolumeId,
        /// Current volume.
        to: VolumeId,
    },
    /// The capsule shrank to its crouched height.
    Crouched,
    /// The capsule grew to its standing height.
    Stood,
    /// A volume or an ability launched the pawn.
    Launched {
        /// Velocity in metres per second, in world space.
        velocity: Vec3,
    },
    /// The capsule is inside an obstacle and cannot get out: crushed by a base, or spawned inside a
    /// wall.
    Stuck {
        /// Penetration in metres.
        depth: f32,
    },
}
