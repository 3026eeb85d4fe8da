//! Debug drawing of shot evidence as lines and labels.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{PoseSample, PoseSampler, ViewStamp, ViewTime};

use super::{CandidateEvidence, DrawnEvidence, ShotEvidence};
use crate::{
    file_shape::{FileShape, bounding_box},
    history::FrameHistory,
    hit_box::BodyBounds,
    hit_boxes::HitBoxes,
    query_result::Miss,
    target::Target,
};

/// Role of a line in the drawing, for its colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EvidencePart {
    /// Hit box as a screen showed it. Usually red.
    Drawn,
    /// Hit box as the server tested it. Usually blue.
    Tested,
    /// Hit box at the present pose when the shot was resolved. Usually grey.
    Live,
    /// Bounds of a candidate's hit boxes.
    Envelope,
    /// Path of the shot.
    Ray,
    /// Point of impact.
    Hit,
    /// Point at which the world blocked the shot.
    Wall,
}

/// Number of segments of a circle.
const SEGMENTS: usize = 16;
/// Half the size of the mark at the end of a shot, in metres.
const MARK: f32 = 0.06;
/// Edges of a box as pairs of corners; the bits of a corner give its side along each axis.
const EDGES: [(usize, usize); 12] =
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)];

impl ShotEvidence {
    /// Calls `line` with every line of a drawing of this shot: the ray, and for all candidates the
    /// bounds, the tested boxes and the present ones. `sampler` is that of the server.
    pub fn lines(&self, sampler: &PoseSampler, line: &mut impl FnMut(Vec3, Vec3, EvidencePart)) {
        let Some(way) = self.direction.try_normalize() else { return };
        let (distance, end) = match &self.answer {
            Ok(hit) => (hit.distance, Some(EvidencePart::Hit)),
            Err(Miss::Blocked { distance, .. }) => (*distance, Some(EvidencePart::Wall)),
            Err(_) => match self.first_obstacle(way, self.max_distance) {
                Some(wall) => (wall.distance, Some(EvidencePart::Wall)),
                None => (self.max_distance, None),
            },
        };
        let mut draw = |lines: Vec<Line>, part| lines.into_iter().for_each(|(a, b)| line(a, b, part));
        let to = self.origin + way * distance;
        draw(vec![(self.origin, to)], EvidencePart::Ray);
        end.into_iter().for_each(|part| draw(mark(to), part));
        let (moment, poses) = (self.moment(), self.base_poses(sampler));
        let bases = poses.at(ViewTime::default());
        for candidate in &self.candidates {
            let path = candidate.path();
            if let Ok((body, _)) = self.posed_candidate(candidate, &path, &moment, (sampler, &bases)) {
                draw(envelope(&body.boxes.bounds(), body.pose.body()), EvidencePart::Envelope);
                draw(outlines(body.boxes, &body.pose, &candidate.limbs), EvidencePart::Tested);
            }
            let live = candidate.live.filter(|pose| pose.alive);
            if let Some((pose, boxes)) = live.zip(self.sets.get(candidate.live_set as usize)) {
                draw(outlines(boxes, &pose, &candidate.live_limbs), EvidencePart::Live);
            }
        }
    }

    /// Returns the stamp of a candidate's tested pose; `None` if it was tested at the present or not at
    /// all.
    #[must_use]
    pub fn stamp_of(&self, candidate: &CandidateEvidence, sampler: &PoseSampler) -> Option<ViewStamp> {
        let named = self.overrides.iter().find(|named| named.target == candidate.target);
        let sampler = sampler.of(candidate.mode.as_ref());
        let (path, history) = (candidate.path(), FrameHistory::default());
        let (id, mode) = (candidate.target, candidate.mode.as_ref());
        let target = Target { id, path: &path, history: &history, mode };
        self.moment().stamp(self.time.used?, &target, named, &sampler)
    }

    /// Calls `label` with a position and a line of text for every candidate: its network id, the
    /// snapshots from which it was posed with the fraction between them, and for the target of the
    /// verdict its hit group, or the reason for the miss.
    pub fn labels(&self, sampler: &PoseSampler, label: &mut impl FnMut(Vec3, &str)) {
        let (moment, poses) = (self.moment(), self.base_poses(sampler));
        let bases = poses.at(ViewTime::default());
        for candidate in &self.candidates {
            let id = candidate.target.0;
            let path = candidate.path();
            let Ok((body, _)) = self.posed_candidate(candidate, &path, &moment, (sampler, &bases)) else {
                continue;
            };
            let above = body.pose.body() * (Vec3::Y * (body.boxes.bounds().high + 0.1));
            let stamp_of = match self.stamp_of(candidate, sampler) {
                Some(ViewStamp::Interpolated { from, to, time }) => {
                    let part = time.ticks_since(from) / to.since(from).max(1) as f32;
                    format!("{} > {} at {part:.2}", from.0, to.0)
                }
                Some(ViewStamp::Extrapolated { from, time }) => {
                    format!("{} + {:.2}", from.0, time.ticks_since(from))
                }
                Some(ViewStamp::Present) | None => "now".to_owned(),
            };
            let verdict = match &self.answer {
                Ok(hit) if hit.target.0 == id => format!(", {:?}", hit.group),
                Err(Miss::Blocked { hit, .. }) if hit.target.0 == id => ", blocked".to_owned(),
                Err(Miss::InCover(safe)) if safe.0 == id => ", in cover".to_owned(),
                _ => String::new(),
            };
            label(above, &format!("{id}: {stamp_of}{verdict}"));
        }
    }
}

