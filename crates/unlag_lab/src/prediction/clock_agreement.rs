//! Agreement about the shots of a player whose machine's clock is slow or fast.

use unlag_examples::shot_stats::ShotStats;

use crate::{agreement::CONTROL, prelude::*};

/// Speeds of the player's clock relative to the server's.
const SPEEDS: [f64; 7] = [0.95, 0.98, 0.99, 0.995, 0.998, 1.01, 1.05];
/// Time after the change of the clock's speed in which no shots count.
const SETTLING: Duration = Duration::from_secs(15);
/// Speed of the control, whose clock is not steered.
const UNSTEERED: f64 = 0.95;

/// Shots of a player with another clock, and the smallest playout delay on its screen.
struct Played {
    shots: ShotStats,
    /// Milliseconds.
    delay: f32,
}

fn play(speed: f64, steer_clock: bool, seconds: f64, seed: u64) -> Result<Played, String> {
    let options = MatchOptions { players: 3, conditions: CONTROL.conditions(), seed, ..default() };
    let mut game = Match::start(&options)?;
    game.clients[0].world_mut().resource_mut::<PredictionConfig>().steer_clock = steer_clock;
    game.set_clock(0, speed);
    // A speed that changes in the middle of a game, as here, is caught up with within seconds.
    game.set_firing(false);
    game.run(SETTLING);
    game.set_firing(true);
    let mut delay = f32::INFINITY;
    for _ in 0..(seconds.ceil() as u32) {
        game.run(Duration::from_secs(1));
        delay = delay.min(game.clients[0].world().resource::<SmoothingStats>().delay_ms);
    }
    game.set_firing(false);
    game.run(Duration::from_secs(8));
    let mut shots = game.clients[0].world().resource::<ShotStats>().clone();
    shots.close();
    Ok(Played { shots, delay })
}

fn agreement(shots: &ShotStats) -> (f64, String) {
    let note = format!("{} rounds, {} drawn hits, {} confirmed", shots.shots, shots.drawn, shots.confirmed);
    (shots.tally().agreement().unwrap_or(f64::NAN), note)
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent(40.0, 600.0);
    let matches: Vec<(f64, bool)> =
        SPEEDS.into_iter().map(|speed| (speed, true)).chain([(UNSTEERED, false)]).collect();
    let play_one = |(speed, steered): &(f64, bool)| play(*speed, *steered, seconds, options.seed);
    let played = in_parallel(&matches, play_one, |_| Ok(()))?;
    let mut least = f32::INFINITY;
    for ((speed, steered), one) in matches.iter().zip(&played) {
        let (percent, note) = agreement(&one.shots);
        let name = if *steered { "agreement_clock_" } else { "control_agreement_clock_unsteered_" };
        figures.add_noted(format!("{name}{speed}"), percent, note)?;
        least = least.min(one.delay);
    }
    figures.add("delay_ms_least_any_clock", f64::from(least))
}
