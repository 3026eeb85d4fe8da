//! Path of a scheduled base: a bounded list of legs between poses, in integer ticks.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError};

use crate::base::track::{between, sanitised, smooth_step};

/// Number of ticks after which their count starts over.
const WRAP: f64 = 4_294_967_296.0;
/// Maximum coordinate of a pose, in metres.
const MAX_COORDINATE: f32 = 100_000.0;
/// Bits of the number of legs.
const LENGTH_BITS: u32 = 5;

/// Motion from one pose to another; a jump if it takes no time.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
struct Leg {
    start: Tick,
    ticks: u16,
    from: Isometry3d,
    to: Isometry3d,
}

impl Leg {
    /// Returns the pose a number of ticks after the start, which is not negative.
    fn pose(&self, since: f64) -> Isometry3d {
        if since >= f64::from(self.ticks) {
            return self.to;
        }
        let part = smooth_step(since / f64::from(self.ticks));
        let place = between(self.from.translation.into(), self.to.translation.into(), part);
        let turns = self.from.rotation != self.to.rotation;
        let rotation =
            if turns { self.from.rotation.lerp(self.to.rotation, part as f32) } else { self.to.rotation };
        Isometry3d::new(place, rotation)
    }
}

/// Returns the ticks from `start` to `now`, negative if `now` is the earlier one. Correct across the wrap for
/// distances below 2³¹.
fn ticks_since(now: f64, start: Tick) -> f64 {
    let ticks = now - f64::from(start.0);
    ticks - (ticks / WRAP).round() * WRAP
}

/// Returns whether a base may have this pose.
pub(super) fn is_plausible(pose: &Isometry3d) -> bool {
    pose.translation.is_finite()
        && pose.translation.abs().max_element() <= MAX_COORDINATE
        && (0.25..=4.0).contains(&pose.rotation.length_squared())
}

/// Poses of a base over time: a pure function of integer ticks, the same bits on all machines.
#[derive(Clone, PartialEq, Debug, Default, Reflect)]
pub(super) struct SchedulePath {
    /// Pose before the first leg, which starts from it.
    origin: Isometry3d,
    /// In the order of their starts, no two of which are equal.
    legs: VecDeque<Leg>,
}

impl SchedulePath {
    /// Maximum number of legs; a new one replaces the oldest.
    pub(super) const MAX_LEGS: usize = 16;

    /// Creates a path that stays at one pose.
    pub(super) fn at(origin: Isometry3d) -> Self {
        Self { origin: sanitised(origin), legs: VecDeque::new() }
    }

    /// Returns the pose at a moment in ticks.
    pub(super) fn pose(&self, now: f64) -> Isometry3d {
        for leg in self.legs.iter().rev() {
            let since = ticks_since(now, leg.start);
            if since >= 0.0 {
                return leg.pose(since);
            }
        }
        self.origin
    }

    /// Returns the pose at the end of the path.
    pub(super) fn destination(&self) -> Isometry3d {
        self.legs.back().map_or(self.origin, |leg| leg.to)
    }

    /// Returns the start of the newest leg.
    pub(super) fn last_start(&self) -> Option<Tick> {
        self.legs.back().map(|leg| leg.start)
    }

    /// Returns whether the path has ended at a moment in ticks.
    pub(super) fn is_over(&self, now: f64) -> bool {
        self.legs.back().is_none_or(|leg| ticks_since(now, leg.start) >= f64::from(leg.ticks))
    }

    /// Returns all poses between which the path leads.
    pub(super) fn stops(&self) -> impl Iterator<Item = Vec3> {
        let stops = self.legs.iter().flat_map(|leg| [leg.from, leg.to]);
        core::iter::once(self.origin).chain(stops).map(|pose| pose.translation.into())
    }

    /// Adds a leg from wherever the base is at `start`. Returns whether it is valid: it starts after all others.
    pub(super) fn push(&mut self, start: Tick, ticks: u16, to: Isometry3d) -> bool {
        if self.last_start().is_some_and(|last| !start.is_newer_than(last)) {
            return false;
        }
        let from = self.pose(f64::from(start.0));
        if self.legs.len() >= Self::MAX_LEGS {
            self.remove_oldest();
        }
        self.legs.push_back(Leg { start, ticks, from, to: sanitised(to) });
        true
    }

    /// Removes legs that another one had replaced before `tick`.
    pub(super) fn remove_before(&mut self, tick: Tick) {
        while self.legs.get(1).is_some_and(|second| tick.is_newer_than(second.start)) {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        self.legs.pop_front();
        if let Some(first) = self.legs.front() {
            self.origin = first.from;
        }
    }
}

/// Writes a pose for a reader that knows `before`.
fn write_pose(pose: &Isometry3d, before: &Isometry3d, w: &mut BitWriter) {
    Vec3::from(pose.translation).write_delta(&Vec3::from(before.translation), w);
    Vec4::from(pose.rotation).write_delta(&Vec4::from(before.rotation), w);
}

fn read_pose(before: &Isometry3d, r: &mut BitReader<'_>) -> Result<Isometry3d, WireError> {
    let place = Vec3::read_delta(&Vec3::from(before.translation), r)?;
    let turn = Vec4::read_delta(&Vec4::from(before.rotation), r)?;
    let pose = Isometry3d::new(place, Quat::from_vec4(turn));
    if is_plausible(&pose) { Ok(sanitised(pose)) } else { Err(WireError::Invalid) }
}

/// Poses travel with all their bits, and the reader computes where each leg starts as the writer did: both get the
/// same bits at any time. At most 580 bytes; 32 for a lift that was called once.
impl Wire for SchedulePath {
    fn write(&self, w: &mut BitWriter) {
        write_pose(&self.origin, &Isometry3d::IDENTITY, w);
        w.bits(self.legs.len() as u32, LENGTH_BITS);
        let mut before = self.origin;
        for leg in &self.legs {
            leg.start.write(w);
            w.bits(u32::from(leg.ticks), 16);
            write_pose(&leg.to, &before, w);
            before = leg.to;
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut path = Self::at(read_pose(&Isometry3d::IDENTITY, r)?);
        let legs = r.bits(LENGTH_BITS)? as usize;
        if legs > Self::MAX_LEGS {
            return Err(WireError::Invalid);
        }
        for _ in 0..legs {
            let (start, ticks) = (Tick::read(r)?, r.bits(16)? as u16);
            let to = read_pose(&path.destination(), r)?;
            if !path.push(start, ticks, to) {
                return Err(WireError::Invalid);
            }
        }
        Ok(path)
    }
}