impl DrawnEvidence {
    /// Calls `line` with every line of a drawing of what the screen showed: the ray, and the drawn boxes.
    pub fn lines(&self, line: &mut impl FnMut(Vec3, Vec3, EvidencePart)) {
        line(self.origin, self.origin + self.direction * self.reach, EvidencePart::Ray);
        for body in &self.bodies {
            for (a, b) in outlines(&body.boxes, &body.pose, &body.limbs) {
                line(a, b, EvidencePart::Drawn);
            }
        }
    }
}

/// Ends of a line.
type Line = (Vec3, Vec3);

/// Returns a small cross.
fn mark(at: Vec3) -> Vec<Line> {
    [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (at - axis * MARK, at + axis * MARK)).into()
}

fn envelope(bounds: &BodyBounds, body: Isometry3d) -> Vec<Line> {
    let half = Vec3::new(bounds.radius, (bounds.high - bounds.low) * 0.5, bounds.radius);
    let middle = Isometry3d::from_xyz(0.0, (bounds.low + bounds.high) * 0.5, 0.0);
    edges(half, body * middle)
}

fn outlines(boxes: &HitBoxes, pose: &PoseSample, limbs: &[Isometry3d]) -> Vec<Line> {
    let body = pose.body();
    let outlines = boxes.boxes().iter().filter_map(|hit_box| {
        let limb = limbs.get(usize::from(hit_box.limb))?;
        Some(outline(&hit_box.shape, body * *limb * hit_box.offset))
    });
    outlines.flatten().collect()
}

fn outline(shape: &Collider, pose: Isometry3d) -> Vec<Line> {
    match FileShape::of(shape) {
        Some(FileShape::Box { half }) => edges(half.into(), pose),
        Some(FileShape::Ball { radius }) => {
            let planes = [(Vec3::X, Vec3::Y), (Vec3::Y, Vec3::Z), (Vec3::Z, Vec3::X)];
            planes.into_iter().flat_map(|(x, y)| circle(pose, x * radius, y * radius)).collect()
        }
        Some(FileShape::Capsule { a, b, radius }) => {
            let [a, b] = [a, b].map(Vec3::from_array);
            let axis = (b - a).normalize_or(Vec3::Y);
            let (x, z) = axis.any_orthonormal_pair();
            let ends = [a, b].into_iter().flat_map(move |end| {
                let end = pose * Isometry3d::from_translation(end);
                let planes = [(x, z), (x, axis), (z, axis)];
                planes.into_iter().flat_map(move |(one, other)| circle(end, one * radius, other * radius))
            });
            let sides = [x, -x, z, -z].map(|side| (pose * (a + side * radius), pose * (b + side * radius)));
            ends.chain(sides).collect()
        }
        None => {
            let (middle, half) = bounding_box(shape);
            edges(half, pose * Isometry3d::from_translation(middle))
        }
    }
}

fn edges(half: Vec3, pose: Isometry3d) -> Vec<Line> {
    let corner = |bits: usize| {
        let side = |axis: usize| if bits >> axis & 1 == 0 { -1.0 } else { 1.0 };
        pose * (half * Vec3::new(side(0), side(1), side(2)))
    };
    EDGES.map(|(a, b)| (corner(a), corner(b))).into()
}

fn circle(pose: Isometry3d, x: Vec3, y: Vec3) -> impl Iterator<Item = Line> {
    let point = move |i: usize| {
        let (sin, cos) = (i as f32 / SEGMENTS as f32 * core::f32::consts::TAU).sin_cos();
        pose * (x * cos + y * sin)
    };
    (0..SEGMENTS).map(move |i| (point(i), point(i + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_of_a_capsule_are_as_long_as_its_axis() {
        let capsule = Collider::capsule(Vec3::new(0.2, 0.0, 0.0), Vec3::new(0.2, 1.5, 0.0), 0.4);
        let lines = outline(&capsule, Isometry3d::from_xyz(3.0, 2.0, 1.0));
        for (a, b) in &lines[lines.len() - 4..] {
            assert!((a.distance(*b) - 1.5).abs() < 1e-4, "{a} {b}");
            assert!((a.distance(Vec3::new(3.2, 2.0, 1.0)) - 0.4).abs() < 1e-4, "{a}");
        }
    }
}
