//! Bone names of the humanoid.

use bevy::math::Isometry3d;
use bevy_unlag::{
    core::{LimbPoses, PoseSample},
    rewind::{HUMANOID_LIMBS, humanoid_rig},
};

/// Names of the preset's limbs, in the preset's order.
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

/// Returns the poses of the bones in body space.
pub fn pose(sample: &PoseSample) -> Vec<Isometry3d> {
    humanoid_rig().in_body(sample, &mut LimbPoses::default()).to_vec()
}
