//! What lies between two updates of anything that is drawn from updates.

use core::f32::consts::{PI, TAU};

use bevy::prelude::*;

use crate::cubic::Weights;

/// How a value between two updates is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Interpolation {
    /// The older update as it is. A baseline.
    Step,
    /// A straight line, and slerp for rotations. A baseline.
    Linear,
    /// A cubic with the velocities as tangents: velocity × the time between the updates.
    #[default]
    Hermite,
}

/// Where between two updates a value is wanted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// How far it is from the older update to the newer one: 0 to 1.
    pub part: f32,
    /// Seconds between the updates.
    pub seconds: f32,
    /// How to find it.
    pub interpolation: Interpolation,
}

/// Something that is drawn between updates: a component of a game's own, or a part of a pawn's
/// pose. It must be pure, exact at both ends (but for [`Interpolation::Step`] at the newer one),
/// and finite for finite values.
pub trait Interpolate: Copy {
    /// The value within a span.
    #[must_use]
    fn interpolate(from: &Self, to: &Self, span: &Span) -> Self;

    /// The value `seconds` after the newest update, asked for while the next one is late, at most for
    /// as long as [`Sampler::max_extrapolation_ticks`](crate::Sampler::max_extrapolation_ticks). Default: it
    /// stays as it is.
    #[must_use]
    fn extrapolate(&self, seconds: f32) -> Self {
        let _ = seconds;
        *self
    }

    /// Whether values between this one and `next` mean anything. Default: always. Say no across a
    /// teleport; the older value holds until the newer one's moment.
    #[must_use]
    fn continues_to(&self, next: &Self) -> bool {
        let _ = next;
        true
    }
}

macro_rules! interpolate_by_lerp {
    ($($type:ty),*) => {$(
        impl Interpolate for $type {
            fn interpolate(from: &Self, to: &Self, span: &Span) -> Self {
                match span.interpolation {
                    Interpolation::Step => *from,
                    // A line between what is alike must not round.
                    _ if from == to => *from,
                    _ => *from + (*to - *from) * span.part,
                }
            }
        }
    )*};
}

interpolate_by_lerp!(f32, Vec2, Vec3);

/// The short way round.
impl Interpolate for Quat {
    fn interpolate(from: &Self, to: &Self, span: &Span) -> Self {
        if span.interpolation == Interpolation::Step { *from } else { from.slerp(*to, span.part) }
    }
}

/// A place and how fast it changes; the drawn velocity is the derivative of the drawn place.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Moving {
    /// Metres.
    pub position: Vec3,
    /// Metres per second. Of an older update: with which it left; of a newer one: with which it
    /// arrived. They differ where something was hit.
    pub velocity: Vec3,
}

/// Metres per second below which something counts as at rest.
const REST: f32 = 0.02;

impl Moving {
    /// A cubic that arrives at rest, or starts from rest, must not go beyond its end and come
    /// back: an ease is monotone as long as the other tangent is at most three times the way
    /// (Fritsch and Carlson, 1980). That is where lost updates show most.
    fn eased(tangent: Vec3, way: Vec3, other_velocity: Vec3) -> Vec3 {
        if other_velocity.length_squared() > REST * REST {
            return tangent;
        }
        let along = way.normalize_or_zero();
        let forward = tangent.dot(along);
        tangent - along * (forward - forward.min(3.0 * way.length()))
    }
}

impl Interpolate for Moving {
    fn interpolate(from: &Self, to: &Self, span: &Span) -> Self {
        let (t, seconds) = (span.part, span.seconds.max(f32::MIN_POSITIVE));
        let way = to.position - from.position;
        match span.interpolation {
            Interpolation::Step => *from,
            Interpolation::Linear => Self { position: from.position + way * t, velocity: way / seconds },
            Interpolation::Hermite => {
                let ta = Self::eased(from.velocity * span.seconds, way, to.velocity);
                let tb = Self::eased(to.velocity * span.seconds, way, from.velocity);
                // As ways from one end: what stands still far from the origin must not tremble.
                let moved = Weights::place(t).of(way, ta, tb);
                let slope = Weights::slope(t).of(way, ta, tb);
                let position = if t >= 1.0 { to.position } else { from.position + moved };
                Self { position, velocity: slope / seconds }
            }
        }
    }

