//! Recorder of a pawn's path between two updates, and selection of the snapshots that must be sent so that a
//! curve through them follows that path, also on clients that lose an update.

mod fit;

use std::collections::VecDeque;

use bevy::prelude::*;

use crate::{
    proxy_update::{MAX_PATH_KNOTS, ProxyUpdate},
    sampler::PoseSampler,
    snapshot::Snapshot,
    tick::Tick,
};

/// Maximum number of ticks recorded since the update before the last: four seconds at 64 Hz.
const MAX_TICKS: usize = 256;

/// Accuracy with which the curve on clients must follow a pawn's path. Only the sender uses it; clients need
/// no matching value.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct PathKnotConfig {
    /// Maximum distance of the curve from the path at a tick, in metres. Default: 0.006 (6 mm). Lowering it
    /// costs bytes: larger errors are corrected by sending an arrival velocity or a path knot.
    pub tolerance: f32,
    /// Maximum error of a heading with a known spin at a tick, in radians. Default: 0.15°. Lowering it costs
    /// bytes in the same way.
    pub turn_tolerance: f32,
    /// Maximum number of path knots in one update. Default and upper limit: [`MAX_PATH_KNOTS`]. Lowering it
    /// saves bytes on winding paths and increases the error of pawns that are sent only once a second.
    pub max_knots: usize,
    /// Maximum distance of the curve from the path on a client that lost one update, in metres; a heading with a known
    /// spin may be off by as many times its tolerance. Where the curve would be further off, every update also brings
    /// the one before it. Default: 0.04 (4 cm). Lowering it costs bytes, most where updates are far apart. With
    /// [`f32::INFINITY`] only teleports, deaths and changes of the movement base are sent again.
    pub lost_update_tolerance: f32,
    /// Mean acceleration since the update before, in m/s², beyond which an update is sent twice, in this tick and the
    /// next: a client that loses the first extrapolates the pawn too far off until it has the second. Ordinary gravity
    /// of a falling pawn does not count. Default: 24, a little more than that of a walking capsule. Lowering it
    /// costs bytes. [`f32::INFINITY`] repeats only teleports, deaths and changes of the movement base. Pawns that are
    /// sent in every tick are never sent twice, and neither are more than 32 of a client in a tick.
    pub repeat_acceleration: f32,
}

impl Default for PathKnotConfig {
    fn default() -> Self {
        Self {
            tolerance: 0.006,
            turn_tolerance: 0.15f32.to_radians(),
            max_knots: MAX_PATH_KNOTS,
            lost_update_tolerance: 0.04,
            repeat_acceleration: 24.0,
        }
    }
}

/// Recorder of a pawn's path since its last updates.
///
/// The server records every tick but sends only some; the curve between two updates then still reflects what
/// happened in between. A snapshot has two velocities, the arrival and the departure velocity, because a
/// cubic is worse than a line across a jump of the velocity (a landing, a bounce, a knock-back).
#[derive(Clone, Debug, Default)]
pub struct PathRecorder {
    /// Newest snapshot of the update before the last.
    before_last: Option<Snapshot>,
    last: Option<ProxyUpdate>,
    /// Ticks since `before_last`, and how many of them are up to the last update.
    ticks: VecDeque<Snapshot>,
    sent_ticks: usize,
    /// Exact velocity of the newest tick, and its change in that tick.
    velocity: Option<Vec3>,
    acceleration: Vec3,
    /// Whether the newest tick and the one before were in free fall.
    falls: bool,
    /// Whether a client cannot foresee the last update.
    is_unexpected: bool,
}

/// Acceleration in m/s² above which it counts as an impulse, which says nothing about the next moment.
const IMPULSE: f32 = 80.0;
/// Difference in m/s² between the gravity that screens assume and the actual one beyond which the actual one is
/// sent: 8 mm after an eighth of a second.
const OTHER_GRAVITY: f32 = 1.0;

impl PathRecorder {
    /// Records the state of a tick. Ignored if it is not newer than the last one.
    pub fn record(&mut self, snapshot: Snapshot, tick_seconds: f32) {
        self.record_exactly(snapshot, snapshot.velocity(), tick_seconds);
    }

    /// Records the state of a tick with its unrounded velocity, in the space of the snapshot. The change of
    /// the velocity within a single tick is the acceleration.
    pub fn record_exactly(&mut self, snapshot: Snapshot, velocity: Vec3, tick_seconds: f32) {
        // The ticks of the last update are kept.
        let last = self.ticks.back();
        if last.is_some_and(|last| !snapshot.tick.is_newer_than(last.tick)) {
            return;
        }
        let before = last.filter(|last| last.is_continuous_with(&snapshot));
        self.acceleration = before.zip(self.velocity).map_or(Vec3::ZERO, |(last, before)| {
            let seconds = snapshot.tick.since(last.tick).max(1) as f32 * tick_seconds;
            (velocity - before) / seconds
        });
        self.falls = snapshot.falling && before.is_some_and(|last| last.falling);
        self.velocity = Some(velocity);
        if self.ticks.len() >= MAX_TICKS {
            self.ticks.pop_front();
            self.sent_ticks = self.sent_ticks.saturating_sub(1);
        }
        self.ticks.push_back(snapshot.quantised());
    }

