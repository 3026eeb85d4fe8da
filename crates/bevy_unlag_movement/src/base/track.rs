//! Where a movement base is when. Sines come from a polynomial here: the ones in std differ from
//! platform to platform, and a base that is a bit off is a correction for everybody on it.

#[cfg(test)]
mod tests;

use core::{f64::consts::TAU, fmt};
use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::Aabb;

use super::PoseHistory;

/// A pose as a function of time alone: seconds, `tick * timestep` at the end of a tick. Relative to
/// the entity's parent, like a `Transform`.
#[derive(Clone)]
pub enum Track {
    /// Always in one place. It still counts as a base: who stands on it is relative to it.
    Still(Isometry3d),
    /// Back and forth.
    Shuttle(Shuttle),
    /// Round and round.
    Turntable(Turntable),
    /// Poses that arrived from elsewhere.
    History(PoseHistory),
    /// Any other function. It must give the same bits on every machine: no sine, cosine or power
    /// from std, and nothing that changes. Pawns look for it anywhere, so it is dearer than the
    /// others for pawns that are far away.
    Custom(Arc<dyn Fn(f64) -> Isometry3d + Send + Sync>),
}

impl Default for Track {
    fn default() -> Self {
        Self::Still(Isometry3d::IDENTITY)
    }
}

impl fmt::Debug for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Still(pose) => f.debug_tuple("Still").field(pose).finish(),
            Self::Shuttle(shuttle) => fmt::Debug::fmt(shuttle, f),
            Self::Turntable(turntable) => fmt::Debug::fmt(turntable, f),
            Self::History(history) => fmt::Debug::fmt(history, f),
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}

impl Track {
    /// Where it is at `seconds`; always finite, and the identity where the track makes no sense.
    #[must_use]
    pub fn pose(&self, seconds: f64) -> Isometry3d {
        sound(match self {
            Self::Still(pose) => *pose,
            Self::Shuttle(shuttle) => shuttle.pose(seconds),
            Self::Turntable(turntable) => turntable.pose(seconds),
            Self::History(history) => history.pose(seconds),
            Self::Custom(pose) => pose(seconds),
        })
    }

    /// A box that its position never leaves, if there is one.
    pub(crate) fn reach(&self) -> Option<Aabb> {
        match self {
            Self::Still(pose) => Some(around([Vec3::from(pose.translation)])),
            Self::Shuttle(shuttle) => Some(around([shuttle.from, shuttle.to])),
            Self::Turntable(turntable) => Some(around([turntable.pivot])),
            Self::History(history) => Some(around(history.positions())),
            Self::Custom(_) => None,
        }
        .filter(|reach| reach.mins.is_finite() && reach.maxs.is_finite())
    }
}

/// The box around `points`, or around the origin if there are none; with room for rounding.
fn around(points: impl IntoIterator<Item = Vec3>) -> Aabb {
    let mut points = points.into_iter();
    let first = points.next().unwrap_or_default();
    // Summed up as well, because minima can swallow a NaN.
    let (mins, maxs, sum) = points.fold((first, first, first), |(mins, maxs, sum), point| {
        (mins.min(point), maxs.max(point), sum + point)
    });
    let room = Vec3::splat(0.01) + sum * 0.0;
    Aabb::new(mins - room, maxs + room)
}

/// `pose` if every number in it is one, its rotation one long.
pub(crate) fn sound(pose: Isometry3d) -> Isometry3d {
    let length = pose.rotation.length_squared();
    if !pose.translation.is_finite() || !length.is_finite() || length < 1e-6 {
        return Isometry3d::IDENTITY;
    }
    // What is nearly one long stays as it is, to the bit.
    let rotation = if (length - 1.0).abs() < 1e-5 { pose.rotation } else { pose.rotation.normalize() };
    Isometry3d { rotation, ..pose }
}

