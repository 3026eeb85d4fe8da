//! How something moves that is made up.

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};

// Others include this file, with another name for the suite.
use super::{Snapshot, Tick, angle_to_units};

/// Ticks in a second.
pub const TICKS: u32 = 64;
/// Integration steps in a tick.
pub(super) const FINE: usize = 30;
/// Seconds of an integration step.
pub(super) const DT: f64 = 1.0 / (TICKS as f64 * FINE as f64);

/// Everything about one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Metres.
    pub position: DVec3,
    /// Metres per second, right after what happens at this moment.
    pub velocity: DVec3,
    /// Metres per second squared, right after it.
    pub acceleration: DVec3,
    /// Heading about +Y in radians, not wrapped.
    pub yaw: f64,
    /// Radians per second.
    pub yaw_rate: f64,
    /// How often it was put somewhere else.
    pub teleports: u8,
    /// Whether it stands on something.
    pub grounded: bool,
}

/// How something moved.
pub struct Truth {
    /// The fastest it is by itself, in metres per second.
    pub top_speed: f64,
    /// Whether its heading turns by a law, not by hand.
    pub(super) turns: bool,
    pub(super) moments: Vec<Moment>,
    /// Seconds from one of them to the next.
    pub(super) dt: f64,
    /// What a server knows of it, tick by tick.
    pub(super) snapshots: Vec<Snapshot>,
}

impl Truth {
    /// Of what was integrated.
    pub(super) fn new(moments: Vec<Moment>) -> Self {
        let top_speed = moments.iter().map(|m| m.velocity.length()).fold(0.0, f64::max);
        let turns = moments.iter().any(|m| m.yaw_rate != 0.0);
        let mut truth = Self { top_speed, turns, moments, dt: DT, snapshots: Vec::new() };
        truth.snapshots = (0..truth.moments.len().div_ceil(FINE)).map(|tick| truth.quantised(tick)).collect();
        truth
    }

    /// Of something that goes straight from place to place, `dt` seconds each; nothing else is known of
    /// it.
    pub fn through(places: &[Vec3], dt: f64) -> Self {
        let moment = |(i, now): (usize, &Vec3)| {
            let next = places.get(i + 1).unwrap_or(now);
            let velocity = (*next - *now).as_dvec3() / dt;
            Moment { position: now.as_dvec3(), velocity, ..Moment::default() }
        };
        let moments: Vec<_> = places.iter().enumerate().map(moment).collect();
        let top_speed = moments.iter().map(|m| m.velocity.length()).fold(0.0, f64::max);
        Self { top_speed, turns: false, moments, dt, snapshots: Vec::new() }
    }

    /// What the server's tick `tick` says of it.
    fn quantised(&self, tick: usize) -> Snapshot {
        let now = self.moments[tick * FINE];
        Snapshot {
            yaw: angle_to_units(now.yaw as f32),
            // Who never turns is no vehicle.
            spin: (self.turns).then(|| Snapshot::spin_units(now.yaw_rate as f32)),
            grounded: now.grounded,
            falling: !now.grounded,
            teleports: now.teleports,
            ..Snapshot::new(Tick(tick as u32), now.position.as_vec3(), now.velocity.as_vec3())
        }
    }

    /// Seconds that are known.
    pub fn seconds(&self) -> f64 {
        (self.moments.len() - 1) as f64 * self.dt
    }

    /// What the server's ticks say, from tick 0 on.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// What was so many seconds after tick 0.
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

    /// When it was put somewhere else, in seconds.
    pub fn teleports(&self) -> Vec<f64> {
        let pairs = (1..).zip(self.moments.windows(2));
        pairs.filter(|(_, p)| p[0].teleports != p[1].teleports).map(|(i, _)| f64::from(i) * self.dt).collect()
    }

    /// When it came to rest, in seconds, and for how long it stood.
    pub fn stops(&self) -> Vec<(f64, f64)> {
        const STILL: f64 = 1e-6;
        let per_tick = (1.0 / (f64::from(TICKS) * self.dt)).round() as usize;
        let speeds: Vec<f64> = self.moments.iter().step_by(per_tick).map(|m| m.velocity.length()).collect();
        let mut stops = Vec::new();
        let mut tick = 1;
        while tick < speeds.len() {
            if speeds[tick] > STILL || speeds[tick - 1] <= STILL {
                tick += 1;
                continue;
            }
            let stood = speeds[tick..].iter().take_while(|speed| **speed <= STILL).count();
            stops.push((tick as f64 / f64::from(TICKS), stood as f64 / f64::from(TICKS)));
            tick += stood;
        }
        stops
    }
}

/// What is integrated.
pub(super) struct Body {
    pub(super) now: Moment,
    /// Seconds since the start.
    pub(super) seconds: f64,
}

/// Integrates a body: `on_tick` may change it on ticks, `force` says its acceleration in every step
/// and may let it bounce.
pub(super) fn integrate(
    seconds: f64,
    start: Moment,
    mut on_tick: impl FnMut(&mut Body),
    mut force: impl FnMut(&mut Body) -> DVec3,
) -> Truth {
    let steps = (seconds * f64::from(TICKS)).round() as usize * FINE;
    let mut body = Body { now: start, seconds: 0.0 };
    let mut moments = Vec::with_capacity(steps + 1);
    for step in 0..=steps {
        body.seconds = step as f64 * DT;
        if step % FINE == 0 {
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

/// The acceleration that turns a velocity around by `turn` radians per second.
pub(super) fn turning(velocity: DVec3, turn: f64) -> DVec3 {
    let turned = DQuat::from_rotation_y(turn * DT) * velocity;
    (turned - velocity) / DT
}

/// What it takes to reach `wanted` within a tick, but no more than `most`.
pub(super) fn towards(wanted: DVec3, velocity: DVec3, most: f64) -> DVec3 {
    ((wanted - velocity) * f64::from(TICKS)).clamp_length_max(most)
}

/// A level direction.
pub(super) fn level(angle: f64) -> DVec3 {
    DVec3::new(angle.cos(), 0.0, angle.sin())
}