    /// Returns whether the last update should be sent again in the next tick: a client that did not receive it would
    /// draw the pawn elsewhere until the update after it. See [`PathKnotConfig::repeat_acceleration`].
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        self.is_unexpected
    }

    /// Returns the newest recorded tick.
    #[must_use]
    pub fn newest(&self) -> Option<Tick> {
        self.ticks.back().map(|newest| newest.tick)
    }

    /// Returns the last update; `None` before the first.
    #[must_use]
    pub fn last_update(&self) -> Option<&ProxyUpdate> {
        self.last.as_ref()
    }

    /// Returns the update to send now, or `None` if nothing was recorded since the last one.
    ///
    /// `tick_seconds` is the duration of a tick. `accelerates`: whether to send the acceleration as well,
    /// for pawns that are simulated to the server's present.
    pub fn update(
        &mut self,
        config: &PathKnotConfig,
        tick_seconds: f32,
        accelerates: bool,
    ) -> Option<ProxyUpdate> {
        self.update_for(config, &PoseSampler { tick_seconds, ..PoseSampler::default() }, accelerates)
    }

    /// Returns the update to send now like [`update`](Self::update), to be drawn with this sampler. A pawn whose fall
    /// is not that of [`PoseSampler::gravity`], because of its class or the place, is sent with its acceleration along
    /// its up direction: three bytes.
    pub fn update_for(
        &mut self,
        config: &PathKnotConfig,
        sampler: &PoseSampler,
        accelerates: bool,
    ) -> Option<ProxyUpdate> {
        if self.ticks.len() == self.sent_ticks {
            return None;
        }
        let tick_seconds = sampler.tick_seconds;
        let newest = *self.ticks.back()?;
        let ticks: &[Snapshot] = self.ticks.make_contiguous();
        let new_path = fit::Path { ticks: &ticks[self.sent_ticks..], tick_seconds };
        let mut update = match &self.last {
            Some(last) => fit::fit(&last.snapshot, &new_path, config),
            None => ProxyUpdate::from(newest),
        };
        // A client that lost the last update draws a curve from the one before it.
        if let Some((before, last)) = self.before_last.as_ref().zip(self.last.as_ref()) {
            let path = fit::Path { ticks, tick_seconds };
            let next = update.knots().first().unwrap_or(&update.snapshot);
            if !path.is_spanned(before, next, config) {
                update = update.resending(last);
            }
        }
        let impulse = self.acceleration.length() > IMPULSE;
        if accelerates {
            let acceleration = if impulse { Vec3::ZERO } else { self.acceleration };
            update.snapshot.acceleration = Snapshot::acceleration_units(acceleration);
        } else if self.falls && !impulse && sampler.gravity != 0.0 && newest.base == 0 {
            fall_as(&mut update.snapshot, self.acceleration, sampler.gravity);
        }
        self.is_unexpected = self.last.is_some_and(|last| {
            newest.tick.since(last.snapshot.tick) > 1
                && !is_expected(&last.snapshot, &newest, config, sampler)
        });
        self.before_last = self.last.map(|last| last.snapshot);
        self.last = Some(update);
        self.ticks.drain(..self.sent_ticks);
        self.sent_ticks = self.ticks.len();
        Some(update)
    }
}

/// Returns whether a client that did not receive `newest` extrapolates the pawn to about the same place.
fn is_expected(last: &Snapshot, newest: &Snapshot, config: &PathKnotConfig, sampler: &PoseSampler) -> bool {
    let ticks = newest.tick.since(last.tick) as f32;
    let seconds = ticks * sampler.tick_seconds;
    let off = sampler.ahead(last, ticks).position.distance(newest.position());
    last.is_continuous_with(newest) && off * 2.0 <= config.repeat_acceleration * seconds * seconds
}

/// Gives the snapshot of a falling pawn its actual gravity, unless screens assume about as much.
fn fall_as(snapshot: &mut Snapshot, acceleration: Vec3, ordinary: f32) {
    let up = snapshot.up.direction();
    let actual = acceleration.dot(up);
    let known = snapshot.acceleration != [0; 3];
    let assumed = if known { snapshot.acceleration().dot(up) } else { -ordinary };
    if (actual - assumed).abs() > OTHER_GRAVITY {
        snapshot.acceleration = Snapshot::acceleration_units(up * actual);
        // An acceleration that rounds to nothing would stand for ordinary gravity.
        snapshot.falling = snapshot.acceleration != [0; 3];
    }
}

#[cfg(test)]
mod tests;
