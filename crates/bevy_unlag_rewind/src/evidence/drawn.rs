//! What a screen showed when a shot was fired: the other half of the picture.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, NetId, PoseSample, ViewStamp, ViewTime};

use crate::{DrawnQuery, HitBoxes};

/// What the shooter's screen showed near the way of a shot. It stays on the client: the server has its own
/// [`ShotEvidence`](crate::ShotEvidence), and the two can be laid over each other.
#[derive(Clone, Debug)]
pub struct DrawnEvidence {
    /// Who fired.
    pub shooter: NetId,
    /// The shot's name.
    pub shot: u32,
    /// The moment at which the screen showed everyone else.
    pub time: Option<ViewTime>,
    /// Where the shot started.
    pub origin: Vec3,
    /// Where it went, one long.
    pub direction: Vec3,
    /// How far the screen showed it going, in metres.
    pub reach: f32,
    /// Everybody who was drawn near its way.
    pub bodies: Vec<DrawnBody>,
}

/// Somebody as a screen showed it.
#[derive(Clone, Debug)]
pub struct DrawnBody {
    /// Who.
    pub target: NetId,
    /// Where.
    pub pose: PoseSample,
    /// How that came about.
    pub stamp: ViewStamp,
    /// What can be hit of it.
    pub boxes: HitBoxes,
    /// Its limbs, in the space of its body.
    pub limbs: Vec<Isometry3d>,
}

/// What this app's screen showed in its last frames: a shot that leaves in a tick shows what was drawn some
/// frames before. Off until it is switched on.
#[derive(Resource, Clone, Debug, Default)]
pub struct DrawnFrames {
    on: bool,
    frames: VecDeque<(Option<ViewTime>, Vec<DrawnBody>)>,
}

impl DrawnFrames {
    const CAPACITY: usize = 32;
    /// Who is drawn further from the way of a shot than its bounds and this is not part of the picture, in
    /// metres.
    const BESIDE: f32 = 1.0;

    /// Switches it on or off; off, it forgets.
    pub fn switch(&mut self, on: bool) {
        self.on = on;
        if !on {
            self.frames.clear();
        }
    }

    /// Takes in what was just drawn. Call it once a frame, after everybody was posed.
    pub fn note(&mut self, time: Option<ViewTime>, query: &DrawnQuery) {
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

    /// What was drawn near the way of a shot at the moment that the shot says; `None` when that is not
    /// remembered.
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
