//! Authoritative poses of a pawn in its last ticks.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{PoseSample, Tick};

/// Authoritative pose of a pawn at the end of a tick, whether or not it was sent to a client. Shots are
/// not tested against it, because no screen showed it. Corresponds to Unreal Tournament's
/// `FSavedPosition`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[doc(alias("FSavedPosition", "FFramePackage", "SavedPosition", "LagRecord"))]
pub struct Frame {
    /// Server tick.
    pub tick: Tick,
    /// Position of the root, in metres.
    pub position: Vec3,
    /// Velocity, in metres per second.
    pub velocity: Vec3,
    /// Orientation: +Y points to the head, yaw turns around it.
    pub rotation: Quat,
    /// Pitch of the view, in radians.
    pub pitch: f32,
    /// Crouch fraction: 0 is standing, 1 is fully crouched.
    pub crouch: f32,
    /// Whether the pawn was alive.
    pub alive: bool,
    /// Whether the pawn was teleported in this tick. There is nothing to interpolate between this frame
    /// and the previous one.
    pub teleported: bool,
    /// Whether the pawn fired in this tick.
    pub fired: bool,
}

impl Frame {
    /// Returns the unit vector along which the pawn looked.
    #[must_use]
    pub fn look(&self) -> Vec3 {
        self.rotation * (Quat::from_rotation_x(self.pitch) * Vec3::NEG_Z)
    }
}

/// Ring buffer of frames, newest last, bounded by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameRing {
    ring: VecDeque<Frame>,
    teleports: u8,
}

impl FrameRing {
    /// Records a tick and drops frames older than `keep` ticks, except for one, which is needed for
    /// interpolation.
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
    fn ring_keeps_exactly_one_frame_older_than_the_limit() {
        let mut frames = FrameRing::default();
        for tick in 0..100u32 {
            let pose = PoseSample { position: Vec3::X * tick as f32, alive: true, ..default() };
            // Ticks 50 to 59 are missing, as after a stall.
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
