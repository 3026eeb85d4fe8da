//! Agreement about the shots of a player whose machine's clock is slow or fast, and whether the server accuses it of
//! playing too fast.

use bevy_unlag::net::FastClockStats;
use unlag_examples::shot_stats::ShotStats;

use crate::{agreement::CONTROL, prelude::*};

/// Speeds of the player's clock relative to the server's, from before it joins.
const SPEEDS: [f64; 7] = [0.95, 0.98, 0.99, 0.995, 0.998, 1.01, 1.05];
/// Speeds to which the player's clock changes in the middle of the game.
const CHANGED: [f64; 2] = [0.95, 1.05];
/// Speed of the control, whose clock is not steered.
const UNSTEERED: f64 = 0.95;
/// Speeds that are too fast to be honest: the server must detect them. Of their screens only the playout delay is
/// measured.
const DISHONEST: [f64; 2] = [1.15, 2.0];
/// Time before the clock's speed changes in the middle of the game.
const BEFORE_CHANGE: Duration = Duration::from_secs(10);

/// A player's clock.
#[derive(Clone, Copy, PartialEq)]
enum Clock {
    /// Runs at this speed from before the player joins.
    Joined(f64),
    /// Changes to this speed in the middle of the game.
    Changed(f64),
    /// Runs at this speed and is not steered.
    Unsteered(f64),
}

impl Clock {
    fn key(self) -> String {
        match self {
            Self::Joined(speed) => format!("agreement_clock_{speed}"),
            Self::Changed(speed) => format!("agreement_clock_changed_{speed}"),
            Self::Unsteered(speed) => format!("control_agreement_clock_unsteered_{speed}"),
        }
    }
}

/// Smallest playout delay that a screen has reported.
#[derive(Resource, Clone, Copy)]
struct LeastDelay {
    /// Milliseconds.
    delay: f32,
    /// Number of frames that reported one.
    frames: u64,
}

fn record_delay(stats: Res<SmoothingStats>, mut least: ResMut<LeastDelay>) {
    least.delay = least.delay.min(stats.delay_ms);
    least.frames += 1;
}

/// Result of a match in which the first player has another clock.
struct Played {
    /// Shots of that player.
    shots: ShotStats,
    /// Smallest playout delay on its screen.
    least: LeastDelay,
    /// Detections of fast clocks by the server, of all players.
    flags: u64,
    /// Moves that the server ran, of all players.
    moves: u64,
}

/// Plays a match in which the first player has this clock. Every shot counts from joining on, or from the change on.
fn play(clock: Clock, seconds: f64, seed: u64) -> Result<Played, String> {
    let first_clock = match clock {
        Clock::Joined(speed) | Clock::Unsteered(speed) => speed,
        Clock::Changed(_) => 1.0,
    };
    let options =
        MatchOptions { players: 3, conditions: CONTROL.conditions(), seed, first_clock, ..default() };
    let mut game = Match::start(&options)?;
    let client = &mut game.clients[0];
    client.insert_resource(LeastDelay { delay: f32::INFINITY, frames: 0 }).add_systems(Last, record_delay);
    if matches!(clock, Clock::Unsteered(_)) {
        client.world_mut().resource_mut::<PredictionConfig>().steer_clock = false;
        client.insert_resource(ClockSteering::default());
    }
    game.set_firing(true);
    if let Clock::Changed(speed) = clock {
        game.run(BEFORE_CHANGE);
        game.clients[0].insert_resource(ShotStats::default());
        game.set_clock(0, speed);
    }
    game.run(Duration::from_secs_f64(seconds));
    game.set_firing(false);
    game.run(Duration::from_secs(8));
    let server = game.server.world_mut();
    let flags = server.resource::<FastClockStats>().detections;
    let moves = server.query::<&PredictionStats>().iter(server).map(|stats| stats.moves).sum();
    let client = game.clients[0].world();
    let mut shots = client.resource::<ShotStats>().clone();
    shots.close();
    Ok(Played { shots, least: *client.resource::<LeastDelay>(), flags, moves })
}

/// Adds the agreement about the shots of players with these clocks, the detections of fast clocks among honest ones,
/// and the smallest playout delay of all.
///
/// # Errors
/// Returns a message if a player cannot join.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent(25.0, 600.0);
    let honest: Vec<Clock> =
        SPEEDS.map(Clock::Joined).into_iter().chain(CHANGED.map(Clock::Changed)).collect();
    let counted: Vec<Clock> = honest.iter().copied().chain([Clock::Unsteered(UNSTEERED)]).collect();
    let clocks: Vec<Clock> = counted.iter().copied().chain(DISHONEST.map(Clock::Joined)).collect();
    let played = in_parallel(&clocks, |clock| play(*clock, seconds, options.seed), |_| Ok(()))?;
    for (clock, Played { shots, .. }) in counted.iter().zip(&played) {
        let note = format!(
            "drawn hits, {} confirmed, {} rounds, {} clamped, {} lost",
            shots.confirmed, shots.shots, shots.clamped.rounds, shots.lost
        );
        let agreement = shots.tally().agreement().unwrap_or(f64::NAN);
        figures.add_counted(clock.key(), agreement, shots.drawn, note)?;
    }
    // The other two players of each match have exact clocks, so every detection of an honest match is false.
    add_flags(figures, "honest_flags_any_clock", &played[..honest.len()])?;
    add_flags(figures, "control_honest_flags_any_clock", &played[counted.len()..])?;
    let least = played.iter().map(|one| one.least.delay).fold(f32::INFINITY, f32::min);
    let frames = played.iter().map(|one| one.least.frames).sum();
    let note = format!("frames of {} matches, clocks up to 2 times the speed", played.len());
    figures.add_counted("delay_ms_least_any_clock", f64::from(least), frames, note)
}

/// Adds the detections of fast clocks in these matches.
fn add_flags(figures: &mut Figures, key: &str, played: &[Played]) -> Result<(), String> {
    let flags: u64 = played.iter().map(|one| one.flags).sum();
    let moves = played.iter().map(|one| one.moves).sum();
    let note = format!("moves of all players in {} matches", played.len());
    figures.add_counted(key, flags as f64, moves, note)
}
