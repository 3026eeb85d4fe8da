//! Measurement of hit box bounds.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, LimbRig, PoseSample};

use crate::hit_box::{BodyBounds, HitBox};

/// Tolerance for boxes beyond their bounds, in metres, for rounding.
const SLACK: f32 = 1e-3;

impl BodyBounds {
    /// Returns bounds that contain all `boxes` of a rig in all `samples`, for
    /// [`HitBoxes::new`](crate::HitBoxes::new). [`sample_poses`] are samples of a pawn that walks, runs,
    /// crouches and looks around. Add some centimetres with [`padded`](Self::padded) for poses that were
    /// not sampled. `None` if there are no boxes or samples.
    #[must_use]
    pub fn measure(
        boxes: &[HitBox],
        rig: &LimbRig,
        samples: impl IntoIterator<Item = PoseSample>,
    ) -> Option<Self> {
        let mut room = LimbPoses::default();
        let each =
            samples.into_iter().filter_map(|sample| Self::around(boxes, rig.in_body(&sample, &mut room)));
        each.reduce(Self::union)
    }

    /// Returns bounds that contain all `boxes` with these limb poses, in body space; `None` if there are
    /// none.
    #[must_use]
    pub fn around(boxes: &[HitBox], limbs: &[Isometry3d]) -> Option<Self> {
        boxes.iter().filter_map(|hit_box| Self::of(hit_box, limbs)).reduce(Self::union)
    }

    /// Returns bounds that contain one box; `None` if its limb does not exist.
    #[must_use]
    pub fn of(hit_box: &HitBox, limbs: &[Isometry3d]) -> Option<Self> {
        let limb = limbs.get(usize::from(hit_box.limb))?;
        let pose = *limb * hit_box.offset;
        let mut found: Option<Self> = None;
        let mut hold = |point: Vec3A, radius: f32| {
            let at = pose.translation + pose.rotation * point;
            let here = Self { radius: at.x.hypot(at.z) + radius, low: at.y - radius, high: at.y + radius };
            found = found.into_iter().chain([here]).reduce(Self::union);
        };
        let raw = &hit_box.shape.raw;
        if let Some(ball) = raw.as_ball() {
            hold(Vec3A::ZERO, ball.radius);
        } else if let Some(capsule) = raw.as_capsule() {
            for end in [capsule.segment.a, capsule.segment.b] {
                hold(Vec3A::from_array(end.into()), capsule.radius);
            }
        } else {
            // Corners of the box, or of the bounding box of another shape.
            let around = raw.compute_local_aabb();
            let (low, high) = (Vec3A::from_array(around.mins.into()), Vec3A::from_array(around.maxs.into()));
            for corner in 0..8u8 {
                let pick = |bit: u8, low: f32, high: f32| if corner & bit == 0 { low } else { high };
                hold(Vec3A::new(pick(1, low.x, high.x), pick(2, low.y, high.y), pick(4, low.z, high.z)), 0.0);
            }
        }
        found
    }

    /// Returns bounds that contain both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            radius: self.radius.max(other.radius),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Expands the bounds by a margin on every side.
    #[must_use]
    pub fn padded(self, metres: f32) -> Self {
        Self { radius: self.radius + metres, low: self.low - metres, high: self.high + metres }
    }

    /// Returns whether `other` lies within these bounds, with a tolerance of a millimetre.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        other.radius <= self.radius + SLACK
            && other.low >= self.low - SLACK
            && other.high <= self.high + SLACK
    }

    /// Returns the first of `boxes` that leaves the bounds with these limb poses, and its own bounds.
    #[must_use]
    pub fn first_out_of_bounds(&self, boxes: &[HitBox], limbs: &[Isometry3d]) -> Option<(usize, Self)> {
        let reach = |(index, hit_box)| Some((index, Self::of(hit_box, limbs)?));
        boxes.iter().enumerate().filter_map(reach).find(|(_, reach)| !self.contains(reach))
    }
}

