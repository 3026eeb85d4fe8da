//! Interpolation between two updates of any value.

use core::f32::consts::{PI, TAU};

use bevy::prelude::*;

use crate::hermite::HermiteWeights;

/// Interpolation method between two updates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Reflect)]
pub enum Interpolation {
    /// Holds the older update. For comparison.
    Step,
    /// Interpolates linearly, and by slerp for rotations. For comparison.
    Linear,
    /// Uses a cubic with the velocities as tangents: velocity × time between the updates.
    #[doc(alias = "CubicInterp")]
    #[default]
    Hermite,
}

/// Interval between two updates, and the requested point within it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InterpolationSpan {
    /// Fraction of the interval, from 0 at the older update to 1 at the newer one.
    pub fraction: f32,
    /// Seconds between the updates.
    pub seconds: f32,
    /// Interpolation method.
    pub interpolation: Interpolation,
}

/// A value that is drawn between its updates: a component of the game, or a part of a pawn's pose.
///
/// An implementation must be pure, exact at both ends (except for [`Interpolation::Step`] at the newer one),
/// and finite for finite values.
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait Interpolate: Copy {
    /// Returns the value within a span.
    #[must_use]
    fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self;

    /// Returns the value `seconds` after the newest update, while the next one is late. `seconds` is at most
    /// [`PoseSampler::max_extrapolation`](crate::PoseSampler::max_extrapolation). Default: the
    /// value is held.
    #[must_use]
    fn extrapolate(&self, seconds: f32) -> Self {
        *self
    }

    /// Returns whether values between this one and `next` are meaningful. Default: `true`. Return `false`
    /// across a teleport; the older value then holds until the moment of the newer one.
    #[must_use]
    fn continues_to(&self, next: &Self) -> bool {
        true
    }
}

macro_rules! interpolate_by_lerp {
    ($($type:ty),*) => {$(
        impl Interpolate for $type {
            fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self {
                match span.interpolation {
                    Interpolation::Step => *from,
                    // Equal ends must not be subject to rounding.
                    _ if from == to => *from,
                    _ => *from + (*to - *from) * span.fraction,
                }
            }
        }
    )*};
}

interpolate_by_lerp!(f32, Vec2, Vec3);

/// Interpolates along the shorter arc.
impl Interpolate for Quat {
    fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self {
        if span.interpolation == Interpolation::Step { *from } else { from.slerp(*to, span.fraction) }
    }
}

/// A position and its velocity. The interpolated velocity is the derivative of the interpolated position.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinearMotion {
    /// Metres.
    pub position: Vec3,
    /// Metres per second: the departure velocity of an older update, the arrival velocity of a newer one.
    /// They differ where the pawn hit something.
    pub velocity: Vec3,
}

/// Speed in metres per second below which a value counts as at rest.
const REST: f32 = 0.02;

impl LinearMotion {
    /// Limits a tangent so that a cubic that ends or starts at rest does not overshoot and come back.
    ///
    /// Such a curve is monotone if the other tangent is at most three times the distance (Fritsch and
    /// Carlson, 1980). The limit matters most where updates were lost.
    fn eased(tangent: Vec3, way: Vec3, other_velocity: Vec3) -> Vec3 {
        if other_velocity.length_squared() > REST * REST {
            return tangent;
        }
        let along = way.normalize_or_zero();
        let forward = tangent.dot(along);
        tangent - along * (forward - forward.min(3.0 * way.length()))
    }
}

impl Interpolate for LinearMotion {
    fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self {
        let (t, seconds) = (span.fraction, span.seconds.max(f32::MIN_POSITIVE));
        let way = to.position - from.position;
        match span.interpolation {
            Interpolation::Step => *from,
            Interpolation::Linear => Self { position: from.position + way * t, velocity: way / seconds },
            Interpolation::Hermite => {
                let ta = Self::eased(from.velocity * span.seconds, way, to.velocity);
                let tb = Self::eased(to.velocity * span.seconds, way, from.velocity);
                // Offsets from one end, so that a pawn at rest far from the origin does not jitter.
                let moved = HermiteWeights::place(t).of(way, ta, tb);
                let slope = HermiteWeights::slope(t).of(way, ta, tb);
                let position = if t >= 1.0 { to.position } else { from.position + moved };
                Self { position, velocity: slope / seconds }
            }
        }
    }

    fn extrapolate(&self, seconds: f32) -> Self {
        Self { position: self.position + self.velocity * seconds, ..*self }
    }
}

