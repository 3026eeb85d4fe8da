//! Headless tour of the course at maximum speed, with a table of the results.

use core::fmt::Write;
use std::{process::ExitCode, time::Instant};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::core::CurrentTick;
use bevy_unlag_testkit::finish;
use unlag_examples::app::TICK;

use crate::{course::Course, sim, tour::Tour, tuning::Tuning};

/// Number of frames in which rapier loads the course before the tour starts.
const WARM_UP: u32 = 8;

/// Walks the tour from station `first` on. The exit code is 1 if a station failed or was not reached within
/// `seconds` of game time.
pub fn run(tuning: Tuning, first: usize, seconds: f64) -> ExitCode {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    sim::add(&mut app, tuning);
    finish(&mut app);
    for _ in 0..WARM_UP {
        app.update();
    }
    app.world_mut().resource_mut::<Tour>().start(first);
    let started = Instant::now();
    let most = (seconds / TICK.as_secs_f64()) as u64;
    let ticks = (0..most)
        .find(|_| {
            app.update();
            !app.world().resource::<Tour>().on
        })
        .map_or(most, |last| last + 1);
    let (table, failed) = table(app.world(), first);
    print!("{table}");
    println!(
        "{:.1} s of game time in {:.2} s; the last tick was {}",
        ticks as f64 * TICK.as_secs_f64(),
        started.elapsed().as_secs_f64(),
        app.world().resource::<CurrentTick>().0.0,
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Returns the table, and the number of stations that have not passed.
fn table(world: &World, first: usize) -> (String, usize) {
    let (course, tour) = (world.resource::<Course>(), world.resource::<Tour>());
    let width = course.0.iter().map(|station| station.name.len()).max().unwrap_or_default();
    let (mut table, mut passed, mut failed) = (String::new(), 0, 0);
    for (number, station) in course.0.iter().enumerate().skip(first) {
        let result = match tour.verdicts.get(number).and_then(Option::as_ref) {
            Some(Ok(())) => {
                passed += 1;
                "passed".to_owned()
            }
            Some(Err(why)) => {
                failed += 1;
                format!("FAILED: {why}")
            }
            None => {
                failed += 1;
                "FAILED: not reached; increase --seconds".to_owned()
            }
        };
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{:>3}  {:<width$}  {result}", number + 1, station.name);
    }
    let _ = writeln!(table, "{passed} passed, {failed} failed");
    (table, failed)
}
