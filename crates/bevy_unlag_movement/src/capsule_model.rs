//! Type of the capsule model.

use bevy::prelude::*;

/// Capsule that walks, falls, jumps, crouches, swims and flies. Unreal's `CharacterMovementComponent`.
/// For custom moves of a game see [`CapsuleWith`](crate::CapsuleWith).
#[doc(alias = "UCharacterMovementComponent")]
#[doc(alias = "CGameMovement")]
#[doc(alias = "CharacterController")]
#[derive(Clone, Copy, Default, Debug, TypePath)]
pub struct CapsuleModel;
