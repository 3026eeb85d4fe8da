//! Pose sampling: a pure function from snapshots and a view time to a pose.

use bevy::prelude::*;

use crate::{
    angle::units_to_angle,
    base_poses::BaseView,
    interpolate::{AngularMotion, Interpolate, Interpolation, InterpolationSpan, LinearMotion},
    pose_sample::PoseSample,
    snapshot::{Snapshot, orientation},
    tick::ViewTime,
};

crate::with_defaults! {
    /// Settings of pose sampling. Client and server must use the same values, otherwise the server validates
    /// shots against poses that the client did not draw.
    #[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
    #[reflect(Resource, Debug, Default)]
    pub struct PoseSampler {
        /// Interpolation of positions between two snapshots. Default: [`Interpolation::Hermite`].
        pub interpolation: Interpolation = Interpolation::default();
        /// Seconds per tick. Default: 1/64.
        pub tick_seconds: f32 = 1.0 / 64.0;
        /// Ticks between two snapshots of a pawn that has no update interval of its own. Default: 3. If a view
        /// time lies between two snapshots that are further apart (one was lost, or the pawn is sent less
        /// often), a shot at the pawn states both ticks.
        #[doc(alias = "cl_updaterate")]
        pub snapshot_ticks: i32 = 3;
        /// Seconds for which a pose is extrapolated at full speed beyond its newest snapshot. Over as long again
        /// it decelerates to a standstill. Default: 0.125, so it stands after 0.25 s. Raising it hides longer gaps
        /// and increases the overshoot.
        #[doc(alias = "cl_extrapolate_amount")]
        pub max_extrapolation: f32 = 0.125;
        /// The same limit for a pawn that is simulated to the server's present. Default: 0.25, which includes the
        /// pawn's latency. Beyond it the pawn stops at once where its model simulates it, and decelerates as above
        /// where no model does. Raising it keeps pawns on worse links at the present and increases the overshoot.
        pub max_simulation: f32 = 0.25;
        /// Gravity in metres per second squared, along the down direction of a pawn that is extrapolated while it
        /// falls. Default: 0, and it goes on in a straight line. The movement crate's plugin sets it to the
        /// gravity of class 0. The server sends the acceleration of pawns that fall in another gravity.
        pub gravity: f32 = 0.0;
    }
}

impl PoseSampler {
    /// Returns [`max_extrapolation`](Self::max_extrapolation) in ticks, 0 if it is negative.
    #[must_use]
    pub fn max_extrapolation_ticks(&self) -> f32 {
        (self.max_extrapolation / self.tick_seconds).max(0.0)
    }

    /// Returns [`max_simulation`](Self::max_simulation) in ticks, 0 if it is negative.
    #[must_use]
    pub fn max_simulation_ticks(&self) -> f32 {
        (self.max_simulation / self.tick_seconds).max(0.0)
    }

