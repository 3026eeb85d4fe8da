//! The one function that turns snapshots and a view time into a pose.

use bevy::prelude::*;

use crate::{Snapshot, ViewTime};

/// How a pose between two snapshots is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Interpolation {
    /// The older snapshot as it is. A baseline.
    Step,
    /// A straight line. A baseline.
    Linear,
    /// A cubic with the velocities as tangents: velocity × the time between the updates.
    #[default]
    Hermite,
}

/// How poses are sampled. Both sides must hold the same values, or what was drawn is not what is
/// judged.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Sampler {
    /// How positions between two snapshots are found. Default: [`Interpolation::Hermite`].
    pub interpolation: Interpolation,
    /// Seconds in a tick. Default: 1/64.
    pub tick_seconds: f32,
    /// Ticks between two snapshots of a pawn. Default: 3. A view that spans more has lost one.
    pub snapshot_ticks: i32,
    /// How many ticks a pose is carried on beyond its newest snapshot before it stands still.
    /// Default: 8, 125 ms at 64 Hz. Raising it hides longer gaps and overshoots further.
    pub max_extrapolation_ticks: f32,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            interpolation: Interpolation::default(),
            tick_seconds: 1.0 / 64.0,
            snapshot_ticks: 3,
            max_extrapolation_ticks: 8.0,
        }
    }
}

/// A pose: what is drawn, and what is judged.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PoseSample {
    /// The root, in metres.
    pub position: Vec3,
    /// Metres per second: the derivative of what is drawn.
    pub velocity: Vec3,
    /// How it stands: +Y to its head, turned by its heading.
    pub rotation: Quat,
    /// Elevation of the view in radians.
    pub pitch: f32,
    /// How far crouched: 0 stands, 1 is down.
    pub crouch: f32,
    /// Whether there is anything to draw and hit.
    pub alive: bool,
}

impl From<&Snapshot> for PoseSample {
    fn from(s: &Snapshot) -> Self {
        Self {
            position: s.position(),
            velocity: s.velocity(),
            rotation: s.rotation(),
            pitch: s.pitch(),
            crouch: f32::from(s.crouch) / 255.0,
            alive: s.alive,
        }
    }
}

impl Sampler {
    /// The pose at `time` between two snapshots of one pawn. Across a teleport, a death or a
    /// spawn nothing is blended: the older pose holds until the newer one's tick.
    #[must_use]
    pub fn between(&self, from: &Snapshot, to: &Snapshot, time: ViewTime) -> PoseSample {
        let span = to.tick.since(from.tick) as f32;
        let t = if span > 0.0 { (time.ticks_since(from.tick) / span).clamp(0.0, 1.0) } else { 1.0 };
        if !from.continues_to(to) {
            return if t >= 1.0 { to.into() } else { from.into() };
        }
        let (a, b) = (PoseSample::from(from), PoseSample::from(to));
        let seconds = span * self.tick_seconds;
        let (position, velocity) = match self.interpolation {
            Interpolation::Step => return a,
            Interpolation::Linear => {
                (a.position.lerp(b.position, t), (b.position - a.position) / seconds.max(f32::MIN_POSITIVE))
            }
            Interpolation::Hermite => hermite(&a, &b, seconds, t),
        };
        PoseSample {
            position,
            velocity,
            rotation: a.rotation.slerp(b.rotation, t),
            pitch: a.pitch + (b.pitch - a.pitch) * t,
            crouch: a.crouch + (b.crouch - a.crouch) * t,
            alive: a.alive,
        }
    }

    /// The pose at `time` beyond the newest snapshot: straight on, for a bounded time.
    #[must_use]
    pub fn beyond(&self, from: &Snapshot, time: ViewTime) -> PoseSample {
        let pose = PoseSample::from(from);
        if self.interpolation == Interpolation::Step || !pose.alive {
            return pose;
        }
        let ahead = time.ticks_since(from.tick).clamp(0.0, self.max_extrapolation_ticks);
        PoseSample { position: pose.position + pose.velocity * (ahead * self.tick_seconds), ..pose }
    }
}

fn hermite(a: &PoseSample, b: &PoseSample, seconds: f32, t: f32) -> (Vec3, Vec3) {
    let (ta, tb) = (a.velocity * seconds, b.velocity * seconds);
    let (t2, t3) = (t * t, t * t * t);
    let position = a.position * (2.0 * t3 - 3.0 * t2 + 1.0)
        + ta * (t3 - 2.0 * t2 + t)
        + b.position * (3.0 * t2 - 2.0 * t3)
        + tb * (t3 - t2);
    let derivative = (a.position - b.position) * (6.0 * t2 - 6.0 * t)
        + ta * (3.0 * t2 - 4.0 * t + 1.0)
        + tb * (3.0 * t2 - 2.0 * t);
    (position, derivative / seconds.max(f32::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tick;

    /// Uniform acceleration from rest: x = 10 t².
    fn parabola(tick: u32) -> Snapshot {
        let t = tick as f32 / 64.0;
        Snapshot::new(Tick(tick), Vec3::X * (10.0 * t * t), Vec3::X * (20.0 * t))
    }

    #[test]
    fn hermite_follows_an_acceleration_that_a_line_misses() {
        let (from, to) = (parabola(0), parabola(6));
        let middle = ViewTime::at(Tick(3));
        let truth = parabola(3).position().x;
        let sampler = Sampler::default();
        let cubic = sampler.between(&from, &to, middle);
        let line = Sampler { interpolation: Interpolation::Linear, ..sampler }.between(&from, &to, middle);
        assert!((cubic.position.x - truth).abs() < 0.001, "{}", cubic.position.x - truth);
        assert!((line.position.x - truth).abs() > 0.02, "{}", line.position.x - truth);
        assert!((cubic.velocity.x - 20.0 * 3.0 / 64.0).abs() < 0.02, "the velocity is the derivative");
    }

    #[test]
    fn exact_at_the_samples() {
        let (from, to) = (parabola(2), parabola(9));
        let sampler = Sampler::default();
        assert_eq!(sampler.between(&from, &to, ViewTime::at(Tick(2))).position, from.position());
        assert_eq!(sampler.between(&from, &to, ViewTime::at(Tick(9))).position, to.position());
    }

    #[test]
    fn a_teleport_is_never_crossed() {
        let from = parabola(0);
        let to = Snapshot { teleports: 1, ..Snapshot::new(Tick(6), Vec3::X * 50.0, Vec3::ZERO) };
        let pose = Sampler::default().between(&from, &to, ViewTime::at(Tick(5)));
        assert_eq!(pose.position, from.position());
    }

    #[test]
    fn extrapolation_is_capped() {
        let from = Snapshot::new(Tick(0), Vec3::ZERO, Vec3::X * 6.0);
        let pose = Sampler::default().beyond(&from, ViewTime::at(Tick(1_000)));
        assert!((pose.position.x - 6.0 * 0.125).abs() < 1e-4, "{}", pose.position.x);
    }
}
