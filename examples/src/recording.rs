//! Recordings of the shooter's matches, and what a replay compares with them.

use std::{
    fs::OpenOptions,
    path::{Path, PathBuf},
};

use bevy::prelude::*;
use bevy_unlag::{
    net::{MatchRecording, RecordPlugin, current_record_setup},
    record::RecordSetup,
};
use checked_ron::OneLine;

use crate::{
    app::{self, ServerOptions},
    arena::ArenaMap,
};

/// Segments that wait for the disk in a match that is played in real time.
pub const REAL_TIME: usize = 16;
/// Segments that wait for the disk in a match under stepped time, which is faster than a disk.
pub const STEPPED_TIME: usize = 1 << 16;
/// Ticks until a server has its level.
const LEVEL_TICKS: u32 = 8;
/// Name and version of the game in recordings.
const GAME: &str = concat!("bevy_unlag shooter ", env!("CARGO_PKG_VERSION"));

/// Returns a path that a recording can be written to. An existing file stays as it is until then.
///
/// # Errors
/// Returns one line if it cannot be written.
pub fn writable(file: &Path) -> Result<PathBuf, String> {
    match OpenOptions::new().create(true).append(true).open(file) {
        Ok(_) => Ok(file.to_owned()),
        Err(error) => Err(format!("cannot record into {} ({error})", OneLine::path(file))),
    }
}

/// File that a server records into once it has its level.
#[derive(Resource)]
struct PendingFile {
    file: PathBuf,
    ticks: u32,
}

/// Lets a server app record its match into a file. At most `queue` segments wait for the disk: [`REAL_TIME`] or
/// [`STEPPED_TIME`].
pub fn record(app: &mut App, file: PathBuf, queue: usize) {
    app.add_plugins(plugin(queue))
        .insert_resource(PendingFile { file, ticks: 0 })
        .add_systems(FixedLast, start.run_if(resource_exists::<PendingFile>));
}

/// Returns the plugin that records the shooter. At most `queue` segments wait for the disk.
#[must_use]
pub fn plugin(queue: usize) -> RecordPlugin {
    RecordPlugin { game: GAME.to_owned(), queue, ..default() }
}

fn start(
    mut pending: ResMut<PendingFile>,
    map: Res<ArenaMap>,
    mut recording: ResMut<MatchRecording>,
    mut commands: Commands,
) {
    pending.ticks += 1;
    if pending.ticks == LEVEL_TICKS {
        recording.set_level(map.name());
        recording.start(&pending.file);
        commands.remove_resource::<PendingFile>();
    }
}

/// Returns the setup of this build with a level, to compare a recording with.
///
/// # Errors
/// Returns one line if this build has no such level.
pub fn own_setup(level: &str) -> Result<RecordSetup, String> {
    let Some(map) = ArenaMap::find(level) else {
        let known: Vec<_> = ArenaMap::ALL.iter().map(|map| map.name()).collect();
        return Err(format!("recorded in the level {level:?}, and this build has: {}", known.join(", ")));
    };
    let mut app = app::server(ServerOptions::game(default()));
    app.insert_resource(map).insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(app::TICK));
    bevy_unlag_testkit::finish(&mut app);
    (0..=LEVEL_TICKS).for_each(|_| app.update());
    let setup = current_record_setup(app.world_mut(), GAME, level);
    // A replay sends no messages.
    Ok(RecordSetup { registry: 0, ..setup })
}