/// An angle and its turn rate. Do not derive the angle from the direction of a velocity: that would turn a
/// reversing car around.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AngularMotion {
    /// Radians.
    pub angle: f32,
    /// Radians per second; `None` if unknown, as for a player's view.
    pub spin: Option<f32>,
}

impl Interpolate for AngularMotion {
    fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self {
        let (t, seconds) = (span.fraction, span.seconds);
        if span.interpolation == Interpolation::Step {
            return *from;
        }
        let (Interpolation::Hermite, Some(a), Some(b)) = (span.interpolation, from.spin, to.spin) else {
            // The shorter way.
            let way = wrap(to.angle - from.angle);
            return Self { angle: from.angle + way * t, spin: Some(way / seconds.max(f32::MIN_POSITIVE)) };
        };
        // The way that matches the spin, which may exceed half a turn.
        let expected = (a + b) * 0.5 * seconds;
        let way = expected + wrap(to.angle - from.angle - expected);
        let (ta, tb) = (a * seconds, b * seconds);
        let moved = HermiteWeights::place(t).of(way, ta, tb);
        let slope = HermiteWeights::slope(t).of(way, ta, tb);
        Self { angle: from.angle + moved, spin: Some(slope / seconds.max(f32::MIN_POSITIVE)) }
    }

    fn extrapolate(&self, seconds: f32) -> Self {
        Self { angle: self.angle + self.spin.unwrap_or(0.0) * seconds, ..*self }
    }
}

/// Wraps an angle to the range from -π to π.
fn wrap(angle: f32) -> f32 {
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(fraction: f32, seconds: f32) -> InterpolationSpan {
        InterpolationSpan { fraction, seconds, interpolation: Interpolation::Hermite }
    }

    /// Fails if the tangents at a stop are not limited.
    #[test]
    fn cubic_does_not_overshoot_a_stop_over_a_short_distance() {
        // 6 m/s, stopped after 50 ms, and the updates in between were lost.
        let from = LinearMotion { position: Vec3::ZERO, velocity: Vec3::X * 6.0 };
        let to = LinearMotion { position: Vec3::X * 0.3, velocity: Vec3::ZERO };
        for k in 0..=100 {
            let x = LinearMotion::interpolate(&from, &to, &span(k as f32 / 100.0, 0.2)).position.x;
            assert!(x <= 0.3 + 1e-5, "{x} at {k} %");
            let back = LinearMotion::interpolate(
                &to,
                &LinearMotion { velocity: Vec3::NEG_X * 6.0, ..from },
                &span(k as f32 / 100.0, 0.2),
            );
            assert!(back.position.x <= 0.3 + 1e-5 && back.position.x >= -1e-5, "{back:?} at {k} %");
        }
    }

    #[test]
    fn fast_spin_is_interpolated_in_its_own_direction() {
        let spin = 100.0;
        let from = AngularMotion { angle: 0.3, spin: Some(spin) };
        let to = AngularMotion { angle: 0.3 + spin * 0.1, spin: Some(spin) };
        let wrapped = AngularMotion { angle: wrap(to.angle), ..to };
        for k in 0..=10 {
            let t = k as f32 / 10.0;
            let angle = AngularMotion::interpolate(&from, &wrapped, &span(t, 0.1)).angle;
            assert!((angle - 0.3 - spin * 0.1 * t).abs() < 1e-3, "{angle} at {t}");
        }
    }

    #[test]
    fn interpolation_is_exact_at_both_ends_and_velocity_is_its_derivative() {
        let from =
            LinearMotion { position: Vec3::new(500.0, 1.0, -3.0), velocity: Vec3::new(3.0, 0.5, -2.0) };
        let to = LinearMotion { position: Vec3::new(500.4, 1.0, -3.1), velocity: Vec3::new(5.0, 0.0, 1.0) };
        assert_eq!(LinearMotion::interpolate(&from, &to, &span(0.0, 0.1)).position, from.position);
        assert_eq!(LinearMotion::interpolate(&from, &to, &span(1.0, 0.1)).position, to.position);
        let at = |t: f32| LinearMotion::interpolate(&from, &to, &span(t, 0.1));
        let numeric = (at(0.6).position - at(0.4).position) / 0.02;
        assert!((numeric - at(0.5).velocity).length() < 0.05, "{numeric} {}", at(0.5).velocity);
    }
}
