//! History of base poses that come from elsewhere, such as a server.

use std::collections::VecDeque;

use bevy::prelude::*;

use super::track::sanitised;

/// Maximum time in seconds for which a base continues its motion after the newest pose.
const MAX_DRIFT_SECONDS: f64 = 0.25;

/// Recent poses of a base that has no formula, such as one that a server drives. Push each pose as it
/// arrives; every step reads the pose of its own time. Poses are interpolated linearly between two
/// entries and are constant before the oldest and after the newest, so a pawn on the base is corrected
/// when entries arrive late. Prefer another [`BaseTrack`](super::BaseTrack) that both sides can compute where
/// there is a choice.
///
/// The suite fills that of a [`RecordedBase`](super::RecordedBase), which continues its motion after the newest
/// entry for up to 0.25 s.
#[derive(Clone, Default, Debug, Reflect)]
pub struct PoseHistory {
    /// Oldest first.
    poses: VecDeque<(f64, Isometry3d)>,
    /// Motion after the newest pose: velocity in metres per second, and axis times radians per second.
    drift: (Vec3, Vec3),
}

impl PoseHistory {
    /// Maximum number of poses; a new pose replaces the oldest. At one pose per tick and 64 ticks per
    /// second it covers two seconds.
    pub const CAPACITY: usize = 128;

    /// Adds the pose at `seconds`, on the time line of [`BaseTrack::pose`](super::BaseTrack::pose). Ignores
    /// poses that are not finite or not newer than the newest one.
    pub fn push(&mut self, seconds: f64, pose: Isometry3d) {
        let newer = self.poses.back().is_none_or(|(last, _)| seconds > *last);
        if !newer || !seconds.is_finite() || !pose.translation.is_finite() || !pose.rotation.is_finite() {
            return;
        }
        if self.poses.len() >= Self::CAPACITY {
            self.poses.pop_front();
        }
        self.poses.push_back((seconds, sanitised(pose)));
    }

    /// Returns the pose at `seconds`; the identity if the history is empty.
    #[must_use]
    pub fn pose(&self, seconds: f64) -> Isometry3d {
        let after = self.poses.partition_point(|(at, _)| *at <= seconds);
        let before = after.checked_sub(1).and_then(|i| self.poses.get(i));
        match (before, self.poses.get(after)) {
            (Some((from, a)), Some((to, b))) => {
                let part = ((seconds - from) / (to - from)) as f32;
                Isometry3d::new(a.translation.lerp(b.translation, part), a.rotation.lerp(b.rotation, part))
            }
            (Some((at, pose)), None) => self.drifted(*pose, seconds - at),
            (None, Some((_, pose))) => *pose,
            (None, None) => Isometry3d::IDENTITY,
        }
    }

    /// Returns the newest pose, `seconds` later.
    fn drifted(&self, pose: Isometry3d, seconds: f64) -> Isometry3d {
        let (velocity, spin) = self.drift;
        if velocity == Vec3::ZERO && spin == Vec3::ZERO {
            return pose;
        }
        let seconds = seconds.clamp(0.0, MAX_DRIFT_SECONDS) as f32;
        let place = Vec3::from(pose.translation) + velocity * seconds;
        Isometry3d::new(place, Quat::from_scaled_axis(spin * seconds) * pose.rotation)
    }

    /// Sets the motion after the newest pose.
    pub(super) fn set_drift(&mut self, velocity: Vec3, spin: Vec3) {
        if velocity.is_finite() && spin.is_finite() {
            self.drift = (velocity, spin);
        }
    }

    /// Returns the newest pose and its time.
    pub(super) fn newest(&self) -> Option<(f64, Isometry3d)> {
        self.poses.back().copied()
    }

    /// Returns whether the newest two poses are this one.
    pub(super) fn is_at_rest(&self, pose: &Isometry3d) -> bool {
        self.poses.len() >= 2 && self.poses.iter().rev().take(2).all(|(_, known)| known == pose)
    }

    /// Returns the last position to which the base may continue its motion.
    pub(super) fn furthest(&self) -> Vec3 {
        self.pose(f64::INFINITY).translation.into()
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = Vec3> {
        self.poses.iter().map(|(_, pose)| pose.translation.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32) -> Isometry3d {
        Isometry3d::from_translation(Vec3::X * x)
    }

    #[test]
    fn history_interpolates_between_entries_and_is_constant_beyond_the_ends() {
        let mut history = PoseHistory::default();
        assert_eq!(history.pose(1.0), Isometry3d::IDENTITY);
        history.push(1.0, at(1.0));
        history.push(2.0, at(3.0));
        assert_eq!(history.pose(0.0), at(1.0));
        assert_eq!(history.pose(1.0), at(1.0));
        assert_eq!(history.pose(1.5), at(2.0));
        assert_eq!(history.pose(2.0), at(3.0));
        assert_eq!(history.pose(9.0), at(3.0));
    }

    #[test]
    fn history_ignores_old_and_non_finite_poses() {
        let mut history = PoseHistory::default();
        history.push(1.0, at(1.0));
        history.push(1.0, at(5.0));
        history.push(0.5, at(5.0));
        history.push(f64::NAN, at(5.0));
        history.push(f64::INFINITY, at(5.0));
        history.push(2.0, at(f32::NAN));
        assert_eq!(history.pose(3.0), at(1.0));
        assert!(history.pose(f64::NAN).translation.is_finite());
    }

    #[test]
    fn history_keeps_at_most_its_capacity() {
        let mut history = PoseHistory::default();
        for i in 0..1_000 {
            history.push(f64::from(i), at(i as f32));
        }
        assert_eq!(history.positions().count(), PoseHistory::CAPACITY);
        assert_eq!(history.pose(0.0), at((1_000 - PoseHistory::CAPACITY) as f32), "the oldest kept pose");
    }

    #[test]
    fn motion_continues_after_the_newest_pose_for_a_bounded_time() {
        let mut history = PoseHistory::default();
        history.push(1.0, at(1.0));
        history.push(2.0, at(3.0));
        history.set_drift(Vec3::X * 4.0, Vec3::ZERO);
        assert_eq!(history.pose(1.5), at(2.0), "not between two poses");
        assert_eq!(history.pose(2.125), at(3.5));
        for late in [2.25, 3.0, f64::INFINITY] {
            assert_eq!(history.pose(late), at(4.0), "{late}");
        }
        assert_eq!(history.furthest(), Vec3::X * 4.0);
        history.set_drift(Vec3::NAN, Vec3::ZERO);
        assert!(history.pose(9.0).translation.is_finite());
        history.set_drift(Vec3::ZERO, Vec3::Y * 2.0);
        let turned = history.pose(2.25).rotation;
        assert!(turned.angle_between(Quat::from_rotation_y(0.5)) < 1e-3, "{turned}");
    }

    #[test]
    fn history_interpolates_rotations_along_the_short_arc() {
        let mut history = PoseHistory::default();
        let turned = Quat::from_rotation_y(1.0);
        history.push(0.0, Isometry3d::IDENTITY);
        history.push(1.0, Isometry3d::from_rotation(-turned));
        let half = history.pose(0.5).rotation;
        assert!(half.angle_between(Quat::from_rotation_y(0.5)) < 1e-3);
    }
}
