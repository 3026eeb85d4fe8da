//! A walking humanoid of 1.8 m: rig and hit boxes to start from.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{LimbRig, PoseSample};

use crate::{BodyBounds, HitBox, HitBoxes, HitGroup};

const BODY: HitGroup = HitGroup::Body;
const LIMB: HitGroup = HitGroup::Limb;

/// The limbs with half extents in metres: head, neck, chest, belly, hips; then in pairs, the left one
/// first, shoulders, upper arms, forearms, hands, thighs, shins, feet.
pub const HUMANOID_LIMBS: [(HitGroup, Vec3); 19] = [
    (HitGroup::Head, Vec3::new(0.105, 0.13, 0.12)),
    (BODY, Vec3::new(0.06, 0.06, 0.065)),
    (BODY, Vec3::new(0.19, 0.15, 0.125)),
    (BODY, Vec3::new(0.165, 0.11, 0.11)),
    (BODY, Vec3::new(0.175, 0.10, 0.115)),
    (LIMB, Vec3::new(0.065, 0.07, 0.075)),
    (LIMB, Vec3::new(0.065, 0.07, 0.075)),
    (LIMB, Vec3::new(0.055, UPPER_ARM, 0.06)),
    (LIMB, Vec3::new(0.055, UPPER_ARM, 0.06)),
    (LIMB, Vec3::new(0.045, FOREARM, 0.05)),
    (LIMB, Vec3::new(0.045, FOREARM, 0.05)),
    (LIMB, Vec3::new(0.035, 0.08, 0.05)),
    (LIMB, Vec3::new(0.035, 0.08, 0.05)),
    (LIMB, Vec3::new(0.085, THIGH, 0.09)),
    (LIMB, Vec3::new(0.085, THIGH, 0.09)),
    (LIMB, Vec3::new(0.06, SHIN, 0.07)),
    (LIMB, Vec3::new(0.06, SHIN, 0.07)),
    (LIMB, Vec3::new(0.05, 0.04, 0.12)),
    (LIMB, Vec3::new(0.05, 0.04, 0.12)),
];

/// Half the lengths of what hangs from joints, in metres.
const UPPER_ARM: f32 = 0.155;
const FOREARM: f32 = 0.13;
const THIGH: f32 = 0.215;
const SHIN: f32 = 0.205;
/// The height of an ankle that stands.
const SOLE: f32 = 0.04;

/// Nothing of a humanoid in any pose is outside of it; a test looks.
const BOUNDS: BodyBounds = BodyBounds { radius: 0.95, low: -0.02, high: 1.86 };

/// Head and trunk hang on the spine; arms and legs swing with the stride.
#[must_use]
pub fn humanoid_rig() -> LimbRig {
    LimbRig { limbs: HUMANOID_LIMBS.len() as u8, pose }
}

/// One box a limb.
#[must_use]
pub fn humanoid_hit_boxes() -> HitBoxes {
    let boxes = HUMANOID_LIMBS
        .iter()
        .zip(0..)
        .map(|((group, half), limb)| HitBox::new(limb, *group, Collider::cuboid(half.x, half.y, half.z)));
    HitBoxes::new(boxes, BOUNDS)
}

