//! A walking humanoid of 1.8 m: rig and hit boxes to start from.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{LimbRig, PoseSample};

use crate::{HitBox, HitBoxes, HitGroup};

/// The limbs: head, chest, belly, two arms, two thighs, two shins, with half extents in metres.
pub const HUMANOID_LIMBS: [(HitGroup, Vec3); 9] = [
    (HitGroup::Head, Vec3::new(0.11, 0.13, 0.12)),
    (HitGroup::Body, Vec3::new(0.21, 0.19, 0.13)),
    (HitGroup::Body, Vec3::new(0.18, 0.14, 0.12)),
    (HitGroup::Limb, Vec3::new(0.055, 0.30, 0.06)),
    (HitGroup::Limb, Vec3::new(0.055, 0.30, 0.06)),
    (HitGroup::Limb, Vec3::new(0.085, 0.22, 0.09)),
    (HitGroup::Limb, Vec3::new(0.085, 0.22, 0.09)),
    (HitGroup::Limb, Vec3::new(0.065, 0.21, 0.07)),
    (HitGroup::Limb, Vec3::new(0.065, 0.21, 0.07)),
];

/// Head, chest and belly hang on the spine; arms and legs swing with the stride.
#[must_use]
pub fn humanoid_rig() -> LimbRig {
    LimbRig { limbs: HUMANOID_LIMBS.len() as u8, pose }
}

/// One box a limb.
#[must_use]
pub fn humanoid_hit_boxes() -> HitBoxes {
    let boxes = HUMANOID_LIMBS.iter().enumerate().map(|(limb, (group, half))| HitBox {
        limb: limb as u8,
        group: *group,
        shape: Collider::cuboid(half.x, half.y, half.z),
    });
    HitBoxes { boxes: boxes.collect(), reach: 2.0 }
}

fn pose(sample: &PoseSample, limb: u8) -> Isometry3d {
    // Crouched, everything above the hips comes down and the legs fold.
    let drop = 0.62 * sample.crouch;
    let local = sample.rotation.inverse() * sample.velocity;
    let speed = Vec2::new(local.x, local.z).length();
    // A stride's phase must be a function of the pose alone: where the pawn is says how far it
    // has walked.
    let phase = (sample.position.x + sample.position.z) * 2.4;
    let swing = (speed / 6.0).min(1.0) * 0.6 * phase.sin();
    let side = |limb: u8| if limb % 2 == 1 { -1.0 } else { 1.0 };
    let (offset, pitch) = match limb {
        0 => (Vec3::new(0.0, 1.66 - drop, -0.02), sample.pitch * 0.6),
        1 => (Vec3::new(0.0, 1.32 - drop, 0.0), 0.0),
        2 => (Vec3::new(0.0, 0.99 - drop, 0.0), 0.0),
        3 | 4 => {
            let shoulder = Vec3::new(0.27 * side(limb), 1.46 - drop, 0.0);
            let angle = -swing * side(limb) * 0.7;
            return hang(sample, shoulder, angle, 0.30);
        }
        5 | 6 => {
            let hip = Vec3::new(0.11 * side(limb), 0.88 - drop * 0.75, 0.0);
            return hang(sample, hip, swing * side(limb) + 1.2 * sample.crouch, 0.22);
        }
        _ => {
            let hip = Vec3::new(0.11 * side(limb), 0.88 - drop * 0.75, 0.0);
            let thigh = swing * side(limb) + 1.2 * sample.crouch;
            let knee = hip + Quat::from_rotation_x(thigh) * Vec3::new(0.0, -0.44, 0.0);
            return hang(sample, knee, thigh * 0.4 - 0.9 * sample.crouch, 0.21);
        }
    };
    Isometry3d::new(
        sample.position + sample.rotation * offset,
        sample.rotation * Quat::from_rotation_x(pitch),
    )
}

/// A limb of the given half length that hangs from `joint` at an angle.
fn hang(sample: &PoseSample, joint: Vec3, angle: f32, half: f32) -> Isometry3d {
    let rotation = Quat::from_rotation_x(angle);
    let centre = joint + rotation * Vec3::new(0.0, -half, 0.0);
    Isometry3d::new(sample.position + sample.rotation * centre, sample.rotation * rotation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limb_leaves_the_reach() {
        let boxes = humanoid_hit_boxes();
        for crouch in [0.0, 0.5, 1.0] {
            for step in 0..50 {
                let sample = PoseSample {
                    position: Vec3::X * step as f32 * 0.1,
                    velocity: Vec3::X * 6.0,
                    pitch: 1.5,
                    crouch,
                    ..default()
                };
                for limb in 0..HUMANOID_LIMBS.len() as u8 {
                    let at = Vec3::from(pose(&sample, limb).translation) - sample.position;
                    let half = HUMANOID_LIMBS[usize::from(limb)].1;
                    assert!(at.length() + half.length() <= boxes.reach, "limb {limb}: {at}");
                    assert!(at.y + half.y > 0.0, "limb {limb} is in the ground: {at}");
                }
            }
        }
    }
}
