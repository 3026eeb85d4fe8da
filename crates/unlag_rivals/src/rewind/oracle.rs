//! Reference answers: the nearest box that a shot hits, with every box exactly where it was seen.

use bevy::math::{DQuat, DVec3};

use super::targets::{HALF, RANGE, Ray, Target};

/// Index and distance in metres of the hit target.
pub type Answer = Option<(usize, f32)>;

/// Tolerance in metres for rounding of boxes and distances.
const SLACK: f64 = 0.01;

/// Correctness of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerCheck {
    /// The answer is correct.
    Right,
    /// Another target is nearer.
    NotNearest,
    /// The shot hits a target, but the answer is none.
    MissedHit,
    /// The shot does not hit the named target at this distance.
    WrongHit,
}

/// Reference answer to a shot.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Nearest hit target.
    pub nearest: Answer,
    /// Distance of the nearest hit with slightly smaller boxes, or infinity.
    nearest_small: f64,
}

impl Truth {
    /// Intersects a shot with every target.
    pub fn of(ray: &Ray, targets: &[Target]) -> Self {
        let mut truth = Self { nearest: None, nearest_small: f64::INFINITY };
        for (i, target) in targets.iter().enumerate() {
            if let Some(distance) = distance(ray, target, 0.0)
                && truth.nearest.is_none_or(|(_, nearest)| distance < f64::from(nearest))
            {
                truth.nearest = Some((i, distance as f32));
            }
            if let Some(distance) = distance(ray, target, -SLACK) {
                truth.nearest_small = truth.nearest_small.min(distance);
            }
        }
        truth
    }

    /// Checks an answer, which is correct if it holds for boxes that are a centimetre larger or smaller.
    pub fn check(&self, ray: &Ray, targets: &[Target], answer: Answer) -> AnswerCheck {
        let Some((named, at)) = answer else {
            return if self.nearest_small.is_finite() { AnswerCheck::MissedHit } else { AnswerCheck::Right };
        };
        let at = f64::from(at);
        let there = targets.get(named).is_some_and(|target| {
            // At a flat angle, a larger box moves the entry point by more than its growth.
            let [large, small] = [SLACK, -SLACK].map(|slack| inside(ray, target, slack));
            large.is_some_and(|[near, leaves]| {
                let far = small.map_or(leaves, |[enters, _]| enters);
                (near - SLACK..=far + SLACK).contains(&at)
            })
        });
        if !there {
            AnswerCheck::WrongHit
        } else if self.nearest_small < at - SLACK {
            AnswerCheck::NotNearest
        } else {
            AnswerCheck::Right
        }
    }
}

/// Returns the distance at which a shot hits a target's box, with all sides moved out by `slack`.
fn distance(ray: &Ray, target: &Target, slack: f64) -> Option<f64> {
    inside(ray, target, slack).map(|[enters, _]| enters)
}

/// Returns the interval of a shot inside that box.
fn inside(ray: &Ray, target: &Target, slack: f64) -> Option<[f64; 2]> {
    let back = DQuat::from_rotation_y(-f64::from(target.yaw));
    let origin = back * (ray.origin.as_dvec3() - target.seen().as_dvec3());
    let direction = back * ray.direction.as_vec3().as_dvec3();
    let half = HALF.as_dvec3() + DVec3::splat(slack);
    let (mut enters, mut leaves) = (0.0_f64, f64::from(RANGE));
    for axis in 0..3 {
        let towards = direction[axis];
        if towards.abs() < 1e-12 {
            if origin[axis].abs() > half[axis] {
                return None;
            }
            continue;
        }
        let sides = [-half[axis], half[axis]].map(|side| (side - origin[axis]) / towards);
        enters = enters.max(sides[0].min(sides[1]));
        leaves = leaves.min(sides[0].max(sides[1]));
    }
    (enters <= leaves).then_some([enters, leaves])
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec3;

    use super::*;
    use crate::rewind::targets::{Layout, TargetScene};

    #[test]
    fn wrong_distance_farther_target_and_missed_hit_are_detected() {
        let crowd = TargetScene::new(Layout::Crowded, 64, 200, 3);
        let (mut hit, mut behind) = (0, 0);
        for ray in &crowd.rays {
            let truth = Truth::of(ray, &crowd.targets);
            let check = |answer| truth.check(ray, &crowd.targets, answer);
            assert_eq!(check(truth.nearest), AnswerCheck::Right);
            let Some((nearest, at)) = truth.nearest else { continue };
            // Grazing shots may count as misses.
            if truth.nearest_small > f64::from(at) + 0.1 {
                continue;
            }
            hit += 1;
            assert_eq!(check(Some((nearest, at + 0.5))), AnswerCheck::WrongHit);
            // All other hit targets are farther away, unless boxes overlap.
            let others = (0..64).filter(|i| *i != nearest);
            let mut other = others.filter_map(|i| Some((i, distance(ray, &crowd.targets[i], 0.0)? as f32)));
            if let Some(other) = other.find(|(_, far)| *far > at + 0.5) {
                behind += 1;
                assert_eq!(check(Some(other)), AnswerCheck::NotNearest);
                assert_eq!(check(None), AnswerCheck::MissedHit);
            }
        }
        assert!(hit > 100 && behind > 20, "{hit} {behind}");
    }

    #[test]
    fn rotated_box_is_hit_on_its_side() {
        let mut crowd = TargetScene::new(Layout::Turning, 1, 0, 5);
        crowd.targets[0].yaw = core::f32::consts::FRAC_PI_2;
        let seen = crowd.targets[0].seen();
        let towards = bevy::math::Dir3::NEG_X;
        let ray = Ray { origin: seen + Vec3::X * 10.0, direction: towards };
        let at = distance(&ray, &crowd.targets[0], 0.0).expect("the shot hits");
        assert!((at - 9.8).abs() < 1e-5, "{at}");
    }
}
