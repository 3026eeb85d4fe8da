//! Time line of the server's game relative to real time: slow motion and pauses of the whole game.

use bevy::{prelude::*, time::TimeSystems};

/// Time line of the server's game in seconds: real time that slow motion stretches and a pause stops.
///
/// Clocks that follow the server's ticks count in it, so that slow motion and a pause of the whole game do not look
/// like a slow link to them, and neither does a machine whose clock is slow. Unlike [`Time<Virtual>`] it contains no
/// speed of this app alone, and it loses nothing to a stall.
///
/// `bevy_unlag_lightyear` sets its speed: on a server to that of its game, on a client to the one that the server has
/// announced, and on a client also its [`steering`](Self::steering). With another transport the game does so, on both
/// sides.
#[doc(alias = "global time dilation")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct GameClock {
    speed: f64,
    /// Factor that makes up for the drift of this client's clock.
    steering: f64,
    /// Seconds of the last frame.
    delta: f64,
    /// Seconds by which this time line is ahead of real time, and the part of them that is due to steering.
    ahead: f64,
    steered: f64,
    /// Seconds of real time since the last change of the speed.
    since_change: f64,
}

impl Default for GameClock {
    fn default() -> Self {
        // No change so far.
        Self { speed: 1.0, steering: 1.0, delta: 0.0, ahead: 0.0, steered: 0.0, since_change: 1e6 }
    }
}

impl GameClock {
    /// Returns the speed, 1 being real time and 0 a pause.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Sets the speed from the next frame on. Negative speeds count as 0, non-finite ones as 1.
    pub fn set_speed(&mut self, speed: f64) {
        let speed = if speed.is_finite() { speed.max(0.0) } else { 1.0 };
        if speed != self.speed {
            self.speed = speed;
            self.since_change = 0.0;
        }
    }

    /// Returns the factor by which this client's clock is made to run faster or slower, so that it keeps pace with the
    /// server's. 1 on a server.
    #[must_use]
    pub fn steering(&self) -> f64 {
        self.steering
    }

    /// Sets the steering from the next frame on, between 0.5 and 2. A non-finite one counts as 1.
    pub fn set_steering(&mut self, steering: f64) {
        self.steering = if steering.is_finite() { steering.clamp(0.5, 2.0) } else { 1.0 };
    }

    /// Returns the time in seconds at the start of this frame. At a speed of 1 from the start, unsteered, it is that
    /// of [`Time<Real>`].
    #[must_use]
    pub fn seconds(&self, real: &Time<Real>) -> f64 {
        real.elapsed_secs_f64() + self.ahead
    }

    /// Returns the time in seconds at the start of this frame as if the clock were not steered: a steady time line for
    /// measurements of the server's.
    #[must_use]
    pub fn unsteered_seconds(&self, real: &Time<Real>) -> f64 {
        real.elapsed_secs_f64() + (self.ahead - self.steered)
    }

    /// Returns the seconds of this frame.
    #[must_use]
    pub fn delta_seconds(&self) -> f64 {
        self.delta
    }

    /// Returns the seconds of real time since the last change of the speed. Very large if there was none.
    #[must_use]
    pub fn seconds_since_change(&self) -> f64 {
        self.since_change
    }

    /// Advances the clock by a frame of `seconds` of real time.
    fn advance(&mut self, seconds: f64) {
        let speed = self.speed * self.steering;
        self.delta = seconds * speed;
        self.ahead += seconds * (speed - 1.0);
        self.steered += seconds * (speed - self.speed);
        self.since_change += seconds;
    }
}

/// Advances the [`GameClock`]. The plugins that read it add it.
#[derive(Clone, Copy, Debug, Default)]
pub struct GameClockPlugin;

impl Plugin for GameClockPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<GameClock>().add_systems(First, advance.after(TimeSystems));
    }
}

fn advance(real: Res<Time<Real>>, mut clock: ResMut<GameClock>) {
    clock.advance(real.delta_secs_f64());
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bevy::time::TimeUpdateStrategy;

    use super::*;

    fn app() -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, GameClockPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(10)));
        app.update();
        app
    }

    /// Runs a second at this speed. Returns the seconds that pass on the clock.
    fn second(app: &mut App, speed: f64) -> f64 {
        let now = |app: &App| {
            let world = app.world();
            world.resource::<GameClock>().seconds(world.resource::<Time<Real>>())
        };
        app.world_mut().resource_mut::<GameClock>().set_speed(speed);
        let before = now(app);
        (0..100).for_each(|_| app.update());
        now(app) - before
    }

    #[test]
    fn clock_is_real_time_at_normal_speed_to_the_bit() {
        let mut app = app();
        second(&mut app, 1.0);
        let (clock, real) = (*app.world().resource::<GameClock>(), app.world().resource::<Time<Real>>());
        assert_eq!(clock.seconds(real).to_bits(), real.elapsed_secs_f64().to_bits());
        assert_eq!(clock.delta_seconds(), real.delta_secs_f64());
        assert!(clock.seconds_since_change() > 1e5);
    }

    #[test]
    fn slow_motion_stretches_and_a_pause_stops_the_clock() {
        let mut app = app();
        assert!((second(&mut app, 0.3) - 0.3).abs() < 1e-9);
        assert_eq!(app.world().resource::<GameClock>().delta_seconds(), 0.003);
        assert!(second(&mut app, 0.0).abs() < 1e-9);
        assert!((second(&mut app, 1.0) - 1.0).abs() < 1e-9);
        assert!((app.world().resource::<GameClock>().seconds_since_change() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn steering_changes_the_pace_and_is_no_change_of_the_game_speed() {
        let mut app = app();
        app.world_mut().resource_mut::<GameClock>().set_steering(1.05);
        assert!((second(&mut app, 1.0) - 1.05).abs() < 1e-9);
        assert!((second(&mut app, 0.5) - 0.525).abs() < 1e-9);
        app.world_mut().resource_mut::<GameClock>().set_steering(1.0);
        assert!((app.world().resource::<GameClock>().seconds_since_change() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn invalid_speeds_are_replaced() {
        let mut clock = GameClock::default();
        for (steering, used) in [(f64::NAN, 1.0), (-1.0, 0.5), (1e9, 2.0), (0.95, 0.95)] {
            clock.set_steering(steering);
            assert_eq!(clock.steering(), used);
        }
        for (speed, used) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (-2.0, 0.0), (0.25, 0.25)] {
            clock.set_speed(speed);
            assert_eq!(clock.speed(), used);
        }
    }
}
