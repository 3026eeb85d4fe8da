//! Recorded hit box poses of a character in its last ticks, as in server-side rewind tutorials.

use std::collections::VecDeque;

use bevy::{platform::collections::HashMap, prelude::*};
use bevy_unlag_core::{SUB_TICKS, Tick, ViewTime};

use crate::hit_boxes::HitBoxes;

/// Hit box poses of a character in one tick, in the world. The extents come from the hit box set, which
/// the ticks share.
#[derive(Clone, Debug)]
struct FramePackage {
    tick: Tick,
    set: HitBoxes,
    boxes: HashMap<usize, Isometry3d>,
}

/// Records of one character, newest first.
#[derive(Debug, Default)]
pub(super) struct FrameList {
    owner: Option<Entity>,
    packages: VecDeque<FramePackage>,
}

impl FrameList {
    pub fn len(&self) -> usize {
        self.packages.len()
    }

    pub fn clear(&mut self) {
        self.packages.clear();
    }

    /// Records a tick and drops records older than `keep` ticks, except for one.
    pub fn save(
        &mut self,
        owner: Entity,
        (tick, keep): (Tick, i32),
        set: &HitBoxes,
        boxes: impl Iterator<Item = (usize, Isometry3d)>,
    ) {
        if self.owner.replace(owner) != Some(owner)
            || self.packages.front().is_some_and(|newest| !tick.is_newer_than(newest.tick))
        {
            self.packages.clear();
        }
        let mut spare = None;
        while self.packages.len() > 1 && tick.since(self.packages[self.packages.len() - 2].tick) >= keep {
            spare = self.packages.pop_back();
        }
        let mut package =
            spare.unwrap_or_else(|| FramePackage { tick, set: set.clone(), boxes: HashMap::default() });
        package.tick = tick;
        package.set = set.clone();
        package.boxes.clear();
        package.boxes.extend(boxes);
        self.packages.push_front(package);
    }

    /// Returns the hit box set of `owner` at a moment with the pose of each box; the newest record for
    /// `None` or for a moment newer than all records. `None` if the moment is older than all records.
    pub fn at(
        &self,
        owner: Entity,
        time: Option<ViewTime>,
    ) -> Option<(&HitBoxes, impl Iterator<Item = (usize, Isometry3d)>)> {
        if self.owner != Some(owner) {
            return None;
        }
        // Searches from the newest record backwards for the two around the moment.
        let mut younger = self.packages.front()?;
        let mut older = younger;
        if let Some(time) = time {
            for package in &self.packages {
                older = package;
                if ViewTime::at(package.tick).since(time) <= 0 {
                    break;
                }
                younger = package;
            }
            if ViewTime::at(older.tick).since(time) > 0 {
                return None;
            }
        }
        let span = i64::from(younger.tick.since(older.tick)) * SUB_TICKS;
        let since = time.map_or(0, |time| time.since(ViewTime::at(older.tick)));
        let part = if span > 0 { (since as f32 / span as f32).clamp(0.0, 1.0) } else { 0.0 };
        let boxes = younger.boxes.iter().map(move |(name, to)| {
            let pose = match older.boxes.get(name) {
                Some(from) if part < 1.0 => Isometry3d {
                    translation: from.translation.lerp(to.translation, part),
                    rotation: from.rotation.slerp(to.rotation, part),
                },
                _ => *to,
            };
            (*name, pose)
        });
        Some((&younger.set, boxes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hit_box::{BodyBounds, HitBox, HitGroup};
    use bevy_rapier3d::prelude::Collider;

    #[test]
    fn poses_are_interpolated_between_records_of_a_bounded_list() {
        let set = HitBoxes::new(
            [HitBox::new(0, HitGroup::Body, Collider::ball(1.0))],
            BodyBounds { radius: 1.0, low: 0.0, high: 1.0 },
        );
        let owner = Entity::from_raw_u32(7).expect("an entity");
        let mut list = FrameList::default();
        for tick in 0..100u32 {
            let pose = Isometry3d::from_xyz(tick as f32, 0.0, 0.0);
            list.save(owner, (Tick(tick), 26), &set, core::iter::once((0, pose)));
        }
        assert_eq!(list.len(), 27);
        let at = |time: Option<ViewTime>| {
            list.at(owner, time).and_then(|(_, mut boxes)| boxes.next()).map(|(_, pose)| pose.translation.x)
        };
        let ticks = |ticks: f64| Some(ViewTime::after(Tick(0), ticks));
        assert_eq!(at(ticks(80.25)), Some(80.25));
        assert_eq!(at(ticks(80.0)), Some(80.0));
        assert_eq!(at(ticks(300.0)), Some(99.0), "later than all records: the newest");
        assert_eq!(at(None), Some(99.0));
        assert_eq!(at(ticks(73.0)), Some(73.0));
        assert_eq!(at(ticks(72.9)), None, "older than all records: no hit");
        assert!(list.at(Entity::PLACEHOLDER, ticks(80.0)).is_none(), "the records of another owner");
    }
}
