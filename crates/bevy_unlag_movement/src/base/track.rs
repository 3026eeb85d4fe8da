//! Poses of movement bases as functions of time.
//!
//! Sines come from a polynomial: those in std differ between platforms, and a base that is slightly off
//! causes a correction for every pawn on it.

#[cfg(test)]
mod tests;

use core::{f64::consts::TAU, fmt};
use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::Aabb;
use bevy_unlag_core::with_defaults;

use super::{BaseSchedule, PoseHistory};

/// The function of a reflected track: a function has no value that could be shown or set.
fn unmoved() -> Arc<dyn Fn(f64) -> Isometry3d + Send + Sync> {
    Arc::new(|_| Isometry3d::IDENTITY)
}

/// Pose as a function of time alone. The time is in seconds: `tick * timestep` at the end of a tick. The
/// pose is relative to the entity's parent, like a `Transform`.
#[derive(Clone, Reflect)]
#[reflect(Debug, Default)]
pub enum BaseTrack {
    /// A constant pose. It still counts as a base: positions of pawns on it are relative to it.
    Still(Isometry3d),
    /// Moves back and forth between two places.
    Shuttle(Shuttle),
    /// Rotates about an axis.
    Turntable(Turntable),
    /// Moves on command of the server, such as a lift that is called by a button.
    Scheduled(BaseSchedule),
    /// Poses that arrived from elsewhere, such as a server.
    History(PoseHistory),
    /// Any other function. It must give the same bits on all machines: no sine, cosine or power from
    /// std, and no changing state. It has no known bounds, so it makes steps of distant pawns more
    /// expensive than the other tracks.
    Custom(#[reflect(ignore, default = "unmoved")] Arc<dyn Fn(f64) -> Isometry3d + Send + Sync>),
}

impl Default for BaseTrack {
    fn default() -> Self {
        Self::Still(Isometry3d::IDENTITY)
    }
}

impl fmt::Debug for BaseTrack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Still(pose) => f.debug_tuple("Still").field(pose).finish(),
            Self::Shuttle(shuttle) => fmt::Debug::fmt(shuttle, f),
            Self::Turntable(turntable) => fmt::Debug::fmt(turntable, f),
            Self::Scheduled(schedule) => fmt::Debug::fmt(schedule, f),
            Self::History(history) => fmt::Debug::fmt(history, f),
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}

impl BaseTrack {
    /// Returns the pose at `seconds`. It is always finite; an invalid pose becomes the identity.
    #[must_use]
    pub fn pose(&self, seconds: f64) -> Isometry3d {
        sanitised(match self {
            Self::Still(pose) => *pose,
            Self::Shuttle(shuttle) => shuttle.pose(seconds),
            Self::Turntable(turntable) => turntable.pose(seconds),
            Self::Scheduled(schedule) => schedule.pose(seconds),
            Self::History(history) => history.pose(seconds),
            Self::Custom(pose) => pose(seconds),
        })
    }

    /// Returns a box that contains all positions of the track, if it is bounded.
    pub(crate) fn bounds(&self) -> Option<Aabb> {
        match self {
            Self::Still(pose) => Some(aabb_of_points([Vec3::from(pose.translation)])),
            Self::Shuttle(shuttle) => Some(aabb_of_points([shuttle.from, shuttle.to])),
            Self::Turntable(turntable) => Some(aabb_of_points([turntable.pivot])),
            Self::Scheduled(schedule) => Some(aabb_of_points(schedule.positions())),
            Self::History(history) => Some(aabb_of_points(history.positions().chain([history.furthest()]))),
            Self::Custom(_) => None,
        }
        .filter(|bounds| bounds.mins.is_finite() && bounds.maxs.is_finite())
    }
}

/// Returns the box around `points`, or around the origin if there are none, with a margin for rounding.
fn aabb_of_points(points: impl IntoIterator<Item = Vec3>) -> Aabb {
    let mut points = points.into_iter();
    let first = points.next().unwrap_or_default();
    // The sum carries a NaN that minima and maxima can swallow.
    let (mins, maxs, sum) = points.fold((first, first, first), |(mins, maxs, sum), point| {
        (mins.min(point), maxs.max(point), sum + point)
    });
    let room = Vec3::splat(0.01) + sum * 0.0;
    Aabb::new(mins - room, maxs + room)
}