fn pose(sample: &PoseSample, limbs: &mut [Isometry3d]) {
    let Ok(limbs) = <&mut [Isometry3d; HUMANOID_LIMBS.len()]>::try_from(limbs) else { return };
    // Crouched, the legs fold and everything above comes down with the hips.
    let fold = 1.75 * sample.crouch;
    let hips = SOLE + 2.0 * (THIGH * fold.cos() + SHIN * (0.75 * sample.crouch).cos());
    let drop = SOLE + 2.0 * (THIGH + SHIN) - hips;
    let local = sample.rotation.inverse() * sample.velocity;
    let speed = Vec2::new(local.x, local.z).length();
    // A stride's phase must be a function of the pose alone: where the pawn is says how far it
    // has walked.
    let phase = (sample.position.x + sample.position.z) * 2.4;
    let swing = (speed / 6.0).min(1.0) * (0.6 - 0.4 * sample.crouch) * phase.sin();

    let upright = |y: f32| Isometry3d::from_xyz(0.0, y - drop, 0.0);
    let nod = Quat::from_rotation_x(sample.pitch * 0.6);
    limbs[0] = Isometry3d::new(Vec3::new(0.0, 1.67 - drop, -0.02), nod);
    limbs[1] = upright(1.52);
    limbs[2] = upright(1.33);
    limbs[3] = upright(1.09);
    limbs[4] = upright(0.92);
    for (right, side) in [(0, -1.0), (1, 1.0)] {
        let shoulder = Vec3A::new(0.245 * side, 1.43 - drop, 0.0);
        limbs[5 + right] = Isometry3d::new(shoulder, Quat::IDENTITY);
        let (upper, elbow) = hang(shoulder, turn(0.25 - swing * side * 0.7), UPPER_ARM);
        let (fore, wrist) = hang(elbow, turn(1.1 - swing * side * 0.5), FOREARM);
        limbs[7 + right] = upper;
        limbs[9 + right] = fore;
        limbs[11 + right] =
            Isometry3d { rotation: fore.rotation, translation: wrist + fore.rotation * Vec3A::NEG_Y * 0.08 };

        let hip = Vec3A::new(0.1 * side, hips, 0.0);
        let (thigh, knee) = hang(hip, turn(swing * side + fold), THIGH);
        // Bent as far back as it takes to leave the ground alone.
        let upright = ((knee.y - SOLE) / (2.0 * SHIN)).clamp(0.0, 1.0);
        let bent = Quat::from_xyzw(-((1.0 - upright) * 0.5).sqrt(), 0.0, 0.0, ((1.0 + upright) * 0.5).sqrt());
        let (shin, ankle) = hang(knee, bent, SHIN);
        limbs[13 + right] = thigh;
        limbs[15 + right] = shin;
        // A foot stays level.
        limbs[17 + right] = Isometry3d::new(ankle + Vec3A::new(0.0, 0.0, -0.05), Quat::IDENTITY);
    }
}

/// About the axis from the left to the right; forward is positive.
fn turn(angle: f32) -> Quat {
    Quat::from_rotation_x(angle)
}

/// A limb of the given half length that hangs from `joint`, and the joint at its end.
fn hang(joint: Vec3A, rotation: Quat, half: f32) -> (Isometry3d, Vec3A) {
    let down = rotation * Vec3A::new(0.0, -half, 0.0);
    (Isometry3d { rotation, translation: joint + down }, joint + down + down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_unlag_core::LimbPoses;

    #[test]
    fn no_limb_leaves_the_bounds() {
        let mut room = LimbPoses::default();
        let bounds = humanoid_hit_boxes().bounds();
        for crouch in [0.0, 0.5, 1.0] {
            for step in 0..400 {
                let sample = PoseSample {
                    position: Vec3::X * step as f32 * 0.05,
                    velocity: Vec3::new(if step % 2 == 0 { 6.0 } else { 0.0 }, 0.0, -9.0),
                    pitch: if step % 3 == 0 { 1.5 } else { -1.5 },
                    crouch,
                    ..default()
                };
                let limbs = humanoid_rig().in_body(&sample, &mut room);
                for (limb, (pose, (_, half))) in limbs.iter().zip(HUMANOID_LIMBS).enumerate() {
                    for corner in 0..8 {
                        let sign = |bit: i32| if corner & bit == 0 { -1.0 } else { 1.0 };
                        let at = *pose * (half * Vec3::new(sign(1), sign(2), sign(4)));
                        let inside =
                            at.x.hypot(at.z) <= bounds.radius && (bounds.low..=bounds.high).contains(&at.y);
                        assert!(inside, "limb {limb} reaches {at} in {sample:?}");
                    }
                }
            }
        }
    }
}