    fn extrapolate(&self, seconds: f32) -> Self {
        Self { position: self.position + self.velocity * seconds, ..*self }
    }
}

/// An angle and how fast it turns. Never the direction of a velocity: that turns a reversing car
/// round.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Turning {
    /// Radians.
    pub angle: f32,
    /// Radians per second; `None` when nobody knows, such as of a player's view.
    pub spin: Option<f32>,
}

impl Interpolate for Turning {
    fn interpolate(from: &Self, to: &Self, span: &Span) -> Self {
        let (t, seconds) = (span.part, span.seconds);
        if span.interpolation == Interpolation::Step {
            return *from;
        }
        let (Interpolation::Hermite, Some(a), Some(b)) = (span.interpolation, from.spin, to.spin) else {
            // The short way.
            let way = wrap(to.angle - from.angle);
            return Self { angle: from.angle + way * t, spin: Some(way / seconds.max(f32::MIN_POSITIVE)) };
        };
        // The way that its spin says it went, which may be more than half a turn.
        let expected = (a + b) * 0.5 * seconds;
        let way = expected + wrap(to.angle - from.angle - expected);
        let (ta, tb) = (a * seconds, b * seconds);
        let moved = Weights::place(t).of(way, ta, tb);
        let slope = Weights::slope(t).of(way, ta, tb);
        Self { angle: from.angle + moved, spin: Some(slope / seconds.max(f32::MIN_POSITIVE)) }
    }

    fn extrapolate(&self, seconds: f32) -> Self {
        Self { angle: self.angle + self.spin.unwrap_or(0.0) * seconds, ..*self }
    }
}

/// An angle as one from -π to π.
fn wrap(angle: f32) -> f32 {
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(part: f32, seconds: f32) -> Span {
        Span { part, seconds, interpolation: Interpolation::Hermite }
    }

    #[test]
    fn a_stop_is_not_overshot_even_when_the_way_is_short() {
        // 6 m/s, stopped after 50 ms, and the updates in between were lost.
        let from = Moving { position: Vec3::ZERO, velocity: Vec3::X * 6.0 };
        let to = Moving { position: Vec3::X * 0.3, velocity: Vec3::ZERO };
        for k in 0..=100 {
            let x = Moving::interpolate(&from, &to, &span(k as f32 / 100.0, 0.2)).position.x;
            assert!(x <= 0.3 + 1e-5, "{x} at {k} %");
            let back = Moving::interpolate(
                &to,
                &Moving { velocity: Vec3::NEG_X * 6.0, ..from },
                &span(k as f32 / 100.0, 0.2),
            );
            assert!(back.position.x <= 0.3 + 1e-5 && back.position.x >= -1e-5, "{back:?} at {k} %");
        }
    }

    #[test]
    fn a_fast_spin_goes_round_the_way_it_spins() {
        let spin = 100.0;
        let from = Turning { angle: 0.3, spin: Some(spin) };
        let to = Turning { angle: 0.3 + spin * 0.1, spin: Some(spin) };
        let wrapped = Turning { angle: wrap(to.angle), ..to };
        for k in 0..=10 {
            let t = k as f32 / 10.0;
            let angle = Turning::interpolate(&from, &wrapped, &span(t, 0.1)).angle;
            assert!((angle - 0.3 - spin * 0.1 * t).abs() < 1e-3, "{angle} at {t}");
        }
    }

    #[test]
    fn exact_at_both_ends_and_its_own_derivative() {
        let from = Moving { position: Vec3::new(500.0, 1.0, -3.0), velocity: Vec3::new(3.0, 0.5, -2.0) };
        let to = Moving { position: Vec3::new(500.4, 1.0, -3.1), velocity: Vec3::new(5.0, 0.0, 1.0) };
        assert_eq!(Moving::interpolate(&from, &to, &span(0.0, 0.1)).position, from.position);
        assert_eq!(Moving::interpolate(&from, &to, &span(1.0, 0.1)).position, to.position);
        let at = |t: f32| Moving::interpolate(&from, &to, &span(t, 0.1));
        let numeric = (at(0.6).position - at(0.4).position) / 0.02;
        assert!((numeric - at(0.5).velocity).length() < 0.05, "{numeric} {}", at(0.5).velocity);
    }
}
