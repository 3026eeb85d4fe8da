//! Cost of recording for the server's tick with 64 players.

use std::{fs::File, io::Write, path::PathBuf};

use bevy_unlag::net::{MatchRecording, RecordPlugin};

use super::played::temporary_file;
use crate::{agreement::CONTROL, prelude::*};

/// Players of the match.
const PLAYERS: u64 = 64;
/// Ticks of a stretch with or without recording. A multiple of the ticks between snapshots, so that both have the same
/// work.
const STRETCH: u32 = 48;
/// Ticks at the start of a stretch that do not count: starting a file is no part of a tick's usual work.
const SETTLING: u32 = 6;

/// Work that is added in every second stretch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// A file is recorded.
    Recording,
    /// The control: nothing.
    Nothing,
    /// The control: a file is recorded, and the tick waits for a disk as well.
    InTheTick,
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let mut game = start(options.seed)?;
    let stretches = options.extent(20, 160);
    for (key, mode, stretches) in [
        ("record_cost_percent_64", Mode::Recording, stretches),
        ("control_record_cost_percent_64_without", Mode::Nothing, stretches),
        ("control_record_cost_percent_64_in_tick", Mode::InTheTick, stretches / 4),
    ] {
        let (percent, note) = compare(&mut game, mode, stretches)?;
        figures.add_noted(key, percent, note)?;
    }
    Ok(())
}

/// Starts a match whose server measures its frames.
fn start(seed: u64) -> Result<Match, String> {
    let options = MatchOptions {
        players: PLAYERS,
        conditions: CONTROL.conditions(),
        seed,
        // One client frame per tick.
        fps: 1.0 / TICK.as_secs_f64(),
        ..default()
    };
    let mut game = Match::start_with(&options, |server| {
        server
            .add_plugins(RecordPlugin::default())
            .insert_resource(FrameTimes::default())
            .add_systems(First, begin_frame)
            .add_systems(Last, (write_in_the_tick, end_frame).chain());
    })?;
    game.set_firing(true);
    game.run(Duration::from_secs(3));
    Ok(game)
}

/// Alternates stretches with and without recording. Returns by how many percent of a tick's median the first ones take
/// longer.
fn compare(game: &mut Match, mode: Mode, stretches: u32) -> Result<(f64, String), String> {
    let mut times = [Vec::new(), Vec::new()];
    let path = temporary_file("cost");
    for stretch in 0..stretches {
        let records = stretch % 2 == 1;
        let world = game.server.world_mut();
        let mut recording = world.resource_mut::<MatchRecording>();
        match (mode, records) {
            (Mode::Nothing, _) => {}
            (_, true) => recording.start(&path),
            (_, false) => recording.stop(),
        }
        let mut frames = world.resource_mut::<FrameTimes>();
        frames.file = (mode == Mode::InTheTick && records).then(|| temporary_file("tick"));
        for tick in 0..STRETCH {
            game.server.world_mut().resource_mut::<FrameTimes>().last = None;
            game.run(TICK);
            let frames = game.server.world().resource::<FrameTimes>();
            if let Some(time) = frames.last.filter(|_| tick >= SETTLING) {
                times[usize::from(records)].push(time.as_secs_f64() * 1e6);
            }
        }
    }
    game.server.world_mut().resource_mut::<MatchRecording>().stop();
    game.run(TICK);
    let _ = std::fs::remove_file(&path);
    let [mut without, mut with] = times;
    if without.len() < 50 || with.len() < 50 {
        return Err("too few ticks were measured".to_owned());
    }
    // Every third tick sends snapshots and is longer: the mean of the middle half takes both kinds into account.
    let base = median(&mut without);
    let difference = trimmed_mean(&mut with) - trimmed_mean(&mut without);
    let note = format!("{difference:.1} µs of {base:.0} µs, {} ticks each", with.len());
    Ok((difference * 100.0 / base, note))
}

/// Returns the mean without the slowest and the fastest twentieth, which other programs cause.
fn trimmed_mean(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let cut = values.len() / 20;
    mean(values[cut..values.len() - cut].iter().copied())
}

/// Time of the server's frame.
#[derive(Resource, Default)]
struct FrameTimes {
    began: Option<Instant>,
    last: Option<Duration>,
    file: Option<PathBuf>,
}

fn begin_frame(mut frames: ResMut<FrameTimes>) {
    frames.began = Some(Instant::now());
}

fn end_frame(mut frames: ResMut<FrameTimes>) {
    // With several frames in a step the last one counts.
    frames.last = frames.began.map(|began| began.elapsed());
}

/// Waits for a disk, as a recorder without a thread does.
fn write_in_the_tick(frames: Res<FrameTimes>) {
    if let Some(path) = &frames.file {
        let written = File::create(path).and_then(|mut file| {
            file.write_all(&[7; 1_500])?;
            file.sync_data()
        });
        if written.is_ok() {
            let _ = std::fs::remove_file(path);
        }
    }
}
