//! Continuous motion and its integration.

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};

// The rivals crate includes this file as well, under other crate names.
use super::{Snapshot, Tick, angle_to_units};

/// Ticks per second.
pub const TICKS_PER_SECOND: u32 = 64;
/// Integration steps per tick.
pub(super) const STEPS_PER_TICK: usize = 30;
/// Seconds per integration step.
pub(super) const DT: f64 = 1.0 / (TICKS_PER_SECOND as f64 * STEPS_PER_TICK as f64);

/// State of the motion at one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Position in metres.
    pub position: DVec3,
    /// Velocity in metres per second, after the events of this time.
    pub velocity: DVec3,
    /// Acceleration in metres per second squared, after the events of this time.
    pub acceleration: DVec3,
    /// Heading about +Y in radians, not wrapped.
    pub yaw: f64,
    /// Angular velocity about +Y in radians per second.
    pub yaw_rate: f64,
    /// Number of teleports so far.
    pub teleports: u8,
    /// Whether it stands on something.
    pub grounded: bool,
}

/// Ground truth of a motion.
pub struct Truth {
    /// Largest speed without teleports, in metres per second.
    pub top_speed: f64,
    /// Whether the heading has an angular velocity, as vehicles do, rather than following the player's view.
    pub(super) has_spin: bool,
    pub(super) moments: Vec<Moment>,
    /// Seconds between two moments.
    pub(super) dt: f64,
    /// Snapshots of the server, one per tick.
    pub(super) snapshots: Vec<Snapshot>,
}

impl Truth {
    /// Creates a truth from integrated moments.
    pub(super) fn new(moments: Vec<Moment>) -> Self {
        let top_speed = moments.iter().map(|m| m.velocity.length()).fold(0.0, f64::max);
        let has_spin = moments.iter().any(|m| m.yaw_rate != 0.0);
        let mut truth = Self { top_speed, has_spin, moments, dt: DT, snapshots: Vec::new() };
        truth.snapshots =
            (0..truth.moments.len().div_ceil(STEPS_PER_TICK)).map(|tick| truth.quantised(tick)).collect();
        truth
    }

    /// Creates a truth that moves in straight lines between positions `dt` seconds apart, without heading and
    /// snapshots.
    pub fn from_positions(places: &[Vec3], dt: f64) -> Self {
        let moment = |(i, now): (usize, &Vec3)| {
            let next = places.get(i + 1).unwrap_or(now);
            let velocity = (*next - *now).as_dvec3() / dt;
            Moment { position: now.as_dvec3(), velocity, ..Moment::default() }
        };
        let moments: Vec<_> = places.iter().enumerate().map(moment).collect();
        let top_speed = moments.iter().map(|m| m.velocity.length()).fold(0.0, f64::max);
        Self { top_speed, has_spin: false, moments, dt, snapshots: Vec::new() }
    }

    /// Returns the server's snapshot of a tick.
    fn quantised(&self, tick: usize) -> Snapshot {
        let now = self.moments[tick * STEPS_PER_TICK];
        Snapshot {
            yaw: angle_to_units(now.yaw as f32),
            // Only vehicles have a spin.
            spin: (self.has_spin).then(|| Snapshot::spin_units(now.yaw_rate as f32)),
            grounded: now.grounded,
            falling: !now.grounded,
            teleports: now.teleports,
            ..Snapshot::new(Tick(tick as u32), now.position.as_vec3(), now.velocity.as_vec3())
        }
    }

    /// Returns the duration in seconds.
    pub fn seconds(&self) -> f64 {
        (self.moments.len() - 1) as f64 * self.dt
    }

    /// Returns the server's snapshots from tick 0 on.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// Returns the state at a time in seconds after tick 0.
    pub fn at(&self, seconds: f64) -> Moment {
        let steps = (seconds / self.dt).max(0.0);
        let index = (steps as usize).min(self.moments.len() - 1);
        let mut moment = self.moments[index];
        let rest = (steps - index as f64).clamp(0.0, 1.0) * self.dt;
        moment.position += moment.velocity * rest + moment.acceleration * (0.5 * rest * rest);
        moment.velocity += moment.acceleration * rest;
        moment.yaw += moment.yaw_rate * rest;
        moment
    }

    /// Returns the times of the teleports in seconds.
    pub fn teleports(&self) -> Vec<f64> {
        let pairs = (1..).zip(self.moments.windows(2));
        pairs.filter(|(_, p)| p[0].teleports != p[1].teleports).map(|(i, _)| f64::from(i) * self.dt).collect()
    }

    /// Returns the start and the duration of each stop, in seconds.
    pub fn stops(&self) -> Vec<(f64, f64)> {
        const STILL: f64 = 1e-6;
        let per_tick = (1.0 / (f64::from(TICKS_PER_SECOND) * self.dt)).round() as usize;
        let speeds: Vec<f64> = self.moments.iter().step_by(per_tick).map(|m| m.velocity.length()).collect();
        let mut stops = Vec::new();
        let mut tick = 1;
        while tick < speeds.len() {
            if speeds[tick] > STILL || speeds[tick - 1] <= STILL {
                tick += 1;
                continue;
            }
            let stood = speeds[tick..].iter().take_while(|speed| **speed <= STILL).count();
            stops.push((
                tick as f64 / f64::from(TICKS_PER_SECOND),
                stood as f64 / f64::from(TICKS_PER_SECOND),
            ));
            tick += stood;
        }
        stops
    }
}

/// State of an integration.
pub(super) struct Body {
    pub(super) now: Moment,
    /// Seconds since the start.
    pub(super) seconds: f64,
}

/// Integrates a motion: `on_tick` may change it on ticks; `force` returns the acceleration of every step and
/// may handle collisions.
pub(super) fn integrate(
    seconds: f64,
    start: Moment,
    mut on_tick: impl FnMut(&mut Body),
    mut force: impl FnMut(&mut Body) -> DVec3,
) -> Truth {
    let steps = (seconds * f64::from(TICKS_PER_SECOND)).round() as usize * STEPS_PER_TICK;
    let mut body = Body { now: start, seconds: 0.0 };
    let mut moments = Vec::with_capacity(steps + 1);
    for step in 0..=steps {
        body.seconds = step as f64 * DT;
        if step % STEPS_PER_TICK == 0 {
            on_tick(&mut body);
        }
        body.now.acceleration = force(&mut body);
        moments.push(body.now);
        let Moment { velocity, acceleration, yaw_rate, .. } = body.now;
        body.now.position += velocity * DT + acceleration * (0.5 * DT * DT);
        body.now.velocity += acceleration * DT;
        body.now.yaw += yaw_rate * DT;
    }
    Truth::new(moments)
}

/// Returns the acceleration that rotates a velocity by `turn` radians per second.
pub(super) fn turning_acceleration(velocity: DVec3, turn: f64) -> DVec3 {
    let turned = DQuat::from_rotation_y(turn * DT) * velocity;
    (turned - velocity) / DT
}

/// Returns the acceleration that reaches `wanted` within a tick, limited to `most`.
pub(super) fn acceleration_towards(wanted: DVec3, velocity: DVec3, most: f64) -> DVec3 {
    ((wanted - velocity) * f64::from(TICKS_PER_SECOND)).clamp_length_max(most)
}

/// Returns a horizontal unit vector.
pub(super) fn horizontal(angle: f64) -> DVec3 {
    DVec3::new(angle.cos(), 0.0, angle.sin())
}
