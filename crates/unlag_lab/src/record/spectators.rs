//! Processor time of 100 spectators on the server of a match of eight.

use bevy_unlag::net::{SpectatorConfig, SpectatorStats};
use unlag_examples::{recording, spectating};

use crate::{agreement::CONTROL, prelude::*};

/// Players of the match.
const PLAYERS: u64 = 8;
/// Spectators, and players of the control that come on top.
const SPECTATORS: usize = 100;
/// Share of the slowest ticks that do not count: other programs cause them. A segment takes ten times as many.
const OUTLIERS: f64 = 0.01;

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let ticks = options.extent(5 * 64, 30 * 64);
    let mut game = start(options.seed, PLAYERS, true)?;
    let before = mean_tick(&mut game, ticks);
    for _ in 0..SPECTATORS {
        game.add_spectator(CONTROL.conditions())?;
    }
    game.run(Duration::from_secs(4));
    let with = mean_tick(&mut game, ticks);
    let stats = *game.server.world().resource::<SpectatorStats>();
    let watching = |app: &App| app.world().contains_resource::<bevy_unlag::record::Playback>();
    let seeing = game.clients.iter().filter(|app| watching(app)).count();
    if seeing < SPECTATORS {
        return Err(format!("{seeing} of {SPECTATORS} spectators see the match"));
    }
    for client in PLAYERS as usize..PLAYERS as usize + SPECTATORS {
        game.disconnect(client);
    }
    game.run(Duration::from_secs(2));
    let after = mean_tick(&mut game, ticks);
    let base = (before + after) / 2.0;
    let percent = |with: f64| (with - base) * 100.0 / TICK.as_secs_f64();
    let note = format!(
        "{:.0} µs a tick instead of {:.0} and {:.0}; {} segments sent, {} skipped",
        with * 1e6,
        before * 1e6,
        after * 1e6,
        stats.sent_segments,
        stats.skipped_segments
    );
    figures.add_noted("spectators_100_core_percent", percent(with), note)?;
    figures.add("spectators_skipped_segments", stats.skipped_segments as f64)?;
    drop(game);
    // The control: as many players.
    let mut game = start(options.seed, PLAYERS + SPECTATORS as u64, false)?;
    let with = mean_tick(&mut game, ticks / 2);
    figures.add("control_spectators_100_core_percent_players", percent(with))
}

/// Starts a match whose server measures its frames, and lets it fight.
fn start(seed: u64, players: u64, admits: bool) -> Result<Match, String> {
    let options = MatchOptions {
        players,
        conditions: CONTROL.conditions(),
        seed,
        // One client frame per tick.
        fps: 1.0 / TICK.as_secs_f64(),
        ..default()
    };
    let mut game = Match::start_with(&options, |server| {
        server.init_resource::<FrameTimes>().add_systems(First, begin_frame).add_systems(Last, end_frame);
        if admits {
            server.add_plugins(recording::plugin(recording::STEPPED_TIME));
            spectating::admit(server, SpectatorConfig { delay: Duration::ZERO, ..default() });
        }
    })?;
    game.set_firing(true);
    game.run(Duration::from_secs(3));
    Ok(game)
}

/// Returns the mean time of a frame of the server, in seconds.
fn mean_tick(game: &mut Match, ticks: u32) -> f64 {
    game.server.world_mut().resource_mut::<FrameTimes>().times.clear();
    game.run(TICK * ticks);
    let mut times = core::mem::take(&mut game.server.world_mut().resource_mut::<FrameTimes>().times);
    times.sort_unstable_by(f64::total_cmp);
    let kept = times.len() - (times.len() as f64 * OUTLIERS).ceil() as usize;
    mean(times.into_iter().take(kept))
}

/// Times of the server's frames in seconds.
#[derive(Resource, Default)]
struct FrameTimes {
    began: Option<Instant>,
    times: Vec<f64>,
}

fn begin_frame(mut frames: ResMut<FrameTimes>) {
    frames.began = Some(Instant::now());
}

fn end_frame(mut frames: ResMut<FrameTimes>) {
    if let Some(began) = frames.began {
        frames.times.push(began.elapsed().as_secs_f64());
    }
}
