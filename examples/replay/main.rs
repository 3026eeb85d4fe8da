//! Replay of a match that the shooter has recorded: `shooter --record FILE`.
//!
//! * `replay FILE`: a window with a free camera, first person as each player's screen showed it, and third person;
//!   pause, step, slow motion, and a scrubber with marks. H shows the keys.
//! * `replay FILE --timeline OUT.json`: a trace for `ui.perfetto.dev`.
//! * `replay FILE --json`: what happened, as one JSON object, without a window; with `--shots` why each shot counted or
//!   not.

mod cli;
mod shot_view;
mod summary;
mod window;

use std::{
    fs::File,
    io::{BufReader, BufWriter},
    process::{ExitCode, Termination},
};

use bevy_unlag::record::{Playback, PlaybackView, Recording};
use bevy_unlag_server::say;
use checked_ron::OneLine;
use clap::Parser;
use unlag_examples::{
    args::exit_code,
    recording, screen,
    timeline::{TraceWriter, write_recording},
};

use cli::Cli;

fn main() -> ExitCode {
    exit_code(run(&Cli::parse()))
}

fn run(cli: &Cli) -> Result<ExitCode, String> {
    let named = |error: &dyn core::fmt::Display| format!("{}: {error}", OneLine::path(&cli.file));
    let mut recorded = Recording::open(&cli.file).map_err(|error| named(&error))?;
    let own = recording::own_setup(&recorded.setup().level).map_err(|error| named(&error))?;
    recorded.check(&own).map_err(|error| named(&error))?;
    if cli.json {
        let summary = summary::of(&mut recorded, &cli.file, cli.shots.then_some(&own));
        say(summary.map_err(|error| named(&error))?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(out) = &cli.timeline {
        let events =
            write_timeline(&mut recorded, out).map_err(|error| format!("{}: {error}", OneLine::path(out)))?;
        say(format_args!("{events} events written; open them in ui.perfetto.dev or chrome://tracing"));
        return Ok(ExitCode::SUCCESS);
    }
    screen::display("use --json to print what happened without a window")?;
    let mut playback = Playback::open(&cli.file, &own).map_err(|error| named(&error))?;
    playback.seek_seconds(cli.at);
    if let Some(file) = &cli.screen {
        let named = |error: &dyn core::fmt::Display| format!("{}: {error}", OneLine::path(file));
        add_screen(&mut playback, file).map_err(|error| named(&error))?;
    }
    if let Some(id) = cli.follow {
        let pawn = bevy_unlag::core::NetId(id);
        let third = cli.third_person;
        playback.set_view(if third {
            PlaybackView::ThirdPerson(pawn)
        } else {
            PlaybackView::FirstPerson(pawn)
        });
    }
    Ok(window::app(cli, playback).run().report())
}

/// Writes a trace, and returns the number of its events.
fn write_timeline(recorded: &mut Recording, out: &std::path::Path) -> Result<u64, String> {
    let line = |error: &dyn core::fmt::Display| error.to_string();
    let out = BufWriter::new(File::create(out).map_err(|error| line(&error))?);
    let mut trace = TraceWriter::new(out).map_err(|error| line(&error))?;
    write_recording(recorded, &mut trace).map_err(|error| line(&error))?;
    let events = trace.events();
    trace.finish().map_err(|error| line(&error))?;
    Ok(events)
}

/// Adds a player's recording of its own screen. The pawn in it tells whose it is.
fn add_screen(playback: &mut Playback, file: &std::path::Path) -> Result<(), String> {
    let line = |error: bevy_unlag::record::RecordError| error.to_string();
    let mut screen = Recording::open(file).map_err(line)?;
    let pawn = (0..screen.segments().len())
        .find_map(|index| screen.segment(index).ok()?.roster.players().find_map(|player| player.pawn));
    let pawn = pawn.ok_or("it does not tell whose screen it recorded")?;
    while !playback.is_indexed() {
        playback.index_next();
    }
    let owner = playback.index().players().find(|player| player.player.pawn == Some(pawn));
    let owner =
        owner.map(|owner| owner.player.number).ok_or("its player is not in the recording of the match")?;
    let source = File::open(file).map_err(|error| error.to_string())?;
    playback.add_screen(owner, BufReader::new(source)).map_err(line)
}