/// Returns `pose` with a normalised rotation, or the identity if a number in it is not finite.
pub(crate) fn sanitised(pose: Isometry3d) -> Isometry3d {
    let length = pose.rotation.length_squared();
    if !pose.translation.is_finite() || !length.is_finite() || length < 1e-6 {
        return Isometry3d::IDENTITY;
    }
    // A rotation that is nearly normalised stays as it is, bit by bit.
    let rotation = if (length - 1.0).abs() < 1e-5 { pose.rotation } else { pose.rotation.normalize() };
    Isometry3d { rotation, ..pose }
}

/// Returns the part of a way with a soft start and a soft stop that is done after a part of the time.
pub(crate) fn smooth_step(part: f64) -> f64 {
    part * part * (3.0 - 2.0 * part)
}

/// Returns the point after a part of the way between two.
pub(crate) fn between(from: Vec3, to: Vec3, part: f64) -> Vec3 {
    let axis = |from: f32, to: f32| (f64::from(from) + (f64::from(to) - f64::from(from)) * part) as f32;
    Vec3::new(axis(from.x, to.x), axis(from.y, to.y), axis(from.z, to.z))
}

with_defaults! {
    /// Motion back and forth between two places with a smooth start and stop, such as a lift.
    #[doc(alias = "UInterpToMovementComponent")]
    #[derive(Clone, Copy, PartialEq, Debug, Reflect)]
    pub struct Shuttle {
        /// First stop, in metres; default the origin.
        pub from: Vec3 = Vec3::ZERO;
        /// Second stop, in metres; default the origin.
        pub to: Vec3 = Vec3::ZERO;
        /// Constant rotation. Default: the identity.
        pub rotation: Quat = Quat::IDENTITY;
        /// Duration of one way in seconds; default 4. At 0 or below the base stays at [`from`](Self::from).
        /// The top speed is 1.5 times the distance divided by this.
        pub travel_seconds: f32 = 4.0;
        /// Duration of the pause at each stop in seconds; default 1. Negative values count as 0.
        pub pause_seconds: f32 = 1.0;
        /// Time in seconds by which this base is ahead of one that starts its first pause at 0; default 0.
        pub phase_seconds: f32 = 0.0;
    }
}

impl Shuttle {
    fn pose(&self, seconds: f64) -> Isometry3d {
        let part = smooth_step(self.travelled_fraction(seconds));
        Isometry3d::new(between(self.from, self.to, part), self.rotation)
    }

    /// Returns the linear fraction of the way, before easing.
    fn travelled_fraction(&self, seconds: f64) -> f64 {
        let travel = f64::from(self.travel_seconds);
        let pause = if self.pause_seconds > 0.0 { f64::from(self.pause_seconds) } else { 0.0 };
        let period = 2.0 * (travel + pause);
        let turns = (seconds + f64::from(self.phase_seconds)) / period;
        // Not `travel <= 0.0`: a NaN must return here as well.
        if !(travel > 0.0 && period.is_finite() && turns.is_finite()) {
            return 0.0;
        }
        let at = (turns - turns.floor()) * period;
        let there = ((at - pause) / travel).clamp(0.0, 1.0);
        let back = ((at - 2.0 * pause - travel) / travel).clamp(0.0, 1.0);
        there - back
    }
}

/// Rotation about an axis at a constant rate.
#[doc(alias = "func_rotating")]
#[doc(alias = "URotatingMovementComponent")]
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct Turntable {
    /// Position in metres; default the origin.
    pub pivot: Vec3,
    /// Axis of rotation, counter-clockwise as seen from its tip; default +Y. It may have any length;
    /// zero counts as +Y.
    pub axis: Vec3,
    /// Duration of one turn in seconds; default 8. At 0 or below the base stands still. To turn in the
    /// other direction, negate the axis.
    pub seconds_per_turn: f32,
    /// Initial rotation in turns; default 0.
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

/// Returns sine and cosine of an angle in turns, accurate to 1e-9.
fn sin_cos_of_turns(turns: f64) -> (f64, f64) {
    let turns = turns - turns.floor();
    // Reduces the angle to the nearest quarter and a rest in -45° to 45°.
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
