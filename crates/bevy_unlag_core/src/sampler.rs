//! The one function that turns snapshots and a view time into a pose.

use bevy::prelude::*;

use crate::{
    BaseView, Interpolate, Interpolation, Moving, Snapshot, Span, Turning, ViewTime, base::heading,
    snapshot::standing, units_to_angle,
};

/// How poses are sampled. Both sides must hold the same values, or what was drawn is not what is
/// judged.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Sampler {
    /// How positions between two snapshots are found. Default: [`Interpolation::Hermite`].
    pub interpolation: Interpolation,
    /// Seconds in a tick. Default: 1/64.
    pub tick_seconds: f32,
    /// Ticks between two snapshots of a pawn without an interval of its own. Default: 3. A view that spans
    /// more has lost one, or the pawn is sent less often: a shot at it says so.
    pub snapshot_ticks: i32,
    /// How many ticks a pose is carried on at its speed beyond its newest snapshot; in as many more it
    /// slows down to a stand. Default: 8, 125 ms at 64 Hz, so it stands after 250. Raising it hides
    /// longer gaps and overshoots further.
    pub max_extrapolation_ticks: f32,
    /// The same for a pawn that is simulated to the present. Default: 16, 250 ms at 64 Hz: its latency
    /// is in it. After that it stands at once where its model carries it on, and slows down as above
    /// where none does. Raising it keeps pawns on worse links at the present, and overshoots further.
    pub max_simulation_ticks: f32,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            interpolation: Interpolation::default(),
            tick_seconds: 1.0 / 64.0,
            snapshot_ticks: 3,
            max_extrapolation_ticks: 8.0,
            max_simulation_ticks: 16.0,
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
    /// Metres per second squared, where it was sent; else zero.
    pub acceleration: Vec3,
    /// How it stands: +Y to its head, turned by its heading.
    pub rotation: Quat,
    /// Radians per second about its up: the derivative of the heading that is drawn.
    pub spin: f32,
    /// Elevation of the view in radians.
    pub pitch: f32,
    /// How far crouched: 0 stands, 1 is down.
    pub crouch: f32,
    /// Whether there is anything to draw and hit.
    pub alive: bool,
    /// Whether it stands on something.
    pub grounded: bool,
    /// Whether gravity pulls it.
    pub falling: bool,
}

/// In the space of the snapshot's base; [`Snapshot::pose`] is in the world.
impl From<&Snapshot> for PoseSample {
    fn from(s: &Snapshot) -> Self {
        Self {
            position: s.position(),
            velocity: s.velocity(),
            acceleration: s.acceleration(),
            rotation: s.rotation(),
            spin: s.spin().unwrap_or(0.0),
            pitch: s.pitch(),
            crouch: f32::from(s.crouch) / 255.0,
            alive: s.alive,
            grounded: s.grounded,
            falling: s.falling,
        }
    }
}

impl PoseSample {
    /// From the space of a base into the world; as it is without one. `turns` says whether its heading is
    /// relative to the base.
    #[must_use]
    pub fn onto(self, base: u16, turns: bool, bases: &BaseView<'_>) -> Self {
        let Some(pose) = bases.pose(base) else { return self };
        // About its own up: it stands upright in the world, however its base is tilted.
        let turn = if turns { Quat::from_rotation_y(heading(pose.rotation)) } else { Quat::IDENTITY };
        Self {
            position: pose.transform_point(self.position).into(),
            velocity: pose.rotation * self.velocity + bases.velocity(base, self.position),
            acceleration: pose.rotation * self.acceleration,
            rotation: self.rotation * turn,
            ..self
        }
    }

    /// On for some time, with its acceleration and round its bend. What brakes stops at rest: braking
    /// does not turn into reversing.
    #[must_use]
    pub fn carried_on(self, seconds: f32) -> Self {
        let speed = self.velocity.length();
        let forward = self.velocity / speed.max(1e-3);
        let along = self.acceleration.dot(forward);
        let driven = if speed > 1e-3 && along < 0.0 { seconds.min(speed / -along) } else { seconds };
        let up = self.rotation * Vec3::Y;
        // What has a spin goes round bends. How sharp this one is its acceleration says, for a car that
        // slides does not go where it looks.
        let ahead = (self.rotation * Vec3::NEG_Z).dot(forward).abs();
        let rate = if self.spin == 0.0 || speed < SLOW || ahead < STRAIGHT {
            0.0
        } else if self.acceleration == Vec3::ZERO {
            self.spin
        } else {
            up.dot(forward.cross(self.acceleration)) / speed
        };
        let acceleration = if rate == 0.0 { self.acceleration } else { forward * along };
        let end = self.velocity + acceleration * driven;
        let way = (self.velocity + end) * (0.5 * driven) + end * (seconds - driven);
        let bend = (rate * seconds).clamp(-1.0, 1.0);
        // The chord of an arc lies half-way between its tangents.
        let half = Quat::from_axis_angle(up, bend * 0.5);
        Self {
            position: self.position + half * way * (1.0 - bend * bend / 24.0),
            velocity: half * (half * end),
            acceleration: if driven < seconds { Vec3::ZERO } else { half * (half * self.acceleration) },
            rotation: Quat::from_axis_angle(up, self.spin * seconds) * self.rotation,
            ..self
        }
    }
}

/// Metres per second below which something has no bend of its own.
const SLOW: f32 = 0.5;
/// Cosine of the angle between where something looks and goes beyond which it is on no wheels.
const STRAIGHT: f32 = 0.7;

