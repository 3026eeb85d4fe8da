//! Simulation rate and snapshot rate of an app.

use core::time::Duration;

use bevy::prelude::*;

use crate::sampler::PoseSampler;

/// Rates at which the app simulates and at which pawns are published. Both ends of a network must agree: a
/// client with another tick or snapshot rate is refused when it joins.
///
/// It is the only setting of these rates: [`SimulationRatePlugin`] sets [`Time<Fixed>`] and the
/// [`PoseSampler`] by it, and the suite's other plugins read it when they are added.
///
/// ```
/// use bevy_unlag_core::SimulationRate;
///
/// let rate = SimulationRate::from_hz(30.0);
/// assert_eq!(rate.snapshot_ticks, 1);
/// // More snapshots than by default: one in every second tick of 1/64 s.
/// let rate = SimulationRate { snapshot_ticks: 2, ..SimulationRate::default() };
/// assert_eq!(rate.snapshot_interval().as_millis(), 31);
/// ```
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource)]
#[doc(alias = "tickrate")]
pub struct SimulationRate {
    /// Duration of a simulation tick. Default: 1/64 s. Lowering it increases CPU time and bandwidth in
    /// proportion.
    pub tick: Duration,
    /// Ticks between two snapshots of a pawn without an update interval of its own, 1 to 64. Default: 3.
    /// Raising it saves downlink bandwidth and delays remote pawns accordingly.
    #[doc(alias = "cl_updaterate")]
    pub snapshot_ticks: u32,
}

impl Default for SimulationRate {
    fn default() -> Self {
        Self { tick: Duration::from_nanos(15_625_000), snapshot_ticks: 3 }
    }
}

impl SimulationRate {
    /// Returns the rate with this many ticks a second, and with as many ticks a snapshot as come nearest to
    /// the time between two snapshots of the default rate, 47 ms.
    #[must_use]
    pub fn from_hz(hz: f64) -> Self {
        let tick = Duration::from_secs_f64(1.0 / hz);
        let snapshot_ticks = Self::default().snapshot_interval().as_secs_f64() * hz;
        Self { tick, snapshot_ticks: snapshot_ticks.round().clamp(1.0, 64.0) as u32 }
    }

    /// Duration of a tick in seconds.
    #[must_use]
    pub fn tick_seconds(&self) -> f32 {
        self.tick.as_secs_f32()
    }

    /// Time between two snapshots of a pawn without an update interval of its own.
    #[must_use]
    pub fn snapshot_interval(&self) -> Duration {
        self.tick * self.snapshot_ticks
    }
}

/// Sets the [`SimulationRate`]. Add it before the suite's other plugins; the plugin groups do so themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulationRatePlugin(pub SimulationRate);

impl Plugin for SimulationRatePlugin {
    fn build(&self, app: &mut App) {
        let rate = SimulationRate { snapshot_ticks: self.0.snapshot_ticks.clamp(1, 64), ..self.0 };
        app.insert_resource(rate).insert_resource(Time::<Fixed>::from_duration(rate.tick));
        let mut sampler = app.world_mut().get_resource_or_init::<PoseSampler>();
        sampler.tick_seconds = rate.tick_seconds();
        sampler.snapshot_ticks = rate.snapshot_ticks.cast_signed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_follow_about_as_often_at_any_tick_rate() {
        let ticks = [20.0, 30.0, 60.0, 64.0, 128.0].map(|hz| SimulationRate::from_hz(hz).snapshot_ticks);
        assert_eq!(ticks, [1, 1, 3, 3, 6]);
        assert_eq!(SimulationRate::from_hz(64.0), SimulationRate::default());
    }

    #[test]
    fn rate_is_applied_to_fixed_time_and_sampler() {
        let mut app = App::new();
        let rate = SimulationRate { tick: Duration::from_millis(32), snapshot_ticks: 200 };
        app.add_plugins(SimulationRatePlugin(rate));
        assert_eq!(app.world().resource::<Time<Fixed>>().timestep(), Duration::from_millis(32));
        let sampler = app.world().resource::<PoseSampler>();
        assert!((sampler.tick_seconds - 0.032).abs() < 1e-6);
        assert_eq!(
            (sampler.snapshot_ticks, app.world().resource::<SimulationRate>().snapshot_ticks),
            (64, 64)
        );
    }
}
