//! Recorded limb poses of pawns that are animated on the server.

use std::collections::VecDeque;

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};
use bevy_unlag_core::{LimbPoses, MAX_LIMBS, SUB_TICKS, ViewTime};

/// Maximum distance of a neighbouring record, as a multiple of the span, for it to be used for tangents.
const NEAR: f32 = 3.0;

/// Ring buffer of limb poses in body space, newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoneHistory {
    ring: VecDeque<BoneFrame>,
    spare: Vec<Vec<Isometry3d>>,
}

#[derive(Clone, Debug)]
struct BoneFrame {
    time: ViewTime,
    limbs: Vec<Isometry3d>,
    /// Whether the limb nodes changed before this record, so that poses must not be interpolated across.
    cut: bool,
}

impl BoneHistory {
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns the time of the newest record.
    pub fn newest(&self) -> Option<ViewTime> {
        self.ring.back().map(|frame| frame.time)
    }

    /// Returns the limb poses of the newest record.
    pub fn newest_limbs(&self) -> &[Isometry3d] {
        self.ring.back().map_or(&[], |frame| &frame.limbs)
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.spare.extend(self.ring.drain(..).map(|frame| frame.limbs));
    }

    /// Records limb poses and drops records older than `keep` ticks, except for one. A record with the
    /// same time as the newest replaces it; an older one is ignored. `cut` means that the limb nodes have
    /// changed since the previous record.
    pub fn record(&mut self, time: ViewTime, limbs: impl Iterator<Item = Isometry3d>, keep: i32, cut: bool) {
        let mut cut = cut;
        match self.newest().map_or(1, |newest| time.since(newest)) {
            ..0 => return,
            0 => {
                let replaced = self.ring.pop_back();
                cut |= replaced.as_ref().is_some_and(|frame| frame.cut);
                self.spare.extend(replaced.map(|frame| frame.limbs));
            }
            _ => {}
        }
        let keep = i64::from(keep) * SUB_TICKS;
        while self.ring.get(1).is_some_and(|second| time.since(second.time) >= keep) {
            self.spare.extend(self.ring.pop_front().map(|frame| frame.limbs));
        }
        let mut room = self.spare.pop().unwrap_or_default();
        room.clear();
        room.extend(limbs.take(MAX_LIMBS));
        self.ring.push_back(BoneFrame { time, limbs: room, cut });
    }

    /// Returns the limb poses at `time`: on a curve through the neighbouring records, or as in the
    /// nearest one. `None` if there is no record.
    pub fn at<'a>(&self, time: ViewTime, room: &'a mut LimbPoses) -> Option<&'a [Isometry3d]> {
        let after = self.ring.partition_point(|frame| frame.time.since(time) <= 0);
        let from = self.ring.get(after.saturating_sub(1))?;
        let to = self.ring.get(after).filter(|to| !to.cut).unwrap_or(from);
        let (since, span) = (time.since(from.time), to.time.since(from.time));
        if span <= 0 || since <= 0 {
            room[..from.limbs.len()].copy_from_slice(&from.limbs);
            return Some(&room[..from.limbs.len()]);
        }
        let span = span as f32;
        // The next records on either side, if usable, with their distances.
        let before = (!from.cut).then(|| self.ring.get(after.checked_sub(2)?)).flatten();
        let beyond = self.ring.get(after + 1).filter(|beyond| !beyond.cut);
        let (before, gap) = near(before, from, span, |before| from.time.since(before.time));
        let (beyond, rest) = near(beyond, to, span, |beyond| beyond.time.since(to.time));
        let weights =
            Weights::new(since as f32 / span, gap.map(|gap| gap / span), rest.map(|rest| rest / span));

        let four = [&before.limbs, &from.limbs, &to.limbs, &beyond.limbs];
        let count = four.iter().map(|limbs| limbs.len()).min().unwrap_or(0);
        for (index, limb) in room[..count].iter_mut().enumerate() {
            *limb = weights.blend(four.map(|limbs| &limbs[index]));
        }
        Some(&room[..count])
    }
}

/// Returns a neighbouring record and its distance if it is usable, otherwise `own`.
fn near<'a>(
    neighbour: Option<&'a BoneFrame>,
    own: &'a BoneFrame,
    span: f32,
    distance: impl Fn(&BoneFrame) -> i64,
) -> (&'a BoneFrame, Option<f32>) {
    let found = neighbour.map(|frame| (frame, distance(frame) as f32));
    match found.filter(|(_, gap)| *gap > 0.0 && *gap <= NEAR * span) {
        Some((frame, gap)) => (frame, Some(gap)),
        None => (own, None),
    }
}

/// Weights of four neighbouring records for a pose between the middle two: a cubic Hermite curve, with
/// tangents of parabolas through three records each. Linear interpolation would cut the corners of a
/// stride: 50 mm at the foot of a runner, with a record every 4 ticks.
struct Weights([f32; 4]);