/// Back and forth between two places, with a soft start and a soft stop: a lift.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shuttle {
    /// Where it waits first, in metres; default the origin.
    pub from: Vec3,
    /// Where it waits next, in metres; default the origin.
    pub to: Vec3,
    /// How it is turned, always. Default: not at all.
    pub rotation: Quat,
    /// Seconds of one way; default 4. What is not above 0 stays at [`from`](Self::from). Its top
    /// speed is 1.5 times the distance over this.
    pub travel_seconds: f32,
    /// Seconds that it waits at each end; default 1. What is below 0 counts as 0.
    pub pause_seconds: f32,
    /// Seconds that it is ahead of one that starts to wait at 0; default 0.
    pub phase_seconds: f32,
}

impl Default for Shuttle {
    fn default() -> Self {
        Self {
            from: Vec3::ZERO,
            to: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            travel_seconds: 4.0,
            pause_seconds: 1.0,
            phase_seconds: 0.0,
        }
    }
}

impl Shuttle {
    fn pose(&self, seconds: f64) -> Isometry3d {
        let part = self.part(seconds);
        let eased = part * part * (3.0 - 2.0 * part);
        let axis = |from: f32, to: f32| (f64::from(from) + (f64::from(to) - f64::from(from)) * eased) as f32;
        let place = Vec3::new(
            axis(self.from.x, self.to.x),
            axis(self.from.y, self.to.y),
            axis(self.from.z, self.to.z),
        );
        Isometry3d::new(place, self.rotation)
    }

    /// How much of the way it has gone, evenly.
    fn part(&self, seconds: f64) -> f64 {
        let travel = f64::from(self.travel_seconds);
        let pause = if self.pause_seconds > 0.0 { f64::from(self.pause_seconds) } else { 0.0 };
        let period = 2.0 * (travel + pause);
        let turns = (seconds + f64::from(self.phase_seconds)) / period;
        // Not `travel <= 0.0`: a NaN must end here as well.
        if !(travel > 0.0 && period.is_finite() && turns.is_finite()) {
            return 0.0;
        }
        let at = (turns - turns.floor()) * period;
        let there = ((at - pause) / travel).clamp(0.0, 1.0);
        let back = ((at - 2.0 * pause - travel) / travel).clamp(0.0, 1.0);
        there - back
    }
}

/// Round and round about an axis, evenly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turntable {
    /// Where it stands, in metres; default the origin.
    pub pivot: Vec3,
    /// What it turns about, counter-clockwise as seen from its tip; default +Y. Any length but
    /// zero, which counts as +Y.
    pub axis: Vec3,
    /// Default 8. What is not above 0 stands still; for the other direction turn the axis round.
    pub seconds_per_turn: f32,
    /// Turns that it is ahead; default 0.
    pub phase_turns: f32,
}

impl Default for Turntable {
    fn default() -> Self {
        Self { pivot: Vec3::ZERO, axis: Vec3::Y, seconds_per_turn: 8.0, phase_turns: 0.0 }
    }
}

impl Turntable {
    fn pose(&self, seconds: f64) -> Isometry3d {
        let period = f64::from(self.seconds_per_turn);
        let turned = seconds / period;
        let turned = if period > 0.0 && turned.is_finite() { turned } else { 0.0 };
        let phase = if self.phase_turns.is_finite() { f64::from(self.phase_turns) } else { 0.0 };
        let turns = turned + phase;
        let (sin, cos) = sin_cos_of_turns((turns - turns.floor()) * 0.5);
        let axis = self.axis.try_normalize().unwrap_or(Vec3::Y) * sin as f32;
        Isometry3d::new(self.pivot, Quat::from_xyzw(axis.x, axis.y, axis.z, cos as f32))
    }
}

/// Sine and cosine of an angle in turns, correct to a billionth.
fn sin_cos_of_turns(turns: f64) -> (f64, f64) {
    let turns = turns - turns.floor();
    // To the nearest quarter and -45°..45°.
    let quarter = (turns * 4.0 + 0.5).floor();
    let x = (turns - quarter * 0.25) * TAU;
    let q = x * x;
    let sin =
        x * (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 * (1.0 - q / 110.0)))));
    let cos = 1.0 - q / 2.0 * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0 * (1.0 - q / 90.0))));
    match quarter as u8 {
        1 => (cos, -sin),
        2 => (-sin, -cos),
        3 => (-cos, sin),
        _ => (sin, cos),
    }
}
