//! Share of inputs that are executed too late or never.

use super::{
    empty_model::{EmptyModel, MoveLog},
    session::{PlayerOptions, Session},
};
use crate::prelude::*;

/// A quarter of a second in ticks.
const LATE_TICKS: i32 = 16;

/// Fates of a session's inputs.
#[derive(Clone, Copy, Default)]
pub struct InputFates {
    /// Number of inputs.
    pub made: u64,
    /// Inputs executed more than 250 ms after the fastest input of their player.
    pub late: u64,
    /// Inputs never executed.
    pub never: u64,
}

impl InputFates {
    /// Returns the percentage of late and lost inputs.
    pub fn percent(&self) -> f64 {
        (self.late + self.never) as f64 / self.made as f64 * 100.0
    }
}

/// Returns a link that loses bursts of exactly eight packets, starting after one second.
pub fn bursts_of_eight() -> Result<PlayerOptions, String> {
    Ok(PlayerOptions { burst: Some(8), ..on("Good broadband")? })
}

/// Returns the link of a preset with a perfect clock.
pub fn on(name: &str) -> Result<PlayerOptions, String> {
    let preset = preset(name)?;
    Ok(PlayerOptions { up: preset.up(), down: preset.down(), clock: 1.0, burst: None })
}

/// Runs four players that turn in every tick.
///
/// # Errors
/// Returns a message if a player has no executed input.
pub fn measure(options: PlayerOptions, seconds: f64, seed: u64) -> Result<InputFates, String> {
    let mut session = Session::new(&[options; 4], true, seed);
    session.run(seconds);
    let ran = session.server.world_mut().remove_resource::<MoveLog>().unwrap_or_default();
    let mut all = InputFates::default();
    for player in &session.players {
        let mut first = HashMap::new();
        for (_, made, run) in ran.0.iter().filter(|(pawn, ..)| *pawn == player.pawn) {
            first.entry(*made).or_insert(run.since(*made));
        }
        let quickest = first.values().min().copied().ok_or("the server executed no input")?;
        let world = player.client.world();
        let newest = world.get::<SavedMoves<EmptyModel>>(player.own).and_then(SavedMoves::last_simulated);
        let begin = ran.0.iter().find(|(pawn, ..)| *pawn == player.pawn).map(|(_, made, _)| *made);
        let Some((begin, newest)) = begin.zip(newest) else { continue };
        // Inputs of the last two seconds may still be in flight.
        for age in 0..newest.since(begin) - 128 {
            all.made += 1;
            match first.get(&begin.offset(age)) {
                None => all.never += 1,
                Some(ticks) if ticks - quickest > LATE_TICKS => all.late += 1,
                Some(_) => {}
            }
        }
    }
    Ok(all)
}
