//! Trace of a scripted match for Perfetto: what each client predicted, sent and was answered, beside what the server
//! recorded.

use std::{fs::File, io::BufWriter, path::PathBuf};

use bevy_unlag::{net::MatchRecording, record::Recording};
use clap::Args;
use unlag_examples::{
    recording,
    timeline::{self, Timeline, TimelineClock, TraceWriter, write_client, write_recording},
};

use crate::{prelude::*, record::temporary_file};

/// Options of a trace.
#[derive(Args, Debug)]
pub struct TimelineArgs {
    /// File that gets the trace; `ui.perfetto.dev` and `chrome://tracing` open it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Duration of the fight, in seconds.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Number of players.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    players: u64,
    /// Simulated link of all players.
    #[arg(long, default_value = "Bad (UE)")]
    preset: String,
}

/// Plays the match and writes the trace. Returns how much of what is in it.
pub fn export(options: &Options, args: &TimelineArgs) -> Result<Figures, String> {
    let named = |error: &dyn core::fmt::Display| format!("{}: {error}", args.out.display());
    let out = File::create(&args.out).map_err(|error| named(&error))?;
    let match_options = MatchOptions {
        players: args.players,
        conditions: preset(&args.preset)?.conditions(),
        seed: options.seed,
        ..default()
    };
    let mut game = Match::start_with(&match_options, |server| {
        server.add_plugins(recording::plugin(recording::STEPPED_TIME));
    })?;
    let ticks = (args.seconds as usize + 4) * 64;
    for client in &mut game.clients {
        client.insert_resource(Timeline::of(ticks));
        timeline::plugin::<Soldier>(client);
    }
    let file = temporary_file("timeline");
    game.server.world_mut().resource_mut::<MatchRecording>().start(&file);
    game.fight(f64::from(args.seconds));
    game.server.world_mut().resource_mut::<MatchRecording>().stop();
    // The server's tick of this moment ties its count to the clients' clocks.
    let tick = game.server.world().resource::<CurrentTick>().0;
    let (now, clients) = (game.now().as_secs_f64(), take(&mut game));
    drop(game);
    let read = Recording::open(&file).map_err(|error| error.to_string());
    let mut recorded = read.inspect_err(|_| drop(std::fs::remove_file(&file)))?;
    let (first, _) = recorded.span().ok_or("nothing was recorded")?;
    let tick_seconds = TICK.as_secs_f64();
    // When the trace begins, on the common clock.
    let began = now - f64::from(tick.since(first)) * tick_seconds;
    let mut trace = TraceWriter::new(BufWriter::new(out)).map_err(|error| named(&error))?;
    let written = write_recording(&mut recorded, &mut trace).map_err(|error| named(&error));
    let _ = std::fs::remove_file(&file);
    written?;
    let mut figures = Figures::default();
    let (mut all, mut lost, mut corrected, mut judged) = (0, 0, 0, 0);
    for (pawn, app_now, timeline) in &clients {
        let clock = TimelineClock { offset: now - app_now - began, tick_seconds };
        write_client(timeline, pawn.0.into(), clock, &mut trace).map_err(|error| named(&error))?;
        for tick in timeline.ticks() {
            all += 1;
            lost += u32::from(tick.is_lost);
            corrected += u32::from(tick.correction.is_some());
            judged += u32::from(tick.judged.is_some());
        }
    }
    figures.add("timeline_events", trace.events() as f64)?;
    for (key, count) in [
        ("timeline_ticks", all),
        ("timeline_lost", lost),
        ("timeline_corrected", corrected),
        ("timeline_judged", judged),
    ] {
        figures.add(key, f64::from(count))?;
    }
    trace.finish().map_err(|error| named(&error))?;
    Ok(figures)
}

/// Returns the pawn, the time of the app in seconds, and the timeline of each client.
fn take(game: &mut Match) -> Vec<(NetId, f64, Timeline)> {
    let take = |client: &mut App| {
        let world = client.world_mut();
        let pawn = *world.query_filtered::<&NetId, With<LocalControl>>().single(world).ok()?;
        let now = world.resource::<Time<Real>>().elapsed_secs_f64();
        Some((pawn, now, world.remove_resource::<Timeline>()?))
    };
    game.clients.iter_mut().filter_map(take).collect()
}