impl Sampler {
    /// The pose at `time` between two snapshots of one pawn. Across a teleport, a death or a
    /// spawn nothing is blended: the older pose holds until the newer one's tick. `bases` says where
    /// movement bases are on the screen that is drawn, or was.
    #[must_use]
    pub fn between(
        &self,
        from: &Snapshot,
        to: &Snapshot,
        time: ViewTime,
        bases: &BaseView<'_>,
    ) -> PoseSample {
        let ticks = to.tick.since(from.tick) as f32;
        let part = if ticks > 0.0 { (time.ticks_since(from.tick) / ticks).clamp(0.0, 1.0) } else { 1.0 };
        if !from.continues_to(to) || self.interpolation == Interpolation::Step {
            return if part >= 1.0 { to.pose(bases) } else { from.pose(bases) };
        }
        let span = Span { part, seconds: ticks * self.tick_seconds, interpolation: self.interpolation };
        if from.base == to.base && from.turns_with_base == to.turns_with_base {
            return Self::along(from, to, &span).onto(from.base, from.turns_with_base, bases);
        }
        // It stepped onto a base or off one: from here on this is the world.
        let [a, b] = [from, to].map(|snapshot| {
            let pose = snapshot.pose(bases);
            let arrived = PoseSample { velocity: snapshot.arrival_velocity(), ..PoseSample::from(snapshot) };
            (pose, arrived.onto(snapshot.base, snapshot.turns_with_base, bases).velocity)
        });
        let path = Moving::interpolate(
            &Moving { position: a.0.position, velocity: a.0.velocity },
            &Moving { position: b.0.position, velocity: b.1 },
            &span,
        );
        let rotation = Quat::interpolate(&a.0.rotation, &b.0.rotation, &span);
        PoseSample {
            position: path.position,
            velocity: path.velocity,
            rotation,
            ..Self::along(from, to, &span)
        }
    }

    /// The pose within a span of one space.
    pub(crate) fn along(from: &Snapshot, to: &Snapshot, span: &Span) -> PoseSample {
        let path = Moving::interpolate(
            &Moving { position: from.position(), velocity: from.velocity() },
            &Moving { position: to.position(), velocity: to.arrival_velocity() },
            span,
        );
        let turn = Turning::interpolate(
            &Turning { angle: units_to_angle(from.yaw), spin: from.spin() },
            &Turning { angle: units_to_angle(to.yaw), spin: to.arrival_spin() },
            span,
        );
        let rotation = if from.up == to.up {
            standing(from.up, turn.angle)
        } else {
            Quat::interpolate(&from.rotation(), &to.rotation(), span)
        };
        let lerp = |a: f32, b: f32| f32::interpolate(&a, &b, span);
        let newer = PoseSample::from(if span.part >= 1.0 { to } else { from });
        PoseSample {
            position: path.position,
            velocity: path.velocity,
            rotation,
            spin: turn.spin.unwrap_or(0.0),
            pitch: lerp(from.pitch(), to.pitch()),
            crouch: lerp(f32::from(from.crouch) / 255.0, f32::from(to.crouch) / 255.0),
            ..newer
        }
    }

    /// The pose at `time` beyond the newest snapshot: straight on, for a bounded time, then slower and
    /// slower until it stands.
    #[must_use]
    pub fn beyond(&self, from: &Snapshot, time: ViewTime, bases: &BaseView<'_>) -> PoseSample {
        let pose = PoseSample::from(from);
        if self.interpolation == Interpolation::Step || !pose.alive {
            return pose.onto(from.base, from.turns_with_base, bases);
        }
        let ticks = time.ticks_since(from.tick).max(0.0);
        let cap = self.max_extrapolation_ticks.max(0.0);
        let (full, late) = (ticks.min(cap), (ticks - cap).clamp(0.0, cap));
        // The speed goes down evenly to nothing.
        let speed = if cap > 0.0 { 1.0 - late / cap } else { 0.0 };
        let ahead = full + late * (1.0 + speed) * 0.5;
        let on = pose.carried_on(ahead * self.tick_seconds);
        PoseSample { velocity: on.velocity * speed, ..on }.onto(from.base, from.turns_with_base, bases)
    }
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
        let cubic = sampler.between(&from, &to, middle, &BaseView::default());
        let line = Sampler { interpolation: Interpolation::Linear, ..sampler }.between(
            &from,
            &to,
            middle,
            &BaseView::default(),
        );
        assert!((cubic.position.x - truth).abs() < 0.001, "{}", cubic.position.x - truth);
        assert!((line.position.x - truth).abs() > 0.02, "{}", line.position.x - truth);
        assert!((cubic.velocity.x - 20.0 * 3.0 / 64.0).abs() < 0.02, "the velocity is the derivative");
    }

    #[test]
    fn exact_at_the_samples() {
        let (from, to) = (parabola(2), parabola(9));
        let sampler = Sampler::default();
        assert_eq!(
            sampler.between(&from, &to, ViewTime::at(Tick(2)), &BaseView::default()).position,
            from.position()
        );
        assert_eq!(
            sampler.between(&from, &to, ViewTime::at(Tick(9)), &BaseView::default()).position,
            to.position()
        );
    }

    #[test]
    fn a_teleport_is_never_crossed() {
        let from = parabola(0);
        let to = Snapshot { teleports: 1, ..Snapshot::new(Tick(6), Vec3::X * 50.0, Vec3::ZERO) };
        let pose = Sampler::default().between(&from, &to, ViewTime::at(Tick(5)), &BaseView::default());
        assert_eq!(pose.position, from.position());
    }

    #[test]
    fn extrapolation_is_capped() {
        let from = Snapshot::new(Tick(0), Vec3::ZERO, Vec3::X * 6.0);
        let pose = Sampler::default().beyond(&from, ViewTime::at(Tick(1_000)), &BaseView::default());
        assert!((pose.position.x - 6.0 * 0.1875).abs() < 1e-4, "{}", pose.position.x);
        assert_eq!(pose.velocity, Vec3::ZERO);
    }
}