impl Weights {
    /// `u` is the fraction of the span between the second and the third record; `gap` and `rest` are the
    /// distances of the first and the last in spans, if they exist.
    fn new(u: f32, gap: Option<f32>, rest: Option<f32>) -> Self {
        // Tangents as weights of the four records, per span.
        let start = gap.map(|gap| {
            let (old, new) = (1.0 / (gap * (1.0 + gap)), gap / (1.0 + gap));
            [-old, old - new, new, 0.0]
        });
        let end = rest.map(|rest| {
            let (old, new) = (rest / (1.0 + rest), 1.0 / (rest * (1.0 + rest)));
            [0.0, -old, old - new, new]
        });
        // With one neighbour missing the curve is a parabola, with both missing a line.
        let straight = [0.0, -1.0, 1.0, 0.0];
        let mirrored = |tangent: [f32; 4]| core::array::from_fn(|i| 2.0 * straight[i] - tangent[i]);
        let (start, end) = match (start, end) {
            (Some(start), Some(end)) => (start, end),
            (Some(start), None) => (start, mirrored(start)),
            (None, Some(end)) => (mirrored(end), end),
            (None, None) => (straight, straight),
        };
        let (square, cube) = (u * u, u * u * u);
        let leave = cube - 2.0 * square + u;
        let arrive = cube - square;
        let there = 3.0 * square - 2.0 * cube;
        let place = [0.0, 1.0 - there, there, 0.0];
        Self(core::array::from_fn(|i| place[i] + leave * start[i] + arrive * end[i]))
    }

    fn blend(&self, four: [&Isometry3d; 4]) -> Isometry3d {
        let reference = Vec4::from(four[1].rotation);
        let (mut translation, mut rotation) = (Vec3A::ZERO, Vec4::ZERO);
        for (weight, limb) in self.0.iter().zip(four) {
            translation += limb.translation * *weight;
            let turn = Vec4::from(limb.rotation);
            // Both signs represent the same rotation.
            rotation += turn * if turn.dot(reference) < 0.0 { -*weight } else { *weight };
        }
        let rotation = rotation.try_normalize().unwrap_or(reference);
        Isometry3d { rotation: Quat::from_vec4(rotation), translation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_unlag_core::Tick;

    fn at(bones: &BoneHistory, ticks: f64) -> Option<(usize, f32)> {
        let mut room = LimbPoses::default();
        let limbs = bones.at(ViewTime::after(Tick(0), ticks), &mut room)?;
        Some((limbs.len(), limbs[2].translation.x))
    }

    fn record(bones: &mut BoneHistory, tick: u32, limb: Isometry3d, cut: bool) {
        bones.record(ViewTime::at(Tick(tick)), [limb; 3].into_iter(), 32, cut);
    }

    #[test]
    fn limbs_are_interpolated_and_record_buffers_are_reused() {
        let mut bones = BoneHistory::default();
        for tick in (0..400u32).step_by(4) {
            let limb = Isometry3d::new(Vec3::X * tick as f32, Quat::from_rotation_y(tick as f32 * 0.01));
            record(&mut bones, tick, limb, false);
            assert!(bones.ring.len() + bones.spare.len() <= 11, "{}", bones.ring.len());
        }
        assert_eq!(at(&bones, 380.0), Some((3, 380.0)));
        assert!(at(&bones, 382.5).is_some_and(|(_, x)| (x - 382.5).abs() < 1e-3));
        assert_eq!(at(&bones, 500.0), Some((3, 396.0)), "later than all records: the newest");
        assert_eq!(at(&bones, 1.0).map(|found| found.1), Some(bones.ring[0].time.tick.0 as f32));
    }

    #[test]
    fn parabola_is_reproduced_exactly_with_missing_or_late_records() {
        let path = |t: f64| (0.5 + 0.25 * t - 0.01 * t * t) as f32;
        let mut bones = BoneHistory::default();
        for tick in [0, 4, 8, 13, 16, 20] {
            record(&mut bones, tick, Isometry3d::from_translation(Vec3::X * path(tick.into())), false);
        }
        for step in 0..=80 {
            let time = f64::from(step) * 0.25;
            let x = at(&bones, time).map_or(f32::NAN, |found| found.1);
            assert!((x - path(time)).abs() < 1e-4, "{x} for {} at {time}", path(time));
        }
    }

    #[test]
    fn record_older_than_the_newest_is_ignored() {
        let mut bones = BoneHistory::default();
        for (tick, x) in [(4, 4.0), (8, 8.0), (6, 1_000.0)] {
            record(&mut bones, tick, Isometry3d::from_translation(Vec3::X * x), false);
        }
        assert_eq!(at(&bones, 6.0), Some((3, 6.0)));
        assert_eq!(at(&bones, 9.0), Some((3, 8.0)));
    }

    #[test]
    fn record_from_long_before_does_not_bend_the_curve() {
        let mut bones = BoneHistory::default();
        for (tick, x) in [(0, 1_000.0), (20, 0.0), (21, 0.0), (22, 0.0)] {
            record(&mut bones, tick, Isometry3d::from_translation(Vec3::X * x), false);
        }
        assert_eq!(at(&bones, 20.5), Some((3, 0.0)));
    }

    #[test]
    fn limbs_are_not_interpolated_across_a_change_of_nodes() {
        let mut bones = BoneHistory::default();
        for tick in 0..12 {
            let x = if tick < 6 { 0.0 } else { 50.0 + tick as f32 };
            record(&mut bones, tick, Isometry3d::from_translation(Vec3::X * x), tick == 6);
        }
        for (time, x) in [(5.9, 0.0), (6.0, 56.0), (6.5, 56.5), (4.5, 0.0)] {
            assert!(
                at(&bones, time).is_some_and(|found| (found.1 - x).abs() < 1e-3),
                "{time}: {:?}",
                at(&bones, time)
            );
        }
        // A second record for the same tick keeps the cut.
        let mut bones = BoneHistory::default();
        record(&mut bones, 1, Isometry3d::IDENTITY, false);
        record(&mut bones, 2, Isometry3d::from_translation(Vec3::X), true);
        record(&mut bones, 2, Isometry3d::from_translation(Vec3::X), false);
        assert_eq!(at(&bones, 1.5), Some((3, 0.0)));
    }
}
