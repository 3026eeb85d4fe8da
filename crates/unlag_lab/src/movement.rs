//! Cost of a move against rapier's character controller, and the speed that moves lose.

mod comparison_chart;
mod level_benchmark;
mod levels;
mod rapier_controller;
mod speed_loss;
pub mod timing;
mod unlag_mover;
mod walk_script;

use level_benchmark::LevelBenchmark;
use levels::Level;
use rapier_controller::with_rapier_controller;
use unlag_mover::with_mover;

use crate::prelude::*;

pub fn measure(options: &Options) -> Result<Figures, String> {
    let (moves, passes) = options.extent((2_000, 7), (10_000, 7));
    let backend = options.backend;
    let mut levels = Vec::from(Level::all(options.seed));
    if backend == MoverBackend::Rapier {
        // Rapier's controller does not ride platforms.
        levels.retain(|level| level.name != "platform");
    }
    let mut long = Level::long_floor().app(true);
    let courses: Vec<LevelBenchmark> = with_mover(&mut long, |open| {
        let run = |level| LevelBenchmark::run(level, open, backend, moves, passes, options.seed);
        levels.iter().map(run).collect::<Result<_, _>>()
    })?;
    long.world_mut().resource_mut::<CapsuleConfig>().backend = backend;
    let loss = with_mover(&mut long, |floor| Ok(speed_loss::ours(floor)))?;
    let speed = long.world().resource::<CapsuleConfig>().max_walk_speed;
    let kcc_loss = with_rapier_controller(&mut long, |floor| Ok(speed_loss::theirs(floor, speed)))?;

    let mut figures = Figures::default();
    for course in &courses {
        add_ratio(&mut figures, course)?;
    }
    add_replays(&mut figures, &courses)?;
    let saving = |c: &LevelBenchmark| c.ours.total / c.cheap.total;
    figures.add("cheap_step_ratio", courses.iter().map(saving).fold(f64::INFINITY, f64::min))?;
    figures.add("flat_speed_loss_percent", loss)?;
    figures.add("kcc_speed_loss_percent_flat", kcc_loss)?;
    let most = |of: fn(&LevelBenchmark) -> f64| courses.iter().map(of).fold(0.0, f64::max);
    figures.add("allocs_per_move", most(|c| c.allocations))?;
    figures.add("kcc_allocs_per_move", most(|c| c.kcc_allocations))?;
    for course in &courses {
        add_moves(&mut figures, course)?;
    }

    if let Some(folder) = &options.plot {
        let medians = courses.iter().map(|c| (c.level, c.ours.median, c.kcc.median));
        comparison_chart::draw(folder, &medians.collect::<Vec<_>>())?;
    }
    Ok(figures)
}

fn add_ratio(figures: &mut Figures, course: &LevelBenchmark) -> Result<(), String> {
    let LevelBenchmark { level, ours, kcc, kcc_without_pull, scattered, .. } = course;
    let unpulled = kcc_without_pull.total / ours.total;
    let note = format!("{unpulled:.2} without the pull to the floor, {scattered:.2} in scattered order");
    figures.add_noted(format!("kcc_ratio_{level}"), kcc.total / ours.total, note)
}

fn add_moves(figures: &mut Figures, course: &LevelBenchmark) -> Result<(), String> {
    let LevelBenchmark { level, ours, kcc, cheap, .. } = course;
    for (name, times) in [("ours", ours), ("kcc", kcc)] {
        figures.add(format!("{name}_median_us_{level}"), times.median)?;
        figures.add(format!("{name}_p99_us_{level}"), times.p99)?;
    }
    figures.add(format!("cheap_step_ratio_{level}"), ours.total / cheap.total)
}

fn add_replays(figures: &mut Figures, courses: &[LevelBenchmark]) -> Result<(), String> {
    for (key, name) in [("replay96_flat_us", "flat"), ("replay96_clutter_us", "clutter")] {
        let micros = courses.iter().find(|on| on.level == name).map_or(f64::NAN, |on| on.replay);
        figures.add(key, micros)?;
    }
    let differing: usize = courses.iter().map(|course| course.differing).sum();
    figures.add("replays_differing", differing as f64)
}
