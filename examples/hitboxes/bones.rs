//! The humanoid's bones by name.

use bevy::math::Isometry3d;
use bevy_unlag::{
    core::{LimbPoses, PoseSample},
    rewind::{HUMANOID_LIMBS, humanoid_rig},
};

/// The names of the preset's limbs, in its order.
pub const BONES: [&str; HUMANOID_LIMBS.len()] = [
    "Head",
    "Neck",
    "Chest",
    "Belly",
    "Hips",
    "LeftShoulder",
    "RightShoulder",
    "LeftUpperArm",
    "RightUpperArm",
    "LeftForearm",
    "RightForearm",
    "LeftHand",
    "RightHand",
    "LeftThigh",
    "RightThigh",
    "LeftShin",
    "RightShin",
    "LeftFoot",
    "RightFoot",
];

/// Where they are in the space of the body.
pub fn pose(sample: &PoseSample) -> Vec<Isometry3d> {
    humanoid_rig().in_body(sample, &mut LimbPoses::default()).to_vec()
}
