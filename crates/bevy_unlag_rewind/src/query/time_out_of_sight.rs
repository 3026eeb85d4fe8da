//! Time for which a victim has been out of the shooter's sight.

use bevy::prelude::*;
use bevy_unlag_core::{LimbPoses, PoseSample, ViewTime};

use super::{Rewound, rewound::StoredTarget};
use crate::{
    frame::Frame,
    query_result::{Miss, TargetHit},
    view::RewindTime,
};

/// Distance in metres from the centre of a hit box at which obstruction tests end.
const NEAR: f32 = 0.02;

impl Rewound<'_, '_, '_> {
    /// Returns the hit, or [`Miss::InCover`] if cover protection applies to its victim.
    pub(crate) fn unless_in_cover(&self, origin: Vec3, hit: TargetHit) -> Result<TargetHit, Miss> {
        let Some(rule) = self.moment.limits.cover else { return Ok(hit) };
        let protects = |hidden| rule.protects(hidden, self.query.sampler.tick_seconds);
        if self.hidden(origin, &hit).is_some_and(protects) { Err(Miss::InCover(hit.target)) } else { Ok(hit) }
    }

    /// Returns the ticks for which the victim had been out of sight when the shot arrived, or as many as
    /// are enough for protection. `None` if the rule does not apply.
    pub(super) fn hidden(&self, origin: Vec3, hit: &TargetHit) -> Option<i32> {
        let rule = self.moment.limits.cover?;
        let (query, arrived) = (self.query, self.moment.arrived);
        let tick_seconds = query.sampler.tick_seconds;
        let slot = query.table.named(hit.target)?;
        let known = self.known(slot).filter(|known| known.place.entity == hit.entity)?;
        let (_, seen) = self.moment.pose(&known.target, &query.sampler, &self.bases).ok()?;
        if !rule.concerns(ViewTime::at(arrived).since(seen?), tick_seconds) {
            return None;
        }
        let shooter = self.filter.exclude.and_then(|shooter| query.pawns.get(shooter).ok());
        let shooter = shooter.map(|(_, history, ..)| history);
        let stands = shooter.and_then(|shooter| shooter.frames().next_back()).map(|frame| frame.position);
        let mut eyes = shooter.map(|shooter| shooter.frames().rev().peekable());
        let mut room = LimbPoses::default();
        let mut hidden = 0;
        // Time that the shot was queued after its arrival does not count in the victim's favour.
        let frames = known.target.history.frames().rev();
        for frame in frames.skip_while(|frame| frame.tick.is_newer_than(arrived)) {
            let eye = eyes.as_mut().zip(stands).map_or(origin, |(eyes, stands)| {
                while eyes.next_if(|own| own.tick.is_newer_than(frame.tick)).is_some() {}
                origin + eyes.peek().map_or(Vec3::ZERO, |own| own.position - stands)
            });
            // Doors are posed as they were in that tick, too.
            let then = query.at(RewindTime::At(ViewTime::at(frame.tick))).ok()?;
            if !frame.alive || then.sees(eye, &known, frame, &mut room) {
                break;
            }
            hidden = arrived.since(frame.tick);
            if rule.protects(hidden, tick_seconds) {
                break;
            }
        }
        Some(hidden)
    }

    /// Returns whether any part of a victim, as it was in a frame, is visible from an eye.
    fn sees(&self, eye: Vec3, victim: &StoredTarget<'_>, frame: &Frame, room: &mut LimbPoses) -> bool {
        let StoredTarget { place, target, .. } = *victim;
        let time = ViewTime::at(frame.tick);
        let pose = PoseSample {
            position: frame.position,
            velocity: frame.velocity,
            rotation: frame.rotation,
            pitch: frame.pitch,
            crouch: frame.crouch,
            alive: true,
            ..default()
        };
        let body = place.body(target.history, pose, (Some(time), frame.tick));
        body.shapes(room).any(|(_, _, pose)| {
            let way = Vec3::from(pose.translation) - eye;
            let distance = way.length();
            distance <= NEAR || self.first_obstacle(eye, way / distance, distance - NEAR).is_none()
        })
    }
}