/// Returns 9,600 sample poses: standing to fully crouched, looking up and down, and walking, running and
/// strafing through a whole stride, on the ground and in the air.
pub fn sample_poses() -> impl Iterator<Item = PoseSample> {
    const QUARTERS: [f32; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
    const SPEEDS: [Vec3; 6] = [
        Vec3::ZERO,
        Vec3::new(0.0, 0.0, -3.0),
        Vec3::new(0.0, 0.0, -7.0),
        Vec3::new(7.0, 0.0, 0.0),
        Vec3::new(-5.0, 0.0, 5.0),
        Vec3::new(0.0, 6.0, -7.0),
    ];
    let stances = QUARTERS.into_iter().flat_map(|crouch| QUARTERS.map(|look| (crouch, look * 3.0 - 1.5)));
    stances.flat_map(|(crouch, pitch)| {
        SPEEDS.into_iter().flat_map(move |velocity| {
            (0..64).map(move |step| PoseSample {
                position: Vec3::new(step as f32 * 0.06, 0.0, 0.0),
                velocity,
                pitch,
                crouch,
                alive: true,
                grounded: velocity.y == 0.0,
                falling: velocity.y != 0.0,
                ..default()
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use bevy_rapier3d::prelude::Collider;

    use super::*;
    use crate::{
        hit_box::HitGroup,
        humanoid::{humanoid_hit_boxes, humanoid_rig},
    };

    #[test]
    fn preset_bounds_contain_all_usual_poses_tightly() {
        let preset = humanoid_hit_boxes();
        let measured = BodyBounds::measure(preset.boxes(), &humanoid_rig(), sample_poses()).expect("boxes");
        assert!(preset.bounds().contains(&measured), "{measured:?} in {:?}", preset.bounds());
        // A stride reaches further than a standing pose.
        let stand =
            BodyBounds::measure(preset.boxes(), &humanoid_rig(), [PoseSample::default()]).expect("boxes");
        assert!(stand.radius < 0.6 && measured.radius > 0.65, "{stand:?} {measured:?}");
        assert!(measured.padded(0.3).contains(&preset.bounds()), "{measured:?}");
        let small = BodyBounds { high: 1.5, ..preset.bounds() };
        let mut room = LimbPoses::default();
        let limbs = humanoid_rig().in_body(&PoseSample::default(), &mut room);
        assert!(
            small
                .first_out_of_bounds(preset.boxes(), limbs)
                .is_some_and(|(index, reach)| index == 0 && reach.high > 1.7)
        );
        assert_eq!(preset.bounds().first_out_of_bounds(preset.boxes(), limbs), None);
    }

    #[test]
    fn bounds_of_every_shape_are_tight() {
        let limbs = [Isometry3d::new(Vec3::new(1.0, 2.0, 0.0), Quat::from_rotation_z(0.5))];
        let near = |a: BodyBounds, radius: f32, low: f32, high: f32| {
            assert!((a.radius - radius).abs() + (a.low - low).abs() + (a.high - high).abs() < 1e-5, "{a:?}");
        };
        let of =
            |shape: Collider| BodyBounds::of(&HitBox::new(0, HitGroup::Body, shape), &limbs).expect("a limb");
        near(of(Collider::ball(0.3)), 1.3, 1.7, 2.3);
        let (sin, cos) = 0.5f32.sin_cos();
        near(of(Collider::capsule_y(1.0, 0.1)), 1.0 + sin + 0.1, 1.9 - cos, 2.1 + cos);
        let (x, y) = (0.2 * cos + 0.4 * sin, 0.2 * sin + 0.4 * cos);
        near(of(Collider::cuboid(0.2, 0.4, 0.3)), (1.0 + x).hypot(0.3), 2.0 - y, 2.0 + y);
        // An offset is in limb space.
        let aside =
            HitBox::new(0, HitGroup::Body, Collider::ball(0.1)).at(Isometry3d::from_xyz(0.0, 1.0, 0.0));
        let aside = BodyBounds::of(&aside, &limbs).expect("a limb");
        near(aside, 1.0 - sin + 0.1, 1.9 + cos, 2.1 + cos);
        assert_eq!(BodyBounds::of(&HitBox::new(1, HitGroup::Body, Collider::ball(1.0)), &limbs), None);
    }
}
