//! What a pawn did since it was last sent, and which of it must be sent so that a curve through the
//! snapshots is its path.

mod fit;

use std::collections::VecDeque;

use bevy::prelude::*;

use crate::{MAX_KNOTS, ProxyUpdate, Snapshot};

/// Ticks that are remembered at most between two updates: four seconds at 64 Hz.
const MAX_TICKS: usize = 256;

/// How well the curve that clients draw must follow a pawn's path. Of the sender alone: clients need not
/// know it.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct KnotConfig {
    /// How far the curve may be beside the path at a tick, in metres. Default: 6 mm. Lowering it
    /// costs bytes: what a curve misses by more is sent as an arrival velocity or as an extra
    /// snapshot.
    pub tolerance: f32,
    /// How far a heading with a known spin may be beside the truth at a tick, in radians. Default:
    /// 0.15°. Lowering it costs bytes in the same way.
    pub turn_tolerance: f32,
    /// The most extra snapshots in one update. Default and limit: [`MAX_KNOTS`]. Lowering it saves bytes
    /// on winding paths; updates once in a second then miss more of them.
    pub max_knots: usize,
}

impl Default for KnotConfig {
    fn default() -> Self {
        Self { tolerance: 0.006, turn_tolerance: 0.15f32.to_radians(), max_knots: MAX_KNOTS }
    }
}

/// What a pawn did since it was last sent. The server records every tick and sends now and then; the
/// curve between two updates then knows what happened in between. A snapshot has two velocities,
/// the one it arrived with and the one it left with, because a jump of the velocity in between (a
/// landing, a bounce, a knock-back) is where a cubic is worse than a line.
#[derive(Clone, Debug, Default)]
pub struct ProxyTrack {
    sent: Option<Snapshot>,
    ticks: VecDeque<Snapshot>,
    /// The exact velocity of the newest tick, and how fast it changed in that tick.
    velocity: Option<Vec3>,
    acceleration: Vec3,
}

/// A change of velocity faster than this, in m/s², is an impulse and says nothing about the next moment.
const IMPULSE: f32 = 80.0;

impl ProxyTrack {
    /// Takes in what a tick left. One that is no newer than the last is ignored.
    pub fn record(&mut self, snapshot: Snapshot, tick_seconds: f32) {
        self.record_exactly(snapshot, snapshot.velocity(), tick_seconds);
    }

    /// The same with the velocity as it was before it was rounded, in the space of the snapshot: its
    /// change in a single tick is an acceleration.
    pub fn record_exactly(&mut self, snapshot: Snapshot, velocity: Vec3, tick_seconds: f32) {
        let last = self.ticks.back().or(self.sent.as_ref());
        if last.is_some_and(|last| !snapshot.tick.is_newer_than(last.tick)) {
            return;
        }
        let before = last.filter(|last| last.leads_to(&snapshot));
        self.acceleration = before.zip(self.velocity).map_or(Vec3::ZERO, |(last, before)| {
            let seconds = snapshot.tick.since(last.tick).max(1) as f32 * tick_seconds;
            (velocity - before) / seconds
        });
        self.velocity = Some(velocity);
        if self.ticks.len() >= MAX_TICKS {
            self.ticks.pop_front();
        }
        self.ticks.push_back(snapshot.as_sent());
    }

    /// What to send now, as far as it was recorded. `None` when nothing new was. `tick_seconds` is the
    /// time of a tick; `accelerates` says whether the acceleration is sent as well, for pawns that are
    /// simulated to the present.
    pub fn update(
        &mut self,
        config: &KnotConfig,
        tick_seconds: f32,
        accelerates: bool,
    ) -> Option<ProxyUpdate> {
        let newest = *self.ticks.back()?;
        let path = fit::Path { ticks: self.ticks.make_contiguous(), tick_seconds };
        let mut update = match &self.sent {
            Some(sent) => fit::fit(sent, &path, config),
            None => ProxyUpdate::from(newest),
        };
        if accelerates {
            let impulse = self.acceleration.length() > IMPULSE;
            let acceleration = if impulse { Vec3::ZERO } else { self.acceleration };
            update.snapshot.acceleration = Snapshot::acceleration_units(acceleration);
        }
        self.sent = Some(update.snapshot);
        self.ticks.clear();
        Some(update)
    }
}

#[cfg(test)]
mod tests;
