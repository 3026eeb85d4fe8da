//! What the server itself knows of a pawn's last ticks.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{PoseSample, Tick};

/// Where a pawn really was at the end of a tick, whether or not anybody was told. Not what shots are
/// judged against: nobody saw it. Unreal Tournament's `FSavedPosition`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[doc(alias("FSavedPosition", "FFramePackage", "SavedPosition"))]
pub struct Frame {
    /// The server's tick.
    pub tick: Tick,
    /// The root, in metres.
    pub position: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// How it stood: +Y to its head, turned by its heading.
    pub rotation: Quat,
    /// Elevation of its view in radians.
    pub pitch: f32,
    /// How far crouched: 0 stands, 1 is down.
    pub crouch: f32,
    /// Whether it lived.
    pub alive: bool,
    /// Whether it was put here in this tick, and did not go: nothing lies between this frame and the one
    /// before.
    pub teleported: bool,
    /// Whether it fired in this tick.
    pub fired: bool,
}

impl Frame {
    /// The unit vector along which it looked.
    #[must_use]
    pub fn look(&self) -> Vec3 {
        self.rotation * (Quat::from_rotation_x(self.pitch) * Vec3::NEG_Z)
    }
}

/// A ring of frames, newest last, bounded by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    ring: VecDeque<Frame>,
    teleports: u8,
}

impl Frames {
    /// Takes in a tick. Keeps one frame that is at least `keep` ticks old, to interpolate from.
    pub fn record(&mut self, tick: Tick, pose: &PoseSample, teleports: u8, keep: i32) {
        let teleported = self.ring.back().is_some() && self.teleports != teleports;
        self.teleports = teleports;
        if self.ring.back().is_some_and(|last| !tick.is_newer_than(last.tick)) {
            return;
        }
        while self.ring.get(1).is_some_and(|second| tick.since(second.tick) >= keep) {
            self.ring.pop_front();
        }
        self.ring.push_back(Frame {
            tick,
            position: pose.position,
            velocity: pose.velocity,
            rotation: pose.rotation,
            pitch: pose.pitch,
            crouch: pose.crouch,
            alive: pose.alive,
            teleported,
            fired: false,
        });
    }

    pub fn mark_shot(&mut self) {
        if let Some(newest) = self.ring.back_mut() {
            newest.fired = true;
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.ring.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_older_than_the_limit_is_kept_and_no_more() {
        let mut frames = Frames::default();
        for tick in 0..100u32 {
            let pose = PoseSample { position: Vec3::X * tick as f32, alive: true, ..default() };
            // It was stalled for a while.
            if (50..60).contains(&tick) {
                continue;
            }
            frames.record(Tick(tick), &pose, u8::from(tick >= 90), 20);
            let second = frames.ring.get(1).map(|frame| frame.tick.0);
            assert!(second.is_none_or(|second| second + 20 > tick), "{second:?} at {tick}");
            assert!(tick < 20 || frames.ring[0].tick.0 + 20 <= tick, "none is old enough at {tick}");
        }
        frames.mark_shot();
        let teleported: Vec<_> = frames.iter().filter(|f| f.teleported).map(|f| f.tick.0).collect();
        assert_eq!(teleported, [90]);
        assert!(frames.iter().next_back().is_some_and(|newest| newest.fired));
        frames.record(Tick(99), &PoseSample::default(), 1, 20);
        assert_eq!(
            frames.iter().next_back().map(|f| f.position),
            Some(Vec3::X * 99.0),
            "a tick is recorded once"
        );
    }
}
