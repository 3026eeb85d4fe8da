//! Record of what the shooter's screen showed, the counterpart of the server's evidence.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, NetId, PoseSample, ViewStamp, ViewTime};

use crate::{drawn_query::DrawnQuery, hit_boxes::HitBoxes};

/// Record of what the shooter's screen showed near the path of a shot. It stays on the client and can be
/// overlaid with the server's [`ShotEvidence`](crate::ShotEvidence).
#[derive(Clone, Debug)]
pub struct DrawnEvidence {
    /// Network id of the shooter.
    pub shooter: NetId,
    /// Number of the shot.
    pub shot: u32,
    /// View time of the remote pawns.
    pub time: Option<ViewTime>,
    /// Origin of the shot.
    pub origin: Vec3,
    /// Unit direction of the shot.
    pub direction: Vec3,
    /// Distance in metres that the shot travelled on the screen.
    pub reach: f32,
    /// Bodies drawn near the path.
    pub bodies: Vec<DrawnBody>,
}

/// Body as a screen showed it.
#[derive(Clone, Debug)]
pub struct DrawnBody {
    /// Network id.
    pub target: NetId,
    /// Drawn pose.
    pub pose: PoseSample,
    /// Snapshots from which the pose was drawn.
    pub stamp: ViewStamp,
    /// Hit boxes.
    pub boxes: HitBoxes,
    /// Limb poses, in body space.
    pub limbs: Vec<Isometry3d>,
}

/// Bodies that this app's screen showed in the last frames. A shot that is sent in a tick shows what was
/// drawn some frames earlier. Off by default.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DrawnFrames {
    on: bool,
    // Evidence in the form in which it is recorded.
    #[reflect(ignore)]
    frames: VecDeque<(Option<ViewTime>, Vec<DrawnBody>)>,
}

impl DrawnFrames {
    const CAPACITY: usize = 32;
    /// Margin around a body's bounds within which it is recorded with a shot, in metres.
    const BESIDE: f32 = 1.0;

    /// Switches recording on or off; switching it off clears the frames.
    pub fn set_enabled(&mut self, on: bool) {
        self.on = on;
        if !on {
            self.frames.clear();
        }
    }

    /// Records the frame that was just drawn. Call it once a frame, after all pawns were posed.
    pub fn record(&mut self, time: Option<ViewTime>, query: &DrawnQuery) {
        if !self.on {
            return;
        }
        let mut bodies = if self.frames.len() >= Self::CAPACITY {
            self.frames.pop_front().map(|(_, bodies)| bodies).unwrap_or_default()
        } else {
            Vec::new()
        };
        bodies.clear();
        let mut room = LimbPoses::default();
        query.each_body(|body, stamp| {
            let (pose, boxes, limbs) = (body.pose, body.boxes.clone(), body.limbs(&mut room).to_vec());
            bodies.push(DrawnBody { target: body.id, pose, stamp, boxes, limbs });
        });
        self.frames.push_back((time, bodies));
    }

    /// Returns what was drawn near the path of a shot at its view time; `None` if that frame is no longer
    /// stored.
    #[must_use]
    pub fn evidence(
        &self,
        (shooter, shot): (NetId, u32),
        time: Option<ViewTime>,
        (origin, direction, reach): (Vec3, Vec3, f32),
    ) -> Option<DrawnEvidence> {
        let (_, bodies) = self.frames.iter().rev().find(|(drawn, _)| *drawn == time)?;
        let near = |body: &&DrawnBody| {
            let to = body.pose.position - origin;
            let aside = (to - direction * to.dot(direction).clamp(0.0, reach)).length();
            body.target != shooter && aside <= body.boxes.bounds().reach() + Self::BESIDE
        };
        let bodies = bodies.iter().filter(near).cloned().collect();
        Some(DrawnEvidence { shooter, shot, time, origin, direction, reach, bodies })
    }
}