    /// Returns the pose at `time` between two snapshots of one pawn.
    ///
    /// Across a teleport, a death or a spawn nothing is interpolated: the older pose holds until the tick of
    /// the newer one. `bases` holds the poses of movement bases as the screen shows or showed them.
    #[must_use]
    pub fn interpolate(
        &self,
        from: &Snapshot,
        to: &Snapshot,
        time: ViewTime,
        bases: &BaseView<'_>,
    ) -> PoseSample {
        let ticks = to.tick.since(from.tick) as f32;
        let fraction = if ticks > 0.0 { (time.ticks_since(from.tick) / ticks).clamp(0.0, 1.0) } else { 1.0 };
        if !from.continues_to(to) || self.interpolation == Interpolation::Step {
            return if fraction >= 1.0 { to.pose(bases) } else { from.pose(bases) };
        }
        let span = InterpolationSpan {
            fraction,
            seconds: ticks * self.tick_seconds,
            interpolation: self.interpolation,
        };
        if from.base == to.base && from.turns_with_base == to.turns_with_base {
            return Self::along(from, to, &span).to_world(from.base, from.turns_with_base, bases);
        }
        // The pawn stepped onto or off a base: interpolate in world space.
        let [a, b] = [from, to].map(|snapshot| {
            let pose = snapshot.pose(bases);
            let arrived = PoseSample { velocity: snapshot.arrival_velocity(), ..PoseSample::from(snapshot) };
            (pose, arrived.to_world(snapshot.base, snapshot.turns_with_base, bases).velocity)
        });
        let path = LinearMotion::interpolate(
            &LinearMotion { position: a.0.position, velocity: a.0.velocity },
            &LinearMotion { position: b.0.position, velocity: b.1 },
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

    /// Interpolates two snapshots that are in the same space.
    pub(crate) fn along(from: &Snapshot, to: &Snapshot, span: &InterpolationSpan) -> PoseSample {
        let straight = InterpolationSpan { interpolation: Interpolation::Linear, ..*span };
        let path = LinearMotion::interpolate(
            &LinearMotion { position: from.position(), velocity: from.velocity() },
            &LinearMotion { position: to.position(), velocity: to.arrival_velocity() },
            if to.arrives_straight_from(from, span.seconds) { &straight } else { span },
        );
        let turn = AngularMotion::interpolate(
            &AngularMotion { angle: units_to_angle(from.yaw), spin: from.spin() },
            &AngularMotion { angle: units_to_angle(to.yaw), spin: to.arrival_spin() },
            span,
        );
        let rotation = if from.up == to.up {
            orientation(from.up, turn.angle)
        } else {
            Quat::interpolate(&from.rotation(), &to.rotation(), span)
        };
        let lerp = |a: f32, b: f32| f32::interpolate(&a, &b, span);
        let newer = PoseSample::from(if span.fraction >= 1.0 { to } else { from });
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

    /// Returns the pose at `time` beyond the newest snapshot: extrapolated for a bounded time, then
    /// decelerated to a standstill.
    #[must_use]
    pub fn extrapolate(&self, from: &Snapshot, time: ViewTime, bases: &BaseView<'_>) -> PoseSample {
        self.ahead(from, time.ticks_since(from.tick)).to_world(from.base, from.turns_with_base, bases)
    }

    /// Returns the pose `ticks` after the snapshot, extrapolated in the space of its base.
    pub(crate) fn ahead(&self, from: &Snapshot, ticks: f32) -> PoseSample {
        let pose = PoseSample::from(from);
        if self.interpolation == Interpolation::Step || !pose.alive {
            return pose;
        }
        let ticks = ticks.max(0.0);
        let cap = self.max_extrapolation_ticks();
        let (full, late) = (ticks.min(cap), (ticks - cap).clamp(0.0, cap));
        // Linear deceleration to zero.
        let speed = if cap > 0.0 { 1.0 - late / cap } else { 0.0 };
        let ahead = full + late * (1.0 + speed) * 0.5;
        let seconds = ahead * self.tick_seconds;
        let falls = pose.falling && from.base == 0 && self.gravity != 0.0;
        let on = if falls {
            // A pawn in another gravity or with a time of its own brings its acceleration along.
            let ordinary = from.acceleration == [0; 3];
            pose.fallen(if ordinary { pose.up() * -self.gravity } else { pose.acceleration }, seconds)
        } else {
            pose.extrapolated(seconds)
        };
        PoseSample { velocity: on.velocity * speed, ..on }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tick::Tick;

    /// Uniform acceleration from rest: x = 10 t².
    fn parabola(tick: u32) -> Snapshot {
        let t = tick as f32 / 64.0;
        Snapshot::new(Tick(tick), Vec3::X * (10.0 * t * t), Vec3::X * (20.0 * t))
    }

    #[test]
    fn hermite_follows_an_accelerating_pawn_that_linear_misses() {
        let (from, to) = (parabola(0), parabola(6));
        let middle = ViewTime::at(Tick(3));
        let truth = parabola(3).position().x;
        let sampler = PoseSampler::default();
        let cubic = sampler.interpolate(&from, &to, middle, &BaseView::default());
        let line = PoseSampler { interpolation: Interpolation::Linear, ..sampler }.interpolate(
            &from,
            &to,
            middle,
            &BaseView::default(),
        );
        assert!((cubic.position.x - truth).abs() < 0.001, "{}", cubic.position.x - truth);
        assert!((line.position.x - truth).abs() > 0.02, "{}", line.position.x - truth);
        assert!((cubic.velocity.x - 20.0 * 3.0 / 64.0).abs() < 0.02, "must be the derivative");
    }

    #[test]
    fn sampled_pose_is_exact_at_both_snapshots() {
        let (from, to) = (parabola(2), parabola(9));
        let sampler = PoseSampler::default();
        assert_eq!(
            sampler.interpolate(&from, &to, ViewTime::at(Tick(2)), &BaseView::default()).position,
            from.position()
        );
        assert_eq!(
            sampler.interpolate(&from, &to, ViewTime::at(Tick(9)), &BaseView::default()).position,
            to.position()
        );
    }

    /// Fails if poses are interpolated across a teleport.
    #[test]
    fn pose_is_never_interpolated_across_a_teleport() {
        let from = parabola(0);
        let to = Snapshot { teleports: 1, ..Snapshot::new(Tick(6), Vec3::X * 50.0, Vec3::ZERO) };
        let pose =
            PoseSampler::default().interpolate(&from, &to, ViewTime::at(Tick(5)), &BaseView::default());
        assert_eq!(pose.position, from.position());
    }

    #[test]
    fn extrapolation_stops_after_its_limit() {
        let from = Snapshot::new(Tick(0), Vec3::ZERO, Vec3::X * 6.0);
        let pose = PoseSampler::default().extrapolate(&from, ViewTime::at(Tick(1_000)), &BaseView::default());
        assert!((pose.position.x - 6.0 * 0.1875).abs() < 1e-4, "{}", pose.position.x);
        assert_eq!(pose.velocity, Vec3::ZERO);
    }

    #[test]
    fn falling_pawn_is_extrapolated_along_a_parabola_also_past_its_apex() {
        let sampler = PoseSampler { gravity: 10.0, ..PoseSampler::default() };
        let rising =
            Snapshot { falling: true, ..Snapshot::new(Tick(0), Vec3::ZERO, Vec3::new(3.0, 0.5, 0.0)) };
        let at = |sampler: &PoseSampler, from: &Snapshot| {
            sampler.extrapolate(from, ViewTime::at(Tick(8)), &BaseView::default())
        };
        let pose = at(&sampler, &rising);
        let expected = Vec3::new(3.0 * 0.125, 0.5 * 0.125 - 5.0 * 0.125 * 0.125, 0.0);
        assert!(pose.position.distance(expected) < 1e-4, "{}", pose.position);
        assert!(pose.velocity.distance(Vec3::new(3.0, 0.5 - 1.25, 0.0)) < 1e-4, "{}", pose.velocity);
        // Controls: on the ground, and with unknown gravity, it goes on in a line.
        let line = Vec3::new(3.0 * 0.125, 0.5 * 0.125, 0.0);
        let grounded = Snapshot { falling: false, ..rising };
        for pose in [at(&sampler, &grounded), at(&PoseSampler::default(), &rising)] {
            assert!(pose.position.distance(line) < 1e-4, "{}", pose.position);
        }
    }

    #[test]
    fn extrapolation_lasts_as_long_at_any_tick_rate() {
        let from = Snapshot::new(Tick(0), Vec3::ZERO, Vec3::X * 6.0);
        for hz in [20.0_f32, 30.0, 60.0, 64.0, 128.0] {
            let sampler = PoseSampler { tick_seconds: 1.0 / hz, ..PoseSampler::default() };
            let pose = sampler.extrapolate(&from, ViewTime::at(Tick(1_000)), &BaseView::default());
            assert!((pose.position.x - 6.0 * 0.1875).abs() < 1e-4, "{hz} Hz: {}", pose.position.x);
        }
        assert_eq!(PoseSampler::default().max_extrapolation_ticks(), 8.0);
        assert_eq!(PoseSampler::default().max_simulation_ticks(), 16.0);
    }
}
