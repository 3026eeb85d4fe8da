//! Slow motion: time that passes more slowly than real time, in all apps of a match alike.

use bevy::{
    platform::time::Instant,
    prelude::*,
    time::{TimeSystems, TimeUpdateStrategy},
};

/// Makes the time of an app pass `factor` times more slowly than real time, its link and its timeouts included. Every
/// app of the match needs the same.
///
/// A machine without a graphics card that draws 7 frames a second draws 70 in a second of the game with the factor 10.
/// So a person can watch single updates arrive, and a film looks smooth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SlowMotion {
    /// Seconds for one second of the game. Values below 1 count as 1.
    pub factor: f64,
}

impl Plugin for SlowMotion {
    fn build(&self, app: &mut App) {
        let began = Instant::now();
        let factor = self.factor.max(1.0);
        let slow_down = move |mut strategy: ResMut<TimeUpdateStrategy>| {
            *strategy = TimeUpdateStrategy::ManualInstant(began + began.elapsed().div_f64(factor));
        };
        app.add_systems(First, slow_down.before(TimeSystems));
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// Seconds that pass in an app during at least 0.2 s of real time, and those that really pass.
    fn seconds(factor: f64) -> (f64, f64) {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, SlowMotion { factor }));
        // Before the first update, so that it bounds what passes between the two.
        let began = Instant::now();
        app.update();
        let before = app.world().resource::<Time<Real>>().elapsed();
        std::thread::sleep(Duration::from_millis(200));
        app.update();
        let passed = app.world().resource::<Time<Real>>().elapsed() - before;
        (passed.as_secs_f64(), began.elapsed().as_secs_f64())
    }

    #[test]
    fn time_passes_slower_by_the_factor_and_never_faster() {
        let (game, real) = seconds(10.0);
        assert!(game > 0.019 && game <= real / 9.9, "{game} of {real}");
        for factor in [1.0, 0.1, f64::NAN] {
            let (game, real) = seconds(factor);
            assert!(game > 0.199 && game <= real + 0.001, "{game} of {real} with {factor}");
        }
    }
}
