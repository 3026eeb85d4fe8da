//! Preset rig and hit boxes of a walking humanoid of 1.8 m.

use std::sync::LazyLock;

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{LimbRig, PoseSample};

use crate::{
    hit_box::{BodyBounds, HitBox, HitGroup},
    hit_boxes::HitBoxes,
};

const BODY: HitGroup = HitGroup::Body;
const LIMB: HitGroup = HitGroup::Limb;

/// Hit groups and half extents in metres of the limbs: head, neck, chest, belly, hips; then in pairs,
/// left before right: shoulders, upper arms, forearms, hands, thighs, shins, feet.
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

/// Half lengths of the jointed limbs, in metres.
const UPPER_ARM: f32 = 0.155;
const FOREARM: f32 = 0.13;
const THIGH: f32 = 0.215;
const SHIN: f32 = 0.205;
/// Height of the ankle of a standing foot, in metres.
const SOLE: f32 = 0.04;

/// Bounds of a humanoid in any pose, checked by a test.
const BOUNDS: BodyBounds = BodyBounds { radius: 0.7, low: -0.02, high: 1.86 };

/// Returns the preset rig. Head and trunk follow the spine; arms and legs swing with the stride.
#[must_use]
pub fn humanoid_rig() -> LimbRig {
    LimbRig::new(HUMANOID_LIMBS.len() as u8, pose)
}

/// Returns the preset hit boxes, one per limb. All pawns share the same set, so it is in memory once.
#[must_use]
pub fn humanoid_hit_boxes() -> HitBoxes {
    static SET: LazyLock<HitBoxes> = LazyLock::new(|| scaled_humanoid_hit_boxes(1.0));
    SET.clone()
}

/// Returns the preset hit boxes of a larger or smaller pawn, for [`humanoid_rig`] with the same
/// [`scale`](LimbRig::scaled).
#[must_use]
pub fn scaled_humanoid_hit_boxes(scale: f32) -> HitBoxes {
    let boxes = HUMANOID_LIMBS.iter().zip(0..).map(|((group, half), limb)| {
        let half = *half * scale;
        HitBox::new(limb, *group, Collider::cuboid(half.x, half.y, half.z))
    });
    let BodyBounds { radius, low, high } = BOUNDS;
    HitBoxes::new(boxes, BodyBounds { radius: radius * scale, low: low * scale, high: high * scale })
}

fn pose(sample: &PoseSample, limbs: &mut [Isometry3d]) {
    let Ok(limbs) = <&mut [Isometry3d; HUMANOID_LIMBS.len()]>::try_from(limbs) else { return };
    // Crouched, the legs fold and everything above is lowered with the hips.
    let (fold, tuck) = if sample.crouch == 0.0 {
        // No sine of zero for pawns that stand.
        ((Turn::NONE, 1.0), 1.0)
    } else {
        let fold = 1.75 * sample.crouch;
        ((Turn::by(fold), fold.cos()), (0.75 * sample.crouch).cos())
    };
    let (fold, fold_cos) = fold;
    let hips = SOLE + 2.0 * (THIGH * fold_cos + SHIN * tuck);
    let drop = SOLE + 2.0 * (THIGH + SHIN) - hips;
    let local = sample.rotation.inverse() * sample.velocity;
    let speed = Vec2::new(local.x, local.z).length();
    // The phase of the stride must be a function of the pose alone: the position tells how far the pawn
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
    // Angles are sums of a part that depends on the stride and a constant part, which saves sine
    // computations.
    let (arm, elbow_bend, leg) = (Turn::by(swing * 0.7), Turn::by(swing * 0.5), Turn::by(swing));
    for (right, side) in [(0, -1.0), (1, 1.0)] {
        let shoulder = Vec3A::new(0.245 * side, 1.43 - drop, 0.0);
        limbs[5 + right] = Isometry3d::new(shoulder, Quat::IDENTITY);
        let (upper, elbow) = hang(shoulder, CARRIED.and(arm.towards(-side)), UPPER_ARM);
        let (fore, wrist) = hang(elbow, BENT.and(elbow_bend.towards(-side)), FOREARM);
        limbs[7 + right] = upper;
        limbs[9 + right] = fore;
        limbs[11 + right] =
            Isometry3d { translation: wrist + (wrist - elbow) * (0.08 / (2.0 * FOREARM)), ..fore };

        let hip = Vec3A::new(0.1 * side, hips, 0.0);
        let (thigh, knee) = hang(hip, fold.and(leg.towards(side)), THIGH);
        // Bent back just far enough to stay above the ground.
        let upright = ((knee.y - SOLE) / (2.0 * SHIN)).clamp(0.0, 1.0);
        let bent = Turn { sin: -((1.0 - upright) * 0.5).sqrt(), cos: ((1.0 + upright) * 0.5).sqrt() };
        let (shin, ankle) = hang(knee, bent, SHIN);
        limbs[13 + right] = thigh;
        limbs[15 + right] = shin;
        // The foot stays level.
        limbs[17 + right] = Isometry3d::new(ankle + Vec3A::new(0.0, 0.0, -0.05), Quat::IDENTITY);
    }
}

/// Rotation about the axis from left to right, as sine and cosine of half its angle; forward is positive.
#[derive(Clone, Copy)]
struct Turn {
    sin: f32,
    cos: f32,
}

/// Upper arm at rest: 0.25 radians.
const CARRIED: Turn = Turn { sin: 0.12467473, cos: 0.992_197_7 };
/// Forearm at rest: 1.1 radians.
const BENT: Turn = Turn { sin: 0.52268723, cos: 0.852_524_5 };

impl Turn {
    const NONE: Self = Self { sin: 0.0, cos: 1.0 };

    fn by(angle: f32) -> Self {
        let turn = Quat::from_rotation_x(angle);
        Self { sin: turn.x, cos: turn.w }
    }

    /// Returns the rotation, or its inverse if `side` is -1.
    fn towards(self, side: f32) -> Self {
        Self { sin: self.sin * side, ..self }
    }

    fn and(self, other: Self) -> Self {
        let sin = self.sin * other.cos + self.cos * other.sin;
        Self { sin, cos: self.cos * other.cos - self.sin * other.sin }
    }
}

/// Returns the pose of a limb of the given half length attached to `joint`, and the joint at its other
/// end.
fn hang(joint: Vec3A, Turn { sin, cos }: Turn, half: f32) -> (Isometry3d, Vec3A) {
    let down = Vec3A::new(0.0, 2.0 * sin * sin - 1.0, -2.0 * sin * cos) * half;
    let rotation = Quat::from_xyzw(sin, 0.0, 0.0, cos);
    (Isometry3d { rotation, translation: joint + down }, joint + down + down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_unlag_core::LimbPoses;

    #[test]
    fn standing_legs_are_folded_by_exactly_zero() {
        let none = Turn::by(0.0);
        assert_eq!((none.sin, none.cos), (Turn::NONE.sin, Turn::NONE.cos));
        assert_eq!(core::hint::black_box(0.0_f32).cos(), 1.0);
    }

    #[test]
    fn preset_limbs_stay_within_the_preset_bounds() {
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
